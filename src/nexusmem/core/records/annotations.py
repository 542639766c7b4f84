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
MAX_FILES_NAMED, MAX_FILE_NAME_CHARS = 5, 80
GROUP = "we"  # the people of the place: the sentence says so itself


def annotate_text(memory: Memory) -> str:
    """Return the text of a learned fact with the names that it leaves open."""
    if not memory.learned or memory.body.get("exact"):
        return memory.text
    if memory.kind is not MemoryKind.FACT:
        return memory.text
    notes = [*find_open_names(memory.text, memory.speaker, memory.body)]
    return f"{memory.text} [{'; '.join(notes)}]" if notes else memory.text


def name_attachments(attachments: Sequence[Attachment]) -> str:
    """Return the names of a message's files for its end: " [attached: plan.pdf]", or nothing."""
    if not attachments:
        return ""
    from ...text.secrets import mask_text  # loaded with the first file

    names = [mask_text(" ".join(each.name.split()))[:MAX_FILE_NAME_CHARS] for each in attachments]
    more = len(names) - MAX_FILES_NAMED
    if more > 0:
        names = [*names[:MAX_FILES_NAMED], f"and {more} more"]
    return f" [attached: {', '.join(names)}]"


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
