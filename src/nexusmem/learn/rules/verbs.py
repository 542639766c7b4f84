"""Verb forms. Unlisted forms are guessed from their ending, only after a pronoun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .lexicon import (
    ADVERBS,
    AUXILIARIES,
    NEGATIONS,
)
from .tokens import Token

BASE, THIRD, PAST, PARTICIPLE, GERUND = "base", "third", "past", "participle", "gerund"


class VerbForm(NamedTuple):
    lemma: str
    tags: frozenset[str]


# base, past, participle; "=" is the base, "^" is the past
IRREGULAR = """
    bear bore born | beat = beaten | become became = | begin began begun | bend bent ^ | bet = =
    | bite bit bitten | bleed bled ^ | blow blew blown | break broke broken | bring brought ^ |
    build built ^ | burn burned ^ | burst = = | buy bought ^ | catch caught ^ | choose chose
    chosen | come came = | cost = = | cut = = | deal dealt ^ | dig dug ^ | do did done | draw
    drew drawn | dream dreamt ^ | drink drank drunk | drive drove driven | eat ate eaten | fall
    fell fallen | feed fed ^ | feel felt ^ | fight fought ^ | find found ^ | flee fled ^ | fly
    flew flown | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen | get
    got gotten | give gave given | go went gone | grow grew grown | hang hung ^ | have had ^ |
    hear heard ^ | hide hid hidden | hit = = | hold held ^ | hurt = = | keep kept ^ | know knew
    known | lay laid ^ | lead led ^ | learn learnt ^ | leave left ^ | lend lent ^ | let = = |
    lie lay lain | light lit ^ | lose lost ^ | make made ^ | mean meant ^ | meet met ^ | pay
    paid ^ | put = = | quit = = | read = = | ride rode ridden | ring rang rung | rise rose risen
    | run ran = | say said ^ | see saw seen | sell sold ^ | send sent ^ | set = = | sew sewed
    sewn | shake shook shaken | shine shone ^ | shoot shot ^ | show showed shown | shut = = |
    sing sang sung | sink sank sunk | sit sat ^ | sleep slept ^ | speak spoke spoken | spend
    spent ^ | spill spilt ^ | split = = | spread = = | spring sprang sprung | stand stood ^ |
    steal stole stolen | stick stuck ^ | strike struck ^ | swear swore sworn | sweep swept ^ |
    swim swam swum | swing swung ^ | take took taken | teach taught ^ | tear tore torn | tell
    told ^ | think thought ^ | throw threw thrown | understand understood ^ | wake woke woken |
    wear wore worn | win won ^ | write wrote written | withdraw withdrew withdrawn | overcome
    overcame = | rebuild rebuilt ^
"""

REGULAR = """
    accept achieve acquire act adapt add admire admit adopt adore advise afford agree aim allow
    announce answer appear apply appreciate approve argue arrange arrive ask assist assume
    attend attract avoid bake balance battle beg behave believe belong boost borrow bounce breed
    brighten broaden brush calculate call calm camp cancel capture care carry carve cause
    celebrate challenge change charge chat cheat check cheer cherish claim clean clear climb
    close coach code collaborate collect combine comfort commit compare compete complain
    complete compose concern conclude connect consider contact contain continue contribute
    convert cook copy correct count cover crash crave create cruise cry dance date debug decide
    declare decline decorate dedicate delay deliver depend deploy describe deserve design
    destress develop devote die discover discuss dislike divorce donate download earn edit
    educate embrace embroider enable encounter encourage end engage enjoy enrich enroll enter
    escape establish evolve examine excite exercise exist expand expect experience experiment
    explain explore express extend face fail fear feature film finish fish fit fix focus follow
    force form foster found frustrate fuel fulfill garden gather gain game generate grab
    graduate graze greet guarantee guide handle happen hate head heal help hike hire honor hope
    host hug hunt hurry identify ignore imagine implement impress improve include increase
    influence inform inspire install intend interest interview introduce invest investigate
    invite involve jog join journal joke juggle jump kick kiss knit knock lack land last laugh
    launch lift like limit link listen live load lock look love lower maintain manage march mark
    marry master match matter measure meditate mention mentor merge mess migrate mind miss mix
    monitor motivate mourn move name need negotiate notice nurture observe occur offer open
    operate opt order organize owe own pack paint participate pass perform persuade photograph
    pick plan plant play please point post pour practice praise pray prefer prepare present
    preserve press pretend prevent print process produce program promise promote propose protect
    provide publish pull purchase push qualify question race raise reach react realize receive
    recharge recognize recommend record recover reduce refactor reflect refurbish register
    regret relate relax release relocate rely remain remember remind remove renew renovate rent
    repair repeat replace reply report represent request require rescue research reserve
    resonate respect respond rest restart restore resume retire return reveal review reward
    rotate rush sail save savor scan schedule score scratch search secure seem serve settle
    share shift ship shop sign simplify skate skateboard sketch ski slip smile smoke snap solve sort
    sound spark specialize sponsor spot start starve stay step stop store stream strengthen
    stretch strive struggle study succeed suffer suggest suit supply support suppose surf
    surprise surround survive suspect switch symbolize talk taste tend test text thank tour
    touch track train transfer transform transition translate travel treasure treat try tune
    turn uncover upgrade upload upset use value visit visualize volunteer vote wait walk want
    warm wash waste watch water welcome wish witness wonder work worry wrap yell book email
    message tweet diagnose elect hospitalize assign award nominate reorganize marinate grill
    streamline fundraise brainstorm babysit
"""

BE = {
    "am": frozenset({BASE}),
    "are": frozenset({BASE}),
    "be": frozenset({BASE}),
    "is": frozenset({THIRD}),
    "was": frozenset({PAST}),
    "were": frozenset({PAST}),
    "been": frozenset({PARTICIPLE}),
    "being": frozenset({GERUND}),
}

VOWELS = frozenset("aeiou")
DOUBLING_VERBS = frozenset(
    """chat jog stop slip plan hug snap wrap scan step grab shop opt beg commit admit prefer occur
    refer get run swim sit put cut hit set let win dig quit bet shut begin forget split""".split()
) - {"opt"}


def third_person(lemma: str) -> str:
    """Return the form after "she"."""
    if lemma in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[lemma]
    if lemma.endswith("y") and len(lemma) > 1 and lemma[-2] not in VOWELS:
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _past_form(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in VOWELS:
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if lemma in DOUBLING_VERBS else "") + "ed"


def _gerund_form(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe")):
        return lemma[:-1] + "ing"
    return lemma + (lemma[-1] if lemma in DOUBLING_VERBS else "") + "ing"


def _build_forms() -> dict[str, VerbForm]:
    tags: dict[str, tuple[str, set[str]]] = {}

    def add_form(form: str, lemma: str, tag: str) -> None:
        tags.setdefault(form, (lemma, set()))[1].add(tag)

    rows = [row.split() for row in IRREGULAR.replace("\n", " ").split("|")]
    irregular = [(base, past, participle) for base, past, participle in rows]
    irregular += [(base, _past_form(base), "^") for base in REGULAR.split()]
    for base, past, participle in irregular:
        gone = base if past == "=" else past
        done = {"=": base, "^": gone}.get(participle, participle)
        add_form(base, base, BASE)
        add_form(third_person(base), base, THIRD)
        add_form(gone, base, PAST)
        add_form(done, base, PARTICIPLE)
        add_form(_gerund_form(base), base, GERUND)
    found = {form: VerbForm(lemma, frozenset(kinds)) for form, (lemma, kinds) in tags.items()}
    found |= {form: VerbForm("be", kinds) for form, kinds in BE.items()}
    return found


VERB_FORMS = _build_forms()


def _undouble_stem(stem: str) -> str:
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl" else stem


BEFORE_VERB = ADVERBS | NEGATIONS  # the verb follows these words


def is_finite(words: Sequence[Token], at: int) -> bool:
    while at < len(words) and words[at].lower in BEFORE_VERB:
        at += 1
    if at >= len(words):
        return False
    low = words[at].lower
    known = VERB_FORMS.get(low)
    return low in AUXILIARIES or low == "'s" or (known is not None and GERUND not in known.tags)
