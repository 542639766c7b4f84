"""Topic extraction: the noun phrases of an English text, by rules.

A phrase is a run of content words between function words, verbs and punctuation. A verb counts as
a noun after an article ("my work"). A gerund counts anywhere ("pottery and painting"), except
those of weak verbs ("setting up").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

from ...text.terms import STOP_WORDS as SEARCH_STOP_WORDS
from ..rules.lexicon import (
    ADVERBS,
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    HEDGES,
    JUDGEMENT_WORDS,
    NEGATIONS,
    OBJECTS,
    OPENERS,
    POLITE_STATES,
    PREPOSITIONS,
    QUESTIONS,
    STOP_WORDS,
    SUBJECTS,
    SUBORDINATORS,
    VAGUE_WORDS,
    word_set,
)
from ..rules.verbs import BASE, THIRD, VERB_FORMS

MAX_TOPICS = 5
MAX_PHRASE_WORDS = 3  # the last ones of a run, where English has its noun
MAX_WORD_CHARS = 40
MAX_TOKENS = 400  # the beginning of a long message has its topics

TOKEN = re.compile(r"\w+(?:[-'’.+#]\w+)*|[^\w\s]|\n")

FUNCTION_WORDS = (
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
    | VAGUE_WORDS
    | word_set(
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
FILLER = (  # allowed inside a phrase, but not at its ends
    JUDGEMENT_WORDS
    | POLITE_STATES
    | word_set(
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
WEAK_VERBS = word_set(
    """get go make do have take give put let keep think know see say tell ask want need try start
    feel look come use help set find show seem happen turn bring mean hear believe hope wait call
    stop continue begin become stay spend leave add include talk share enjoy love like remember
    plan wonder follow allow hold pass reach cause understand be need deal manage consider miss
    lose meet speak sound face check pick handle build grow move care remind send receive expect
    provide guess thank appreciate wish celebrate spread catch watch discover explore learn"""
)
GERUNDS = frozenset(
    form for form, of in VERB_FORMS.items() if form.endswith("ing") and of.lemma not in WEAK_VERBS
)
GERUND_NOUNS = word_set(
    """meeting building wedding training painting evening clothing funding spring string ring king
    ceiling earring housing parking pudding sibling sterling viking wing being offering reading"""
)
WEAK_NOUNS = word_set("show shows plan plans watch check checks move pass talks calls")
NON_NOUN_ENDINGS = (
    "ly",
    "ous",
    "ful",
    "able",
    "ible",
    "ed",
)  # a single word with one of these is rarely a noun


class WordRole(IntEnum):
    """Effect of a word on the current run of words."""

    SMALL = 1  # ends the run
    ARTICLE = 2  # ends the run; a verb after it is a noun
    VERB = 3  # ends the run, unless it follows an article
    ANOTHER_VERB = 4  # ends the run: a past form or a weak verb
    GERUND = 5  # continues the run, except after a form of "be" or a pronoun


def _build_word_roles() -> dict[str, WordRole]:
    roles = dict.fromkeys(GERUNDS, WordRole.GERUND)
    for form, of in VERB_FORMS.items():
        if form not in GERUNDS:
            weak = of.lemma in WEAK_VERBS and form not in WEAK_NOUNS
            noun = (BASE in of.tags or THIRD in of.tags) and not weak
            roles[form] = WordRole.VERB if noun else WordRole.ANOTHER_VERB
    roles |= dict.fromkeys(GERUND_NOUNS & VERB_FORMS.keys(), WordRole.GERUND)
    roles |= dict.fromkeys(
        [*FUNCTION_WORDS, *".,;:!?…()[]{}'’\"“”*/&\n", "-", "–", "—"], WordRole.SMALL
    )
    articles = word_set(
        "a an the my our your his her their its this these those some any each every"
    )
    return roles | dict.fromkeys(articles, WordRole.ARTICLE)


WORD_ROLES = _build_word_roles()
GERUND_VERB_CONTEXT = (
    SUBJECTS | OBJECTS | word_set("am is are was were be been being 's 'm 're i'm we're they're")
)


def lowercase_tokens(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in lower case."""
    return TOKEN.findall(text.lower().replace("’", "'"))[:MAX_TOKENS]


def extract_topics(
    tokens: Sequence[str], names: Iterable[str], objects: Sequence[str | None] = ()
) -> list[str]:
    """Return the MAX_TOPICS most frequent phrases in reading order, without names.

    `objects` of facts come first; longer phrases win ties.
    """
    name_words = {part for name in names for part in name.lower().split()}
    counts: dict[str, int] = {}
    for run in _split_runs(tokens):
        phrase = _trim_phrase(run, name_words)
        if phrase:
            counts[phrase] = counts.get(phrase, 0) + 1
    if len(counts) <= MAX_TOPICS:
        return list(counts)
    preferred = {each.lower() for each in objects if each is not None}
    ranked = sorted(
        counts, key=lambda phrase: (phrase not in preferred, -counts[phrase], -phrase.count(" "))
    )
    best = ranked[:MAX_TOPICS]
    return [phrase for phrase in counts if phrase in best]


def content_words(text: str) -> list[str]:
    """Return the distinct content words and negations in reading order, in their spelling."""
    plain = text.replace("’", "'")
    words = {word.lower(): word for word in reversed(TOKEN.findall(plain)) if word[0].isalnum()}
    content = [
        word for low, word in words.items() if low not in FUNCTION_WORDS or _is_negation(low)
    ]
    return list(reversed(content or words.values()))


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def _split_runs(tokens: Sequence[str]) -> Iterator[list[str]]:
    run: list[str] = []
    before, opened = "", False  # `opened`: an article precedes the run
    part_of, verb, gerund, article = (
        WORD_ROLES.get,
        WordRole.VERB,
        WordRole.GERUND,
        WordRole.ARTICLE,
    )
    for token in tokens:
        part = part_of(token)
        if part is None:
            continues = len(token) > 1
        elif part is gerund:
            continues = before not in GERUND_VERB_CONTEXT
        else:
            continues = opened and part is verb
        if continues:
            run.append(token)
        else:
            if run:
                yield run
                run = []
            opened = part is article
        before = token
    if run:
        yield run


def _trim_phrase(run: list[str], names: set[str]) -> str:
    """Return a run without names and without filler words at its ends."""
    words = [word.removesuffix("'s") for word in run]
    words = [word for word in words if word not in names and len(word) <= MAX_WORD_CHARS]
    while words and words[0] in FILLER:
        words.pop(0)
    while words and words[-1] in FILLER:
        words.pop()
    if len(words) > 1:
        return " ".join(words[-MAX_PHRASE_WORDS:])
    return words[0] if words and _can_be_noun(words[0]) else ""


def _can_be_noun(word: str) -> bool:
    if word.endswith("ing"):
        return word in GERUNDS or word in GERUND_NOUNS
    return len(word) > 2 and not word.endswith(NON_NOUN_ENDINGS) and not word[0].isdigit()
