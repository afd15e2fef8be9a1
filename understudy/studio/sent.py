"""What a form of ours sends: fields by name, few and short."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from understudy.errors import InputError

MOST_FIELDS = 400
LONGEST = 200_000
"""Bytes of a form; a note is the longest thing in one."""


class Sent(dict[str, list[str]]):
    """Fields by name, each with all it was given."""

    def one(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        return (self.get(name) or [default])[-1]


async def sent(request: Request) -> Sent:
    """The fields of a request's body."""
    if int(request.headers.get("content-length") or 0) > LONGEST:
        raise InputError("that form is too long")
    body = await request.body()
    if len(body) > LONGEST:
        raise InputError("that form is too long")
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, strict_parsing=bool(body), errors="strict",
            max_num_fields=MOST_FIELDS,
        )  # fmt: skip
    except ValueError as mistake:
        raise InputError("that form cannot be read") from mistake
    found = Sent()
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
