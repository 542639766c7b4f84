"""Signs that a sentence needs earlier turns: references, fragments, and questions without topic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from ...learn.rules.grammar import Phrase, Tree
from ...learn.rules.lexicon import word_set
from ...text.parser.sentence import NO_HEAD
from ...text.terms import STOP_WORDS, normalize_words
from ..question import is_chat, is_small_talk
from .mentions import MODIFIERS, QUESTION_WORDS, VAGUE_NOUNS, is_time

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "he"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "she"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "they"),
    **dict.fromkeys(("it", "its", "itself"), "it"),
}
DEMONSTRATIVES = word_set("that this these those")
OPENERS = word_set("and or but also then so plus")  # of an elliptic question
CHOOSING = word_set("the that this which these those what my your")
EMPTY_IT_VERBS = word_set("rain raining snow snowing seem depend matter go going sound")
UNIQUE_NOUNS = word_set("weather news sun moon sky internet world president government economy")
ATTRIBUTE_NOUNS = word_set(  # of something that the question must name
    """company brand model size colour color price cost fee amount version type dose code deadline
    address phone email contact link password title kind shop store room seat line figure total
    limit rate percentage budget"""
)
ASKING_VERBS = word_set("give tell show send find remind")
GENERIC_VERBS = word_set(
    """be do have get go come say tell happen decide choose pick know think mean want need make
    take give see find call cost pay start end finish begin leave arrive open close help use
    stay park let talk meet ask answer mention recommend suggest agree change buy book order keep
    put try send set remember remind"""
)
ORDINALS = {
    **{word: at for at, word in enumerate("first second third fourth fifth sixth".split())},
    **{word: at for at, word in enumerate("1st 2nd 3rd 4th 5th 6th".split())},
    "former": 0,
    "latter": -1,
    "last": -1,
}
PLAIN_ADJECTIVES = STOP_WORDS | ORDINALS.keys() | {"much", "many", "long", "often"}
ABOUT = re.compile(r"\b(?:what|how) (?:about|of)\b", re.IGNORECASE)
SIGN = re.compile(
    r"\b(?:he|him|his|himself|she|hers?|herself|they|them|theirs?|themselves|its?|itself|that|this"
    r"|these|those|there|ones?|another|else|same|instead|mine|ours|either|both|neither"
    r"|the (?:others?|former|latter|last|first|second|third|fourth|fifth|[1-6](?:st|nd|rd|th))"
    r"|(?:what|how) (?:about|of))\b",
    re.IGNORECASE,
)
NAME = re.compile(r"\s(?!I\b)[^\W\d_a-z]\w")
MAX_FRAGMENT_WORDS = 12
MAX_TOPICLESS_WORDS = 12


class Reference(StrEnum):
    """Kind of a word that refers to something named before."""

    PRONOUN = "pronoun"  # "she", "its"
    THAT = "that"
    THAT_NOUN = "that noun"  # "that place"
    THERE = "there"
    ONE = "one"  # "the second one", "the other"
    TOPIC = "topic"  # "who else?", "which is cheaper?"


def may_depend(question: str) -> bool:
    """Return whether the words of a message have a sign that it needs earlier turns."""
    words = normalize_words(question).split()
    if SIGN.search(question) or not OPENERS.isdisjoint(words[:2]):
        return True
    content = [word for word in words if word not in STOP_WORDS and word not in VAGUE_NOUNS]
    if len(content) > 3 and NAME.search(question):
        return False
    is_question = "?" in question or not QUESTION_WORDS.isdisjoint(words[:3])
    return len(content) <= (6 if is_question else 4)


def needs_earlier(tree: Tree) -> bool:
    """Return whether a sentence has a sign that it needs earlier turns."""
    return any(map(str.isalnum, tree.lower)) and (
        is_fragment(tree)
        or next(find_references(tree), None) is not None
        or lacks_topic(tree)
        or next(find_bare_definites(tree), None) is not None
    )


def is_fragment(tree: Tree) -> bool:
    """Return whether a sentence is an elliptic question: "And Priya's?", "What about May?"."""
    words = [word for word in tree.lower if word.isalnum()]
    text, has_mark = " ".join(words), "?" in tree.lower
    is_talk = is_chat(text) or (is_small_talk(text) and not has_mark)
    if not words or len(words) > MAX_FRAGMENT_WORDS or is_talk:
        return False
    if ABOUT.search(" ".join(words[:5])):
        return True
    if words[0] in QUESTION_WORDS:
        return not any(token.upos in ("VERB", "AUX") for token in tree.sentence)
    if has_verb(tree):
        return False
    return words[0] in OPENERS or (has_mark and _is_short_phrase(tree, words))


def _is_short_phrase(tree: Tree, words: list[str]) -> bool:
    """Return whether a phrase does not say enough alone: "on Friday?", "the gate code?"."""
    content = [word for word in words if word not in STOP_WORDS]
    if tree.child(tree.sentence.root, "case") is not None or len(content) <= 1:
        return True
    return len(content) <= 3 and tree.lower[0] == "the"


def has_verb(tree: Tree) -> bool:
    """Return whether a sentence has a verb outside of relative clauses."""
    if tree.child(tree.sentence.root, "nsubj", "nsubj:pass", "cop", "aux", "csubj") is not None:
        return True
    return any(
        token.upos in ("VERB", "AUX") and not _is_in_relative_clause(tree, at)
        for at, token in enumerate(tree.sentence)
    )


def _is_in_relative_clause(tree: Tree, at: int) -> bool:
    for _ in tree.sentence:
        if tree.relation(at).startswith("acl"):
            return True
        at = tree.sentence[at].head
        if at == NO_HEAD:
            return False
    return False


def find_references(tree: Tree) -> Iterator[tuple[int, Reference]]:
    """Yield the words that refer to something named before, with their kind."""
    for at in range(len(tree.sentence)):
        kind = _reference_kind(tree, at)
        if kind is not None:
            yield at, kind


def _reference_kind(tree: Tree, at: int) -> Reference | None:
    word, token = tree.lower[at], tree.sentence[at]
    if word in PRONOUNS:
        is_empty = token.deprel == "expl" or (word == "it" and _is_empty_it(tree, at))
        return None if is_empty or token.upos not in ("PRON", "DET") else Reference.PRONOUN
    if word in DEMONSTRATIVES:
        return _demonstrative_kind(tree, at)
    if word == "there":
        is_place = token.deprel != "expl" and token.upos != "PRON"
        return Reference.THERE if is_place else None
    if _chooses_one(tree, at):
        return Reference.ONE
    is_topic = (
        word in ("else", "instead", "same")
        or (word in ("mine", "ours") and token.deprel != "nmod:poss")
        or _is_comparative(tree, at)
    )
    return Reference.TOPIC if is_topic and "than" not in tree.lower else None


def _demonstrative_kind(tree: Tree, at: int) -> Reference | None:
    token = tree.sentence[at]
    if token.upos == "PRON":
        is_relative = at > 0 and token.head != NO_HEAD
        is_relative = is_relative and tree.relation(token.head).startswith("acl")
        return None if is_relative else Reference.THAT
    is_determiner = token.deprel == "det" and token.head > at
    return Reference.THAT_NOUN if is_determiner and not is_time(tree, token.head) else None


def _chooses_one(tree: Tree, at: int) -> bool:
    """Return whether a word is what "the second one", "the latter" or "the other" is about."""
    word, token = tree.lower[at], tree.sentence[at]
    if word in ("one", "ones"):
        is_noun = token.deprel not in ("nummod", "det")
        return is_noun and any(tree.lower[child] in CHOOSING for child in tree.children[at])
    if not at or tree.lower[at - 1] != "the":
        return False
    describes_noun = token.deprel in ("amod", "nummod") and token.head > at
    return (word in ORDINALS or word in ("other", "others")) and not describes_noun


def _is_comparative(tree: Tree, at: int) -> bool:
    word, token = tree.lower[at], tree.sentence[at]
    is_compared = token.upos == "ADJ" and word.endswith("er") and token.lemma.lower() != word
    return is_compared and word not in ("later", "earlier", "further")


def _is_empty_it(tree: Tree, at: int) -> bool:
    """Return whether "it" refers to nothing: "is it raining?", "what was it she wanted?"."""
    words, head = tree.lower, tree.sentence[at].head
    if head != NO_HEAD:
        above = {tree.sentence[head].lemma.lower(), words[head]}
        if not EMPTY_IT_VERBS.isdisjoint(above):
            return True
    is_asked = at > 1 and words[at - 1] in ("is", "was", "'s") and words[at - 2] in QUESTION_WORDS
    if is_asked and at + 1 < len(words):
        return tree.sentence[at + 1].upos in ("PRON", "PROPN", "NOUN", "DET")
    return "time" in words and words[-2:] in (["it", "?"], ["is", "it"], ["it", "now"])


def lacks_topic(tree: Tree) -> bool:
    """Return whether a question does not name its topic: "When did we decide?", "The key?"."""
    words = tree.lower
    is_question = "?" in words or not (QUESTION_WORDS | ASKING_VERBS).isdisjoint(words[:3])
    if not is_question or len(words) > MAX_TOPICLESS_WORDS or "my" in words:
        return False
    if "you" in words and {"give", "did", "had", "said", "told"}.isdisjoint(words):
        return False  # "How are you?"
    if any(word == "it" and _is_empty_it(tree, at) for at, word in enumerate(words)):
        return False
    return names_nothing(tree) or _asks_of_bare_noun(tree)


def names_nothing(tree: Tree) -> bool:
    """Return whether no noun, adjective or verb of a sentence says what it is about."""
    verbs = []
    for at, token in enumerate(tree.sentence):
        lemma = token.lemma.lower()
        if token.upos in ("NOUN", "PROPN", "NUM", "SYM", "X"):
            if lemma not in VAGUE_NOUNS | ATTRIBUTE_NOUNS and not is_time(tree, at):
                return False
        elif token.upos == "ADJ" and lemma not in PLAIN_ADJECTIVES:
            if token.head == NO_HEAD or not is_time(tree, token.head):
                return False
        elif token.upos == "VERB":
            verbs.append(lemma)
    return all(verb in GENERIC_VERBS for verb in verbs)


def _asks_of_bare_noun(tree: Tree) -> bool:
    """Return whether all that a question names is "the key", without saying which one.

    "How do I deploy the ledger?" and "What about the ledger?" say enough.
    """
    bare = set(find_bare_definites(tree))
    nouns = {
        at
        for at, token in enumerate(tree.sentence)
        if token.upos in ("NOUN", "PROPN", "NUM") and not is_time(tree, at)
    }
    lemmas = {tree.sentence[at].lemma.lower() for at in bare}
    verbs = {token.lemma.lower() for token in tree.sentence if token.upos == "VERB"}
    is_named = any(tree.lower[child] == "about" for at in bare for child in tree.children[at])
    says_enough = is_named or not verbs <= GENERIC_VERBS
    return bool(bare) and nouns == bare and UNIQUE_NOUNS.isdisjoint(lemmas) and not says_enough


def find_bare_definites(tree: Tree) -> Iterator[int]:
    """Yield the nouns after "the" that nothing describes further: "the database"."""
    for at, token in enumerate(tree.sentence):
        if token.upos == "NOUN" and Phrase(tree, at).determiner == "the":
            is_bare = all(tree.relation(child) not in MODIFIERS for child in tree.children[at])
            if is_bare and token.lemma.lower() not in VAGUE_NOUNS and not is_time(tree, at):
                yield at
