"""What a text is about, in a few words: its noun phrases, as far as they can be told by rules.

A phrase is a run of words with content between small words, verbs and marks. Verbs count as
nouns after an article ("my work"), and their gerunds anywhere ("pottery and painting"), unless
they say little ("setting up").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from ..core.text import STOP_WORDS as SEARCH_STOP_WORDS
from .rules.lexicon import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    HEDGES,
    JUDGEMENTS,
    NOT,
    OBJECTS,
    OPENERS,
    POLITE_STATES,
    PREPOSITIONS,
    QUESTIONS,
    STOP_WORDS,
    SUBJECTS,
    SUBORDINATORS,
    VAGUE,
    words,
)
from .rules.verbs import BASE, FORMS, THIRD

MOST_TOPICS = 5
LONGEST_PHRASE = 3  # words; of longer runs the last ones, where English has its noun
LONGEST_WORD = 40
MOST_TOKENS = 400  # what a long message is about stands at its beginning

TOKEN = re.compile(r"\w+(?:[-'’.+#]\w+)*|[^\w\s]|\n")

SMALL = (
    STOP_WORDS
    | SEARCH_STOP_WORDS
    | SUBJECTS
    | OBJECTS
    | PREPOSITIONS
    | COORDINATORS
    | SUBORDINATORS
    | QUESTIONS
    | ADVERBS
    | HEDGES
    | OPENERS
    | DETERMINERS
    | frozenset(AUXILIARIES)
    | VAGUE
    | words(
        """it's that's there's here's what's who's how's let's i'm i've i'll i'd you're you've
        you'll you'd we're we've we'll we'd they're they've they'll they'd he's she's isn't aren't
        wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't couldn't
        shouldn't ain't gonna wanna gotta dont im ive cannot yours hers theirs mine else rather
        though however therefore anyway somehow whatever whoever everyone everybody nobody nothing
        somebody anyone anybody none yay ugh whoa oops omg woah hmm haha hahaha lol bye goodbye
        morning afternoon evening night week month year weekend yesterday tomorrow tonight monday
        tuesday wednesday thursday friday saturday sunday january february april june july august
        september october november december days weeks months years hour hours minute minutes times
        moment while ago soon later bit couple few several hundred thousand million another each
        both either neither one two three four five six seven eight nine ten first second third
        next last kind sort type lots bunch much many luck congrats congratulations cheers welcome
        regards sorry pls thx ty np hey guys folks everything anything maybe sure yep yup nope"""
    )
)
FILLER = (  # may stand in a phrase, but neither open one nor be one
    JUDGEMENTS
    | POLITE_STATES
    | words(
        """new old big small little long short high low huge tiny real own same different whole full
        able busy happy sad proud glad excited tired amazed blessed grateful thankful lovely cute
        interesting inspiring exciting impressive thoughtful meaningful positive negative super
        absolute total certain possible impossible main major minor recent current previous early
        late early bad worse worst better best right wrong free open close quick slow soft loud hot
        cold warm favorite favourite various such enough idea ideas thought thoughts part place
        point reason fact case matter people person guy man woman girl boy life world feeling
        feelings vibe vibes vibe thing things stuff way ways lot fan sense deal chance look side
        sides sound sounds need needs want wants love hope wish care thanks help try tries talk chat
        ones similar young personal emotional
        healthier happier matters huh fam least itself safe hesitate holler ton course everyday
        activity others worries worry blast farther unique creative silly extra wild eventually
        amount news rest step steps start end kinds forward else more fun cool future past present
        update updates word words question answer everyone's today's yesterday's tomorrow's"""
    )
)
DULL_VERBS = words(
    """get go make do have take give put let keep think know see say tell ask want need try start
    feel look come use help set find show seem happen turn bring mean hear believe hope wait call
    stop continue begin become stay spend leave add include talk share enjoy love like remember
    plan wonder follow allow hold pass reach cause understand be need deal manage consider miss
    lose meet speak sound face check pick handle build grow move care remind send receive expect
    provide guess thank appreciate wish celebrate spread catch watch discover explore learn"""
)
GERUNDS = frozenset(
    form for form, of in FORMS.items() if form.endswith("ing") and of.lemma not in DULL_VERBS
)
NOUNS_TOO = words(
    """meeting building wedding training painting evening clothing funding spring string ring king
    ceiling earring housing parking pudding sibling sterling viking wing being offering reading"""
)
DULL_NOUNS = words("show shows plan plans watch check checks move pass talks calls")
ENDINGS = ("ly", "ous", "ful", "able", "ible", "ed")  # of a word alone: hardly a noun


class Part(IntEnum):
    """What a word does to the run of words it stands in."""

    SMALL = 1  # ends it
    ARTICLE = 2  # ends it; a verb after it is a noun
    VERB = 3  # ends it, unless it follows an article
    ANOTHER_VERB = 4  # ends it: a past, or what says little
    GERUND = 5  # belongs to it, unless it follows a form of "be" or a pronoun


def _parts() -> dict[str, Part]:
    found = dict.fromkeys(GERUNDS, Part.GERUND)
    for form, of in FORMS.items():
        if form not in GERUNDS:
            dull = of.lemma in DULL_VERBS and form not in DULL_NOUNS
            noun = (BASE in of.tags or THIRD in of.tags) and not dull
            found[form] = Part.VERB if noun else Part.ANOTHER_VERB
    found |= dict.fromkeys(NOUNS_TOO & FORMS.keys(), Part.GERUND)
    found |= dict.fromkeys([*SMALL, *".,;:!?…()[]{}'’\"“”*/&\n", "-", "–", "—"], Part.SMALL)
    articles = words("a an the my our your his her their its this these those some any each every")
    return found | dict.fromkeys(articles, Part.ARTICLE)


PARTS = _parts()
DOING = SUBJECTS | OBJECTS | words("am is are was were be been being 's 'm 're i'm we're they're")


def small_letters(text: str) -> list[str]:
    """The words and marks of a text in small letters, as `topics` reads them."""
    return TOKEN.findall(text.lower().replace("’", "'"))[:MOST_TOKENS]


def topics(
    found: Sequence[str], names: Iterable[str], objects: Sequence[str | None] = ()
) -> list[str]:
    """The phrases said most, the longer before the shorter, in reading order; no names."""
    known = {part for name in names for part in name.lower().split()}
    counts: dict[str, int] = {}
    for run in _runs(found):
        phrase = _phrase(run, known)
        if phrase:
            counts[phrase] = counts.get(phrase, 0) + 1
    if len(counts) <= MOST_TOPICS:
        return list(counts)
    said = {each.lower() for each in objects if each is not None}
    ranked = sorted(counts, key=lambda it: (it not in said, -counts[it], -it.count(" ")))
    best = ranked[:MOST_TOPICS]
    return [phrase for phrase in counts if phrase in best]


def content_words(text: str) -> list[str]:
    """Every word that is not small, once, in reading order and as it is spelt; and every "not"."""
    plain = text.replace("’", "'")
    found = {word.lower(): word for word in reversed(TOKEN.findall(plain)) if word[0].isalnum()}
    kept = [word for low, word in found.items() if low not in SMALL or _denies(low)]
    return list(reversed(kept or found.values()))


def _denies(low: str) -> bool:
    return low in NOT or low.endswith("n't")


def _runs(found: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    before, opened = "", False  # whether an article stands before the run
    part_of, verb, gerund, article = PARTS.get, Part.VERB, Part.GERUND, Part.ARTICLE
    for token in found:
        part = part_of(token)
        if part is None:
            goes_on = len(token) > 1
        elif part is gerund:
            goes_on = before not in DOING
        else:
            goes_on = opened and part is verb
        if goes_on:
            run.append(token)
        else:
            if run:
                yield run
                run = []
            opened = part is article
        before = token
    if run:
        yield run


def _phrase(run: list[str], names: set[str]) -> str:
    """A run without its filler and without the names, which are kept apart."""
    kept = [word.removesuffix("'s") for word in run]
    kept = [word for word in kept if word not in names and len(word) <= LONGEST_WORD]
    while kept and kept[0] in FILLER:
        kept.pop(0)
    while kept and kept[-1] in FILLER:
        kept.pop()
    if len(kept) > 1:
        return " ".join(kept[-LONGEST_PHRASE:])
    return kept[0] if kept and _may_be_a_noun(kept[0]) else ""


def _may_be_a_noun(word: str) -> bool:
    if word.endswith("ing"):
        return word in GERUNDS or word in NOUNS_TOO
    return len(word) > 2 and not word.endswith(ENDINGS) and not word[0].isdigit()
