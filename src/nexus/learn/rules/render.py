"""A clause in words of its own: third person, names for pronouns, dates for "yesterday"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.dates import DateSpan, Precision, Relation
from .cast import Cast
from .lexicon import ADVERBS, AUXILIARIES, NOT, PRONOUNS
from .tokens import Token
from .verbs import BASE, FORMS, PAST, THIRD, third

AGREEING = {
    "am": "is",
    "'m": " is",
    "m": " is",
    "are": "is",
    "'re": " is",
    "were": "was",
    "have": "has",
    "'ve": " has",
    "do": "does",
}
OF_SEVERAL = {"'ve": " have", "'re": " are"}  # Max and I've: no name carries these
LONG = {"'ll": " will", "'d": " would", "gon": "going", "na": " to"}
CHANGING = frozenset("i we my our mine ours me us myself ourselves you your gon".split())
LONGEST_PARTNER = 5  # words: "yesterday my old friend Max and I"
JOINING = frozenset("and or but then".split())
HELPERS = frozenset("can could will would should may might must did had ca wo be been was".split())
BARE = frozenset("let make makes made help helps see saw have had to hear watch".split())
SAID_BEFORE = frozenset("on in at by since until before after from during around till for".split())
LONGEST = 400


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    body = " ".join(text.split()).strip(' ,;:-–—*"')
    body = body if body.endswith((".", "!", "?", "…")) else body + "."
    return body[:1].upper() + body[1:]


class Renderer:
    """Writes words anew for somebody who was not there."""

    def __init__(self, cast: Cast, dates: Sequence[DateSpan]) -> None:
        self._cast = cast
        self._dates = {span.start: span for span in dates}

    def write(
        self, words: Sequence[Token], named: Mapping[int, str] | None = None, *, said: bool = False
    ) -> str:
        """`named`: what stands at a place instead; `said`: the speaker has been named before."""
        self._said, self._owned, self._agree, self._plain = said, said, False, False
        pieces: list[str] = []
        at, size = 0, 0
        while at < len(words) and size < LONGEST:
            word = words[at]
            gap = " " if at and words[at - 1].end < word.start else ""
            span = self._dates.get(word.start) if self._dates else None
            if span is not None:
                piece = _date(span, pieces[-1].strip().lower() if pieces else "")
                at = _after(words, at, span.end)
            else:
                piece = self._word(words, at) if self._changes(words, at) else word.text
                piece = named.get(word.start, piece) if named else piece
                at += 1
            pieces.append(piece if piece.startswith(" ") else gap + piece)
            size += len(piece)
        return "".join(pieces)

    def _changes(self, words: Sequence[Token], at: int) -> bool:
        """Whether a word has to be looked at: most stay as they are."""
        _, _, _, low, kind = words[at]
        if self._agree or low in CHANGING or kind == "clitic":
            return True
        return self._plain and (low == "to" or (at > 0 and words[at - 1].low in JOINING))

    def _word(self, words: Sequence[Token], at: int) -> str:
        word = words[at]
        replaced = self._person(words, at)
        if replaced is not None:
            return replaced
        if self._agree:
            return self._agreed(word)
        if word.kind == "clitic" and at and words[at - 1].low in ("i", "we"):
            return OF_SEVERAL.get(word.low, LONG.get(word.low, word.text))
        follows = self._plain and at and words[at - 1].low in JOINING and word.text == word.low
        if follows and _is_plain_verb(word.low):
            return third(word.low)
        if word.low == "to":
            self._plain = False
        return (
            LONG.get(word.low, word.text)
            if word.kind == "clitic" or word.low == "gon"
            else word.text
        )

    def _person(self, words: Sequence[Token], at: int) -> str | None:
        """A name for a pronoun of the first or second person."""
        low = words[at].low
        if low in ("i", "we"):
            together = _together(words, at)
            asked = at > 0 and words[at - 1].low in AUXILIARIES  # Can I send it
            self._agree, self._plain = not together and not asked, False
            self._said = True
            return self._cast.speaker if low == "i" else self._cast.group
        if low in ("my", "our", "mine", "ours"):
            following = words[at + 1].low if at + 1 < len(words) else ""
            return self._own(self._cast.our(following) if low == "our" else self._cast.speaker)
        if low in ("me", "us"):
            known, self._said = self._said, True
            return "them" if known else (self._cast.speaker if low == "me" else self._cast.group)
        if low in ("myself", "ourselves"):
            return "themselves"
        if low in ("you", "your") and self._cast.other:
            self._agree = low == "you" and self._subject_follows(words, at)
            return self._cast.other + ("'s" if low == "your" else "")
        return None

    def _subject_follows(self, words: Sequence[Token], at: int) -> bool:
        if at and (words[at - 1].low in BARE or words[at - 1].low in AUXILIARIES):
            return False
        following = words[at + 1].low if at + 1 < len(words) else ""
        return following in AGREEING or following in ADVERBS or following in FORMS

    def _own(self, owner: str) -> str:
        known, self._owned = self._said or self._owned, True
        return "their" if known and owner == self._cast.speaker else f"{owner}'s"

    def _agreed(self, word: Token) -> str:
        """The verb after a name that stands for "I"."""
        low = word.low
        if low in ADVERBS or low in NOT or low in ("no", "longer"):
            return "" if low in ("all", "both") else word.text  # one name stands for "we all"
        self._agree = False
        if low in AGREEING:
            self._plain = low not in ("do", "were")
            return AGREEING[low]
        if low in LONG:
            return "is going" if low == "gon" else LONG[low]
        if low in HELPERS:
            return word.text
        if _is_plain_verb(low) or (
            low not in FORMS and word.kind == "word" and not low.endswith("ed")
        ):
            self._plain = True
            return third(low)
        return word.text


def _together(words: Sequence[Token], at: int) -> bool:
    """Max and I love: two do it. I paint and I love, Max paints and I love: another clause."""
    if at < 2 or words[at - 1].low not in ("and", "&"):
        return False
    if at + 1 < len(words) and words[at + 1].low in ("am", "'m", "m"):
        return False
    for place in range(at - 2, max(at - 2 - LONGEST_PARTNER, -1), -1):
        word = words[place]
        if word.kind == "mark":
            return place < at - 2
        form = FORMS.get(word.low)
        finite = form is not None and not form.tags.isdisjoint((THIRD, PAST))
        if word.low in PRONOUNS or word.low in AUXILIARIES or finite:
            return False
    return at - 2 < LONGEST_PARTNER


def _is_plain_verb(low: str) -> bool:
    known = FORMS.get(low)
    return known is not None and BASE in known.tags and (PAST not in known.tags or low == "read")


def _after(words: Sequence[Token], at: int, end: int) -> int:
    while at < len(words) and words[at].start < end:
        at += 1
    return at


# -- dates

DAY = "{0.day} {0:%B %Y}"
PHRASES = {  # the preposition it takes, and how it is written
    Precision.MINUTE: ("on", DAY + " at {0:%H:%M}"),
    Precision.HOUR: ("on", DAY + " at {0:%H:%M}"),
    Precision.PART_OF_DAY: ("on", DAY),
    Precision.DAY: ("on", DAY),
    Precision.WEEKEND: ("on", "the weekend of " + DAY),
    Precision.WEEK: ("in", "the week of " + DAY),
    Precision.MONTH: ("in", "{0:%B %Y}"),
    Precision.QUARTER: ("in", "the quarter from {0:%B %Y}"),
    Precision.YEAR: ("in", "{0.year}"),
}
RELATIVE = frozenset(
    """yesterday today tonight tomorrow ago last next this week weekend month monday tuesday
    wednesday thursday friday saturday sunday morning afternoon evening night day year past
    coming""".split()
)


def _date(span: DateSpan, before: str) -> str:
    """The date as it is called a year later; what names its year or recurs stays as it was said."""
    if span.relation not in (Relation.IN, Relation.AROUND) or span.precision not in PHRASES:
        return span.text
    if not RELATIVE & set(span.text.lower().split()):
        return span.text
    preposition, how = PHRASES[span.precision]
    written = how.format(span.since)
    first = span.text.split(maxsplit=1)[0].lower()
    if before in SAID_BEFORE or first in SAID_BEFORE:
        return (
            f"{first} {written}" if first in SAID_BEFORE and before not in SAID_BEFORE else written
        )
    return f"{preposition} {written}"
