"""What of an event is its own: not what Nexus put there, and not what was said before.

An agent reads memories and talks about them. Learned again, they would look like a second voice
that says the same, and every repetition would make them surer. So:

- a fenced block is left out of everything (`core.fence`),
- an agent's or a tool's words that equal what was injected into the place lately are left out of
  everything, also without the fence,
- what repeats an earlier message makes a passage, and no second fact: one origin counts once.

People are believed when they say again what they were shown; saying it twice is no second fact.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import add

from ..core.fence import unfenced
from ..core.ids import digests
from ..core.records import Event, EventKind
from ..core.text import each_alone, words_alone

FEWEST_WORDS = 4  # "Yes, of course." is nobody's in particular,
FEWEST_LETTERS = 16  # also where words have no spaces between them
SHORTEST = 2 * FEWEST_WORDS - 1  # characters of the shortest words, with spaces
LONGEST_COMPARED = 20_000  # characters of an earlier message
MOST_CONTEXTS = 64
MOST_DIGESTS = 20_000
PARAGRAPH = re.compile(r"\n[ \t>]*\n")
# Between sentences, with the mark that ends one: a search for these letters is a fast one.
SENTENCE = re.compile(r"([.!?…。！？])(?:(?<=[.!?…])[\"'”’)\]]{0,3}\s+|(?<=[。！？]))")
LABEL = re.compile(r"[^\n:]{1,60}:\s+")  # "Alice: …", "Memory: …"
HEADER = re.compile(r"\s*[\[(][^\])\n]{1,80}[\])]\s*")  # "[2026-03-01, Alice] …"
TRAILER = re.compile(r"[\[(][^\])\n]{1,80}[\])]$")
LONGEST_TRAILER = 80 + 2  # characters, and both brackets
ELEMENT = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
QUOTING = re.compile(r"[ \t>*•#|-]+|[ \t]*\d{1,3}[.)][ \t]+")  # where a line begins


@dataclass(frozen=True, slots=True)
class Injected:
    """What was put before the model in one place lately, as digests: the texts are not kept.

    Whoever composes a context adds it (`plus`) and keeps this with the place, and only for the
    place: what was injected elsewhere must not change what is learned here. Digests of a text
    are as personal as the text, so they go when it is forgotten or the place is.
    """

    contexts: tuple[frozenset[str], ...] = ()  # oldest first

    def plus(self, context: str) -> Injected:
        """With one more context; the oldest are let go when there are too many."""
        kept = (*self.contexts, digests_of(context))[-MOST_CONTEXTS:]
        while len(kept) > 1 and sum(map(len, kept)) > MOST_DIGESTS:
            kept = kept[1:]
        return Injected(kept)

    def holds(self, text: str) -> bool:
        """Whether this line, sentence or paragraph was injected."""
        return any(
            made in context for made in _spellings(text) for context in reversed(self.contexts)
        )


NOTHING_INJECTED = Injected()


def digests_of(context: str) -> frozenset[str]:
    """Digests of the lines, sentences and paragraphs of a text, fence or not.

    Words alone count: spaces, punctuation, capitals, quoting and escaping may change on the way.
    """
    bare = set(_bare_pieces(context))  # a line and the sentence in it are nearly the same
    return frozenset(_digests({text for piece in bare for text in _readings(piece)}))


def own_words(event: Event, injected: Injected = NOTHING_INJECTED) -> str:
    """What passages are made of: the event's text without what Nexus had put there."""
    text = unfenced(event.text)
    if is_person(event) or not injected.contexts or not text:
        return text
    return without(text, injected.holds)


def new_words(
    event: Event, recent: Iterable[Event] = (), injected: Injected = NOTHING_INJECTED
) -> str:
    """What facts may be learned from: own words that nobody said before.

    `recent` are messages of the same place from before this one. Of an agent or a tool, each
    sentence that repeats somebody's is left out. A person's message counts again, unless the
    same person said the same before: also when it is imported under another key.
    """
    text = own_words(event, injected)
    before = [each for each in recent if each.id != event.id]
    if not text or not before:
        return text
    same = (unfenced(each.text) for each in before if each.speaker == event.speaker)
    if any(_plain(said) == _plain(text) for said in same if _alike(said, text)):
        return ""
    if is_person(event):
        return text
    earlier = "\n".join(_plain(each.text[:LONGEST_COMPARED]) for each in before)
    return without(text, lambda piece: _worth(piece) and _plain(piece) in earlier)


def is_person(event: Event) -> bool:
    """Whether a person says it here, rather than an agent, a tool or a document."""
    return event.role == "user" and event.kind is not EventKind.DOCUMENT


def without(text: str, known: Callable[[str], bool]) -> str:
    """The text without its known paragraphs, lines and sentences; unchanged if there are none."""
    paragraphs = PARAGRAPH.split(text)
    kept = ["" if known(each) else _unknown(each, known) for each in paragraphs]
    return text if kept == paragraphs else "\n\n".join(filter(str.strip, kept))


def _unknown(paragraph: str, known: Callable[[str], bool]) -> str:
    if len(paragraph) < SHORTEST:
        return paragraph
    flowing = "\n".join(line for line in paragraph.split("\n") if not known(line))
    sentences = _sentences(flowing)
    left = [sentence for sentence in sentences if not known(sentence)]
    return flowing if left == sentences else " ".join(left)


def _bare_pieces(text: str) -> Iterator[str]:
    """Its paragraphs, their lines and their sentences, if they are long enough."""
    for paragraph in PARAGRAPH.split(text):
        lines = paragraph.split("\n")
        unquoted = [_without_start(QUOTING, line) for line in lines]
        flowing = "\n".join(unquoted)
        yield from (_bare(each) for each in _sentences(flowing) if len(each) >= SHORTEST)
        for piece, plain in zip((paragraph, *lines), (flowing, *unquoted), strict=True):
            if len(piece) >= SHORTEST:
                yield _bare(piece) if "<" in piece or "&" in piece else plain


def _sentences(text: str) -> list[str]:
    parts = SENTENCE.split(text)  # a sentence, its mark, a sentence, its mark, …
    return [*map(add, parts[::2], parts[1::2]), parts[-1]]


def _spellings(piece: str) -> list[str]:
    """Digests of a piece in every way it may be read."""
    return _digests(_readings(_bare(piece))) if len(piece) >= SHORTEST else []


def _bare(piece: str) -> str:
    return _unquoted(html.unescape(ELEMENT.sub(" ", piece) if "<" in piece else piece))


def _readings(bare: str) -> set[str]:
    """A text as it is, without its label, and without what stands in brackets."""
    inner = _unbracketed(bare)
    if ":" not in bare:
        return {bare, inner}
    return {bare, inner, _without_start(LABEL, bare), _without_start(LABEL, inner)}


def _unbracketed(text: str) -> str:
    edges = text.strip()
    if edges[:1] in "[(":
        text = _without_start(HEADER, text)
    if edges[-1:] not in "])":
        return text
    end = text.rstrip()  # only there: a paragraph may be long, and brackets are not
    trailer = TRAILER.search(end, max(0, len(end) - LONGEST_TRAILER))
    return end[: trailer.start()].rstrip() if trailer else text


def _without_start(pattern: re.Pattern[str], text: str) -> str:
    start = pattern.match(text)
    return text[start.end() :] if start else text


def _digests(texts: Iterable[str]) -> list[str]:
    """Of those that are nobody's by chance."""
    plain: list[str] = []
    marked: list[str] = []
    for text in texts:
        (plain if text.isascii() else marked).append(text)
    alone = {*each_alone(plain)}
    alone.update(words_alone(unicodedata.normalize("NFKC", text)) for text in marked)
    return digests("injected", filter(_telling, alone))


def _telling(words: str) -> bool:
    if len(words) >= 2 * FEWEST_LETTERS:  # between two of which there is at most one space
        return True
    spaces = words.count(" ")
    return spaces + 1 >= FEWEST_WORDS or len(words) - spaces >= FEWEST_LETTERS


def _unquoted(text: str) -> str:
    """Without what quotes it or makes it part of a list, line by line."""
    if "\n" in text:
        return "\n".join(_without_start(QUOTING, line) for line in text.split("\n"))
    return _without_start(QUOTING, text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" \"'“”‘’*_>.!?-")


def _alike(one: str, other: str) -> bool:
    """A glance at two texts: whether it is worth comparing them word by word."""
    return abs(len(one) - len(other)) <= 20 and _start(one) == _start(other)


def _start(text: str) -> str:
    return "".join(text[:30].casefold().split()).lstrip("\"'“”‘’*_>")[:3]


def _worth(piece: str) -> bool:
    """Whether so many words in a row are nobody's by chance."""
    return len(piece.split(None, FEWEST_WORDS)) >= FEWEST_WORDS or (
        not piece.isascii() and len(piece) >= FEWEST_LETTERS
    )
