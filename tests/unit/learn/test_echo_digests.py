"""Digests of a context equal the digests of its pieces."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as some

from nexusmem.core.ids import digest
from nexusmem.learn.extract.echo_filter import (
    MIN_LETTERS,
    MIN_PIECE_CHARS,
    MIN_WORDS,
    InjectedContexts,
    text_digests,
)

QUOTING = re.compile(r"^[ \t>*•#|-]+|^[ \t]*\d{1,3}[.)][ \t]+", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+|(?<=[。！？])")
LABEL = re.compile(r"^[^\n:]{1,60}:\s+")
BRACKETS = re.compile(r"^\s*[\[(][^\])\n]{1,80}[\])]\s*|\s*[\[(][^\])\n]{1,80}[\])]\s*$")

MARKS = [
    *"\n\n\n  [](){}:>*#|-.!?…。！\"'”&<\t\r\0\x1f\x85\u2028\ufffd·",
    "\n\n",
    "\n> \n",
    ": ",
    "]  ",
]
WORDS = [
    "a",
    "Tea",
    "Alice",
    "for two",
    "3.",
    "12) ",
    "straße",
    "ﬁne",
    "ﷺ",
    "İ",
    "茶を飲む",
    "é",
    "_",
]
MARKUP = ["<b>", "</nexus-memory>", "&amp;", "&gt; ", "&#10;", "&nbsp", "- ", "[2026 | said] bob: "]
TEXTS = some.lists(some.sampled_from([*MARKS, *WORDS, *WORDS, *MARKUP]), max_size=60).map("".join)


def plainly(context: str) -> Iterator[str]:
    """Compute the digests of all variants of each piece, one by one."""
    for paragraph in re.split(r"\n[ \t>]*\n", context):
        sentences = SENTENCE.split(QUOTING.sub("", paragraph))
        for piece in (paragraph, *paragraph.split("\n"), *sentences):
            if len(piece) >= MIN_PIECE_CHARS:
                yield from read_plainly(piece)


def read_plainly(piece: str) -> Iterator[str]:
    bare = QUOTING.sub("", html.unescape(re.sub(r"</?[a-zA-Z][^<>]{0,80}>", " ", piece)))
    inner = BRACKETS.sub("", bare)
    for text in (bare, inner, LABEL.sub("", bare), LABEL.sub("", inner)):
        words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())
        if len(words) >= MIN_WORDS or sum(map(len, words)) >= MIN_LETTERS:
            yield digest("injected", " ".join(words))


@given(TEXTS)
@example("")
@example("A long line (with the end in brackets) (of which [there are two (or three]  \n ")
@example(f"Alice drinks tea for two ({'a' * 80})\n\nAlice drinks tea for two ({'a' * 81})")
@example(
    "[said] (early) Alice drinks: green tea. > Quoted, 'tea for two.' ) Tea。 Tea？ More tea！"
)
def test_context_digests_are_those_of_each_piece(context: str) -> None:
    assert text_digests(context) == frozenset(plainly(context))
    assert text_digests(context) == frozenset(plainly(context))  # now from the kept digests


class Asked(frozenset[str]):
    """A set that records the digests that are looked up."""

    def __init__(self) -> None:
        self.ones: set[object] = set()

    def __contains__(self, one: object) -> bool:
        self.ones.add(one)
        return False


@given(TEXTS)
def test_piece_is_recognized_by_its_digests(piece: str) -> None:
    made = set(read_plainly(piece)) if len(piece) >= MIN_PIECE_CHARS else set()
    asked = Asked()

    assert not InjectedContexts((asked,)).contains_text(piece)
    assert asked.ones == made
    assert all(InjectedContexts((frozenset({each}),)).contains_text(piece) for each in made)
