"""Protocols of language models and rerankers, and the JSON schema subset they accept.

Nexus works without either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import NoneType
from typing import Any, Protocol

from ..errors import InvalidInput
from ..ids import WorkspaceId
from ..records import ModelCost


class ModelCosts(Protocol):
    """Cost of model calls, summed by day, purpose and model."""

    def add(self, workspace: WorkspaceId, cost: ModelCost) -> None:
        """Add this cost to its day; concurrent processes lose no update."""
        ...

    def list_costs(
        self, workspace: WorkspaceId, *, since: datetime | None = None
    ) -> list[ModelCost]:
        """Return one record per day, purpose and model, in this order, from the day of `since`."""
        ...


Schema = Mapping[str, Any]  # JSON schema within `check_schema`


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt for a model.

    `system` is fixed text of Nexus. Texts of people go into `user` as data, so that a message
    cannot become an instruction.
    """

    system: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one answer as the provider bills them, including reasoning and cached input."""

    input_tokens: int
    output_tokens: int
    model: str  # the provider's name, which may be more specific than the requested one


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(TokenUsage):
    """An answer and its token usage."""

    text: str
    data: Any  # the answer as JSON that matches the schema; None without a schema
    dropped: tuple[str, ...] = ()  # items of lists that did not fit the schema: position and fault


class LanguageModel(Protocol):
    """Answers prompts; safe to call from several threads."""

    def complete(
        self,
        prompt: Prompt,
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Completion:
        """Return one answer; with a schema, JSON that matches it.

        `max_tokens` has a configured default. `timeout` is in seconds, for all attempts together.
        Without it, an answer may take as long as it keeps arriving: only silence ends the call.
        Raises ModelUnavailable if the provider does not answer, and BadOutput for an invalid
        answer. The caller decides about a retry.
        """
        ...

    def close(self) -> None:
        """Close connections; may be called twice, and the model may be used afterwards."""
        ...


class Reranker(Protocol):
    """Scores texts by reading each one together with the question."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one finite score per text, higher is better, on no particular scale.

        Raises ModelUnavailable if the provider does not answer.
        """
        ...


SCHEMA_KEYWORDS = frozenset(
    "type properties required additionalProperties items maxItems enum anyOf title"
    " description".split()
)
SCHEMA_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (NoneType,),
}


def check_schema(schema: Any, at: str = "the schema") -> None:
    """Raise InvalidInput if some provider would not accept the schema."""
    if not isinstance(schema, Mapping):
        raise InvalidInput(f"{at} must be a mapping, not {type(schema).__name__}")
    for keyword in schema.keys() - SCHEMA_KEYWORDS:
        raise InvalidInput(f"{at} uses {keyword!r:.80}, which not every provider supports")
    for number, choice in enumerate(schema.get("anyOf", ())):
        check_schema(choice, f"{at}.anyOf[{number}]")
    kind = schema.get("type")
    if kind is None and ("anyOf" in schema or "enum" in schema):
        return
    if not isinstance(kind, str) or kind not in SCHEMA_TYPES:
        raise InvalidInput(f"{at} must have a type, one of {', '.join(SCHEMA_TYPES)}")
    if kind == "object":
        _check_object(schema, at)
    if kind == "array":
        check_schema(schema.get("items"), f"{at}.items")
    if "maxItems" in schema and (kind != "array" or not _has_type(schema["maxItems"], "integer")):
        raise InvalidInput(f"{at}.maxItems must be an integer, and is for arrays only")


def _check_object(schema: Mapping[str, Any], at: str) -> None:
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        raise InvalidInput(f"{at} must set additionalProperties to false")
    if set(schema.get("required", ())) != set(properties):
        raise InvalidInput(f"{at} must require all its properties; make optional ones nullable")
    for name, inner in properties.items():
        check_schema(inner, f"{at}.{name}")


NULL_WORDS = frozenset({"", "null", "none", "nil", "n/a", "unknown", "undefined"})
TRUTH_WORDS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(slots=True)
class SchemaFitter:
    """Repairs harmless differences between an answer and its schema.

    Small models add keys, leave out empty ones, write "none" for null, 1 for [1] and "Past" for
    "past". The meaning of such an answer is clear. Objects of a list that cannot be repaired are
    left out, each with its fault in `dropped`; other differences stay, for `find_mismatch`.
    """

    dropped: list[str]

    def fit(self, value: Any, schema: Mapping[str, Any], at: str = "the answer") -> Any:
        """Return the value in the form of the schema, as far as its meaning is clear."""
        if "anyOf" in schema:
            return self._fit_choice(value, schema["anyOf"], at)
        if "enum" in schema:
            return _fit_enum(value, schema["enum"])
        kind = schema["type"]
        if kind == "object" and isinstance(value, Mapping):
            return self._fit_object(value, schema["properties"], at)
        if kind == "array":
            return self._fit_array(value, schema, at)
        return _fit_plain(value, kind)

    def _fit_choice(self, value: Any, choices: Sequence[Mapping[str, Any]], at: str) -> Any:
        nullable = any(choice.get("type") == "null" for choice in choices)
        if nullable and (value is None or _is_null_word(value)):
            return None
        for choice in choices:
            fitted = SchemaFitter([]).fit(value, choice, at)
            if find_mismatch(fitted, choice) is None:
                return fitted
        return value

    def _fit_object(
        self, value: Mapping[str, Any], properties: Mapping[str, Any], at: str
    ) -> dict[str, Any]:
        given = {_fold_key(str(name)): each for name, each in value.items()}
        if given and given.keys().isdisjoint(map(_fold_key, properties)):
            return dict(value)  # another object than the one asked for
        fitted: dict[str, Any] = {}
        for name, inner in properties.items():
            if name in value or _fold_key(name) in given:
                each = value[name] if name in value else given[_fold_key(name)]
                fitted[name] = self.fit(each, inner, f"{at}.{name}")
            elif inner.get("type") == "array":
                fitted[name] = []
            elif find_mismatch(None, inner) is None:
                fitted[name] = None
        return fitted

    def _fit_array(self, value: Any, schema: Mapping[str, Any], at: str) -> Any:
        if value is None or _is_null_word(value):
            return []
        items = list(value) if isinstance(value, list) else [value]
        inner = schema["items"]
        fitted = [self.fit(each, inner, f"{at}[{n}]") for n, each in enumerate(items)]
        if inner.get("type") == "object":
            faults = [find_mismatch(each, inner, f"{at}[{n}]") for n, each in enumerate(fitted)]
            self.dropped += [fault for fault in faults if fault]
            kept = [each for each, fault in zip(fitted, faults, strict=True) if not fault]
            fitted = kept if kept or not fitted else fitted
        return fitted[: schema.get("maxItems", len(fitted))]


def _fold_key(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "").replace("-", "")


def _is_null_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip().strip(".<>").casefold() in NULL_WORDS


def _fit_enum(value: Any, known: Sequence[Any]) -> Any:
    """Return the known value that is spelt like this one, ignoring case and separators."""
    if not isinstance(value, str):
        return value
    spelt = {_fold_key(each): each for each in known if isinstance(each, str)}
    return spelt.get(_fold_key(value.strip()), value)


def _fit_plain(value: Any, kind: str) -> Any:
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "integer" and isinstance(value, str) and value.strip().isdecimal():
        return int(value) if len(value) < MAX_NUMBER_DIGITS else value
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "boolean" and isinstance(value, str):
        return TRUTH_WORDS.get(value.strip().casefold(), value)
    return value


MAX_NUMBER_DIGITS = 18


def find_mismatch(value: Any, schema: Mapping[str, Any], at: str = "it") -> str | None:
    """Return the first difference between a value and a checked schema; None if it matches.

    The text names positions and types but never the value, which may be private.
    """
    if "anyOf" in schema:
        differs = [find_mismatch(value, choice, at) for choice in schema["anyOf"]]
        return None if None in differs else f"{at} fits none of {len(differs)} choices"
    if "enum" in schema and not any(_is_equal(value, known) for known in schema["enum"]):
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type")
    if kind is not None and not _has_type(value, kind):
        return f"{at} is not of type {kind}"
    if kind == "object":
        return _find_object_mismatch(value, schema["properties"], at)
    return _find_array_mismatch(value, schema, at) if kind == "array" else None


def _find_array_mismatch(value: Sequence[Any], schema: Mapping[str, Any], at: str) -> str | None:
    if len(value) > schema.get("maxItems", len(value)):
        return f"{at} has {len(value)} items, more than {schema['maxItems']}"
    places = (find_mismatch(item, schema["items"], f"{at}[{n}]") for n, item in enumerate(value))
    return next(filter(None, places), None)


def _find_object_mismatch(
    value: Mapping[str, Any], properties: Mapping[str, Any], at: str
) -> str | None:
    missing = properties.keys() - value.keys()
    if missing:
        return f"{at} lacks {', '.join(sorted(missing))}"
    if value.keys() - properties.keys():
        return f"{at} has other keys than {', '.join(properties)}"
    places = (
        find_mismatch(value[name], inner, f"{at}.{name}") for name, inner in properties.items()
    )
    return next(filter(None, places), None)


def _has_type(value: Any, kind: str) -> bool:
    """Return whether a value has this JSON type; a bool is not an integer."""
    return isinstance(value, SCHEMA_TYPES[kind]) and (
        kind == "boolean" or not isinstance(value, bool)
    )


def _is_equal(left: Any, right: Any) -> bool:
    return bool(left == right and isinstance(left, bool) == isinstance(right, bool))
