"""Parsed sentences: words with lemma, part of speech and grammatical relation.

Tags and relations are those of Universal Dependencies (https://universaldependencies.org/u/dep/).
"""

from __future__ import annotations

from dataclasses import dataclass

NO_HEAD = -1  # head of the root


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a parsed sentence."""

    text: str
    start: int  # place in the source: source[start:end] == text
    end: int
    lemma: str
    upos: str  # part of speech, such as NOUN
    head: int  # position of the governing word in the sentence; NO_HEAD for the root
    deprel: str  # relation to the head, such as nsubj
    confidence: float  # probability that head and relation are right, 0 to 1


class Sentence(tuple[Token, ...]):
    """A sentence as a tree of words; a tuple, because the rules look up its words all the time."""

    __slots__ = ()

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The words in order."""
        return self

    @property
    def root(self) -> int:
        """Position of the root."""
        return next(at for at, token in enumerate(self) if token.head == NO_HEAD)

    def children(self, position: int) -> list[int]:
        """Return the positions of the words that depend on this word."""
        return [at for at, token in enumerate(self) if token.head == position]

    def subtree(self, position: int) -> list[int]:
        """Return the positions of this word and of all words below it, in order."""
        below: dict[int, list[int]] = {}
        for at, token in enumerate(self):
            below.setdefault(token.head, []).append(at)
        found, pending = [], [position]
        while pending:
            word = pending.pop()
            found.append(word)
            pending.extend(below.get(word, ()))
        return sorted(found)
