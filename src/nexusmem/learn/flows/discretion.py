"""Discretion: words that keep a message in its place because it is confidential or sensitive.

A confidential message says so itself ("between us"), or the caller marked it. A sensitive message
has a word of a topic such as health or money. Neither is copied to another scope by a flow. The
lists in `patterns.txt` prefer to keep a harmless message in its place over letting a sensitive one
out.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .patterns import compile_section, compile_words, section_topics
from .topics import normalize_quotes

MAX_CHARS = 20_000  # a longer text stays in its place
CACHED_TEXTS = 16
MAX_REFERENCE_WORDS = 14  # a message that only asks for discretion about the one before
MAX_BARE_WORDS = 5  # a message without a reference such as "that": "Off the record, please."

_SPACE = re.compile(r"\s+")
_REFERENCE = re.compile(
    r"\b(?:this|that|it|these|those|what i (?:just )?(?:said|told|wrote)|the above|(?:my )?last"
    r"|previous|prev)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=CACHED_TEXTS)  # asked for a message and for its sentences
def is_confidential(text: str) -> bool:
    """Return whether the words ask for discretion."""
    return bool(compile_section("confidential").search(_normalize(text)))


def refers_back(text: str) -> bool:
    """Return whether a confidential message is only about the speaker's message before it."""
    normalized = _normalize(text)
    length = len(normalized.split())
    has_reference = bool(_REFERENCE.search(normalized))
    return length <= (MAX_REFERENCE_WORDS if has_reference else MAX_BARE_WORDS)


@lru_cache(maxsize=CACHED_TEXTS)
def sensitive_topic(text: str) -> str | None:
    """Return the first sensitive topic of a text, such as "health", or None."""
    normalized = _normalize(text)
    if not compile_words("sensitive").search(normalized):
        return None
    for topic in section_topics("sensitive"):
        if compile_words(f"sensitive {topic}").search(normalized):
            return topic
    return None


def _normalize(text: str) -> str:
    return _SPACE.sub(" ", normalize_quotes(text)).casefold()
