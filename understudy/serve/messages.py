"""What is asked and answered, in JSON: one object a message, whatever wire it comes over.

    {"match": "m1", "step": 12, "observation": [...], "legal": [...]}       a decision
    {"match": "m1", "end": true, "outcome": "win"}                          a match has ended

`docs/hosting.md` says what each key means. What cannot be understood is answered with
{"error": "..."}; an `id` that was sent comes back with every answer.
"""

from typing import Any

import msgspec

LARGEST = 64 << 10
"""Bytes of a message."""
MOST_STEPS = 2**31 - 2


class MessageError(ValueError):
    """Why a message is not answered with a decision; one line for whoever sent it."""


class Asked(msgspec.Struct, kw_only=True):
    """One message."""

    match: str | int = "match"
    slot: int = 0
    step: int | None = None
    """None: the one after the last of this match."""
    observation: Any = None
    legal: list[bool | int] | None = None
    """None: all that the rules allow, where the observation tells, else everything."""
    uniform: list[float] | None = None
    """A number of [0, 1) for every head. None: of the server's seed, the match, slot and step."""
    within_ms: float | None = None
    """An answer that is later than this is of no use."""
    player: str | None = None
    end: bool = False
    outcome: str | float | None = None
    """How it ended for this slot: win, draw, loss, or +1 to -1."""
    id: Any = None


_decoder = msgspec.json.Decoder(Asked)
_encoder = msgspec.json.Encoder()


def read(raw: bytes | str) -> Asked:
    """A message; MessageError where it is none."""
    if len(raw) > LARGEST:
        raise MessageError(f"the message has {len(raw):,} bytes; {LARGEST:,} are allowed")
    try:
        asked = _decoder.decode(raw)
    except msgspec.ValidationError as failure:
        raise MessageError(f"not as it should be: {failure}") from failure
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as failure:
        raise MessageError(f"not JSON: {failure}") from failure
    if asked.slot not in (0, 1):
        raise MessageError(f"slot is {asked.slot}; a match has slots 0 and 1")
    if asked.step is not None and not 0 <= asked.step <= MOST_STEPS:
        raise MessageError(f"step is {asked.step}, not a whole number from 0 to {MOST_STEPS}")
    return asked


def id_of(raw: bytes | str) -> Any:
    """The id of a message that could not be read, if there is one to be seen."""
    if len(raw) > LARGEST:
        return None
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found.get("id") if isinstance(found, dict) else None


def written(answer: dict[str, Any]) -> bytes:
    """An answer as it is sent."""
    return _encoder.encode(answer)


def refusal(words: str, marked: Any = None) -> dict[str, Any]:
    """The answer that is none."""
    return {"error": words} if marked is None else {"error": words, "id": marked}
