"""From a sentence to its clauses: who, does, what.

No parser of English: subjects are pronouns, or the noun phrase a clause begins with; the verb group
follows; the rest reaches to where the next clause begins. What this cannot read yields no clause,
and so no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONDITIONS,
    COORDINATORS,
    DETERMINERS,
    HABITS,
    HEDGES,
    MODALS,
    NOBODY,
    NOT,
    OPENERS,
    PAST_AUXILIARIES,
    POLITE_STATES,
    PREPOSITIONS,
    QUESTIONS,
)
from .tokens import STOPS, Token
from .verbs import BASE, FORMS, GERUND, PARTICIPLE, PAST, THIRD, Form, guess

PRONOUNS = frozenset("i we you he she they it".split())
POINTING = frozenset("this that these those there".split())
BREAKS = frozenset(";:—–()[]") | {"--"}
LINKS = frozenset(
    "because when while although though whereas whenever if unless until once since after before"
    " which who where as".split()
)
REPORTING = frozenset(
    """say tell mention claim think believe feel hear know hope guess wish imagine suppose wonder
    promise swear guarantee decide realize mean bet learn find assume pretend notice remember write
    announce conclude agree explain admit figure""".split()
)
SEMI = {  # verb + "to" + verb: what the first one says about the second
    "have": "must",
    "need": "must",
    "get": "must",
    "ought": "must",
    "use": "used",
    "tend": "habit",
    "go": "will",
    "plan": "will",
    "gon": "will",
}
LONGEST_SUBJECT = 9
NEVER_SUBJECT = PREPOSITIONS | COORDINATORS | frozenset("let please".split())


@dataclass(frozen=True, slots=True)
class Clause:
    """`words[subject[0]:subject[1]]` is who, `words[verb]` does, `words[rest:end]` is what."""

    words: Sequence[Token]
    begin: int
    subject: tuple[int, int]
    verb: int
    rest: int
    end: int
    lemma: str
    kind: str  # the pronoun, "noun", or "" where the speaker left out the "I"
    link: str = ""  # how it hangs on the clause before
    modal: str = ""
    tense: str = "present"  # past, present or future
    negated: bool = False
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    habitual: bool = False
    hedged: bool = False

    @property
    def first_person(self) -> bool:
        return self.kind in ("i", "we", "")


def clauses(words: Sequence[Token]) -> list[Clause]:
    """The clauses of one sentence, in order."""
    found: list[Clause] = []
    place, link = opening(words), ""
    while place < len(words):
        clause = _clause(words, place, link)
        if clause is None:
            following = _next_break(words, place)
            if following >= len(words):
                break
            place, link = following, ""
            continue
        found.append(clause)
        place, link = _linked(words, clause.end)
    return found


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


def _linked(words: Sequence[Token], place: int) -> tuple[int, str]:
    """Past what joins two clauses, and what it was."""
    link = ""
    while place < len(words):
        word = words[place]
        if word.low in COORDINATORS or word.low in LINKS or word.low == "that":
            link = link if link in CONDITIONS else word.low
        elif word.text in BREAKS or word.text in (",", "-", "…"):
            link = link or word.text
        else:
            break
        place += 1
    return place, link


def _next_break(words: Sequence[Token], place: int) -> int:
    for at in range(place, len(words)):
        if words[at].text in BREAKS or (words[at].text == "-" and _spaced(words, at)):
            return at + 1
        if words[at].text == "," and at + 1 < len(words):
            return at + 1
        if at > place and words[at].low in COORDINATORS:
            return at + 1
    return len(words)


def _clause(words: Sequence[Token], place: int, link: str) -> Clause | None:
    subject = _left_out(words, place) if _begins_bare(words, place) else None
    subject = subject or _subject(words, place) or _left_out(words, place)
    if subject is None:
        return None
    first, last, kind, begins_with = subject
    verbs = _verb_group(words, last, pronoun=kind != "noun")
    if verbs is None:
        return None
    rest = verbs.verb + 1
    return Clause(
        words=words,
        begin=place,
        subject=(first, last),
        rest=rest,
        verb=verbs.verb,
        end=_end(words, rest, verbs.lemma, begins_with or link),
        lemma=verbs.lemma,
        kind=kind,
        link=begins_with or link,
        modal=verbs.modal,
        tense=verbs.tense,
        negated=verbs.negated or words[first].low in NOBODY or words[first].low == "no",
        progressive=verbs.progressive,
        perfect=verbs.perfect,
        passive=verbs.passive,
        habitual=verbs.habitual,
        hedged=verbs.hedged or any(word.low in HEDGES for word in words[place:first]),
    )


# -- the subject


def _subject(words: Sequence[Token], place: int) -> tuple[int, int, str, str] | None:
    """First and last word of the subject, its kind, and the link word the clause began with."""
    start, link = place, ""
    limit = min(len(words), place + 14)
    at = place
    while at < limit:
        word = words[at]
        if word.low in PRONOUNS and not (word.low in ("it", "you") and at > start):
            first = start if _joined(words, start, at) else at
            return first, at + 1, word.low, link
        if at == start and word.low in POINTING and _is_finite(words, at + 1):
            return at, at + 1, "it", link
        if word.text == ",":
            start = at + 1
        elif word.kind == "mark" and word.text not in ("&", '"', "“", "”", "'", "-", "*"):
            return None
        elif at == start and (word.low in LINKS or word.low in CONDITIONS):
            start, link = at + 1, link or word.low
        elif at > start and _finite_noun(words, start, at):
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


def _finite_noun(words: Sequence[Token], start: int, at: int) -> bool:
    """Whether the noun phrase before ends here, because its verb begins."""
    word = words[at]
    if word.kind == "clitic" and word.low == "'s":
        return False
    if word.low in AUXILIARIES and word.low not in ("be", "been", "being"):
        return not (word.low in ("may", "will") and word.text[:1].isupper())
    known = FORMS.get(word.low)
    if known is None or words[at - 1].low in DETERMINERS or words[at - 1].low in PREPOSITIONS:
        return False
    if word.text[:1].isupper():
        return False
    plural = words[at - 1].low.endswith("s") or any(each.low == "and" for each in words[start:at])
    if THIRD in known.tags:
        return words[at - 1].low != "'s"
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
    if at + 1 >= len(words):
        return None
    word = words[at]
    known = FORMS.get(word.low)
    ing = FORMS.get(words[at + 1].low)
    been = word.low == "been" and ing is not None and GERUND in ing.tags
    going = word.low == "gon"
    done = (
        known is not None and PAST in known.tags and BASE not in known.tags and known.lemma != "be"
    )
    if been or going or (done and words[at + 1].low not in ("by", "that")):
        return at, at, "", ""
    return None


# -- the verb group


@dataclass(slots=True)
class _Verbs:
    verb: int = -1
    lemma: str = ""
    modal: str = ""
    tense: str = "present"
    negated: bool = False
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    habitual: bool = False
    hedged: bool = False


def _is_finite(words: Sequence[Token], at: int) -> bool:
    while at < len(words) and (words[at].low in ADVERBS or words[at].low in NOT):
        at += 1
    if at >= len(words):
        return False
    low = words[at].low
    known = FORMS.get(low)
    return low in AUXILIARIES or low == "'s" or (known is not None and GERUND not in known.tags)


def _verb_group(words: Sequence[Token], place: int, *, pronoun: bool) -> _Verbs | None:
    found = _Verbs()
    at, helpers = place, list[str]()
    while at < len(words):
        word = words[at]
        low = word.low
        if low in NOT:
            found.negated = True
        elif low in AUXILIARIES or (low == "'s" and word.kind == "clitic") or low == "gon":
            helpers.append(low)
            found.verb = at
        elif low in ADVERBS and _goes_on(words, at, helpers):
            found.habitual |= low in HABITS
            found.hedged |= low in HEDGES
        else:
            break
        at += 1
    _main_verb(words, at, found, helpers, pronoun=pronoun)
    if found.verb < 0:
        return None
    _semi(words, found)
    return found


def _goes_on(words: Sequence[Token], at: int, helpers: list[str]) -> bool:
    """Adverbs belong to the group while a verb follows; else "I am well" would lose its end."""
    if not helpers:
        return True
    nearby = words[at + 1 : at + 3]
    return any(word.low in FORMS or word.low.endswith("ing") for word in nearby)


def _main_verb(
    words: Sequence[Token], at: int, found: _Verbs, helpers: list[str], *, pronoun: bool
) -> None:
    """Fill in the verb that the helpers help, or take the last helper for it."""
    form = _form(words, at, helpers, pronoun=pronoun)
    lemmas = [_helper(each, form) for each in helpers]
    found.modal = next((lemma for lemma in lemmas if lemma in MODALS), "")
    if form is None:
        found.lemma = lemmas[-1] if lemmas else ""
        found.perfect = "have" in lemmas[:-1]
    else:
        found.verb, found.lemma = at, form.lemma
        found.perfect = "have" in lemmas
        found.progressive = "be" in lemmas and GERUND in form.tags
        found.passive = "be" in lemmas and PARTICIPLE in form.tags and GERUND not in form.tags
    past_form = (
        form is not None and not helpers and PAST in form.tags and not _present(words, at, form)
    )
    if "will" in lemmas or "gon" in helpers:
        found.tense = "future"
    elif past_form or any(each in PAST_AUXILIARIES for each in helpers):
        found.tense = "past"


def _present(words: Sequence[Token], at: int, form: Form) -> bool:
    """put, read, cut: the same in both tenses; the plain present unless "he" stands before."""
    return BASE in form.tags and not (at and words[at - 1].low in ("he", "she", "it"))


def _helper(helper: str, form: Form | None) -> str:
    if helper == "'s":
        had = form is not None and PARTICIPLE in form.tags and form.lemma in ("be", "get", "have")
        return "have" if had else "be"
    if helper == "'d":
        return "have" if form is not None and form.tags == {PARTICIPLE} else "would"
    return AUXILIARIES.get(helper, "be")


def _form(words: Sequence[Token], at: int, helpers: list[str], *, pronoun: bool) -> Form | None:
    """The form of the word after the helpers, if it can be their verb."""
    if at >= len(words) or words[at].kind != "word":
        return None
    low = words[at].low
    if (
        low in DETERMINERS
        or (low in PREPOSITIONS and low != "like")
        or low in COORDINATORS
        or low in PRONOUNS
    ):
        return None
    known = FORMS.get(low)
    if not helpers:
        return known or (guess(low) if pronoun else None)
    lemma = AUXILIARIES.get(helpers[-1], "be" if helpers[-1] in ("'s", "gon") else "")
    if lemma == "be":
        fits = known is not None and bool(known.tags & {GERUND, PARTICIPLE})
        fits = fits or (known is None and low.endswith("ing") and len(low) > 5)
        return (known or guess(low)) if fits and low not in STATES else None
    if lemma == "have":
        return known if known is not None and PARTICIPLE in known.tags else None
    return known or guess(low)


STATES = frozenset(  # participles and gerunds that are adjectives after "be"
    """interested excited married engaged tired worried scared relaxed inspired committed involved
    amazing interesting exciting surprised motivated determined dedicated dreaming frustrated
    divorced pleased concerned challenging inspiring rewarding loving upset lost left
    touched blessed moved swamped""".split()
) - {"dreaming", "moved", "left", "lost"}


def _semi(words: Sequence[Token], found: _Verbs) -> None:
    """used to live, going to move, need to call: the second verb is the one that counts."""
    at = found.verb
    after = [word.low for word in words[at + 1 : at + 4]]
    if words[at].low == "gon":
        after = ["to", *after[1:]]
    said = SEMI.get(found.lemma if words[at].low != "gon" else "gon")
    if said is None or after[:1] != ["to"] or len(after) < 2:
        return
    known = FORMS.get(after[1])
    if known is None or BASE not in known.tags or (said == "will" and not _heading(words, found)):
        return
    found.verb, found.lemma = at + 2, known.lemma
    if said == "will":
        found.tense, found.progressive = "future", False
    elif said == "used":
        found.tense = "past"
    elif said == "habit":
        found.habitual = True
    else:
        found.modal = "must"


def _heading(words: Sequence[Token], found: _Verbs) -> bool:
    """Going to run, planning to run; but "I go to run" is no future."""
    return found.progressive or words[found.verb].low in ("gon", "plan", "plans", "going")


# -- the end


def _end(words: Sequence[Token], rest: int, lemma: str, link: str) -> int:
    """Where the clause stops: at a mark, or where another subject and verb begin."""
    reporting = lemma in REPORTING
    for at in range(rest, len(words)):
        word = words[at]
        if word.text in STOPS or word.text in BREAKS or (word.text == "-" and _spaced(words, at)):
            return at
        if word.text == "," or word.low in COORDINATORS or word.low in LINKS or word.low == "so":
            if _starts_clause(words, at):
                return at
        elif reporting and at <= rest + 2 and _complement(words, at):
            return at
        elif word.low in ("i", "we") and link in LINKS and _is_finite(words, at + 1):
            return at  # Since we talked I finally picked up a book
    return len(words)


def _spaced(words: Sequence[Token], at: int) -> bool:
    return at > 0 and words[at - 1].end < words[at].start


def _complement(words: Sequence[Token], at: int) -> bool:
    """said (that) she lives; decided that releases happen."""
    if words[at].low == "that" and at + 2 < len(words):
        at += 1
    elif words[at].low not in PRONOUNS and not words[at].text[:1].isupper():
        return False
    if words[at].low in PRONOUNS:
        return words[at].low != "it" and _is_finite(words, at + 1)
    return any(_finite_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words))))


def _starts_clause(words: Sequence[Token], at: int) -> bool:
    """Whether after a comma or joining word somebody does something."""
    joins = 0
    while (
        at < len(words)
        and joins < 4
        and (words[at].text == "," or words[at].low in COORDINATORS | LINKS | ADVERBS)
    ):
        at, joins = at + 1, joins + 1
    if at >= len(words):
        return False
    word = words[at]
    if word.low in PRONOUNS or word.low in POINTING:
        return _is_finite(words, at + 1)
    nominal = word.low in DETERMINERS or word.text[:1].isupper()
    if not nominal or (words[at - 1].text == "," and not word.text[:1].isupper()):
        return False
    return any(_finite_noun(words, at, place) for place in range(at + 1, min(at + 5, len(words))))
