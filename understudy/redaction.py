"""Secrets are taken out of whatever is written down: command lines, settings, messages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

GONE = "***"
_SECRET = r"(?:api[-_]?)?(?:key|token|secret|password|passwd|credentials?)"
_OPTION = re.compile(rf"(?i)--[\w-]*{_SECRET}")
_GIVEN = re.compile(rf"(?i)(--[\w-]*{_SECRET}=)(.+)", re.DOTALL)
_QUERY = re.compile(rf"(?i)([?&;][\w.-]*{_SECRET}=)[^&;#\s]+")
_USER = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#\s@]*@")


def redacted_command(arguments: Sequence[str]) -> list[str]:
    """A command line without the values of options that hold secrets, or secrets in addresses."""
    found = list[str]()
    for place, argument in enumerate(arguments):
        if place and _OPTION.fullmatch(arguments[place - 1]):
            found.append(GONE)
        else:
            found.append(_GIVEN.sub(rf"\g<1>{GONE}", redacted_text(argument)))
    return found


def redacted_text(text: str) -> str:
    """A text without users, passwords and keys in the addresses it names."""
    return _QUERY.sub(rf"\g<1>{GONE}", _USER.sub(rf"\g<1>{GONE}@", text))


def redacted(value: Any) -> Any:
    """The same for every text in lists and mappings."""
    if isinstance(value, str):
        return redacted_text(value)
    if isinstance(value, Mapping):
        return {name: redacted(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(one) for one in value]
    return value
