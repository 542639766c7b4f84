"""One spelling for everything that is hashed, compared or exported."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from .errors import InvalidInput

DEEPEST = 64
SIMPLE = frozenset({str, bool, int, float, type(None)})
LONGEST_TEXT = 10_000_000
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
SPELT = "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ"
LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def _as_dict(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


_CANONICAL = json.JSONEncoder(
    ensure_ascii=False,
    sort_keys=True,
    separators=(",", ":"),
    allow_nan=False,
    default=_as_dict,
)


def canonical_json(value: object) -> str:
    """JSON with one possible spelling: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)


def clean_text(text: str, what: str = "text") -> str:
    """Keep every character a store can keep; NUL becomes its visible picture (U+2400)."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be text, not {type(text).__name__}")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"{what} is {len(text)} characters; at most {LONGEST_TEXT} fit: split it"
        )
    if "\0" in text:
        text = text.replace("\0", "␀")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = error.start
        raise InvalidInput(
            f"{what} holds half a character at position {place} (a surrogate)"
        ) from None
    return text


def clean_json(value: Any, what: str = "metadata") -> Any:
    """A copy of `value` that any store gives back unchanged, or InvalidInput."""
    return json.loads(spelt_json(value, what))


def spelt_json(value: Any, what: str = "metadata") -> str:
    """The one spelling of what `clean_json` would copy, or InvalidInput."""
    _check_json(value, what, 0)
    try:
        spelt = canonical_json(value)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} is not JSON: {error}") from None
    if not _surely_storable(spelt):
        _refuse_unstorable(value, what)
    return spelt


def _check_json(value: Any, what: str, depth: int) -> None:
    """Refuse what is not JSON, with one call for each list and each mapping."""
    if isinstance(value, dict | Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(f"{what} has a key that is not text: {key!r}")
        inside: Iterable[Any] = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, str | bool | int | float | None):
        return
    else:
        raise InvalidInput(f"{what} holds a {type(value).__name__}, which is not JSON")
    if value and depth == DEEPEST:
        raise InvalidInput(f"{what} is nested more than {DEEPEST} deep")
    for each in inside:
        if type(each) not in SIMPLE:
            _check_json(each, what, depth + 1)


def _surely_storable(spelt: str) -> bool:
    """Whether no text in this JSON can be too long, hold a NUL or half a character."""
    if len(spelt) > LONGEST_TEXT or "\\u0000" in spelt:
        return False
    try:
        spelt.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_unstorable(value: Any, what: str) -> None:
    """Look at every text in what `_check_json` let through."""
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(f"{what} holds a NUL character")
        clean_text(value, what)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_unstorable(key, what)
            _refuse_unstorable(inner, what)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_unstorable(inner, what)


def clean_list(values: Any, what: str) -> list[Any]:
    """The items of a list, set or iterator; one text is not a list of its letters."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list, not {type(values).__name__}")
    return list(values)


def clean_time(at: datetime, what: str = "at") -> datetime:
    """The same instant in UTC; a time without a zone is taken as UTC."""
    if not isinstance(at, datetime):
        raise InvalidInput(f"{what} must be a datetime, not {type(at).__name__}")
    aware = at.replace(tzinfo=UTC) if at.utcoffset() is None else at
    if not EARLIEST <= aware <= LATEST:
        raise InvalidInput(f"{what} is out of range: {at.isoformat()}")
    return aware.astimezone(UTC)


@lru_cache(maxsize=16)  # one event spells the same time several times, and then no more
def time_text(at: datetime) -> str:
    """Fixed width, so that text order is time order."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    day = (utc.year, utc.month, utc.day)
    # `isoformat` takes twice as long, and every event is spelt with its time
    return SPELT % (*day, utc.hour, utc.minute, utc.second, utc.microsecond)


text_time = datetime.fromisoformat  # itself: a question reads hundreds of times
