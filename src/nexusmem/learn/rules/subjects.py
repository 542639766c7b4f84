"""Subject detection: where a clause starts, and its subject."""

from __future__ import annotations

from collections.abc import Sequence

from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_STARTERS,
    CONDITIONS,
    COORDINATORS,
    DEMONSTRATIVES,
    DETERMINERS,
    LINKS,
    OPENERS,
    POLITE_STATES,
    PREPOSITIONS,
    PRONOUNS,
    QUESTIONS,
)
from .tokens import Token, is_abbreviation
from .verbs import BASE, GERUND, PAST, THIRD, VERB_FORMS, is_finite

MAX_SUBJECT_WORDS = 9
AFTER_OPENERS = frozenset(",!-…")
OPENING_MARKS = AFTER_OPENERS | {"*"}
BEFORE_NOUNS = COORDINATORS | DETERMINERS | PREPOSITIONS
INSIDE_SUBJECTS = frozenset("&\"“”'-*")
LINK_WORDS = LINKS | CONDITIONS
IN_CASE = "in-case"
BARE_VERBS = frozenset("been gon had went got took made".split())
NEVER_SUBJECT = PREPOSITIONS | COORDINATORS | frozenset("let please".split())


def find_opening(words: Sequence[Token]) -> int:
    """Return the start of the content: after "Hey Mel!", "By the way,", "Thanks,"."""
    place, size = 0, len(words)
    while place < size:
        _, _, text, low, kind = words[place]
        follows = words[place + 1].text if place + 1 < size else ""
        if low in LEAD_IN_STARTS and (length := _lead_in_length(words, place)):
            place += length
            continue
        if kind == "mark":
            passed = text in OPENING_MARKS
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


LEAD_IN_STARTS = frozenset("by remember note know keep".split())
LEAD_IN_PHRASES = (("by", "the", "way"), ("keep", "in", "mind", "that"))


def _lead_in_length(words: Sequence[Token], position: int) -> int:
    """Return the number of lead-in words: "by the way"; "remember that" at the start."""
    low = tuple([word.lower for word in words[position : position + 4]])
    for phrase in LEAD_IN_PHRASES:
        if low[: len(phrase)] == phrase:
            return len(phrase)
    told = low[0] in ("remember", "note", "know") and len(low) > 2
    if told and low[1] == "that":
        return 2
    return 1 if told and low[0] == "remember" and low[1] in ("i", "my") else 0


def find_subject(words: Sequence[Token], position: int) -> tuple[int, int, str, str] | None:
    """Return first and last word of the subject, its kind, and the conjunction before it."""
    bare = _implicit_subject(words, position) if _starts_with_bare_verb(words, position) else None
    return bare or _explicit_subject(words, position) or _implicit_subject(words, position)


def _explicit_subject(words: Sequence[Token], position: int) -> tuple[int, int, str, str] | None:
    start, link = position, ""
    limit = min(len(words), position + 14)
    at = position
    while at < limit:
        _, _, text, low, kind = words[at]
        if low in PRONOUNS and not (low in ("it", "you") and at > start):
            first = start if _is_joint_subject(words, start, at) else at
            linked = at > start and words[at - 1].lower in LINK_WORDS  # call once I live there
            return first, at + 1, low, words[at - 1].lower if linked else link
        if at == start and low in DEMONSTRATIVES and is_finite(words, at + 1):
            return at, at + 1, "it", link
        if text == ",":
            start = at + 1
        elif kind == "mark" and text not in INSIDE_SUBJECTS and not is_abbreviation(words, at):
            return None
        elif turn := _clause_starter(words, start, at):
            start, link = at + 1, (link or turn if at == start else turn)
        elif at > start and is_finite_after_noun(words, start, at):
            last = at
            while last > start + 1 and words[last - 1].lower in ADVERBS:
                last -= 1  # Mom usually texts
            return (start, last, "noun", link) if _is_noun_phrase(words, start, last) else None
        elif at - start > MAX_SUBJECT_WORDS:
            return None
        at += 1
    return _contraction_subject(words, start, limit, link)


def _clause_starter(words: Sequence[Token], start: int, at: int) -> str:
    """Return the conjunction that starts another clause: "the release slipped because Priya
    is ill".
    """
    low = words[at].lower
    if at == start:
        return low if low in LINK_WORDS else ""
    if low == "case":
        return IN_CASE if words[at - 1].lower == "in" else ""
    return low if low in CLAUSE_STARTERS and words[at - 1].lower not in DETERMINERS else ""


def _is_joint_subject(words: Sequence[Token], start: int, at: int) -> bool:
    """Return whether "I" ends a joint subject: "Max and I"."""
    return at - start in (2, 3) and words[at - 1].lower in ("and", "&") and words[at].lower == "i"


def is_finite_after_noun(words: Sequence[Token], start: int, at: int) -> bool:
    """Return whether the noun phrase ends here because its verb starts."""
    _, _, text, low, _ = words[at]
    if low in AUXILIARIES and low not in ("be", "been", "being"):
        return not (low in ("may", "will") and text[:1].isupper())
    known = VERB_FORMS.get(low)
    before = words[at - 1].lower
    if known is None or low == "like" or before in BEFORE_NOUNS or text[:1].isupper():
        return False  # things like this; hope and love
    if THIRD in known.tags:
        return before != "'s"
    if PAST in known.tags:
        return not _is_attribute(words, at)
    plural = before.endswith("s") or any(each.lower == "and" for each in words[start:at])
    if BASE in known.tags and plural:
        return at + 1 < len(words) and words[at + 1].lower not in AUXILIARIES
    return False


def _is_attribute(words: Sequence[Token], at: int) -> bool:
    """Return whether a participle is attributive: "my used camera"."""
    return at + 1 >= len(words) or words[at + 1].lower == "by" or words[at - 1].lower == "'s"


def _is_noun_phrase(words: Sequence[Token], first: int, last: int) -> bool:
    head, final = words[first], words[last - 1]
    if first == find_opening(words) and _is_imperative(words, first, last):
        return False
    if head.lower in NEVER_SUBJECT or head.lower in QUESTIONS or final.lower in PREPOSITIONS:
        return False
    if head.lower in ADVERBS and head.lower not in ("both", "all"):
        return last - first > 1 and _is_noun_phrase(words, first + 1, last)
    if head.lower in DETERMINERS or head.text[:1].isupper():
        return last - first > 1 or head.lower not in DETERMINERS
    return head.kind == "word" and head.lower not in AUXILIARIES


def _is_imperative(words: Sequence[Token], first: int, last: int) -> bool:
    """Return whether an imperative or polite phrase starts here: "keep going", "glad you made it".

    Such a word is capitalized only because it starts the sentence.
    """
    head = words[first].lower
    known = VERB_FORMS.get(head)
    order = known is not None and BASE in known.tags and last - first > 1
    sounds = known is not None and THIRD in known.tags and last - first == 1
    return (
        order or sounds or head in POLITE_STATES or head in AUXILIARIES or head in ("bet", "hope")
    )


def _contraction_subject(
    words: Sequence[Token], start: int, limit: int, link: str
) -> tuple[int, int, str, str] | None:
    """Return the subject before an "is" that looks like a possessive: "Art's awesome"."""
    for at in range(start + 1, limit):
        if words[at].lower == "'s" and words[at].kind == "clitic":
            following = words[at + 1].lower if at + 1 < len(words) else ""
            telling = following in DETERMINERS or following in ADVERBS or following == "not"
            if telling or following.endswith("ing"):
                return start, at, "noun", link
            return None
    return None


def _starts_with_bare_verb(words: Sequence[Token], position: int) -> bool:
    """Return whether a verb without a subject starts here: "been", "gonna", "just got"."""
    at, last = position, len(words) - 1
    while at < last and words[at].lower in ADVERBS:
        at += 1
    return at <= last and words[at].lower in BARE_VERBS


def _implicit_subject(words: Sequence[Token], position: int) -> tuple[int, int, str, str] | None:
    """Return an empty subject if the speaker is meant: "Been reading a lot", "Gonna continue"."""
    at = position
    while at < len(words) and words[at].lower in ADVERBS:
        at += 1
    if at + 1 >= len(words) or words[at + 1].lower in ("me", "us"):
        return None  # "Made me proud": the speaker is not the subject
    low, following = words[at].lower, words[at + 1].lower
    known = VERB_FORMS.get(low)
    if known is None:
        return (at, at, "", "") if low == "gon" else None
    if low == "been":
        ing = VERB_FORMS.get(following)
        return (at, at, "", "") if ing is not None and GERUND in ing.tags else None
    done = PAST in known.tags and BASE not in known.tags and known.lemma not in ("be", "excite")
    return (at, at, "", "") if done and following not in ("by", "that") else None
