"""Where a clause begins to say something, and of whom."""

from __future__ import annotations

from collections.abc import Sequence

from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONDITIONS,
    COORDINATORS,
    DETERMINERS,
    LINKS,
    OPENERS,
    POINTING,
    POLITE_STATES,
    PREPOSITIONS,
    PRONOUNS,
    QUESTIONS,
)
from .tokens import Token
from .verb_groups import is_finite
from .verbs import BASE, FORMS, GERUND, PAST, THIRD

LONGEST_SUBJECT = 9
NEVER_SUBJECT = PREPOSITIONS | COORDINATORS | frozenset("let please".split())


def opening(words: Sequence[Token]) -> int:
    """Where a sentence begins to say something: after "Hey Mel!", "By the way,", "Thanks,"."""
    place = 0
    while place < len(words):
        word = words[place]
        follows = words[place + 1].text if place + 1 < len(words) else ""
        opener = word.low in OPENERS and (
            follows in (",", "!", "-", "…") or word.low in COORDINATORS
        )
        vocative = (
            follows == "," and word.text[:1].isupper() and place <= 2 and word.low not in PRONOUNS
        )
        way = [each.low for each in words[place : place + 3]] == ["by", "the", "way"]
        if way:
            place += 3
        elif (
            opener
            or (vocative and word.low not in ADVERBS and len(words) > place + 3)
            or word.text in (",", "!", "-", "…", "*")
            or (place == 0 and word.low in OPENERS)
        ):
            place += 1
        else:
            return place
    return place


def subject_at(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    """First and last word of the subject, its kind, and the link word the clause began with."""
    bare = _left_out(words, place) if _begins_bare(words, place) else None
    return bare or _subject(words, place) or _left_out(words, place)


def _subject(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    start, link = place, ""
    limit = min(len(words), place + 14)
    at = place
    while at < limit:
        word = words[at]
        if word.low in PRONOUNS and not (word.low in ("it", "you") and at > start):
            first = start if _joined(words, start, at) else at
            return first, at + 1, word.low, link
        if at == start and word.low in POINTING and is_finite(words, at + 1):
            return at, at + 1, "it", link
        if word.text == ",":
            start = at + 1
        elif word.kind == "mark" and word.text not in ("&", '"', "“", "”", "'", "-", "*"):
            return None
        elif at == start and (word.low in LINKS or word.low in CONDITIONS):
            start, link = at + 1, link or word.low
        elif at > start and is_finite_after_noun(words, start, at):
            last = at
            while last > start + 1 and words[last - 1].low in ADVERBS:
                last -= 1  # Mom usually texts
            return (start, last, "noun", link) if _is_noun_phrase(words, start, last) else None
        elif at - start > LONGEST_SUBJECT:
            return None
        at += 1
    return _contracted(words, start, limit, link)


def _joined(words: Sequence[Token], start: int, at: int) -> bool:
    """Max and I."""
    return at - start in (2, 3) and words[at - 1].low in ("and", "&") and words[at].low == "i"


def is_finite_after_noun(words: Sequence[Token], start: int, at: int) -> bool:
    """Whether the noun phrase before ends here, because its verb begins."""
    word = words[at]
    if word.low in AUXILIARIES and word.low not in ("be", "been", "being"):
        return not (word.low in ("may", "will") and word.text[:1].isupper())
    known = FORMS.get(word.low)
    before = words[at - 1].low
    if word.low == "like" or before in COORDINATORS:
        return False  # things like this; hope and love
    if known is None or before in DETERMINERS or before in PREPOSITIONS or word.text[:1].isupper():
        return False
    plural = before.endswith("s") or any(each.low == "and" for each in words[start:at])
    if THIRD in known.tags:
        return before != "'s"
    if BASE in known.tags and plural and PAST not in known.tags:
        return at + 1 < len(words) and words[at + 1].low not in AUXILIARIES
    return PAST in known.tags and not _is_attribute(words, at)


def _is_attribute(words: Sequence[Token], at: int) -> bool:
    """A participle before its noun ("my used camera") or after one it describes."""
    return at + 1 >= len(words) or words[at + 1].low == "by" or words[at - 1].low == "'s"


def _is_noun_phrase(words: Sequence[Token], first: int, last: int) -> bool:
    head, final = words[first], words[last - 1]
    if first == opening(words) and _is_imperative(words, first, last):
        return False
    if head.low in NEVER_SUBJECT or head.low in QUESTIONS or final.low in PREPOSITIONS:
        return False
    if head.low in ADVERBS and head.low not in ("both", "all"):
        return last - first > 1 and _is_noun_phrase(words, first + 1, last)
    if head.low in DETERMINERS or head.text[:1].isupper():
        return last - first > 1 or head.low not in DETERMINERS
    return head.kind == "word" and head.low not in AUXILIARIES


def _is_imperative(words: Sequence[Token], first: int, last: int) -> bool:
    """Keep going and stay upbeat; glad you made it: the capital is the sentence's."""
    head = words[first].low
    known = FORMS.get(head)
    order = known is not None and BASE in known.tags and last - first > 1
    sounds = known is not None and THIRD in known.tags and last - first == 1
    return (
        order or sounds or head in POLITE_STATES or head in AUXILIARIES or head in ("bet", "hope")
    )


def _contracted(
    words: Sequence[Token], start: int, limit: int, link: str
) -> tuple[int, int, str, str] | None:
    """Art's awesome: an "is" that looked like a possessive."""
    for at in range(start + 1, limit):
        if words[at].low == "'s" and words[at].kind == "clitic":
            following = words[at + 1].low if at + 1 < len(words) else ""
            telling = following in DETERMINERS or following in ADVERBS or following == "not"
            if telling or following.endswith("ing"):
                return start, at, "noun", link
            return None
    return None


def _begins_bare(words: Sequence[Token], place: int) -> bool:
    """Been, gonna, just got: no noun begins like this."""
    at = place
    while at < len(words) - 1 and words[at].low in ADVERBS:
        at += 1
    return at < len(words) and words[at].low in (
        "been",
        "gon",
        "had",
        "went",
        "got",
        "took",
        "made",
    )


def _left_out(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    """Been reading a lot. Just got some shoes. Gonna continue: the speaker is meant."""
    at = place
    while at < len(words) and words[at].low in ADVERBS:
        at += 1
    if at + 1 >= len(words) or words[at + 1].low in ("me", "us"):
        return None  # Made me proud: not the speaker did
    word = words[at]
    known = FORMS.get(word.low)
    ing = FORMS.get(words[at + 1].low)
    been = word.low == "been" and ing is not None and GERUND in ing.tags
    going = word.low == "gon"
    done = (
        known is not None
        and PAST in known.tags
        and BASE not in known.tags
        and known.lemma not in ("be", "excite")
    )
    if been or going or (done and words[at + 1].low not in ("by", "that")):
        return at, at, "", ""
    return None
