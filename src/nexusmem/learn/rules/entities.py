"""Entity mentions of a message: names with their types and positions.

A name gets its type from the relation that governs it ("works at X"), from what is already known,
from words beside it ("our cat Luna"), and from the gazetteer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.dates import DateSpan
from ...text.gazetteer import is_common_word, is_first_name, name_type
from .coreference import TITLES, WE, Speakers
from .grammar import Tree
from .lexicon import (
    ATTRIBUTES,
    CLUBS,
    EVENTS,
    KIN,
    OCCUPATIONS,
    ORGANISATIONS,
    PARENTS,
    PETS,
    STATUS_ADJECTIVES,
    STOP_WORDS,
    STORAGE_NOUNS,
    VEHICLES,
    word_set,
)
from .relations import OBJECT_TYPES, PERSON_PREDICATES
from .results import Entity, Statement, TextSpan

NEVER_NAMES = word_set(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december mon tue tues wed weds thu thurs fri sat
    sun jan feb mar apr jun jul aug sep sept oct nov dec i ok okay todo decision correction hi
    hello hey dear thanks thank regards best kind cheers sincerely subject re fwd yes no please
    english german spanish french dutch italian japanese chinese russian polish ps p.s christmas
    easter q1 q2 q3 q4 lol omg btw fyi asap eod cob tbd aob pm am utc cet est pst gmt api url
    sql css html json pdf csv svg png id it ui ux hr ci cd pr prs db os pc tv usb sso mfa sms
    sla okr crm adr sepa vat eur usd gbp chf mum mom dad mam granny grandma grandpa nana god
    internet wifi wi-fi happy merry congrats sorry
    mondays tuesdays wednesdays thursdays fridays saturdays sundays weekdays weekends spring summer
    autumn winter doc op lines ref tel ext iban mot mri gp nhs tba tbc asap eta ooo wfh faq faqs
    agm nb iirc imo imho afaik ngl aka diy rip vip atm gps led lcd hd uk-wide xmas hanukkah ramadan
    diwali eid halloween thanksgiving lent advent pls plz thx hmm yep nope nah ugh wow yay ooh
    hooray amen boss sir madam mate dude guys folks team todos ack owner tz
    utf ascii http https ssh vpn dns ip tcp cpu gpu ram ssd xml yaml env err error warn info
    debug null true false none"""
)
PREFIX_TYPES = {  # a word before a name that gives its type
    **dict.fromkeys(PETS, "pet"),
    **dict.fromkeys(word_set("project codename"), "project"),
    **dict.fromkeys(
        word_set("company startup firm client customer vendor supplier agency carrier competitor"),
        "company",
    ),
    **dict.fromkeys(word_set("city town village near"), "place"),
    **dict.fromkeys(word_set("conference festival"), "event"),
    **dict.fromkeys(KIN, "person"),
    **dict.fromkeys(PARENTS, "person"),
    **dict.fromkeys(word_set("teacher contact boss lead head colleague manager guy"), "person"),
}
SUFFIX_TYPES = {  # the last word of a name, or the word after it
    **dict.fromkeys(
        word_set(
            "inc ltd gmbh labs corp llc ag bv sa plc university college institute bank"
            " company foundation association club school"
        ),
        "company",
    ),
    **dict.fromkeys(
        word_set(
            "street city park river lake mountain island beach village county valley road"
            " district office station"
        ),
        "place",
    ),
    **dict.fromkeys(
        word_set("conference summit festival marathon tournament workshop meetup"), "event"
    ),
    **dict.fromkeys(word_set("project rewrite relaunch beta launch"), "project"),
}
PREPOSITION_TYPES = {"in": "place", "near": "place"}
NAME_PARTICLES = word_set("of de van von der den del la le da di & the")
COMPANY_VERBS = word_set("churn sign hire announce acquire launch ship invoice renew")
FILE_NAME = re.compile(
    r"\b[\w-]+(?:\.[\w-]+)*\.(?:pdf|md|docx?|xlsx?|csv|txt|pptx?)\b", re.IGNORECASE
)
HANDLE = re.compile(r"(?<!\w)@[A-Za-z][\w-]{1,30}")
# Common nouns: a capital at the start of a sentence makes no name of them.
COMMON_NOUNS = (
    EVENTS
    | OCCUPATIONS
    | CLUBS
    | ORGANISATIONS
    | STORAGE_NOUNS
    | VEHICLES
    | STATUS_ADJECTIVES
    | STOP_WORDS
    | frozenset(ATTRIBUTES)
    | word_set(
        """claim licence license piano guitar violin kitchen bathroom rent deposit invoice order
        booking passport ticket tickets lunch flour oven boiler dishwasher fridge model text
        chilli hut boat lease permit visa cert certificate proof proofs windows parcel"""
    )
)
UNKNOWN = "thing"
MAX_NAME_WORDS = 5
MAX_CODE_LETTERS = 4
CODE = re.compile(r"[A-Z]{1,3}-?\d{4,}[A-Z]?|[A-Z]\d{1,2}")  # PK5530918, gate B12
PERSON_VERBS = word_set(
    """say tell think know want like love ask call work live write promise prefer help talk go
    come do send take join leave start quit move marry meet cover lead manage report own book
    bring give get make need visit"""
)


def find_entities(
    trees: Sequence[Tree],
    facts: Sequence[Statement],
    speakers: Speakers,
    dates: Sequence[DateSpan],
    text: str,
) -> list[Entity]:
    """Return names in order of appearance, with their types."""
    spans: dict[str, list[TextSpan]] = {}
    hints: dict[str, list[str]] = {}
    for tree in trees:
        for first, last in _find_names(tree, speakers, dates):
            name = _clean(tree.join(range(first, last)))
            if not name or name.lower() in NEVER_NAMES or len(name) < 2:
                continue
            if _is_no_name(tree, first, last, name):
                continue
            start, end = tree.sentence[first].start, tree.sentence[last - 1].end
            spans.setdefault(name, []).append(TextSpan(start, end))
            hint = _type_in_sentence(tree, first, last, speakers)
            if hint:
                hints.setdefault(name, []).append(hint)
    relations = dict(_types_from_facts(facts, speakers))
    found = [
        _make_entity(name, relations, hints.get(name, []), speakers, tuple(places))
        for name, places in spans.items()
    ]
    known = {entity.name.lower() for entity in found}
    for name, type in relations.items():
        if name.lower() not in known and _is_mentioned(name, text):
            found.append(Entity(name=name, type=type))
    if facts and speakers.speaker.lower() not in known:
        found.append(Entity(name=speakers.speaker, type="person"))
    return found


def _is_no_name(tree: Tree, first: int, last: int, name: str) -> bool:
    """Return whether a run of words is a common noun or a part of a code: "KT" of "88-KT"."""
    low = name.lower()
    is_first = first == 0 or tree.sentence[first - 1].upos == "PUNCT"
    is_common = is_first and (
        low in COMMON_NOUNS or (low.endswith("s") and low[:-1] in COMMON_NOUNS)
    )
    if is_common:
        return name_type(name) is None and not is_first_name(name)
    text, start, end = tree.text, tree.sentence[first].start, tree.sentence[last - 1].end
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if name.isupper() and len(name) <= MAX_CODE_LETTERS:
        is_second = before[-1:] == "-" and before[:1].isdigit()
        return is_second or (after[:1] == "-" and after[1:].isdigit())
    return bool(CODE.fullmatch(name))


def _clean(name: str) -> str:
    return re.sub(r"['’]s?$", "", name).strip(' .,;:!?"“”()[]*_')


def _is_mentioned(name: str, text: str) -> bool:
    return name.lower() in text.lower() and name[:1].isupper()


def _find_names(
    tree: Tree, speakers: Speakers, dates: Sequence[DateSpan]
) -> Iterator[tuple[int, int]]:
    """Yield runs of words that are names: proper nouns, capitalized or known."""
    sentence = tree.sentence
    upper = sum(map(str.isupper, [token.text for token in sentence if len(token.text) > 2]))
    shouting = upper > max(2, len(sentence) // 3)
    initials = list(filter(str.isalpha, [token.text[:1] for token in sentence]))
    titled = sum(map(str.isupper, initials)) > 0.7 * max(4, len(initials))
    at = 0
    while at < len(sentence):
        if _starts_name(tree, at, speakers, shouting=shouting or titled) and not _in_date(
            tree, at, dates
        ):
            end = at + 1
            while (
                end < len(sentence)
                and end - at < MAX_NAME_WORDS
                and _continues_name(tree, end, dates)
            ):
                end += 1
            while end > at + 1 and tree.lower[end - 1] in NAME_PARTICLES:
                end -= 1
            yield at, end
            at = end
        else:
            at += 1


def _in_date(tree: Tree, at: int, dates: Sequence[DateSpan]) -> bool:
    token = tree.sentence[at]
    return any(span.start <= token.start < span.end for span in dates)


def _starts_name(tree: Tree, at: int, speakers: Speakers, *, shouting: bool) -> bool:
    token, word = tree.sentence[at], tree.lower[at]
    capital = token.text[:1].isupper()
    if not capital and token.upos not in ("PROPN", "NOUN") and word.rstrip(".") not in TITLES:
        return False
    if at in tree.quoted or not any(map(str.isalpha, token.text)) or word in NEVER_NAMES:
        return False
    if (
        "@" in token.text
        or "/" in token.text
        or token.text.startswith("#")
        or "_" in token.text
        or "(" in token.text
    ):
        return False
    if word.rstrip(".") in TITLES:
        return at + 1 < len(tree.sentence) and tree.sentence[at + 1].text[:1].isupper()
    first = at == 0 or tree.sentence[at - 1].text in (
        "-",
        "•",
        "*",
        ":",
        '"',
        "“",
        ".",
        "!",
        "?",
        "–",
    )
    if not capital:
        return (word in speakers.known_names and token.upos in ("PROPN", "NOUN")) or (
            token.upos == "PROPN" and _is_listed(token.text) and not is_common_word(token.text)
        )
    if shouting:
        return _is_listed(token.text) and not is_common_word(token.text)
    if token.upos not in ("PROPN", "NOUN", "X", "ADJ", "VERB", "INTJ", "ADP", "ADV"):
        return False
    if token.upos == "PROPN":
        return (
            not first
            or word in speakers.known_names
            or not _is_ordinary(tree, at)
            or _is_listed(token.text)
        )
    if first:
        return (
            (_is_listed(token.text) and not is_common_word(token.text))
            or (word in speakers.known_names)
            or _has_inner_capital(token.text)
        )
    return token.upos in ("NOUN", "X", "ADJ") and not token.text.isupper()


def _is_listed(name: str) -> bool:
    return is_first_name(name) or name_type(name) is not None


def _is_ordinary(tree: Tree, at: int) -> bool:
    """Return whether the first word of a sentence is more likely no name, though tagged as one."""
    token = tree.sentence[at]
    return (
        token.confidence < 0.5
        and token.deprel in ("root", "discourse", "amod", "compound")
        and len(tree.sentence) > 1
        and not tree.sentence[min(at + 1, len(tree.sentence) - 1)].text[:1].isupper()
        and token.deprel != "root"
    )


def _has_inner_capital(text: str) -> bool:
    return text[1:] != text[1:].lower() and not text.isupper()


def _continues_name(tree: Tree, at: int, dates: Sequence[DateSpan]) -> bool:
    token, before = tree.sentence[at], tree.sentence[at - 1]
    if token.start - before.end > 1 or _in_date(tree, at, dates):
        return False
    if before.text in (".", ",", ":") and not before.text.endswith("."):
        return False
    if token.text[:1].isupper() and token.upos in ("PROPN", "NOUN", "X", "ADJ", "NUM"):
        return tree.lower[at] not in NEVER_NAMES and token.start > before.end
    if (
        token.upos == "NUM"
        and token.text.isdigit()
        and len(token.text) <= 3
        and token.start > before.end
    ):
        follows = tree.sentence[at + 1] if at + 1 < len(tree.sentence) else None
        return (
            follows is None or follows.upos in ("PUNCT", "ADP", "AUX", "CCONJ")
        ) and before.upos == "PROPN"
    following = tree.sentence[at + 1] if at + 1 < len(tree.sentence) else None
    if following is None:
        return False
    if not following.text[:1].isupper():  # "Joost van der Berg"
        both = tree.lower[at] in NAME_PARTICLES and tree.lower[at + 1] in ("der", "den", "la", "de")
        return both and at + 2 < len(tree.sentence) and tree.sentence[at + 2].text[:1].isupper()
    if tree.lower[at] in NAME_PARTICLES:
        return following.start > token.end and tree.lower[at] != "the"
    return (
        token.text in ("-", "'", "’", ".")
        and following.start == token.end
        and before.end == token.start
    )


def _type_in_sentence(tree: Tree, first: int, last: int, speakers: Speakers) -> str | None:
    """Return the type that the words around a name suggest."""
    before = tree.lower[first - 1] if first else ""
    lemma = tree.sentence[first - 1].lemma.lower() if first else ""
    if tree.lower[first].rstrip(".") in TITLES:
        return "person"
    if before in speakers.types:
        return speakers.types[before]
    if before in ("named", "called") and first > 1:
        noun = tree.sentence[first - 2].lemma.lower()
        return "pet" if noun in PETS else "person"
    if before in PREFIX_TYPES or lemma in PREFIX_TYPES:
        return PREFIX_TYPES.get(before) or PREFIX_TYPES[lemma]
    ending = tree.lower[last - 1]
    if last - first > 1 and ending in SUFFIX_TYPES:
        return SUFFIX_TYPES[ending]
    following = tree.lower[last] if last < len(tree.sentence) else ""
    if following in ("project", "office"):
        return SUFFIX_TYPES[following]
    head = next(
        (at for at in range(first, last) if not first <= tree.sentence[at].head < last), first
    )
    token = tree.sentence[head]
    if token.deprel == "vocative":
        return "person"
    if token.deprel in ("nsubj", "nsubj:pass") and token.head >= 0:
        verb = tree.sentence[token.head].lemma.lower()
        if verb in COMPANY_VERBS and not is_first_name(tree.sentence[first].text):
            return "company"
        if verb in PERSON_VERBS:
            return "person?"
    if before in PREPOSITION_TYPES:
        return f"{PREPOSITION_TYPES[before]}?"
    return (
        "company?"
        if before in ("at", "from", "with") and not is_first_name(tree.sentence[first].text)
        else None
    )


def _types_from_facts(facts: Sequence[Statement], speakers: Speakers) -> Iterator[tuple[str, str]]:
    for fact in facts:
        if fact.object and fact.object[:1].isupper() and (type := OBJECT_TYPES.get(fact.predicate)):
            yield fact.object, type
        subject = fact.subject
        if subject == speakers.project:
            yield subject, "project"
        elif (
            fact.predicate in PERSON_PREDICATES
            and subject not in (WE, speakers.speaker)
            and "'s " not in subject
            and subject[:1].isupper()
        ):
            yield subject, "person"


def _make_entity(
    name: str,
    relations: dict[str, str],
    hints: Sequence[str],
    speakers: Speakers,
    mentions: tuple[TextSpan, ...],
) -> Entity:
    type = _choose_type(name, relations, hints, speakers)
    if type != UNKNOWN:
        return Entity(name=name, type=type, mentions=mentions)
    # Most names that no list knows are those of firms.
    return Entity(name=name, type="company", mentions=mentions, is_guess=True)


def _choose_type(
    name: str, relations: dict[str, str], hints: Sequence[str], speakers: Speakers
) -> str:
    words = name.split()
    low = name.lower()
    if name == speakers.project:
        return "project"
    if low in speakers.types or words[-1].lower() in speakers.types:
        return speakers.types.get(low) or speakers.types[words[-1].lower()]
    if name in (speakers.speaker, *speakers.participants):
        return "person"
    if words[0].lower() in KIN or words[0].lower() in PARENTS:
        return "person"
    if "&" in words or words[-1].lower() in (
        "co",
        "group",
        "logistics",
        "solutions",
        "systems",
        "partners",
        "services",
        "foods",
        "media",
    ):
        return "company"
    sure = [hint for hint in hints if not hint.endswith("?")]
    known = name_type(name)
    person = is_first_name(words[0]) or words[0].lower().rstrip(".") in TITLES
    related = relations.get(name)
    if sure:
        return sure[0]
    if known and not person:
        return related if related in ("company", "product") and known == "place" else known
    if (
        person
        and related in (None, "person", "company", "place", "product")
        and (len(words) > 1 or known is None or related == "person")
    ):
        if related in ("place", "company") and len(words) == 1 and known == "place":
            return related
        return "person"
    if related:
        return related
    if known:
        return known
    if words[-1].lower() in SUFFIX_TYPES:
        return SUFFIX_TYPES[words[-1].lower()]
    if words[-1].lower() in ORGANISATIONS:
        return "company"
    guesses = [hint.rstrip("?") for hint in hints]
    if guesses and not (guesses[0] == "person" and len(words) == 1 and not person):
        return guesses[0]
    if len(words) == 1 and (_has_inner_capital(name) or any(map(str.isdigit, name))):
        return "product"
    if any(map(str.isdigit, words[-1])):
        return "product"
    return UNKNOWN


def find_files(text: str) -> Iterator[Entity]:
    """Return documents named by their file name."""
    found: dict[str, list[TextSpan]] = {}
    for match in FILE_NAME.finditer(text) if "." in text else ():
        found.setdefault(match.group(), []).append(TextSpan(*match.span()))
    for name, spans in found.items():
        yield Entity(name=name, type="document", mentions=tuple(spans))
