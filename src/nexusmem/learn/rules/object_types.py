"""Types of objects in the relation table: which noun phrase a verb can take for a relation."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...text.gazetteer import is_first_name, name_type
from .grammar import Phrase
from .lexicon import (
    CLUBS,
    DIETS,
    KIN,
    LANGUAGES,
    OCCUPATIONS,
    ORGANISATIONS,
    PARENTS,
    SCHOOLS,
    SKILLS,
)
from .vocabulary import (
    BABIES,
    BODY_PARTS,
    CHARGES,
    CONSUMED,
    DEVICES,
    DOCTORS,
    FIELDS,
    FOODS,
    GENERIC_BLOCKERS,
    GOODS,
    HOBBIES,
    INSTRUMENTS,
    LEAVES,
    NEED_BLOCKERS,
    NO_DUTIES,
    NO_TOOLS,
    NO_TOPICS,
    PERSON_NOUNS,
    PLAN_NOUNS,
    PLANS,
    POSTS,
    SOUGHT,
    SPORTS,
    SPOTS,
    TASK_NOUNS,
    TOOL_NOUNS,
    VAGUE_WORK,
    is_condition,
    is_medicine,
)

IDENTIFIER = re.compile(r"[\w.]+[-_/.][\w/.-]+$")
SOFTWARE_NOUNS = frozenset("database framework library tool editor server browser app".split())
HOMES = frozenset("flat house apartment place room home condo studio cottage".split())
OWN_WORDS = frozenset(["my", "our", "your", "his", "her", "their", "its"])


def is_named(phrase: Phrase) -> bool:
    """Return whether a phrase is a name and not merely the first word of a sentence."""
    return phrase.is_name and (phrase.token.upos == "PROPN" or phrase.head > 0)


def has_determiner(phrase: Phrase) -> bool:
    """Return whether an article or an owner stands before the noun."""
    return phrase.determiner is not None or phrase.possessor is not None


def is_generic(phrase: Phrase) -> bool:
    """Return whether a phrase means a kind of thing: "tea", "old films", "a good lager"."""
    words = phrase.tree.lower
    children = phrase.tree.children[phrase.head]
    if any(words[at] in GENERIC_BLOCKERS for at in children):
        return False
    owner = phrase.possessor
    return owner is None or words[owner] not in ("other", "another")


def _is_club(phrase: Phrase) -> bool:
    is_group = phrase.lemma in CLUBS or phrase.short_text.lower().split()[-1:] == ["club"]
    return is_group and (has_determiner(phrase) or is_named(phrase))


def _is_employer(phrase: Phrase) -> bool:
    return is_named(phrase) and name_type(phrase.short_text) == "company"


def _is_school(phrase: Phrase) -> bool:
    words = phrase.short_text.lower().split()
    return (is_named(phrase) and bool(SCHOOLS & set(words))) or (
        phrase.lemma in SCHOOLS and len(words) > 1
    )


def _is_post(phrase: Phrase) -> bool:
    return phrase.lemma in POSTS and len(phrase.short_text.split()) > 1


def _is_duty(phrase: Phrase) -> bool:
    if phrase.is_pronoun or phrase.lemma in NO_DUTIES or phrase.lemma in POSTS:
        return False
    if phrase.lemma in KIN or phrase.lemma in OCCUPATIONS or is_first_name(phrase.text):
        return False
    words = phrase.tree.lower
    owned = phrase.possessor is not None and words[phrase.possessor] in OWN_WORDS
    determiner = phrase.determiner or ""
    return (
        is_named(phrase)
        or phrase.lemma in TASK_NOUNS
        or determiner == "the"
        or (owned and len(phrase.short_text.split()) > 2)
        or IDENTIFIER.match(phrase.text) is not None
    )


def _is_task(phrase: Phrase) -> bool:
    words = phrase.short_text.lower().split()
    if phrase.lemma in NO_DUTIES or phrase.is_pronoun:
        return False
    known = phrase.lemma in TASK_NOUNS or phrase.token.text.lower() in TASK_NOUNS
    return known or (_is_duty(phrase) and (is_named(phrase) or len(words) > 1))


def _is_effort(phrase: Phrase) -> bool:
    if is_someone(phrase):
        return False
    has_compound = any(
        phrase.tree.relation(at) == "compound" for at in phrase.tree.children[phrase.head]
    )
    if phrase.lemma in VAGUE_WORK:
        return has_compound or "of" in phrase.text.split()
    return is_named(phrase) or has_compound or phrase.determiner in ("the", "a", "an")


def _is_topic(phrase: Phrase) -> bool:
    if phrase.lemma in NO_TOPICS or phrase.token.text.lower() in NO_TOPICS:
        return False
    return _is_skill(phrase) or (is_generic(phrase) and phrase.determiner is None)


def _is_skill(phrase: Phrase) -> bool:
    word = phrase.token.text.lower()
    return word in LANGUAGES or word in SKILLS or word in INSTRUMENTS or word in SPORTS


def _is_subject(phrase: Phrase) -> bool:
    if phrase.lemma in PERSON_NOUNS or phrase.token.text.lower() in PERSON_NOUNS:
        return False
    if phrase.lemma in KIN or is_first_name(phrase.text):
        return False
    return len(phrase.text.split()) <= 4 and not _is_owned(phrase)


def _is_owned(phrase: Phrase) -> bool:
    owner = phrase.possessor
    return owner is not None and phrase.tree.lower[owner] in OWN_WORDS


def _is_activity(phrase: Phrase) -> bool:
    word = phrase.token.text.lower()
    if phrase.lemma in ("role", "part", "trick", "joke", "game", "music", "song"):
        return False
    known = word in SPORTS or word in INSTRUMENTS or phrase.lemma in INSTRUMENTS
    return known or (phrase.token.upos == "PROPN" and phrase.head > 0)


def _is_tool(phrase: Phrase) -> bool:
    verb = phrase.tree.sentence[phrase.token.head].lemma.lower() if phrase.token.head >= 0 else ""
    if is_first_name(phrase.text) and verb != "use":  # "uses Lark": nobody uses a person
        return False
    if phrase.lemma in NO_TOOLS or phrase.token.text.lower() in NO_TOOLS:
        return False
    if _is_owned(phrase) and not is_named(phrase):
        return False
    words = set(phrase.short_text.lower().split())
    known = bool(words & TOOL_NOUNS) or name_type(phrase.short_text) in ("product", "company")
    compound = len(words) > 1 and any(
        phrase.tree.relation(at) == "compound" for at in phrase.tree.children[phrase.head]
    )
    return is_named(phrase) or known or compound or phrase.lemma in SKILLS


def _is_purchase(phrase: Phrase) -> bool:
    return phrase.lemma not in CONSUMED and phrase.token.text.lower() not in CONSUMED


def _is_goods(phrase: Phrase) -> bool:
    words = set(phrase.short_text.lower().split())
    return bool(words & GOODS) or (is_named(phrase) and not is_first_name(phrase.text))


def _is_plan(phrase: Phrase) -> bool:
    words = phrase.short_text.lower().split()
    return bool(words) and (
        (phrase.is_name and words[-1] in PLANS) or (words[-1] in PLAN_NOUNS and len(words) > 1)
    )


def _is_need(phrase: Phrase) -> bool:
    words = set(phrase.text.lower().split())
    return not words & NEED_BLOCKERS and not _is_owned(phrase)


def _is_name(phrase: Phrase) -> bool:
    return is_named(phrase) and len(phrase.text.split()) <= 3


def _is_spot(phrase: Phrase) -> bool:
    return _is_container(phrase) or is_named(phrase) or has_determiner(phrase)


def _is_container(phrase: Phrase) -> bool:
    return phrase.lemma in SPOTS or IDENTIFIER.match(phrase.text) is not None


def _is_company(phrase: Phrase) -> bool:
    if is_named(phrase):
        return name_type(phrase.text) != "place" and not is_first_name(phrase.text)
    return phrase.lemma in ORGANISATIONS and has_determiner(phrase)


def _is_city(phrase: Phrase) -> bool:
    return is_named(phrase) and name_type(phrase.short_text) == "place"


def _is_doctor(phrase: Phrase) -> bool:
    first = phrase.text.lower().split()[:1]
    return phrase.lemma in DOCTORS or first in (["dr"], ["dr."], ["doctor"])


def is_someone(phrase: Phrase) -> bool:
    """Return whether a phrase means a person or a group of people."""
    word = phrase.token.text.lower()
    if phrase.is_pronoun:
        return word not in ("it", "this", "that", "these", "those", "which", "what")
    if phrase.lemma in KIN or phrase.lemma in OCCUPATIONS or phrase.lemma in PARENTS:
        return True
    words = phrase.text.split()
    if phrase.token.upos != "PROPN" or not words:
        return False
    titled = words[0].lower().rstrip(".") in ("mr", "mrs", "ms", "dr", "prof")
    return titled or (
        is_first_name(words[0]) and name_type(phrase.text) not in ("company", "product")
    )


def is_unknown_name(phrase: Phrase) -> bool:
    """Return whether a phrase is a name of which nothing is known."""
    return phrase.token.upos == "PROPN" and name_type(phrase.text) is None


def _is_named_person(phrase: Phrase) -> bool:
    is_noun = phrase.lemma in KIN and not is_named(phrase) and phrase.possessor is None
    if phrase.lemma in OCCUPATIONS or is_noun:
        return False
    return is_someone(phrase) or (is_unknown_name(phrase) and len(phrase.text.split()) > 1)


def _is_product(phrase: Phrase) -> bool:
    known = name_type(phrase.short_text)
    if known == "place" or "@" in phrase.text or is_first_name(phrase.short_text):
        return False
    named = is_named(phrase) or any(
        phrase.tree.sentence[at].upos == "PROPN"
        for at in phrase.tree.children[phrase.head]
        if phrase.tree.relation(at) == "compound"
    )
    return named or known in ("product", "company") or phrase.lemma in SOFTWARE_NOUNS


TYPES: dict[str, Callable[[Phrase], bool]] = {
    "activity": _is_activity,
    "baby": lambda phrase: phrase.lemma in BABIES or phrase.token.text.lower() in BABIES,
    "bodypart": lambda phrase: phrase.lemma in BODY_PARTS,
    "charge": lambda phrase: (
        (phrase.lemma in CHARGES or phrase.token.text.lower() in CHARGES)
        and phrase.determiner in (None, "the", "all")
        and phrase.possessor is None
    ),
    "city": _is_city,
    "college": lambda phrase: phrase.lemma in SCHOOLS or _is_school(phrase),
    "club": _is_club,
    "company": _is_company,
    "condition": lambda phrase: is_condition(phrase.short_text),
    "container": _is_container,
    "device": lambda phrase: bool(set(phrase.short_text.lower().split()) & DEVICES),
    "diet": lambda phrase: phrase.token.text.lower() in DIETS | {"veggie", "plant-based", "keto"},
    "doctor": _is_doctor,
    "duty": _is_duty,
    "effort": _is_effort,
    "employer": _is_employer,
    "field": lambda phrase: phrase.token.text.lower() in FIELDS or phrase.lemma in FIELDS,
    "food": lambda phrase: phrase.lemma in FOODS or phrase.token.text.lower() in FOODS,
    "generic": is_generic,
    "goods": _is_goods,
    "hobby": lambda phrase: phrase.token.text.lower() in HOBBIES,
    "home": lambda phrase: phrase.lemma in HOMES,
    "leave": lambda phrase: phrase.token.text.lower() in LEAVES,
    "medication": lambda phrase: is_medicine(phrase.text),
    "name": _is_name,
    "need": _is_need,
    "plan": _is_plan,
    "post": _is_post,
    "product": _is_product,
    "purchase": _is_purchase,
    "school": _is_school,
    "service": lambda phrase: is_named(phrase) or phrase.lemma in PLAN_NOUNS,
    "skill": _is_skill,
    "someone": _is_named_person,
    "sought": lambda phrase: phrase.lemma in SOUGHT,
    "spot": _is_spot,
    "subject": _is_subject,
    "task": _is_task,
    "tool": _is_tool,
    "topic": _is_topic,
}
