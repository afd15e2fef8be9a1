"""negmas' answers, looked up once: an attribute of an enumeration is slow to reach."""

from negmas import ResponseType

ACCEPT_OFFER, REJECT_OFFER = ResponseType.ACCEPT_OFFER, ResponseType.REJECT_OFFER
END_NEGOTIATION, WAIT, LEAVE = (
    ResponseType.END_NEGOTIATION,
    ResponseType.WAIT,
    ResponseType.LEAVE,
)
