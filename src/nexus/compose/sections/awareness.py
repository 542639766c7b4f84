"""What can be looked up: the model knows that it is there without having it before it."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.context import Item
from ...core.records import MemoryKind, Trust
from ..asking import Asking

KINDS = {
    MemoryKind.PASSAGE: "messages and documents",
    MemoryKind.FACT: "facts",
    MemoryKind.ENTITY: "people and things",
    MemoryKind.EPISODE: "moments of conversations",
    MemoryKind.PROCEDURE: "procedures",
}
AMOUNTS = ((1_000, "thousands of"), (100, "hundreds of"), (10, "dozens of"), (1, "a few"))
ASKING = (
    "To find more, ask the memory: recall(question) for what was said, facts(subject) and"
    " interpret(subject, relation) for what is so, entity(name) and profile(person) for who is who,"
    " recent() for the last messages."
)


def awareness(asking: Asking) -> list[Item]:
    """Amounts are told in words: a number would change with every message."""
    lines = [ASKING, *_kept(asking), _places(asking)]
    return [
        Item(
            text=text,
            id=f"awareness:{place}",
            trust=Trust.INTERNAL,
            worth=1.0 - place / 10,
            why={"strategy": "counted"},
        )
        for place, text in enumerate(lines)
    ]


def _kept(asking: Asking) -> Iterator[str]:
    if asking.replayed:  # what there was then is not counted
        return
    counts = asking.store.count(asking.grant)
    kept = [
        f"{amount} {name}"
        for kind, name in KINDS.items()
        if (amount := _amount(counts.get(kind.value, 0)))
    ]
    if kept:
        yield f"Kept here: {', '.join(kept)}."


def _amount(number: int) -> str | None:
    return next((words for least, words in AMOUNTS if number >= least), None)


def _places(asking: Asking) -> str:
    places = ", ".join(sorted(map(str, asking.grant.scopes)))
    return f"It can be narrowed to one of: {places}."
