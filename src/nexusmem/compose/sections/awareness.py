"""Section "awareness": what the model can look up without having it in the context."""

from __future__ import annotations

from ...core.access import Grant
from ...core.protocols.store import Store
from ...core.records import MemoryKind, Trust
from ...core.records.context import ContextItem
from ..request import SectionInput
from ..section import Section, always

KIND_NAMES = {
    MemoryKind.PASSAGE: "messages and documents",
    MemoryKind.FACT: "facts",
    MemoryKind.ENTITY: "people and things",
    MemoryKind.EPISODE: "episodes",
    MemoryKind.PROCEDURE: "procedures",
}
HOW_ID, AMOUNTS_ID, SCOPES_ID = "awareness:how", "awareness:kept", "awareness:where"  # item ids
AMOUNT_WORDS = ((1_000, "thousands of"), (100, "hundreds of"), (10, "dozens of"), (1, "a few"))
LOOKUP_HELP = (
    "To find more, call recall(question) for what was said, facts(subject) and"
    " fact_timeline(subject, relation) for what is true and since when, entity(name) and"
    " profile(person) for people and things, recent() for the last messages."
)


def awareness_items(inputs: SectionInput) -> list[ContextItem]:
    """Return one item for each line of `lookup_lines` that has text; none for an empty memory."""
    lines = lookup_lines(inputs.store, inputs.grant)
    if not lines[AMOUNTS_ID]:  # nothing is stored
        return []
    if inputs.is_replay:  # the store does not count memories at an earlier time
        del lines[AMOUNTS_ID]
    return [
        ContextItem(
            text=text,
            id=id,
            trust=Trust.INTERNAL,
            worth=1.0 - position / 10,
            why={"strategy": "counted"},
        )
        for position, (id, text) in enumerate(lines.items())
        if text
    ]


def lookup_lines(store: Store, grant: Grant) -> dict[str, str]:
    """Return the lines that say what a reader with this grant can look up, by item id."""
    return {
        HOW_ID: LOOKUP_HELP,
        AMOUNTS_ID: _amounts_line(store, grant),
        SCOPES_ID: _scopes_line(grant),
    }


def _amounts_line(store: Store, grant: Grant) -> str:
    """Return the amounts in words: a number would change the stable prefix at every message."""
    counts = store.count_by_kind(grant)
    amounts = [
        f"{amount} {name}"
        for kind, name in KIND_NAMES.items()
        if (amount := _amount_words(counts.get(kind.value, 0)))
    ]
    return f"Stored here: {', '.join(amounts)}." if amounts else ""


def _amount_words(number: int) -> str | None:
    return next((words for least, words in AMOUNT_WORDS if number >= least), None)


def _scopes_line(grant: Grant) -> str:
    scopes = ", ".join(map(str, grant.places))
    return f"A search can be limited to one scope: {scopes}."


AWARENESS = Section(
    name="awareness",
    heading="How to look up more",
    description="Calls that return more memories.",
    priority=3,
    cap=200,
    when=always("what can be looked up"),
    stable=True,
    is_bare=True,
    source=awareness_items,
)
