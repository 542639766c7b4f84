"""The filter language: closed, so that nothing a caller writes becomes part of a query.

As data, the way JSON callers send it:

    {"role": "user"}                                  equality is the default
    {"at": {"gte": "2026-01-01"}, "tags": {"contains": "billing"}}
    {"OR": [{"speaker": "alice"}, {"NOT": {"metadata.stars": {"lt": 3}}}]}

Fields are the names in `FIELDS`, or `metadata.<path>`. Every store evaluates filters with
`matches`, on rows the grant already let through, so a filter can only narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from .canonical import DEEPEST, clean_json, clean_time
from .errors import InvalidInput
from .records import Event, Memory

FIELDS = (
    "id kind text scope speaker role source thread tags tier archived trust "
    "confidence salience at recorded_at valid_from valid_to subject predicate object"
).split()

TIMES = frozenset({"at", "recorded_at", "valid_from", "valid_to"})
LARGEST_FILTER = 500


class Op(StrEnum):
    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Condition:
    field: str
    op: Op
    value: Any


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


Filter = Condition | Every | Either | Not


def every(filters: Iterable[Filter | None]) -> Filter | None:
    """What passes all of those that are there."""
    present = tuple(filter for filter in filters if filter is not None)
    return Every(present) if len(present) > 1 else next(iter(present), None)


def parse_filter(data: Mapping[str, Any] | Filter | None) -> Filter | None:
    """Read a filter; None and {} filter nothing."""
    if data is None or isinstance(data, Condition | Every | Either | Not):
        return data
    budget = [LARGEST_FILTER]
    parsed = _parse(data, budget, 0)
    return None if parsed == Every(()) else parsed


def _parse(data: Any, budget: list[int], depth: int) -> Filter:
    if not isinstance(data, Mapping):
        raise InvalidInput(f"a filter is a mapping of fields to conditions, not {data!r:.80}")
    if depth > DEEPEST:
        raise InvalidInput(f"a filter is nested more than {DEEPEST} deep")
    budget[0] -= len(data)
    if budget[0] < 0:
        raise InvalidInput(f"a filter holds at most {LARGEST_FILTER} conditions")
    parts = [_parse_entry(name, value, budget, depth) for name, value in data.items()]
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _parse_entry(name: Any, value: Any, budget: list[int], depth: int) -> Filter:
    if name in ("AND", "OR"):
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise InvalidInput(f"{name} takes a list of filters")
        parts = tuple(_parse(part, budget, depth + 1) for part in value)
        return Every(parts) if name == "AND" else Either(parts)
    if name == "NOT":
        return Not(_parse(value, budget, depth + 1))
    field = _known_field(name)
    if not isinstance(value, Mapping):
        return _condition(field, Op.EQ, value)
    conditions = [_condition(field, _known_op(op), operand) for op, operand in value.items()]
    if not conditions:
        raise InvalidInput(f"the condition on {field!r} is empty")
    return conditions[0] if len(conditions) == 1 else Every(tuple(conditions))


def _known_field(name: Any) -> str:
    if name in FIELDS or (isinstance(name, str) and name.startswith("metadata.") and name[9:]):
        return str(name)
    from difflib import get_close_matches  # noqa: PLC0415  # few mistype

    near = get_close_matches(str(name), [*FIELDS, "metadata.", "AND", "OR", "NOT"], n=1)
    hint = (
        f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(FIELDS)}, metadata.…"
    )
    raise InvalidInput(f"unknown filter field {name!r:.80}{hint}")


def _known_op(name: Any) -> Op:
    try:
        return Op(name)
    except ValueError:
        known = ", ".join(op.value for op in Op)
        raise InvalidInput(f"unknown filter operator {name!r:.80}; known are {known}") from None


def _condition(field: str, op: Op, value: Any) -> Condition:
    many = op is Op.IN
    if many and (not isinstance(value, Sequence) or isinstance(value, str)):
        raise InvalidInput(f"{field}: 'in' takes a list")
    if field in TIMES and op is not Op.CONTAINS:
        value = tuple(map(_time, value)) if many else _time(value)
    else:
        value = clean_json(value, f"the condition on {field!r}")
    return Condition(field, op, value)


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(f"not a time: {value!r:.80}; write 2026-01-31T09:00:00Z") from None
    return clean_time(value, "a time in a filter")


Record = Memory | Event


def matches(filter: Filter | None, record: Record) -> bool:
    """Whether a record passes."""
    match filter:
        case None:
            return True
        case Every(parts):
            return all(matches(part, record) for part in parts)
        case Either(parts):
            return any(matches(part, record) for part in parts)
        case Not(part):
            return not matches(part, record)
        case Condition(field, op, value):
            return TESTS[op](_value(field, record), value)


def _value(field: str, record: Record) -> Any:
    if field.startswith("metadata."):
        return _path(record.metadata, field.removeprefix("metadata."))
    if field in ("subject", "predicate", "object"):
        return getattr(record, "body", {}).get(field)
    value = getattr(record, field, None)
    return str(value) if field == "scope" else value


def _path(data: Any, path: str) -> Any:
    """Look up `a.b.c`; a key that itself holds a dot is found first."""
    if isinstance(data, Mapping):
        if path in data:
            return data[path]
        head, dot, rest = path.partition(".")
        if dot and head in data:
            return _path(data[head], rest)
    return None


def _equal(left: Any, right: Any) -> bool:
    """JSON equality: true is not 1."""
    return bool(isinstance(left, bool) == isinstance(right, bool) and left == right)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(left: Any, right: Any) -> bool:
        comparable = _sort_class(left) is not None and _sort_class(left) == _sort_class(right)
        return comparable and compare(left, right)

    return test


def _sort_class(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return "number"
    return "time" if isinstance(value, datetime) else "text" if isinstance(value, str) else None


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right.casefold() in left.casefold()
    return isinstance(left, list | tuple) and any(_equal(item, right) for item in left)


TESTS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: _equal,
    Op.NE: lambda left, right: not _equal(left, right),
    Op.IN: lambda left, right: any(_equal(left, item) for item in right),
    Op.GT: _ordered(lambda left, right: left > right),
    Op.GTE: _ordered(lambda left, right: left >= right),
    Op.LT: _ordered(lambda left, right: left < right),
    Op.LTE: _ordered(lambda left, right: left <= right),
    Op.CONTAINS: _contains,
}
