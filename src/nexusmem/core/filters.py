"""Filter language: a closed set of conditions, so no caller input becomes part of a query.

Callers send filters as JSON:

    {"role": "user"}                                  (equality is the default)
    {"at": {"gte": "2026-01-01"}, "tags": {"contains": "billing"}}
    {"OR": [{"speaker": "alice"}, {"NOT": {"metadata.stars": {"lt": 3}}}]}

A field is a name in `FIELDS` or `metadata.<path>`. Every store evaluates filters with
`matches_filter`, on records that passed the grant. So a filter can only narrow a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from .canonical import MAX_JSON_DEPTH, clean_json, clean_time
from .errors import InvalidInput
from .records import Event, Memory

FIELDS = (
    "id kind text scope speaker role source thread tags tier archived trust "
    "confidence salience at recorded_at valid_from valid_to subject predicate object"
).split()

TIME_FIELDS = frozenset({"at", "recorded_at", "valid_from", "valid_to"})
MAX_CONDITIONS = 500


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
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


Filter = Condition | And | Or | Not


def combine_filters(filters: Iterable[Filter | None]) -> Filter | None:
    """Return a filter that requires all given filters, or None if there are none."""
    present = tuple(filter for filter in filters if filter is not None)
    return And(present) if len(present) > 1 else next(iter(present), None)


def filter_fields(filter: Filter | None) -> set[str]:
    """Return the fields that a filter looks at."""
    if filter is None:
        return set()
    if isinstance(filter, Condition):
        return {filter.field}
    parts = (filter.part,) if isinstance(filter, Not) else filter.parts
    return set().union(*map(filter_fields, parts))


def parse_filter(data: Mapping[str, Any] | Filter | None) -> Filter | None:
    """Parse a filter from JSON; None and {} filter nothing. Raise InvalidInput if it is invalid."""
    if data is None or isinstance(data, Condition | And | Or | Not):
        return data
    budget = [MAX_CONDITIONS]
    parsed = _parse_mapping(data, budget, 0)
    return None if parsed == And(()) else parsed


def _parse_mapping(data: Any, budget: list[int], depth: int) -> Filter:
    if not isinstance(data, Mapping):
        raise InvalidInput(f"a filter must be a mapping of fields to conditions, got {data!r:.80}")
    if depth > MAX_JSON_DEPTH:
        raise InvalidInput(f"a filter must not be nested more than {MAX_JSON_DEPTH} levels deep")
    budget[0] -= len(data)
    if budget[0] < 0:
        raise InvalidInput(f"a filter must have at most {MAX_CONDITIONS} conditions")
    parts = [_parse_entry(name, value, budget, depth) for name, value in data.items()]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _parse_entry(name: Any, value: Any, budget: list[int], depth: int) -> Filter:
    if name in ("AND", "OR"):
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise InvalidInput(f"{name} must be a list of filters")
        parts = tuple(_parse_mapping(part, budget, depth + 1) for part in value)
        return And(parts) if name == "AND" else Or(parts)
    if name == "NOT":
        return Not(_parse_mapping(value, budget, depth + 1))
    field = _check_field(name)
    if not isinstance(value, Mapping):
        return _make_condition(field, Op.EQ, value)
    conditions = [_make_condition(field, _parse_op(op), operand) for op, operand in value.items()]
    if not conditions:
        raise InvalidInput(f"the condition on {field!r} is empty")
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))


def _check_field(name: Any) -> str:
    if name in FIELDS or (isinstance(name, str) and name.startswith("metadata.") and name[9:]):
        return str(name)
    from difflib import get_close_matches  # only loaded after a typing error

    near = get_close_matches(str(name), [*FIELDS, "metadata.", "AND", "OR", "NOT"], n=1)
    hint = (
        f"; did you mean {near[0]!r}?"
        if near
        else f"; expected one of {', '.join(FIELDS)}, metadata.…"
    )
    raise InvalidInput(f"unknown filter field {name!r:.80}{hint}")


def _parse_op(name: Any) -> Op:
    try:
        return Op(name)
    except ValueError:
        accepted = ", ".join(op.value for op in Op)
        raise InvalidInput(
            f"unknown filter operator {name!r:.80}; expected one of {accepted}"
        ) from None


def _make_condition(field: str, op: Op, value: Any) -> Condition:
    many = op is Op.IN
    if many and (not isinstance(value, Sequence) or isinstance(value, str)):
        raise InvalidInput(f"{field}: the operand of 'in' must be a list")
    if field in TIME_FIELDS and op is not Op.CONTAINS:
        value = tuple(map(_parse_time_value, value)) if many else _parse_time_value(value)
    else:
        value = clean_json(value, f"the condition on {field!r}")
    return Condition(field, op, value)


def _parse_time_value(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(
                f"invalid time {value!r:.80}; expected for example 2026-01-31T09:00:00Z"
            ) from None
    return clean_time(value, "a time in a filter")


Record = Memory | Event


def matches_filter(filter: Filter | None, record: Record) -> bool:
    """Return whether `record` passes the filter; None passes every record."""
    match filter:
        case None:
            return True
        case And(parts):
            return all(matches_filter(part, record) for part in parts)
        case Or(parts):
            return any(matches_filter(part, record) for part in parts)
        case Not(part):
            return not matches_filter(part, record)
        case Condition(field, op, value):
            return OPERATOR_TESTS[op](_field_value(field, record), value)


def _field_value(field: str, record: Record) -> Any:
    if field.startswith("metadata."):
        return _lookup_path(record.metadata, field.removeprefix("metadata."))
    if field in ("subject", "predicate", "object"):
        return getattr(record, "body", {}).get(field)
    value = getattr(record, field, None)
    return str(value) if field == "scope" else value


def _lookup_path(data: Any, path: str) -> Any:
    """Return the value at `a.b.c`, or None; a key that contains a dot is tried first."""
    if isinstance(data, Mapping):
        if path in data:
            return data[path]
        head, dot, rest = path.partition(".")
        if dot and head in data:
            return _lookup_path(data[head], rest)
    return None


def _is_equal(left: Any, right: Any) -> bool:
    """Compare as JSON does: true is not 1."""
    return bool(isinstance(left, bool) == isinstance(right, bool) and left == right)


def _compare_with(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
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
    return isinstance(left, list | tuple) and any(_is_equal(item, right) for item in left)


OPERATOR_TESTS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: _is_equal,
    Op.NE: lambda left, right: not _is_equal(left, right),
    Op.IN: lambda left, right: any(_is_equal(left, item) for item in right),
    Op.GT: _compare_with(lambda left, right: left > right),
    Op.GTE: _compare_with(lambda left, right: left >= right),
    Op.LT: _compare_with(lambda left, right: left < right),
    Op.LTE: _compare_with(lambda left, right: left <= right),
    Op.CONTAINS: _contains,
}
