"""Annotations: derived names in brackets after the words of a speaker.

Facts keep the sentence that was said as their text. Whom the sentence leaves open, such as "she",
stands in fields of their body and is shown in brackets: "She works at Google. [Priya]". Contexts
show owner and due date of a landmark beside its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import Memory, MemoryKind
from .event import Attachment

WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
ATTACHED = "attached"  # in the body of a passage: the names of its files
MAX_FILES_NAMED, MAX_FILE_NAME_CHARS = 5, 80
GROUP = "we"  # the people of the place: the sentence says so itself


def annotate_text(memory: Memory) -> str:
    """Return the text of a learned fact with open names, and of a message with its files."""
    if memory.kind is MemoryKind.PASSAGE:
        return memory.text + format_file_names(memory.body.get(ATTACHED, ()))
    if memory.kind is not MemoryKind.FACT or not memory.learned or memory.body.get("exact"):
        return memory.text
    notes = [*find_open_names(memory.text, memory.speaker, memory.body)]
    return f"{memory.text} [{'; '.join(notes)}]" if notes else memory.text


def file_names(attachments: Sequence[Attachment]) -> list[str]:
    """Return the names of a message's files, without secrets; of many, the first ones."""
    if not attachments:
        return []
    from ...text.secrets import redact_secrets  # loaded with the first file

    names = [
        redact_secrets(" ".join(each.name.split()))[:MAX_FILE_NAME_CHARS]
        for each in attachments[:MAX_FILES_NAMED]
    ]
    more = len(attachments) - MAX_FILES_NAMED
    return [*names, f"and {more} more"] if more > 0 else names


def format_file_names(names: Sequence[str]) -> str:
    """Return what follows a message with files: " [attached: plan.pdf]", or nothing."""
    return f" [attached: {', '.join(names)}]" if names else ""


def find_open_names(text: str, speaker: str | None, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield subject and object of a fact that its sentence does not name."""
    for name in (body.get("subject"), body.get("object")):
        if name and not _is_named(name, text, speaker):
            yield name


def _is_named(name: str, text: str, speaker: str | None) -> bool:
    """Return whether the text says whom a name means: by a word of it, or as "I" or "we"."""
    if name in (speaker, GROUP):
        return True
    lower = text.casefold()
    said = set(WORD.findall(lower))
    words = name.casefold().replace("'s", " ").split()
    return name.casefold() in lower or any(word in said for word in words if len(word) > 1)
