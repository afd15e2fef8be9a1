"""Fetch matches from an API that answers as OpenDota's does, politely, into a folder.

One request at a time with a pause between; a busy or failing server is asked again, each time
after a longer wait; a match already in the folder is not fetched again. Answers are written
without names, accounts and chat.
"""

import gzip
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from understudy.data.files import writing
from understudy.errors import InputError
from understudy.games.dota.sources.opendota import scrubbed
from understudy.redaction import GONE

MOST_BYTES = 64 << 20
"""Of an answer, unpacked; a match has one or two MiB."""
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Api:
    """Where to ask, and how gently."""

    address: str
    """Base address, below which `matches/ID` lies."""
    key: str | None = field(default=None, repr=False)
    """Sent as `api_key`, for servers that want one."""
    pause: float = 1.0
    """Seconds between requests. Down: faster, less welcome."""
    tries: int = 5
    """Before a request is given up."""
    patience: float = 2.0
    """Seconds before the second try; doubled each time."""
    timeout: float = 30.0
    """Seconds without an answer before a try has failed."""

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InputError(f"--api must be an address as https://HOST/api, not '{self.address}'")


class Fetched(NamedTuple):
    """What came of a download."""

    new: int
    there: int
    """Fetched by an earlier call."""
    failed: list[str]
    """MATCH: why, for each that could not be had."""


class _RefusedError(Exception):
    """The server will not give this, however often it is asked."""


class Asker:
    """Asks one API, never faster than it may."""

    def __init__(self, api: Api, sleep: Callable[[float], None] | None = None) -> None:
        self.api, self.sleep = api, sleep or time.sleep
        self._free_at = 0.0

    def get(self, path: str, **query: Any) -> Any:
        """The JSON at a path. Raises _RefusedError, or InputError where nobody answers at all."""
        wait, trouble = self.api.patience, ""
        for attempt in range(self.api.tries):
            if attempt:
                self.sleep(wait)
                wait *= 2
            try:
                return self._once(path, query)
            except urllib.error.HTTPError as answer:
                if answer.code not in _BUSY:
                    said = self._hidden(f"the server says {answer.code} {answer.reason}")
                    raise _RefusedError(said) from None  # which knows the address, and the key
                trouble = f"{answer.code} {answer.reason}"
                wait = max(wait, _asked_to_wait(answer))
            except (OSError, http.client.HTTPException, ValueError) as failure:
                trouble = str(getattr(failure, "reason", failure)) or type(failure).__name__
        said = f"{self.api.tries} tries failed, the last with: {trouble}"
        raise _RefusedError(self._hidden(said))

    def _hidden(self, text: str) -> str:
        """A message without the key: servers and libraries repeat what they were asked."""
        for key in {self.api.key or "", urllib.parse.quote_plus(self.api.key or "")} - {""}:
            text = text.replace(key, GONE)
        return text

    def _once(self, path: str, query: dict[str, Any]) -> Any:
        if self.api.key:
            query = {**query, "api_key": self.api.key}
        address = f"{self.api.address.rstrip('/')}/{path}"
        if query:
            address += "?" + urllib.parse.urlencode(query)
        if (early := self._free_at - time.monotonic()) > 0:
            self.sleep(early)
        try:
            headers = {"Accept-Encoding": "gzip", "User-Agent": "understudy"}
            request = urllib.request.Request(address, headers=headers)
            with urllib.request.urlopen(request, timeout=self.api.timeout) as answer:
                body = answer.read(MOST_BYTES + 1)
                return _decoded(body, answer.headers.get("Content-Encoding") == "gzip")
        finally:
            self._free_at = time.monotonic() + self.api.pause


def _decoded(body: bytes, packed: bool) -> Any:
    """The JSON of an answer; ValueError where it is damaged, endless or no JSON."""
    if packed:
        unpack = zlib.decompressobj(wbits=31)
        try:
            body = unpack.decompress(body, MOST_BYTES + 1)
        except zlib.error as failure:
            raise ValueError(f"the answer is damaged ({failure})") from failure
        if not unpack.eof and len(body) <= MOST_BYTES:
            raise ValueError("the answer is cut short")
    if len(body) > MOST_BYTES:
        raise ValueError(f"the answer is larger than {MOST_BYTES >> 20} MiB")
    try:
        return json.loads(body, parse_constant=_no_number)
    except RecursionError as failure:
        raise ValueError("the answer is nested too deeply") from failure


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _asked_to_wait(answer: urllib.error.HTTPError) -> float:
    """Seconds, by the header Retry-After; 0 where there is none."""
    text = (answer.headers.get("Retry-After") or "").strip()
    plain = text.isascii() and text.isdigit() and len(text) < 10
    return min(float(text), 600.0) if plain else 0.0


def league_matches(ask: Asker, league: int) -> list[int]:
    """The numbers of a league's matches, oldest first."""
    return sorted(_numbers(_listed(ask, f"leagues/{league}/matches"), f"league {league}"))


def pro_matches(ask: Asker, count: int) -> list[int]:
    """The numbers of the newest professional matches, newest first."""
    numbers: list[int] = []
    while len(numbers) < count:
        query = {"less_than_match_id": numbers[-1]} if numbers else {}
        page = _numbers(_listed(ask, "proMatches", **query), "the list of professional matches")
        new = [number for number in page if not numbers or number < numbers[-1]]
        if not new:  # a server that does not turn the page would be asked for ever
            break
        numbers += sorted(new, reverse=True)
    return numbers[:count]


def _listed(ask: Asker, path: str, **query: Any) -> Any:
    try:
        return ask.get(path, **query)
    except _RefusedError as refusal:
        raise InputError(f"no list of matches from {ask.api.address}: {refusal}") from refusal


def _numbers(page: Any, what: str) -> list[int]:
    try:
        found = [int(entry["match_id"]) for entry in page]
        if not all(0 <= number < 2**63 for number in found):
            raise ValueError("beyond 64 bits")
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError) as failure:
        raise InputError(f"{what}: the answer is no list of matches") from failure
    return found


def download(
    ask: Asker,
    numbers: Sequence[int],
    folder: Path,
    progress: Callable[[int], None] = lambda _: None,
) -> Fetched:
    """Have these matches in a folder as ID.json.gz; `progress` gets how many are done."""
    there, new, failed = 0, 0, list[str]()
    folder.mkdir(parents=True, exist_ok=True)
    for done, number in enumerate(dict.fromkeys(numbers), start=1):
        path = folder / f"{number}.json.gz"
        if path.is_file():
            there += 1
        else:
            try:
                _write(path, _match(ask, number))
                new += 1
            except _RefusedError as refusal:
                failed.append(f"match {number}: {refusal}")
        progress(done)
    return Fetched(new, there, failed)


def _match(ask: Asker, number: int) -> Any:
    match = ask.get(f"matches/{number}")
    if not isinstance(match, dict) or match.get("match_id") != number:
        raise _RefusedError("the answer is not this match")
    try:
        return scrubbed(match)
    except RecursionError:
        raise _RefusedError("the answer is nested too deeply") from None


def _write(path: Path, match: Any) -> None:
    text = json.dumps(match, separators=(",", ":")).encode()
    with writing(path) as aside:
        aside.write_bytes(gzip.compress(text, mtime=0))


def numbers_in(path: Path) -> Iterator[int]:
    """Match numbers from a file, one a line."""
    try:
        lines = path.read_text().split()
    except (OSError, UnicodeDecodeError) as failure:
        raise InputError(f"{path} cannot be read: {failure}") from failure
    for line in lines:
        if not (line.isascii() and line.isdigit() and len(line) < 19):
            raise InputError(f"{path}: '{line[:40]}' is no match number")
        yield int(line)
