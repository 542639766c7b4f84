"""Duplicate detection: by words, and by vectors where the words differ. Pure functions.

Precision comes first: showing two equal lines costs a few tokens, merging two different ones loses
a statement. Memories that differ in kind, label, value, polarity, tense, number, date or name are
never duplicates. Of the others, equal words are duplicates. Different words are duplicates if only
phrasing differs and the vectors agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from ...core.derive import normalize_name
from ...core.protocols.embedder import Floats
from ...core.records import EmbeddingProfile, Fact, Memory, MemoryKind
from ...text.predicates import normalize_aspect, normalize_fact_value
from ...text.terms import query_terms

DECISION = "decision"
COMPARED_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK)
MIN_COSINE = 0.65  # minimum calibrated cosine of two duplicates with different words

TOKEN = re.compile(r"[$€£¥₹#±-]?\d[\w.,:/%-]*|[^\W\d_]+(?:['’][^\W\d_]+)*|[$€£¥₹%<>=+]")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
CONTRACTIONS = (
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
COMMON_PHRASINGS = (
    (re.compile(r"\b(?:is|are|am) going to\b"), "will"),
    (re.compile(r"\b(?:has|have|needs?|ought) to\b"), "must"),
    (re.compile(r"\b(?:is|are|am) (?:supposed|expected) to\b"), "must"),
    (re.compile(r"\b(?:has|have) (?=(?:decided|agreed|chosen|settled)\b)"), ""),
)
QUALIFIER_START = re.compile(r"\s*(?:for|in|at|on|with|as|to|from|via|without|during)\b")
CLAUSE_END = re.compile(r"[,.;:!?]| (?:and|but|because|so) ")
# What opens a sentence and adds nothing to it.
OPENERS = re.compile(
    r"^(?:as (?:you (?:all )?know|I (?:said|mentioned))|between us|it is true|it's true|by the way"
    r"|to be honest|for the record|fyi|btw),? ",
    re.IGNORECASE,
)
# Words without content.
FILLER_WORDS = frozenset(
    """a an the really very definitely actually basically just simply please well okay ok yes yeah
    right indeed certainly surely also totally truly quite""".split()
)
NEGATIONS = frozenset(
    """no not never none nobody nothing nowhere neither nor without hardly barely unless except
    instead rather but""".split()
)
# Words around which the order of the other words matters.
ORDER_WORDS = frozenset(
    """before after than over under above below from to into until since between versus vs then
    behind against by if when while because for""".split()
)
UNORDERED_IN_DECISIONS = frozenset("to for by then".split())  # decided to use Redis for the cache
NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty
    thirty forty fifty sixty hundred thousand million billion dozen half third quarter twice once
    first second both""".split()
)
SYNONYMS = {
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
# Words that occur in any decision.
COMMON_DECISION_WORDS = (
    "we they decided decide decision agreed agree chose choose chosen picked settled settle use"
    " using uses go going goes with let us team final finally"
)


def similarity_key(memory: Memory) -> Hashable | None:
    """Return the key that duplicates share, or None if the memory has no duplicates."""
    if memory.kind is MemoryKind.FACT:
        return _fact_key(memory)
    return _landmark_key(memory) if memory.kind is MemoryKind.LANDMARK else None


def group_same(
    memories: Iterable[Memory],
    vectors: Mapping[str, Floats],
    profile: EmbeddingProfile | None = None,
) -> list[list[Memory]]:
    """Return groups of at least two duplicates with one key, oldest first.

    `profile` calibrates the cosines of the vectors. The result does not depend on the order of the
    input.
    """
    by_key: defaultdict[Hashable, list[Memory]] = defaultdict(list)
    for memory in memories:
        if (key := similarity_key(memory)) is not None:
            by_key[key].append(memory)
    found = [
        together
        for alike in by_key.values()
        if len(alike) > 1
        for together in _group_by_form(sorted(alike, key=_sort_key), vectors, profile)
    ]
    return [sorted(each, key=_sort_key) for each in found if len(each) > 1]


def ids_needing_vectors(memories: Sequence[Memory]) -> list[str]:
    """Return the ids of memories whose vectors decide."""
    by_key: defaultdict[Hashable, dict[Hashable, str]] = defaultdict(dict)
    for memory in sorted(memories, key=_sort_key):
        if (key := similarity_key(memory)) is not None:
            by_key[key].setdefault(_word_form(memory), memory.id)
    return [id for forms in by_key.values() if len(forms) > 1 for id in forms.values()]


def _group_by_form(
    memories: Sequence[Memory], vectors: Mapping[str, Floats], profile: EmbeddingProfile | None
) -> list[list[Memory]]:
    """Pair each memory with the first earlier duplicate, by words or by vector."""
    by_form: dict[Hashable, list[Memory]] = {}
    for memory in memories:
        by_form.setdefault(_word_form(memory), []).append(memory)
    found: list[list[Memory]] = []
    for same in by_form.values():
        near = (each for each in found if _have_same_meaning(each[0], same[0], vectors, profile))
        into = next(near, None)
        if into is None:
            found.append(list(same))
        else:
            into.extend(same)
    return found


def _have_same_meaning(
    one: Memory, other: Memory, vectors: Mapping[str, Floats], profile: EmbeddingProfile | None
) -> bool:
    """Return whether two memories share an owner and a meaning."""
    theirs = _owner_names(one), _owner_names(other)
    if all(theirs) and set(theirs[0]).isdisjoint(theirs[1]):
        return False
    first, second = vectors.get(one.id), vectors.get(other.id)
    if first is None or second is None:
        return False
    cosine = float(first @ second)
    return (profile.calibrate(cosine) if profile else cosine) >= MIN_COSINE


def _word_form(memory: Memory) -> Hashable:
    """Return the normalized words and their owners; of a fact, the words without its subject."""
    if memory.kind is MemoryKind.FACT:
        return _fact_words(memory)
    return _owner_names(memory), tuple(_normalize_words(memory.text))


def _fact_words(memory: Memory) -> Hashable:
    """Return the stems of a fact's sentence: "I work here" and "Alice works here" agree."""
    said = " ".join(_normalize_words(OPENERS.sub("", memory.text)))
    subject = {*query_terms(memory.fact.subject), *query_terms(memory.speaker or "")}
    return tuple(term for term in query_terms(said) if term not in subject)


def _sort_key(memory: Memory) -> tuple[datetime, str]:
    return memory.at, memory.id


def _fact_key(memory: Memory) -> Hashable | None:
    fact = memory.fact
    if fact.exact or not fact.stated or memory.metadata.get("held_back"):
        return None
    return (
        memory.label,
        memory.kind,
        normalize_name(fact.subject),
        fact.predicate.upper(),
        normalize_aspect(fact),
        normalize_fact_value(fact),
        fact.negated,
        fact.tense,
        memory.valid_from,
        memory.valid_to,
        _fact_details(memory.text, f"{fact.subject} {fact.object or ''}"),
        _qualifier(memory.text, fact),
    )


def _landmark_key(memory: Memory) -> Hashable:
    body = memory.body
    return (
        memory.label,
        memory.kind,
        body.get("kind"),
        () if body.get("kind") == DECISION else _owner_names(memory),  # all participants
        *(body.get(name) for name in ("due", "due_from", "wrong", "right", "status")),
        memory.valid_from,
        memory.valid_to,
        _landmark_content(memory),
    )


def _owner_names(memory: Memory) -> tuple[str, ...]:
    owner = memory.body.get("owner")
    return tuple(sorted(map(normalize_name, owner.split(" and ")))) if owner else ()


def _normalize_words(text: str) -> list[str]:
    """Return the normalized words of a text, with numbers and symbols, without fillers."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for short, long in CONTRACTIONS:
        folded = short.sub(long, folded)
    folded = THOUSANDS.sub("", folded)
    found = (token.rstrip(".,:-/") for token in TOKEN.findall(folded))
    return [token for token in found if token and token not in FILLER_WORDS]


def _fact_details(text: str, named: str) -> Hashable:
    """Return details of a fact's sentence that its fields lack: numbers, negations and names
    other than those in `named`.
    """
    words = _normalize_words(text)
    numbers = [
        (before, word)
        for before, word in pairwise(["", *words])
        if word in NUMBER_WORDS or any(sign.isdigit() for sign in word)
    ]
    denials = [word for word in words if word in NEGATIONS]
    own = {"i", *normalize_name(named).split()}  # "I work here" and "Alice works here" agree
    names = tuple(name for name in _find_names(text) if name.partition("'")[0] not in own)
    return tuple(numbers), tuple(denials), names


def _qualifier(text: str, fact: Fact) -> tuple[str, ...]:
    """Return the terms between a fact's value and the end of its clause: "for the cache"."""
    value = fact.value if fact.object is None else fact.object
    _, found, rest = text.casefold().partition(str(value).casefold())
    if not found or not QUALIFIER_START.match(rest):  # "these days" qualifies nothing
        return ()
    return tuple(query_terms(CLAUSE_END.split(rest, maxsplit=1)[0]))


def _find_names(text: str) -> tuple[str, ...]:
    """Return capitalized words that do not start a sentence, in order."""
    tokens = text.split()
    return tuple(
        word.strip(".,;:!?\"'()").casefold().replace("’", "'").removesuffix("'s")
        for before, word in pairwise([".", *tokens])
        if word[:1].isupper() and before[-1] not in ".!?:"
    )


def _landmark_content(memory: Memory) -> Hashable:
    """Return the content of a landmark without its phrasing.

    Word order is ignored only without two numbers, two names or a negation.
    """
    folded = memory.text.casefold()
    for long, short in COMMON_PHRASINGS:
        folded = long.sub(short, folded)
    words = [SYNONYMS.get(word, word) for word in _normalize_words(folded)]
    signs = [word for word in words if word in NUMBER_WORDS or any(map(str.isdigit, word))]
    decision = memory.body.get("kind") == DECISION
    bound = (
        NEGATIONS | ORDER_WORDS - UNORDERED_IN_DECISIONS if decision else NEGATIONS | ORDER_WORDS
    )
    if len(signs) > 1 or len(_find_names(memory.text)) > 1 or not bound.isdisjoint(words):
        return tuple(words)
    return _decision_content(memory) if decision else (frozenset(words), len(words))


def _decision_content(memory: Memory) -> Hashable:
    """Return the subject of a decision, without its author and the common decision words."""
    people = [memory.speaker or "", *_owner_names(memory)]
    said = frozenset(query_terms(memory.text))
    return said - _common_decision_terms() - frozenset(query_terms(" ".join(people)))


@lru_cache(maxsize=1)  # the stemmer loads on first use
def _common_decision_terms() -> frozenset[str]:
    return frozenset(query_terms(COMMON_DECISION_WORDS))
