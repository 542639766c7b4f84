"""What the rules found and what a model found, as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace

from ...core.canonical import canonical_json
from ...core.derive import known_as
from ...core.records import Draft, Memory, MemoryKind
from .turns import words_of

ALIKE = 0.6  # the share of words two landmarks of a kind have in common


def merged(rules: Sequence[Draft], model: Sequence[Draft]) -> list[Draft]:
    """One draft where both say the same of the same turn; the others side by side.

    A draft of both is the rules', with both makers and the higher confidence, so that it replaces
    what the rules alone had made. Only a label gets the model's words, and rests on what they rest
    on: where that gives it another id, the old one is to be deleted. If that did not happen the
    last time, there are two labels of a turn; one is kept.
    """
    made: list[Draft] = []
    for draft in rules:
        if not any(_together(each, draft, _same_label) for each in made):
            made.append(draft)
    for draft in model:
        same = SAME.get(draft.kind, _never)
        place = next((n for n, each in enumerate(made) if _together(each, draft, same)), None)
        if place is None:
            made.append(draft)
        else:
            made[place] = _joined(made[place], draft)
    return made


Same = Callable[[Draft, Draft], bool]


def _together(one: Draft, other: Draft, same: Same) -> bool:
    return (
        one.kind is other.kind
        and one.scope == other.scope
        and not set(one.sources).isdisjoint(other.sources)
        and same(one, other)
    )


def _joined(one: Draft, other: Draft) -> Draft:
    """The first, with what the second knows better."""
    makers = list(dict.fromkeys([*makers_of(one), *makers_of(other)]))
    timeless = one.valid_from is None and one.valid_to is None
    both = replace(
        one,
        confidence=max(one.confidence, other.confidence),
        valid_from=other.valid_from if timeless else one.valid_from,
        valid_to=other.valid_to if timeless else one.valid_to,
        metadata={**one.metadata, "made_by": makers},
    )
    if one.kind is MemoryKind.EPISODE:
        sources = tuple(dict.fromkeys([*one.sources, *other.sources]))
        return replace(both, text=other.text, body=other.body, sources=sources)
    return both


def draft_of(memory: Memory) -> Draft:
    """The draft a memory was made of, to be merged with what is found later."""
    return Draft(**{field.name: getattr(memory, field.name) for field in fields(Draft)})


def made_by(drafts: Iterable[Draft], maker: str) -> list[Draft]:
    """These drafts, made by the rules out of what a model found, under its name."""
    return [replace(draft, metadata={**draft.metadata, "made_by": [maker]}) for draft in drafts]


def makers_of(draft: Draft) -> list[str]:
    """Who made it: "rules", or a prompt's name, version and hash."""
    makers: list[str] = draft.metadata.get("made_by", [])
    return makers


# -- when two say the same


def _same_fact(one: Draft, other: Draft) -> bool:
    return _triple(one) == _triple(other)


def _triple(draft: Draft) -> tuple[object, ...]:
    body = draft.body
    said = body.get("object") if body.get("object") is not None else body.get("value")
    return (
        known_as(body["subject"]),
        body["predicate"],
        known_as(said) if isinstance(said, str) else canonical_json(said),
        known_as(body.get("aspect") or ""),
        bool(body.get("negated")),
    )


def _same_landmark(one: Draft, other: Draft) -> bool:
    if one.body["kind"] != other.body["kind"]:
        return False
    left, right = words_of(one.text), words_of(other.text)
    return len(left & right) >= ALIKE * min(len(left), len(right)) > 0


def _same_label(one: Draft, other: Draft) -> bool:
    return one.slot == other.slot == "turn" and one.sources[0] == other.sources[0]


def _never(_one: Draft, _other: Draft) -> bool:
    return False


SAME: dict[MemoryKind, Same] = {
    MemoryKind.FACT: _same_fact,
    MemoryKind.LANDMARK: _same_landmark,
    MemoryKind.EPISODE: _same_label,
}
