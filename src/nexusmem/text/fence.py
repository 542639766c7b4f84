"""Fence: marks text injected into a prompt, so that Nexus recognizes and never learns it.

    <nexus-memory id="…" sha256="…">
    injected memories
    </nexus-memory>

Logs of agents contain complete prompts, and models quote their input. A fenced block is
recognized even if it was quoted, escaped, truncated or repeated. Content cannot close its
fence: anything that looks like a fence is rewritten.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from .invisible_text import reveal_invisible

__all__ = [
    "CACHED_FENCE",
    "fence_for_cache",
    "fence_text",
    "neutralize_markup",
    "remove_fences",
    "reveal_invisible",
]

TAG_NAME = "nexus-memory"
CACHED_FENCE = (f"<{TAG_NAME} id>\n", f"\n</{TAG_NAME}>")  # see `fence_for_cache`

# Markdown, HTML and JSON escapes: \<, &lt;, &amp;lt;, \u003c. All repetitions are bounded, so
# that the search stays linear.
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
MODEL_MARK = re.compile(r"<\|(\w{1,40})\|>")  # control tokens of models: <|im_start|>
MARGIN = " \t>|*-`\\"  # quoting marks before or after a line
MAX_MARGIN = 40


class FenceTag(NamedTuple):
    """An opening or closing fence tag in a text."""

    start: int
    end: int
    is_closing: bool
    is_deliberate: bool  # has an id or its own line, so it is not just mentioned


def fence_text(text: str, *, id: str) -> str:
    """Return the text as one fenced block with this id, which its content cannot close."""
    name = re.sub(r"[^\w.:-]", "_", id)[:80]
    content = neutralize_markup(reveal_invisible(text))
    proof = hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:32]
    return f'<{TAG_NAME} id="{name}" sha256="{proof}">\n{content}\n</{TAG_NAME}>'


def fence_for_cache(text: str, *, end: str = CACHED_FENCE[1]) -> str:
    """Return a fenced block that begins with the same bytes for the same text: it has no id.

    The tag still has an `id`, so that it is recognized in the middle of a line. With an empty
    `end` the block is open: the beginning of a longer one.
    """
    return f"{CACHED_FENCE[0]}{neutralize_markup(reveal_invisible(text))}{end}"


def remove_fences(text: str) -> str:
    """Return the text without fenced blocks.

    An unclosed block extends to the end of the text. A closing tag without a start removes
    everything before it. A text that only mentions the tag stays unchanged.
    """
    lowered = text.lower()
    if "nexus" not in lowered or "memory" not in lowered:
        return text
    pieces = [text[start:end] for start, end in _spans_outside(text, list(_find_tags(text)))]
    if pieces == [text]:
        return text
    return "\n".join(filter(None, map(str.strip, pieces)))


def neutralize_markup(text: str) -> str:
    """Return the text without fence tags, control tokens of models and image links."""
    if _mentions_fence(text):
        text = IMITATION.sub(_replace_imitation, text)
    if "<" in text:  # faster than running the pattern on every text
        text = MODEL_MARK.sub(r"‹|\1|›", text)
    return text.replace("![", "[image: ") if "!" in text else text


def _mentions_fence(text: str) -> bool:
    """Return whether the text may contain our tag name in any case (including ſ); fast."""
    return b"nexus" in text.encode(errors="replace").lower() or "ſ" in text


def _replace_imitation(match: re.Match[str]) -> str:
    return f"[{'/' if '/' in match[0] or '／' in match[0] else ''}nexus memory"


def _find_tags(text: str) -> Iterator[FenceTag]:
    for match in TAG.finditer(text):
        start, end = match.span()
        is_deliberate = match["id"] is not None or _is_own_line(text, start, end)
        yield FenceTag(start, end, bool(match["end"]), is_deliberate)


def _spans_outside(text: str, tags: list[FenceTag]) -> Iterator[tuple[int, int]]:
    """Yield the spans before, between and after the blocks."""
    last_closing = max((index for index, tag in enumerate(tags) if tag.is_closing), default=-1)
    start, depth = 0, 0
    for index, tag in enumerate(tags):
        if tag.is_closing:
            if depth == 1 or (
                depth == 0 and tag.is_deliberate
            ):  # its opening tag may have been truncated
                start = tag.end
            depth = max(0, depth - 1)
        elif depth or tag.is_deliberate or index < last_closing:
            if depth == 0:
                yield start, tag.start - len(_quote_prefix(text, tag.start))
            depth += 1
    if depth == 0:
        yield start, len(text)


def _is_own_line(text: str, start: int, end: int) -> bool:
    """Return whether only quoting marks share the line."""
    before = text[max(0, start - MAX_MARGIN) : start].rpartition("\n")[2]
    after = text[end : end + MAX_MARGIN].partition("\n")[0]
    return not before.strip(MARGIN) and not after.strip(MARGIN)


def _quote_prefix(text: str, position: int) -> str:
    """Return the quoting marks between the start of the line and this position."""
    line = text[max(0, position - MAX_MARGIN) : position].rpartition("\n")[2]
    return line if not line.strip(MARGIN) else ""
