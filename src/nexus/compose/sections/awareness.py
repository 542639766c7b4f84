"""What can be looked up: the model knows that it is there without having it before it."""

from __future__ import annotations

from ...core.access import Grant
from ...core.context import Item
from ...core.protocols import Store
from ...core.records import MemoryKind, Trust
from ..asking import Asking

KINDS = {
    MemoryKind.PASSAGE: "messages and documents",
    MemoryKind.FACT: "facts",
    MemoryKind.ENTITY: "people and things",
    MemoryKind.EPISODE: "moments of conversations",
    MemoryKind.PROCEDURE: "procedures",
}
HOW, KEPT, WHERE = "awareness:how", "awareness:kept", "awareness:where"  # ids
AMOUNTS = ((1_000, "thousands of"), (100, "hundreds of"), (10, "dozens of"), (1, "a few"))
ASKING = (
    "To find more, ask the memory: recall(question) for what was said, facts(subject) and"
    " interpret(subject, relation) for what is so, entity(name) and profile(person) for who is who,"
    " recent() for the last messages."
)


def awareness(asking: Asking) -> list[Item]:
    """Amounts are told in words: a number would change with every message."""
    lines = lookups(asking.store, asking.grant)
    if asking.replayed:  # what there was then is not counted
        del lines[KEPT]
    return [
        Item(
            text=text,
            id=id,
            trust=Trust.INTERNAL,
            worth=1.0 - place / 10,
            why={"strategy": "counted"},
        )
        for place, (id, text) in enumerate(lines.items())
        if text
    ]


def lookups(store: Store, grant: Grant) -> dict[str, str]:
    """What can be looked up by who reads this much: each line by its id."""
    return {HOW: ASKING, KEPT: _kept(store, grant), WHERE: _places(grant)}


def _kept(store: Store, grant: Grant) -> str:
    counts = store.kinds(grant)
    kept = [
        f"{amount} {name}"
        for kind, name in KINDS.items()
        if (amount := _amount(counts.get(kind.value, 0)))
    ]
    return f"Kept here: {', '.join(kept)}." if kept else ""


def _amount(number: int) -> str | None:
    return next((words for least, words in AMOUNTS if number >= least), None)


def _places(grant: Grant) -> str:
    places = ", ".join(sorted(map(str, grant.scopes)))
    return f"It can be narrowed to one of: {places}."
