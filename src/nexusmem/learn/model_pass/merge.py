"""Draft merge: joins what the rules and a model read in the same messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace

from ...core.canonical import canonical_json
from ...core.derive import normalize_name
from ...core.flows import label_rule
from ...core.records import Draft, Memory, MemoryKind
from .turns import content_terms

MIN_WORD_OVERLAP = 0.6  # shared terms of two landmarks, relative to the shorter one


def merge_drafts(rule_drafts: Sequence[Draft], model_drafts: Sequence[Draft]) -> list[Draft]:
    """Return one draft for each item that both derived from one turn, and all other drafts.

    A joined draft is that of the rules with both makers and the higher confidence, so it replaces
    the stored memory. A joined label has the model's text and sources; if its id changes, the
    caller deletes the old label. After an interrupted deletion two labels of one turn exist; the
    second one is dropped.
    """
    merged: list[Draft] = []
    for draft in rule_drafts:
        if not any(_is_same_item(each, draft, _is_same_label) for each in merged):
            merged.append(draft)
    for draft in model_drafts:
        same = SAME_TESTS.get(draft.kind, _is_never_same)
        index = next((n for n, each in enumerate(merged) if _is_same_item(each, draft, same)), None)
        if index is None:
            merged.append(draft)
        else:
            merged[index] = _join_drafts(merged[index], draft)
    return merged


SameTest = Callable[[Draft, Draft], bool]


def _is_same_item(one: Draft, other: Draft, same_test: SameTest) -> bool:
    return (
        one.kind is other.kind
        and one.scope == other.scope
        and not set(one.sources).isdisjoint(other.sources)
        and same_test(one, other)
    )


def _join_drafts(one: Draft, other: Draft) -> Draft:
    """Return the first draft with confidence, validity and makers of both."""
    makers = list(dict.fromkeys([*draft_makers(one), *draft_makers(other)]))
    timeless = one.valid_from is None and one.valid_to is None
    joined = replace(
        one,
        confidence=max(one.confidence, other.confidence),
        valid_from=other.valid_from if timeless else one.valid_from,
        valid_to=other.valid_to if timeless else one.valid_to,
        metadata={**other.metadata, **one.metadata, "made_by": makers},
    )
    if one.kind is MemoryKind.EPISODE:
        sources = tuple(dict.fromkeys([*one.sources, *other.sources]))
        return replace(joined, text=other.text, body=other.body, sources=sources)
    return joined


def draft_from_memory(memory: Memory) -> Draft:
    """Return the draft of a stored memory."""
    names = [field.name for field in fields(Draft) if field.name != "flow"]
    return Draft(**{name: getattr(memory, name) for name in names}, flow=label_rule(memory.label))


def mark_maker(drafts: Iterable[Draft], maker: str) -> list[Draft]:
    """Return the drafts with `maker` as their only maker."""
    return [replace(draft, metadata={**draft.metadata, "made_by": [maker]}) for draft in drafts]


def draft_makers(draft: Draft) -> list[str]:
    """Return the makers: "rules", an extractor, or a prompt's name, version and hash."""
    makers: list[str] = draft.metadata.get("made_by", [])
    return makers


# -- tests for equal items


def _is_same_fact(one: Draft, other: Draft) -> bool:
    return _fact_key(one) == _fact_key(other)


def _fact_key(draft: Draft) -> tuple[object, ...]:
    body = draft.body
    value = body.get("object") if body.get("object") is not None else body.get("value")
    return (
        normalize_name(body["subject"]),
        body["predicate"],
        normalize_name(value) if isinstance(value, str) else canonical_json(value),
        normalize_name(body.get("aspect") or ""),
        bool(body.get("negated")),
    )


def _is_same_landmark(one: Draft, other: Draft) -> bool:
    if one.body["kind"] != other.body["kind"]:
        return False
    left, right = content_terms(one.text), content_terms(other.text)
    return len(left & right) >= MIN_WORD_OVERLAP * min(len(left), len(right)) > 0


def _is_same_label(one: Draft, other: Draft) -> bool:
    return one.slot == other.slot == "turn" and one.sources[0] == other.sources[0]


def _is_never_same(_one: Draft, _other: Draft) -> bool:
    return False


SAME_TESTS: dict[MemoryKind, SameTest] = {
    MemoryKind.FACT: _is_same_fact,
    MemoryKind.LANDMARK: _is_same_landmark,
    MemoryKind.EPISODE: _is_same_label,
}
