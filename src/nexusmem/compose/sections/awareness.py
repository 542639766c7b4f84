"""Section "awareness": what the agent can look up, with the tools that it really has.

The caller names the tools, in the call or in the settings. Without any, an agent cannot look up
anything, and the section is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.access import Grant
from ...core.derive import DOCUMENT_KEY
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind, Trust
from ...core.records.context import ContextItem
from ...core.records.notebook import DOCUMENT
from ..request import SectionInput
from ..section import Section, always

TOOLS_ID, DOCUMENTS_ID, SOURCES_ID = "awareness:tools", "awareness:documents", "awareness:sources"
TOOLS_TEXT = "The tools that the caller named."  # in explanations
KNOWN_TOOLS = {  # methods of a place, which callers offer to their agents under these names
    "recall": "recall(question) finds what was said",
    "facts": "facts(subject) what is true",
    "fact_timeline": "fact_timeline(subject, relation) since when it is true",
    "entity": "entity(name) people and things",
    "profile": "profile(person) what is known about a person",
    "recent": "recent() the last messages",
    "landmarks": "landmarks() decisions and tasks",
    "get_value": "get_value(scope, key) an exact value",
}
SOURCE_NAMES = {
    MemoryKind.FACT: "facts",
    MemoryKind.ENTITY: "people and things",
    MemoryKind.EPISODE: "summaries of conversations",
    MemoryKind.PROCEDURE: "procedures",
}
MAX_DOCUMENTS_READ, MAX_DOCUMENTS_NAMED, MAX_TITLE_CHARS = 50, 8, 60
TITLE_KEYS = ("title", "path", "name", "file", "filename")  # of a document's metadata


def awareness_items(inputs: SectionInput) -> list[ContextItem]:
    """Return one item each for the tools, the documents and the other sources."""
    if not inputs.tools:
        return []
    lines = {
        TOOLS_ID: _tools_line(inputs.tools),
        DOCUMENTS_ID: documents_line(
            inputs.filter_recorded(_read_documents(inputs.store, inputs.grant))
        ),
        SOURCES_ID: "" if inputs.is_replay else sources_line(inputs.store, inputs.grant),
    }
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
    """Return the lines as they would be rendered now, by item id, for explanations."""
    return {
        TOOLS_ID: TOOLS_TEXT,
        DOCUMENTS_ID: documents_line(_read_documents(store, grant)),
        SOURCES_ID: sources_line(store, grant),
    }


def _tools_line(tools: Sequence[str]) -> str:
    return f"Tools to look up more: {'; '.join(KNOWN_TOOLS.get(each, each) for each in tools)}."


def _read_documents(store: Store, grant: Grant) -> list[Memory]:
    """Return the first passages of the newest documents."""
    return store.memories.find_by_name(
        grant, [DOCUMENT_KEY], kinds=[MemoryKind.PASSAGE], limit=MAX_DOCUMENTS_READ
    )


def documents_line(documents: Sequence[Memory]) -> str:
    """Return the titles of the documents, newest first; nothing if none has one."""
    titles = dict.fromkeys(title for each in documents if (title := _title_of(each)))
    named = list(titles)[:MAX_DOCUMENTS_NAMED]
    if not named:
        return ""
    more = " and others" if len(titles) > len(named) or len(documents) > len(titles) else ""
    return f"Documents: {', '.join(named)}{more}."


def _title_of(document: Memory) -> str | None:
    """Return the path or title of a document, or else its first heading."""
    metadata = document.metadata
    version = metadata.get(DOCUMENT)
    known = [
        version.get("path") if isinstance(version, dict) else None,
        *(metadata.get(key) for key in TITLE_KEYS),
        metadata.get("heading"),
    ]
    title = next((each for each in known if isinstance(each, str) and each.strip()), None)
    return " ".join(title.split())[:MAX_TITLE_CHARS] if title else None


def sources_line(store: Store, grant: Grant) -> str:
    """Return what else is stored. A number would change the stable prefix at every message."""
    counts = store.count_by_kind(grant)
    names = [name for kind, name in SOURCE_NAMES.items() if counts.get(kind.value)]
    scopes = ", ".join(map(str, grant.places))
    stored = f"Stored besides messages: {', '.join(names)}. " if names else ""
    return f"{stored}Scopes: {scopes}."


AWARENESS = Section(
    name="awareness",
    heading="How to look up more",
    description="The tools, documents and sources that the agent has; empty without tools.",
    priority=3,
    cap=200,
    when=always("what can be looked up"),
    stable=True,
    is_bare=True,
    source=awareness_items,
)
