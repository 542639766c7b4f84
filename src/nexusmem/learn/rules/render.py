"""Rewriting of clauses: third person, names for pronouns, dates for "yesterday"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...text.dates import DatePrecision, DateRelation, DateSpan
from .coreference import Speakers
from .lexicon import ADVERBS, AUXILIARIES, NEGATIONS, PRONOUNS
from .tokens import Token
from .verbs import BASE, PAST, THIRD, VERB_FORMS, third_person

THIRD_PERSON_FORMS = {
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
PLURAL_CONTRACTIONS = {"'ve": " have", "'re": " are"}  # "Max and I've"
EXPANDED_CONTRACTIONS = {"'ll": " will", "'d": " would", "gon": "going", "na": " to"}
REWRITTEN_WORDS = frozenset("i we my our mine ours me us myself ourselves you your gon".split())
MAX_PARTNER_WORDS = 5  # "yesterday my old friend Max and I"
CONJUNCTIONS = frozenset("and or but then".split())
HELPERS = frozenset("can could will would should may might must did had ca wo be been was".split())
BARE_INFINITIVE_VERBS = frozenset(
    "let make makes made help helps see saw have had to hear watch".split()
)
DATE_PREPOSITIONS = frozenset(
    "on in at by since until before after from during around till for".split()
)
MAX_CHARACTERS = 400


def format_sentence(text: str) -> str:
    """Return the sentence with a capital and a full stop."""
    body = " ".join(text.split()).strip(' ,;:-–—*"')
    body = body if body.endswith((".", "!", "?", "…")) else body + "."
    return body[:1].upper() + body[1:]


class ClauseRenderer:
    """Rewrites words for readers without the conversation."""

    def __init__(self, speakers: Speakers, dates: Sequence[DateSpan]) -> None:
        self._speakers = speakers
        self._dates = {span.start: span for span in dates}

    def render_words(
        self,
        words: Sequence[Token],
        replacements: Mapping[int, str] | None = None,
        *,
        speaker_named: bool = False,
    ) -> str:
        """Rewrite words. `named` maps positions to replacements; `said`: the speaker was
        already named.
        """
        self._speaker_named, self._owner_named, self._must_agree, self._inflect_joined = (
            speaker_named,
            speaker_named,
            False,
            False,
        )
        pieces: list[str] = []
        at, size = 0, 0
        while at < len(words) and size < MAX_CHARACTERS:
            word = words[at]
            gap = " " if at and words[at - 1].end < word.start else ""
            span = self._dates.get(word.start) if self._dates else None
            if span is not None:
                piece = _format_date(span, pieces[-1].strip().lower() if pieces else "")
                at = _skip_to(words, at, span.end)
            else:
                piece = (
                    self._rewrite_word(words, at) if self._needs_rewrite(words, at) else word.text
                )
                piece = replacements.get(word.start, piece) if replacements else piece
                at += 1
            pieces.append(piece if piece.startswith(" ") else gap + piece)
            size += len(piece)
        return "".join(pieces)

    def _needs_rewrite(self, words: Sequence[Token], at: int) -> bool:
        """Return whether a word must be checked. Most words stay unchanged."""
        _, _, _, low, kind = words[at]
        if self._must_agree or low in REWRITTEN_WORDS or kind == "clitic":
            return True
        return self._inflect_joined and (
            low == "to" or (at > 0 and words[at - 1].lower in CONJUNCTIONS)
        )

    def _rewrite_word(self, words: Sequence[Token], at: int) -> str:
        word = words[at]
        replaced = self._replace_pronoun(words, at)
        if replaced is not None:
            return replaced
        if self._must_agree:
            return self._inflect_verb(word)
        if word.kind == "clitic" and at and words[at - 1].lower in ("i", "we"):
            return PLURAL_CONTRACTIONS.get(
                word.lower, EXPANDED_CONTRACTIONS.get(word.lower, word.text)
            )
        follows = (
            self._inflect_joined
            and at
            and words[at - 1].lower in CONJUNCTIONS
            and word.text == word.lower
        )
        if follows and _is_base_verb(word.lower):
            return third_person(word.lower)
        if word.lower == "to":
            self._inflect_joined = False
        return (
            EXPANDED_CONTRACTIONS.get(word.lower, word.text)
            if word.kind == "clitic" or word.lower == "gon"
            else word.text
        )

    def _replace_pronoun(self, words: Sequence[Token], at: int) -> str | None:
        """Return a name for a pronoun of the first or second person."""
        low = words[at].lower
        if low in ("i", "we"):
            together = _is_joint_subject(words, at)
            asked = at > 0 and words[at - 1].lower in AUXILIARIES  # Can I send it
            self._must_agree, self._inflect_joined = not together and not asked, False
            self._speaker_named = True
            return self._speakers.speaker if low == "i" else self._speakers.group
        if low in ("my", "our", "mine", "ours"):
            following = words[at + 1].lower if at + 1 < len(words) else ""
            return self._possessive_for(
                self._speakers.resolve_our(following) if low == "our" else self._speakers.speaker
            )
        if low in ("me", "us"):
            known, self._speaker_named = self._speaker_named, True
            return (
                "them"
                if known
                else (self._speakers.speaker if low == "me" else self._speakers.group)
            )
        if low in ("myself", "ourselves"):
            return "themselves"
        if low in ("you", "your") and self._speakers.addressee:
            self._must_agree = low == "you" and self._verb_follows(words, at)
            return self._speakers.addressee + ("'s" if low == "your" else "")
        return None

    def _verb_follows(self, words: Sequence[Token], at: int) -> bool:
        if at and (
            words[at - 1].lower in BARE_INFINITIVE_VERBS or words[at - 1].lower in AUXILIARIES
        ):
            return False
        following = words[at + 1].lower if at + 1 < len(words) else ""
        return following in THIRD_PERSON_FORMS or following in ADVERBS or following in VERB_FORMS

    def _possessive_for(self, owner: str) -> str:
        known, self._owner_named = self._speaker_named or self._owner_named, True
        return "their" if known and owner == self._speakers.speaker else f"{owner}'s"

    def _inflect_verb(self, word: Token) -> str:
        """Return the verb form after a name that replaces "I"."""
        low = word.lower
        if low in ADVERBS or low in NEGATIONS or low in ("no", "longer"):
            return "" if low in ("all", "both") else word.text  # one name replaces "we all"
        self._must_agree = False
        if low in THIRD_PERSON_FORMS:
            self._inflect_joined = low not in ("do", "were")
            return THIRD_PERSON_FORMS[low]
        if low in EXPANDED_CONTRACTIONS:
            return "is going" if low == "gon" else EXPANDED_CONTRACTIONS[low]
        if low in HELPERS:
            return word.text
        if _is_base_verb(low) or (
            low not in VERB_FORMS and word.kind == "word" and not low.endswith("ed")
        ):
            self._inflect_joined = True
            return third_person(low)
        return word.text


def _is_joint_subject(words: Sequence[Token], at: int) -> bool:
    """Return whether "I" is in a joint subject: "Max and I love", not "Max paints and I love"."""
    if at < 2 or words[at - 1].lower not in ("and", "&"):
        return False
    if at + 1 < len(words) and words[at + 1].lower in ("am", "'m", "m"):
        return False
    for place in range(at - 2, max(at - 2 - MAX_PARTNER_WORDS, -1), -1):
        word = words[place]
        if word.kind == "mark":
            return place < at - 2
        form = VERB_FORMS.get(word.lower)
        finite = form is not None and not form.tags.isdisjoint((THIRD, PAST))
        if word.lower in PRONOUNS or word.lower in AUXILIARIES or finite:
            return False
    return at - 2 < MAX_PARTNER_WORDS


def _is_base_verb(lower: str) -> bool:
    known = VERB_FORMS.get(lower)
    return known is not None and BASE in known.tags and (PAST not in known.tags or lower == "read")


def _skip_to(words: Sequence[Token], at: int, end: int) -> int:
    while at < len(words) and words[at].start < end:
        at += 1
    return at


# -- dates

DAY_FORMAT = "{0.day} {0:%B %Y}"
DATE_PHRASES = {  # its preposition and its format
    DatePrecision.MINUTE: ("on", DAY_FORMAT + " at {0:%H:%M}"),
    DatePrecision.HOUR: ("on", DAY_FORMAT + " at {0:%H:%M}"),
    DatePrecision.PART_OF_DAY: ("on", DAY_FORMAT),
    DatePrecision.DAY: ("on", DAY_FORMAT),
    DatePrecision.WEEKEND: ("on", "the weekend of " + DAY_FORMAT),
    DatePrecision.WEEK: ("in", "the week of " + DAY_FORMAT),
    DatePrecision.MONTH: ("in", "{0:%B %Y}"),
    DatePrecision.QUARTER: ("in", "the quarter from {0:%B %Y}"),
    DatePrecision.YEAR: ("in", "{0.year}"),
}
RELATIVE_DATE_WORDS = frozenset(
    """yesterday today tonight tomorrow ago last next this week weekend month monday tuesday
    wednesday thursday friday saturday sunday morning afternoon evening night day year past
    coming""".split()
)


def _format_date(span: DateSpan, before: str) -> str:
    """Return the date in absolute form. A date with a year or a recurrence stays unchanged."""
    if (
        span.relation not in (DateRelation.IN, DateRelation.AROUND)
        or span.precision not in DATE_PHRASES
    ):
        return span.text
    if not RELATIVE_DATE_WORDS & set(span.text.lower().split()):
        return span.text
    preposition, how = DATE_PHRASES[span.precision]
    written = how.format(span.since)
    first = span.text.split(maxsplit=1)[0].lower()
    if before in DATE_PREPOSITIONS or first in DATE_PREPOSITIONS:
        return (
            f"{first} {written}"
            if first in DATE_PREPOSITIONS and before not in DATE_PREPOSITIONS
            else written
        )
    return f"{preposition} {written}"
