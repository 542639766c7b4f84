"""The verb of a clause with its helpers: tense, negation, mood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    HABITS,
    HEDGES,
    MODALS,
    NOT,
    PAST_AUXILIARIES,
    PREPOSITIONS,
    PRONOUNS,
)
from .tokens import Token
from .verbs import BASE, FORMS, GERUND, PARTICIPLE, PAST, Form, guess

BETWEEN = ADVERBS | NOT  # "I": the verb follows these
NEVER_VERBS = (DETERMINERS | PREPOSITIONS | COORDINATORS | PRONOUNS) - {"like"}
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


@dataclass(slots=True)
class VerbGroup:
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


def is_finite(words: Sequence[Token], at: int) -> bool:
    while at < len(words) and words[at].low in BETWEEN:
        at += 1
    if at >= len(words):
        return False
    low = words[at].low
    known = FORMS.get(low)
    return low in AUXILIARIES or low == "'s" or (known is not None and GERUND not in known.tags)


def verb_group(words: Sequence[Token], place: int, *, pronoun: bool) -> VerbGroup | None:
    found = VerbGroup()
    at, helpers = place, list[str]()
    while at < len(words):
        word = words[at]
        low = word.low
        if low in NOT:
            found.negated = True
        elif low == "no" and words[at + 1 : at + 2] and words[at + 1].low == "longer":
            at += 1  # I no longer work there: over, and not negated
        elif word.text in ("May", "Will") and helpers:
            break  # a month, a name
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
    words: Sequence[Token], at: int, found: VerbGroup, helpers: list[str], *, pronoun: bool
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
    if low in NEVER_VERBS:
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
    return known or (guess(low) if lemma != "do" else None)  # not "I did alright"


STATES = frozenset(  # participles and gerunds that are adjectives after "be"
    """interested excited married engaged tired worried scared relaxed inspired committed involved
    amazing interesting exciting surprised motivated determined dedicated dreaming frustrated
    divorced pleased concerned challenging inspiring rewarding loving upset lost left
    touched blessed moved swamped""".split()
) - {"dreaming", "moved", "left", "lost"}


def _semi(words: Sequence[Token], found: VerbGroup) -> None:
    """used to live, going to move, need to call: the second verb is the one that counts."""
    at = found.verb
    going = words[at].low == "gon"
    said = SEMI.get("gon" if going else found.lemma)
    if said is None or at + 2 >= len(words) or not (going or words[at + 1].low == "to"):
        return
    known = FORMS.get(words[at + 2].low)
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


def _heading(words: Sequence[Token], found: VerbGroup) -> bool:
    """Going to run, planning to run; but "I go to run" is no future."""
    return found.progressive or words[found.verb].low in ("gon", "plan", "plans", "going")
