"""Canonical form of JSON, text and times, for hashing, comparison and export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from .errors import InvalidInput

MAX_JSON_DEPTH = 64
SCALAR_TYPES = frozenset({str, bool, int, float, type(None)})
MAX_TEXT_LENGTH = 10_000_000
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
TIME_FORMAT = "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ"
LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def _as_dict(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"cannot encode {type(value).__name__} as JSON")


_CANONICAL = json.JSONEncoder(
    ensure_ascii=False,
    sort_keys=True,
    separators=(",", ":"),
    allow_nan=False,
    default=_as_dict,
)


def canonical_json(value: object) -> str:
    """Return `value` as canonical JSON: sorted keys, no spaces, no NaN."""
    return _CANONICAL.encode(value)


def clean_text(text: str, what: str = "text") -> str:
    """Return `text` with NUL replaced by its visible symbol (U+2400).

    Raise InvalidInput if it is not a str, too long or contains a lone surrogate.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be text, not {type(text).__name__}")
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidInput(
            f"{what} must have at most {MAX_TEXT_LENGTH} characters, got {len(text)}: split it"
        )
    if "\0" in text:
        text = text.replace("\0", "␀")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{what} contains a lone surrogate at position {error.start}") from None
    return text


def clean_json(value: Any, what: str = "metadata") -> Any:
    """Return a copy of `value` that every store returns unchanged; raise InvalidInput otherwise."""
    return json.loads(encode_json(value, what))


def encode_json(value: Any, what: str = "metadata") -> str:
    """Return the canonical JSON of `clean_json(value)`, or raise InvalidInput."""
    _check_json(value, what, 0)
    try:
        encoded = canonical_json(value)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} is not valid JSON: {error}") from None
    if not _is_storable(encoded):
        _check_storable(value, what)
    return encoded


def _check_json(value: Any, what: str, depth: int) -> None:
    """Raise InvalidInput if `value` is not JSON; one call per list and mapping."""
    if isinstance(value, dict | Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(f"{what} must have text keys, got {key!r}")
        inside: Iterable[Any] = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, str | bool | int | float | None):
        return
    else:
        raise InvalidInput(f"{what} must be JSON, but contains a {type(value).__name__}")
    if value and depth == MAX_JSON_DEPTH:
        raise InvalidInput(f"{what} must not be nested more than {MAX_JSON_DEPTH} levels deep")
    for each in inside:
        if type(each) not in SCALAR_TYPES:
            _check_json(each, what, depth + 1)


def _is_storable(encoded: str) -> bool:
    """Return False if a text in this JSON may be too long, or contains NUL or a surrogate."""
    if len(encoded) > MAX_TEXT_LENGTH or "\\u0000" in encoded:
        return False
    try:
        encoded.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_storable(value: Any, what: str) -> None:
    """Check every text of a value that `_check_json` accepted."""
    if isinstance(value, str):
        if "\0" in value:
            raise InvalidInput(f"{what} must not contain a NUL character")
        clean_text(value, what)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _check_storable(key, what)
            _check_storable(inner, what)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_storable(inner, what)


def clean_list(values: Any, what: str) -> list[Any]:
    """Return the items of an iterable; raise InvalidInput for a str, bytes or mapping."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"{what} must be a list, not {type(values).__name__}")
    return list(values)


def clean_time(at: datetime, what: str = "at") -> datetime:
    """Return `at` in UTC; a time without a zone counts as UTC.

    Raise InvalidInput if it is not a datetime, or is not between EARLIEST and LATEST.
    """
    if not isinstance(at, datetime):
        raise InvalidInput(f"{what} must be a datetime, not {type(at).__name__}")
    aware = at.replace(tzinfo=UTC) if at.utcoffset() is None else at
    if not EARLIEST <= aware <= LATEST:
        raise InvalidInput(f"{what} must be between the years 1 and 9999, got {at.isoformat()}")
    return aware.astimezone(UTC)


@lru_cache(maxsize=16)  # encoding one event formats the same time several times
def format_time(at: datetime) -> str:
    """Return `at` as UTC text of fixed width, so that text order is time order."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    day = (utc.year, utc.month, utc.day)
    # `isoformat` takes twice as long, and every event contains two times.
    return TIME_FORMAT % (*day, utc.hour, utc.minute, utc.second, utc.microsecond)


parse_time = datetime.fromisoformat  # no wrapper: one search parses hundreds of times
