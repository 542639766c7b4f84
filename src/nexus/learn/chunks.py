"""Cutting documents into pieces that can be read on their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_CHUNK = 1_200  # characters: a few paragraphs, well inside every embedder's limit

BELOW = " › "
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
PARAGRAPH = re.compile(r"\n\s*\n")
SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")


@dataclass(frozen=True, slots=True)
class Chunk:
    text: str
    heading: str  # "Guide › Install": where in the document it stands


def chunks(text: str) -> Iterator[Chunk]:
    """Pieces along headings, paragraphs and sentences, in order; nothing is left out."""
    sections = list(_sections(text))
    for (heading, section), (following, _) in zip(sections, [*sections[1:], ("", "")], strict=True):
        pieces = list(_packed(_fragments(section)))
        if heading and not pieces and not following.startswith(heading + BELOW):
            pieces = [heading]  # nothing under it to carry it along
        yield from (Chunk(piece, heading) for piece in pieces)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each stretch under a Markdown heading, with the headings above it."""
    above: dict[int, str] = {}
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        found = None if fenced else HEADING.match(line)
        if found:
            yield _trail(above), "\n".join(lines)
            lines = []
            level = len(found[1])
            above = {depth: name for depth, name in above.items() if depth < level}
            above[level] = found[2]
        else:
            lines.append(line)
    yield _trail(above), "\n".join(lines)


def _trail(above: dict[int, str]) -> str:
    return BELOW.join(above[level] for level in sorted(above))


def _fragments(section: str) -> Iterator[str]:
    for paragraph in PARAGRAPH.split(section):
        whole = paragraph.strip()
        if len(whole) <= LONGEST_CHUNK:
            yield whole
            continue
        for sentence in SENTENCE.split(whole):
            cuts = range(0, len(sentence), LONGEST_CHUNK)
            yield from (sentence[cut : cut + LONGEST_CHUNK] for cut in cuts)


def _packed(fragments: Iterator[str]) -> Iterator[str]:
    """Join neighbours while they fit."""
    pack = ""
    for fragment in filter(None, fragments):
        joined = f"{pack}\n\n{fragment}" if pack else fragment
        if len(joined) > LONGEST_CHUNK and pack:
            yield pack
            joined = fragment
        pack = joined
    if pack:
        yield pack
