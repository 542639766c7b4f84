"""The fence around what Nexus puts before a model, so that it is known when it comes back.

    <nexus-memory id="…" sha256="…">
    what was remembered
    </nexus-memory>

Agents' logs hold whole prompts, and models quote what they read. A fenced block is recognised
although it was quoted, escaped, cut or repeated, and is never learned again. Nothing in it can
close it: what looks like a fence in the content is written differently there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from .visible import visible

__all__ = ["fenced", "fenced_steadily", "inert", "unfenced", "visible"]

NAME = "nexus-memory"

# As Markdown, HTML and JSON write it: \<, &lt;, &amp;lt;, \u003c. Every repetition is bounded,
# so that a text is read in one pass, whatever it holds.
LESS = r"(?:\\{0,4}[<＜﹤]|&(?:amp;){0,4}(?:lt|\#60|\#x3c);|\\{1,4}u003c)"
MORE = r"(?:\\{0,4}[>＞﹥]|&(?:amp;){0,4}(?:gt|\#62|\#x3e);|\\{1,4}u003e)"
BREAKS = r"[\s\u200b-\u200d\u2060\ufeff\u00ad\\]{0,4}"
TAG = re.compile(
    rf"""{LESS} {BREAKS} (?P<end>[/／]?) {BREAKS}
        nexus {BREAKS} [-‐‑‒–—−－_] {BREAKS} memory (?![\w-])
        (?P<id>[\s\\]{{1,6}}id\b)? (?: [^<>＜＞]{{0,400}}? {MORE} )?""",
    re.IGNORECASE | re.VERBOSE,
)
IMITATION = re.compile(
    rf"{LESS}[\W_]{{0,12}}nexus[\W_]{{0,12}}memory".replace(r"\#", "#"), re.IGNORECASE
)
MARK = re.compile(r"<\|(\w{1,40})\|>")  # models' own: <|im_start|>
MARGIN = " \t>|*-`\\"  # what stands before a line that is quoted, or after it
LONGEST_MARGIN = 40


class Tag(NamedTuple):
    start: int
    end: int
    closes: bool
    meant: bool  # no mere mention: it has an id, or a line of its own


def fenced(text: str, *, id: str) -> str:
    """The text as one block that its content cannot leave. The `id` names the block."""
    name = re.sub(r"[^\w.:-]", "_", id)[:80]
    content = inert(visible(text))
    proof = hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:32]
    return f'<{NAME} id="{name}" sha256="{proof}">\n{content}\n</{NAME}>'


def fenced_steadily(text: str, *, id: str) -> str:
    """The same, named at its end: its beginning stays as it is, for prompt caches."""
    name = re.sub(r"[^\w.:-]", "_", id)[:80]
    return f'<{NAME} id="context">\n{inert(visible(text))}\n(context {name})\n</{NAME}>'


def unfenced(text: str) -> str:
    """The text without any injected block.

    A block that never ends reaches to the end of the text; of a block whose beginning was cut
    off, everything before its end goes. A text that only mentions the tag stays as it is.
    """
    small = text.lower()
    if "nexus" not in small or "memory" not in small:
        return text
    pieces = [text[start:end] for start, end in _outside(text, list(_tags(text)))]
    if pieces == [text]:
        return text
    return "\n".join(filter(None, map(str.strip, pieces)))


def inert(text: str) -> str:
    """Nothing in the text is taken for a fence, for a model's own mark, or loads an image."""
    if _speaks_of_us(text):
        text = IMITATION.sub(_named, text)
    if "<" in text:  # one letter is soon seen not to occur
        text = MARK.sub(r"‹|\1|›", text)
    return text.replace("![", "[image: ") if "!" in text else text


def _speaks_of_us(text: str) -> bool:
    """Whether our name may stand there, in whatever capitals (ſ is one): bytes tell it soonest."""
    return b"nexus" in text.encode(errors="replace").lower() or "ſ" in text


def _named(found: re.Match[str]) -> str:
    return f"[{'/' if '/' in found[0] or '／' in found[0] else ''}nexus memory"


def _tags(text: str) -> Iterator[Tag]:
    for match in TAG.finditer(text):
        start, end = match.span()
        meant = match["id"] is not None or _alone(text, start, end)
        yield Tag(start, end, bool(match["end"]), meant)


def _outside(text: str, tags: list[Tag]) -> Iterator[tuple[int, int]]:
    """The stretches before, between and after the blocks."""
    last_closing = max((place for place, tag in enumerate(tags) if tag.closes), default=-1)
    begun, depth = 0, 0
    for place, tag in enumerate(tags):
        if tag.closes:
            if depth == 1 or (depth == 0 and tag.meant):  # what it closes may have been cut off
                begun = tag.end
            depth = max(0, depth - 1)
        elif depth or tag.meant or place < last_closing:
            if depth == 0:
                yield begun, tag.start - len(_before(text, tag.start))
            depth += 1
    if depth == 0:
        yield begun, len(text)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether it has a line of its own, give or take marks of quoting."""
    before = text[max(0, start - LONGEST_MARGIN) : start].rpartition("\n")[2]
    after = text[end : end + LONGEST_MARGIN].partition("\n")[0]
    return not before.strip(MARGIN) and not after.strip(MARGIN)


def _before(text: str, place: int) -> str:
    """The marks of quoting between the line's beginning and this place."""
    line = text[max(0, place - LONGEST_MARGIN) : place].rpartition("\n")[2]
    return line if not line.strip(MARGIN) else ""
