"""Which memories say the same thing: by their words, and by meaning where the words differ. Pure.

Careful before clever: two lines that are shown where one would do cost a few tokens, and two that
are shown as one lose something somebody said. So nothing is compared that differs in kind, label,
value, polarity, tense, number, date or name. Of what is left, the same words say the same. Other
words do if they differ in nothing but how things are usually put, and the vectors agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from ..core.derive import known_as
from ..core.predicates import aspect_of, value_of
from ..core.protocols import Floats
from ..core.records import Memory, MemoryKind
from ..core.text import query_terms

DECISION = "decision"
KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK)
AGREEING = 0.65  # cosine of two memories that say the same in other words

TOKEN = re.compile(r"[$€£¥₹#±-]?\d[\w.,:/%-]*|[^\W\d_]+(?:['’][^\W\d_]+)*|[$€£¥₹%<>=+]")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
CONTRACTED = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"'s\b"), ""),
)
USUALLY_PUT = (
    (re.compile(r"\b(?:is|are|am) going to\b"), "will"),
    (re.compile(r"\b(?:has|have|needs?|ought) to\b"), "must"),
    (re.compile(r"\b(?:is|are|am) (?:supposed|expected) to\b"), "must"),
    (re.compile(r"\b(?:has|have) (?=(?:decided|agreed|chosen|settled)\b)"), ""),
)
# Words that add nothing to what is said.
FILLING = frozenset(
    """a an the really very definitely actually basically just simply please well okay ok yes yeah
    right indeed certainly surely also totally truly quite""".split()
)
NEGATING = frozenset(
    """no not never none nobody nothing nowhere neither nor without hardly barely unless except
    instead rather but""".split()
)
# With one of these it matters what stands on which side.
ORDERING = frozenset(
    """before after than over under above below from to into until since between versus vs then
    behind against by if when while because for""".split()
)
LOOSE_IN_A_DECISION = frozenset("to for by then".split())  # decided to use Redis for the cache
NUMBERS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty
    thirty forty fifty sixty hundred thousand million billion dozen half third quarter twice once
    first second both""".split()
)
SAME_WORD = {
    word: one
    for one, *others in (
        "begin start begins starts".split(),
        "buy purchase buys purchases".split(),
        "child kid".split(),
        "children kids".split(),
        "email mail e-mail".split(),
        "fix repair".split(),
        "film movie".split(),
        "large big".split(),
        "photo picture".split(),
        "replies answers responses".split(),
    )
    for word in (one, *others)
}
# What any decision says, whatever it is about.
OF_ANY_DECISION = (
    "we they decided decide decision agreed agree chose choose chosen picked settled settle use"
    " using uses go going goes with let us team final finally"
)


def key_of(memory: Memory) -> Hashable | None:
    """What all that say the same have in common; None of what stands for itself."""
    if memory.kind is MemoryKind.FACT:
        return _fact_key(memory)
    return _landmark_key(memory) if memory.kind is MemoryKind.LANDMARK else None


def same_in(memories: Iterable[Memory], vectors: Mapping[str, Floats]) -> list[list[Memory]]:
    """Those that say the same, together, oldest first; each of one key, and at least two.

    What comes out depends on what is given, and not on its order.
    """
    by_key: defaultdict[Hashable, list[Memory]] = defaultdict(list)
    for memory in memories:
        if (key := key_of(memory)) is not None:
            by_key[key].append(memory)
    found = [
        together
        for alike in by_key.values()
        if len(alike) > 1
        for together in _together(sorted(alike, key=_moment), vectors)
    ]
    return [sorted(each, key=_moment) for each in found if len(each) > 1]


def in_other_words(memories: Sequence[Memory]) -> list[str]:
    """The ids of those whose vectors decide, because their words do not."""
    by_key: defaultdict[Hashable, dict[Hashable, str]] = defaultdict(dict)
    for memory in sorted(memories, key=_moment):
        if (key := key_of(memory)) is not None:
            by_key[key].setdefault(_form(memory), memory.id)
    return [id for forms in by_key.values() if len(forms) > 1 for id in forms.values()]


def _together(alike: Sequence[Memory], vectors: Mapping[str, Floats]) -> list[list[Memory]]:
    """Each with the first before it that says the same: in these words, or by its vector."""
    by_form: dict[Hashable, list[Memory]] = {}
    for memory in alike:
        by_form.setdefault(_form(memory), []).append(memory)
    found: list[list[Memory]] = []
    for same in by_form.values():
        near = (each for each in found if _agree(each[0], same[0], vectors))
        into = next(near, None)
        if into is None:
            found.append(list(same))
        else:
            into.extend(same)
    return found


def _agree(one: Memory, other: Memory, vectors: Mapping[str, Floats]) -> bool:
    """Whether they are somebody's in common, and mean the same."""
    theirs = _owners(one), _owners(other)
    if all(theirs) and set(theirs[0]).isdisjoint(theirs[1]):
        return False
    first, second = vectors.get(one.id), vectors.get(other.id)
    return first is not None and second is not None and float(first @ second) >= AGREEING


def _form(memory: Memory) -> Hashable:
    """The words it says, and whose they are."""
    return _owners(memory), tuple(_words(memory.text))


def _moment(memory: Memory) -> tuple[datetime, str]:
    return memory.at, memory.id


def _fact_key(memory: Memory) -> Hashable | None:
    fact = memory.fact
    if fact.exact or not fact.stated or memory.metadata.get("held_back"):
        return None
    return (
        memory.label,
        memory.kind,
        known_as(fact.subject),
        fact.predicate.upper(),
        aspect_of(fact),
        value_of(fact),
        fact.negated,
        fact.tense,
        memory.valid_from,
        memory.valid_to,
        _telling(memory.text),
    )


def _landmark_key(memory: Memory) -> Hashable:
    body = memory.body
    return (
        memory.label,
        memory.kind,
        body.get("kind"),
        () if body.get("kind") == DECISION else _owners(memory),  # whoever was there
        *(body.get(name) for name in ("due", "due_from", "wrong", "right", "status")),
        memory.valid_from,
        memory.valid_to,
        _matter(memory),
    )


def _owners(memory: Memory) -> tuple[str, ...]:
    owner = memory.body.get("owner")
    return tuple(sorted(map(known_as, owner.split(" and ")))) if owner else ()


def _words(text: str) -> list[str]:
    """The words of a text as they are compared: numbers and signs too, and no fillers."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for short, long in CONTRACTED:
        folded = short.sub(long, folded)
    folded = THOUSANDS.sub("", folded)
    found = (token.rstrip(".,:-/") for token in TOKEN.findall(folded))
    return [token for token in found if token and token not in FILLING]


def _telling(text: str) -> Hashable:
    """What of a fact's sentence its value does not hold: numbers, denials, and other names."""
    words = _words(text)
    numbers = [
        (before, word)
        for before, word in pairwise(["", *words])
        if word in NUMBERS or any(sign.isdigit() for sign in word)
    ]
    denials = [word for word in words if word in NEGATING]
    return tuple(numbers), tuple(denials), _names(text)


def _names(text: str) -> tuple[str, ...]:
    """Words with a capital that does not begin a sentence, in their order."""
    tokens = text.split()
    return tuple(
        word.strip(".,;:!?\"'()").casefold().removesuffix("'s")
        for before, word in pairwise([".", *tokens])
        if word[:1].isupper() and before[-1] not in ".!?:"
    )


def _matter(memory: Memory) -> Hashable:
    """What a landmark says, apart from how it is usually put.

    Words in another order say the same only where nothing depends on it: with two numbers, two
    names or a denial, something does.
    """
    folded = memory.text.casefold()
    for long, short in USUALLY_PUT:
        folded = long.sub(short, folded)
    words = [SAME_WORD.get(word, word) for word in _words(folded)]
    signs = [word for word in words if word in NUMBERS or any(map(str.isdigit, word))]
    decision = memory.body.get("kind") == DECISION
    bound = NEGATING | ORDERING - LOOSE_IN_A_DECISION if decision else NEGATING | ORDERING
    if len(signs) > 1 or len(_names(memory.text)) > 1 or not bound.isdisjoint(words):
        return tuple(words)
    return _decided(memory) if decision else (frozenset(words), len(words))


def _decided(memory: Memory) -> Hashable:
    """What a decision is about, without who made it and the words that any decision has."""
    people = [memory.speaker or "", *_owners(memory)]
    said = frozenset(query_terms(memory.text))
    return said - _of_any_decision() - frozenset(query_terms(" ".join(people)))


@lru_cache(maxsize=1)  # stems load with the first word
def _of_any_decision() -> frozenset[str]:
    return frozenset(query_terms(OF_ANY_DECISION))
