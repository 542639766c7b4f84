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
    TURNS,
)
from .tokens import Token, is_shortened
from .verb_groups import is_finite
from .verbs import BASE, FORMS, GERUND, PAST, THIRD

LONGEST_SUBJECT = 9
AFTER_OPENERS = frozenset(",!-…")
SKIPPED = AFTER_OPENERS | {"*"}
BEFORE_NOUNS = COORDINATORS | DETERMINERS | PREPOSITIONS
INSIDE_SUBJECTS = frozenset("&\"“”'-*")
LINKED = LINKS | CONDITIONS
IN_CASE = "in-case"
BARE_VERBS = frozenset("been gon had went got took made".split())
NEVER_SUBJECT = PREPOSITIONS | COORDINATORS | frozenset("let please".split())


def opening(words: Sequence[Token]) -> int:
    """Where a sentence begins to say something: after "Hey Mel!", "By the way,", "Thanks,"."""
    place, size = 0, len(words)
    while place < size:
        _, _, text, low, kind = words[place]
        follows = words[place + 1].text if place + 1 < size else ""
        if low in LEADING and (length := _leads_in(words, place)):
            place += length
            continue
        if kind == "mark":
            passed = text in SKIPPED
        elif low in OPENERS:
            passed = place == 0 or follows in AFTER_OPENERS or low in COORDINATORS
        else:
            passed = False
        if not passed and follows == "," and place <= 2 and size > place + 3:
            passed = text[:1].isupper() and low not in PRONOUNS and low not in ADVERBS
        if not passed:
            return place
        place += 1
    return place


LEADING = frozenset("by remember note know keep".split())
LEADS_IN = (("by", "the", "way"), ("keep", "in", "mind", "that"))


def _leads_in(words: Sequence[Token], place: int) -> int:
    """How many words only announce what comes: by the way; remember that, said at the start."""
    low = tuple([word.low for word in words[place : place + 4]])
    for phrase in LEADS_IN:
        if low[: len(phrase)] == phrase:
            return len(phrase)
    told = low[0] in ("remember", "note", "know") and len(low) > 2
    if told and low[1] == "that":
        return 2
    return 1 if told and low[0] == "remember" and low[1] in ("i", "my") else 0


def subject_at(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    """First and last word of the subject, its kind, and the link word the clause began with."""
    bare = _left_out(words, place) if _begins_bare(words, place) else None
    return bare or _subject(words, place) or _left_out(words, place)


def _subject(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    start, link = place, ""
    limit = min(len(words), place + 14)
    at = place
    while at < limit:
        _, _, text, low, kind = words[at]
        if low in PRONOUNS and not (low in ("it", "you") and at > start):
            first = start if _joined(words, start, at) else at
            linked = at > start and words[at - 1].low in LINKED  # call once I live there
            return first, at + 1, low, words[at - 1].low if linked else link
        if at == start and low in POINTING and is_finite(words, at + 1):
            return at, at + 1, "it", link
        if text == ",":
            start = at + 1
        elif kind == "mark" and text not in INSIDE_SUBJECTS and not is_shortened(words, at):
            return None
        elif turn := _turn(words, start, at):
            start, link = at + 1, (link or turn if at == start else turn)
        elif at > start and is_finite_after_noun(words, start, at):
            last = at
            while last > start + 1 and words[last - 1].low in ADVERBS:
                last -= 1  # Mom usually texts
            return (start, last, "noun", link) if _is_noun_phrase(words, start, last) else None
        elif at - start > LONGEST_SUBJECT:
            return None
        at += 1
    return _contracted(words, start, limit, link)


def _turn(words: Sequence[Token], start: int, at: int) -> str:
    """The word that begins another clause here: the release slipped because Priya is ill."""
    low = words[at].low
    if at == start:
        return low if low in LINKED else ""
    if low == "case":
        return IN_CASE if words[at - 1].low == "in" else ""
    return low if low in TURNS and words[at - 1].low not in DETERMINERS else ""


def _joined(words: Sequence[Token], start: int, at: int) -> bool:
    """Max and I."""
    return at - start in (2, 3) and words[at - 1].low in ("and", "&") and words[at].low == "i"


def is_finite_after_noun(words: Sequence[Token], start: int, at: int) -> bool:
    """Whether the noun phrase before ends here, because its verb begins."""
    _, _, text, low, _ = words[at]
    if low in AUXILIARIES and low not in ("be", "been", "being"):
        return not (low in ("may", "will") and text[:1].isupper())
    known = FORMS.get(low)
    before = words[at - 1].low
    if known is None or low == "like" or before in BEFORE_NOUNS or text[:1].isupper():
        return False  # things like this; hope and love
    if THIRD in known.tags:
        return before != "'s"
    if PAST in known.tags:
        return not _is_attribute(words, at)
    plural = before.endswith("s") or any(each.low == "and" for each in words[start:at])
    if BASE in known.tags and plural:
        return at + 1 < len(words) and words[at + 1].low not in AUXILIARIES
    return False


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
    at, last = place, len(words) - 1
    while at < last and words[at].low in ADVERBS:
        at += 1
    return at <= last and words[at].low in BARE_VERBS


def _left_out(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    """Been reading a lot. Just got some shoes. Gonna continue: the speaker is meant."""
    at = place
    while at < len(words) and words[at].low in ADVERBS:
        at += 1
    if at + 1 >= len(words) or words[at + 1].low in ("me", "us"):
        return None  # Made me proud: not the speaker did
    low, following = words[at].low, words[at + 1].low
    known = FORMS.get(low)
    if known is None:
        return (at, at, "", "") if low == "gon" else None
    if low == "been":
        ing = FORMS.get(following)
        return (at, at, "", "") if ing is not None and GERUND in ing.tags else None
    done = PAST in known.tags and BASE not in known.tags and known.lemma not in ("be", "excite")
    return (at, at, "", "") if done and following not in ("by", "that") else None
