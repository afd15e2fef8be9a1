"""Who may ask: a token in the link that is opened, a cookie after it, from our own origin only.

A page of another site can make a browser send requests here, and by a name of its own that leads to
127.0.0.1 even read the answers. So the Host must be ours; whatever changes something, and every
WebSocket, must come from a page of ours; and the cookie goes
along with what our own pages ask, and with links that are followed.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Ours = Callable[[Message, Receive, Send], Awaitable[None]]

TOKEN_VARIABLE = "UNDERSTUDY_TOKEN"
"""Where a token of one's own may stand; no process that is started here is told."""
LARGEST_BODY = 64 << 20
"""Bytes of a request; recorded matches are sent here."""
_LONGEST_TOKEN = 200
_READS = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
POLICY = b"content-security-policy"
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_TURNED_AWAY = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title></head>
<body><h1>{0}</h1><p>{1}</p></body></html>"""


@dataclass(frozen=True)
class Access:
    """The secrets of one studio, and by which names it is reached."""

    hosts: frozenset[str]
    """With the port, as browsers send them."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = "understudy"

    def fault(self, scope: Message) -> tuple[int, str] | None:
        """Why a request is turned away: a status and a reason; None where it may come in."""
        headers = _headers(scope)
        if headers.get("host", "").lower() not in self.hosts:
            return 421, "This studio does not answer to that name."
        origin, own = headers.get("origin"), f"http://{headers['host'].lower()}"
        changes = scope["type"] == "websocket" or scope["method"] not in _READS
        if (origin is not None or changes) and origin != own:
            return 403, "That came from a page of another site."
        if headers.get("sec-fetch-site") == "cross-site" and changes:
            return 403, "That came from a page of another site."
        if not self._knows(headers.get("cookie", "")):
            return 403, "Open the link that understudy studio has printed: it holds the token."
        return None

    def _knows(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self.cookie)
        except CookieError:
            return False
        told = "" if found is None else found.value
        return hmac.compare_digest(told.encode(), self.session.encode())

    def admitted(self, scope: Message) -> str | None:
        """Where to go on for who brings the token: the same place without it. None: no token."""
        if scope["type"] != "http" or scope["method"] != "GET":
            return None
        told = parse_qsl(scope["query_string"].decode("latin-1"))
        given = [value for name, value in told if name == "token"]
        if len(given) != 1 or len(given[0]) > _LONGEST_TOKEN:
            return None
        if not hmac.compare_digest(given[0].encode(), self.token.encode()):
            return None
        rest = urlencode([(name, value) for name, value in told if name != "token"])
        path = "/" + scope["raw_path"].decode("latin-1").lstrip("/")  # not //another.site
        return f"{path}?{rest}" if rest else path


class Guard:
    """Lets in whoever may, and says to browsers what our pages may do."""

    def __init__(self, inner: Ours, access: Access) -> None:
        self._inner, self._access = inner, access

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        fault = self._access.fault(scope)
        if fault is not None and fault[0] == 403 and (goes_on := self._access.admitted(scope)):
            host = _headers(scope)["host"]
            assert host.lower() in self._access.hosts
            await _answer(send, 303, "", _location(goes_on), self._session())
        elif fault is not None and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4403})
        elif fault is not None:
            words = _TURNED_AWAY.format("Not here", fault[1])
            await _answer(send, fault[0], words if scope["method"] in _READS else fault[1])
        elif _length(scope) > LARGEST_BODY:
            await _answer(send, 413, f"More than {LARGEST_BODY >> 20} MiB is too much.")
        else:
            await self._inner(scope, _limited(receive), _with_headers(send))

    def _session(self) -> tuple[bytes, bytes]:
        kept = f"{self._access.cookie}={self._access.session}; Path=/; HttpOnly; SameSite=Lax"
        return b"set-cookie", kept.encode()


def _headers(scope: Message) -> dict[str, str]:
    """By name; one that is sent twice is taken for none, so that no two readers differ."""
    found = dict[str, str]()
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        found[key] = "" if key in found and key != "cookie" else value.decode("latin-1")
    return found


def _length(scope: Message) -> int:
    told = _headers(scope).get("content-length", "0")
    return int(told) if told.isdecimal() and len(told) < 16 else 0


def _location(place: str) -> tuple[bytes, bytes]:
    return b"location", place.encode("latin-1")


def _limited(receive: Receive) -> Receive:
    """The same without more than a request may bring; then it is as if the browser had gone."""
    left = LARGEST_BODY

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return counted


def _with_headers(send: Send) -> Send:
    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            known = {name.lower() for name, _ in headers}
            if POLICY not in known:
                headers.append((POLICY, _POLICY.encode()))
            if b"cache-control" not in known:
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*headers, *_HEADERS]}
        await send(message)

    return add


async def _answer(send: Send, status: int, words: str, *more: tuple[bytes, bytes]) -> None:
    body = words.encode()
    kind = b"text/html" if words.startswith("<!") else b"text/plain"
    headers = [
        (b"content-type", kind + b"; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (POLICY, b"default-src 'none'; frame-ancestors 'none'"),
        *_HEADERS,
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
