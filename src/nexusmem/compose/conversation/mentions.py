"""Mentions: the people and things that a turn names, read with the dependency parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...learn.rules.grammar import Phrase, Tree
from ...learn.rules.lexicon import (
    FEMALE_NOUNS,
    KIN,
    MALE_NOUNS,
    OCCUPATIONS,
    PETS,
    PLURAL_NOUNS,
    word_set,
)
from ...text.gazetteer import is_common_word, is_first_name, name_type, person_gender
from ...text.parser.parse import parse_each
from ...text.parser.sentence import NO_HEAD
from ..question import is_small_talk
from .turns import Turn

MAX_TURN_CHARS = 300  # at the start of a turn
MAX_TURN_WORDS = 40  # with punctuation marks
TURN_WORD = re.compile(r"\w{1,60}|[^\w\s]")

QUESTION_WORDS = word_set("who whom whose what which when where why how")
TIME_NOUNS = word_set(
    """today tomorrow yesterday tonight morning afternoon evening night noon midnight day week
    weekend month year hour minute second time date moment while spring summer autumn fall winter
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december mornings afternoons evenings nights days weeks
    weekends months years hours minutes times mondays tuesdays wednesdays thursdays fridays
    saturdays sundays"""
)
VAGUE_NOUNS = word_set(
    """thing things stuff way ways lot lots bit kind kinds sort sorts one ones question questions
    answer answers idea fact problem problems help info information details detail name number
    reason place part parts anything something everything nothing anyone someone everyone nobody
    thanks thank please case point rest plan word words example people person news percent euro
    euros dollar dollars pound pounds kilo kilos"""
)
NOT_PEOPLE = word_set("lead head guide guard host judge model cook coach pilot")
PERSON_NOUNS = (
    frozenset(KIN)
    | OCCUPATIONS
    | word_set(
        """guy man woman boy girl lady kid couple client customer student tenant guest owner member
        lawyer plumber host guys men women members guests"""
    )
) - NOT_PEOPLE
FEMALE_TITLES = word_set("mrs ms miss aunt auntie grandma")
MALE_TITLES = word_set("mr mister uncle sir")
TITLES = FEMALE_TITLES | MALE_TITLES | word_set("dr prof doctor professor")
MODIFIERS = frozenset(("amod", "compound", "nmod", "nmod:poss", "nummod", "acl:relcl", "flat"))
NAME_PARTS = frozenset(("compound", "flat", "fixed", "goeswith", "vocative", "discourse"))
ARGUMENTS = frozenset(("nsubj", "obj", "iobj", "obl", "nmod"))
POSSESSIVE_ENDINGS = ("'s", "’s")


@dataclass(frozen=True, slots=True)
class Mention:
    """A person or thing that a turn names."""

    text: str  # as it can replace a pronoun: "my sister Marta"
    lemma: str  # of its last noun
    pronoun: str  # he, she, they, it, or "?" if several are possible
    start: int
    end: int
    is_name: bool = False
    is_person: bool = False
    is_subject: bool = False
    is_main: bool = False  # it belongs to the main verb
    is_place: bool = False
    is_modified: bool = False
    preposition: str = ""


@dataclass(slots=True)
class Reading:
    """A parsed turn with its mentions."""

    turn: Turn
    text: str  # the start of the turn
    trees: list[Tree]
    own_mentions: list[Mention]
    carried: list[Mention] = field(default_factory=list)  # what its pronouns refer to

    @property
    def mentions(self) -> list[Mention]:
        return [*self.carried, *self.own_mentions]

    @property
    def has_content(self) -> bool:
        return not is_small_talk(self.text)


def read_turns(turns: Sequence[Turn]) -> list[Reading]:
    """Parse the start of each turn, all in one batch."""
    texts = [_cut_turn(turn.text) for turn in turns]
    readings = []
    for turn, text, sentences in zip(turns, texts, parse_each(texts), strict=True):
        trees = [Tree(sentence, text) for sentence in sentences if sentence]
        mentions = [each for tree in trees for each in _find_mentions(tree, is_user=turn.is_user)]
        readings.append(Reading(turn, text, trees, mentions))
    return readings


def _cut_turn(text: str) -> str:
    start = text[:MAX_TURN_CHARS]
    for count, match in enumerate(TURN_WORD.finditer(start)):
        if count == MAX_TURN_WORDS:
            return start[: match.start()]
    return start


def is_time(tree: Tree, at: int) -> bool:
    return tree.sentence[at].lemma.lower() in TIME_NOUNS or tree.lower[at] in TIME_NOUNS


def find_clause_verb(tree: Tree, at: int) -> int:
    """Return the position of the predicate that a word belongs to."""
    for _ in tree.sentence:
        head = tree.sentence[at].head
        if head == NO_HEAD:
            return at
        at = head
        if tree.sentence[at].upos in ("VERB", "AUX") or tree.child(at, "cop") is not None:
            return at
    return at


def _find_mentions(tree: Tree, *, is_user: bool) -> Iterator[Mention]:
    for at, token in enumerate(tree.sentence):
        is_named = at > 0 and token.text.istitle() and token.deprel in ARGUMENTS
        is_noun = token.upos in ("NOUN", "PROPN") or (is_named and token.upos == "ADJ")
        is_noun = is_noun and not _is_part_of_name(tree, at)
        is_vague = token.lemma.lower() in VAGUE_NOUNS or is_time(tree, at)
        if not is_noun or is_vague or _is_inside_name(tree, at):
            continue
        mention = _make_mention(tree, at, is_user=is_user)
        is_bare_title = mention.lemma.rstrip(".") in TITLES and " " not in mention.text
        if not is_bare_title and mention.text.lower() not in TIME_NOUNS:
            yield mention


def _is_part_of_name(tree: Tree, at: int) -> bool:
    """Return whether a word is part of a longer noun; a person before another noun is not."""
    token = tree.sentence[at]
    if token.deprel not in NAME_PARTS:
        return False
    if token.head == NO_HEAD or token.deprel != "compound":
        return True
    head = tree.sentence[token.head]
    is_person = token.lemma.lower() in PERSON_NOUNS and head.lemma.lower() not in PERSON_NOUNS
    return head.upos in ("NOUN", "PROPN") and not is_person


def _is_inside_name(tree: Tree, at: int) -> bool:
    """Return whether a name belongs to the noun or name before it: "Marta" in "sister Marta"."""
    if _continues_name(tree, at):
        return True
    head = tree.sentence[at].head
    if head == NO_HEAD or tree.sentence[at].upos != "PROPN" or head >= at:
        return False
    apposition = Phrase(tree, head).apposition
    return apposition is not None and apposition.head == at


def _continues_name(tree: Tree, at: int) -> bool:
    """Return whether a word and the one before it are capitalized and next to each other."""
    if not 0 < at < len(tree.sentence):
        return False
    before, token = tree.sentence[at - 1], tree.sentence[at]
    is_named = token.upos == before.upos == "PROPN" and before.deprel != "nmod:poss"
    is_capitalized = before.text[:1].isupper() and token.text[:1].isupper()
    return is_named and is_capitalized and before.end + 1 == token.start


def _make_mention(tree: Tree, at: int, *, is_user: bool) -> Mention:
    token, name = tree.sentence[at], Phrase(tree, at).apposition
    positions = _name_positions(tree, at)
    last, text = positions[-1], tree.join(positions)
    if name is not None and name.text not in text:
        text, last = f"{text} {name.text}", max(last, name.head)
    first, owner = _extend_to_determiner(tree, positions[0])
    if owner in ("my", "our") or (owner == "your" and not is_user):
        text = f"{'our' if owner == 'our' else 'my'} {text}"
    lemma = token.lemma.lower()
    is_capitalized = at > 0 and token.text[:1].isupper() and token.text[1:].islower()
    is_name = token.upos == "PROPN" or name is not None or is_capitalized
    has_title = lemma.rstrip(".") in TITLES
    called = name.text if name is not None and not has_title else text
    pronoun = _guess_pronoun(called, lemma, token.text.lower(), is_name=is_name)
    if is_name and owner == "the" and pronoun == "?" and token.text.endswith("s"):
        pronoun = "they"  # "the Bergs"
    relations = {tree.relation(child): tree.lower[child] for child in tree.children[at]}
    return Mention(
        text=text,
        lemma=lemma,
        pronoun=pronoun,
        start=tree.sentence[first].start,
        end=tree.sentence[last].end,
        is_name=is_name,
        is_person=pronoun in ("he", "she") or _is_person(lemma, text),
        is_subject=token.deprel.startswith("nsubj"),
        is_main=find_clause_verb(tree, at) == tree.sentence.root,
        is_place=name_type(text) == "place",
        is_modified=not MODIFIERS.isdisjoint(relations),
        preposition=relations.get("case", ""),
    )


def _name_positions(tree: Tree, at: int) -> list[int]:
    """Return the words of a mention without determiner, question word and possessive ending."""
    positions = tree.phrase_positions(at, with_nmod=False)
    if len(positions) > 1 and tree.lower[positions[-1]] in POSSESSIVE_ENDINGS:
        positions = positions[:-1]
    if tree.sentence[at].upos == "PROPN":
        while _continues_name(tree, positions[-1] + 1):
            positions = [*positions, positions[-1] + 1]
    if len(positions) > 1 and tree.lower[positions[0]] in QUESTION_WORDS:
        positions = positions[1:]
    return positions


def _extend_to_determiner(tree: Tree, first: int) -> tuple[int, str]:
    """Return the position of the determiner before a phrase, else of the phrase, and its word."""
    if not first:
        return first, ""
    before = tree.sentence[first - 1]
    if before.deprel in ("det", "nmod:poss") and before.upos in ("DET", "PRON"):
        return first - 1, tree.lower[first - 1]
    return first, ""


def _first_word(name: str) -> str:
    words = name.lower().removeprefix("my ").split()
    return words[0].rstrip(".") if words else ""


def _is_person(lemma: str, text: str) -> bool:
    first = _first_word(text)
    is_named = is_first_name(first) and text[:1].isupper() and not is_common_word(first)
    return lemma in PERSON_NOUNS or first in TITLES or is_named


def _guess_pronoun(name: str, lemma: str, word: str, *, is_name: bool) -> str:
    first = _first_word(name)
    if word in PLURAL_NOUNS or " and " in name:
        return "they"
    if lemma in FEMALE_NOUNS or first in FEMALE_TITLES:
        return "she"
    if lemma in MALE_NOUNS or first in MALE_TITLES:
        return "he"
    return _guess_name_pronoun(name, first) if is_name else _guess_noun_pronoun(lemma, word)


def _guess_name_pronoun(name: str, first: str) -> str:
    type = name_type(name)
    gender = person_gender(first) if type is None or " " in name else None
    if gender in ("he", "she") and not is_common_word(first):
        return gender
    return "it" if type and not is_first_name(first) else "?"


def _guess_noun_pronoun(lemma: str, word: str) -> str:
    if lemma in PERSON_NOUNS or lemma in PETS:
        return "?"
    return "they" if word.endswith("s") and lemma != word else "it"


def fit_pronoun(pronoun: str, mention: Mention) -> float:
    """Return how well a pronoun (he, she, they, it) can refer to a mention, from 0 to 2."""
    if pronoun == mention.pronoun:
        return 0.0 if pronoun == "it" and mention.is_person else 2.0
    if pronoun == "they":
        return 0.8 if mention.pronoun == "?" else 0.6 if mention.is_name else 0.2
    if pronoun == "it":
        fit = {"?": 1.2, "they": 0.3}.get(mention.pronoun, 0.0)
        return 0.0 if mention.is_person else fit
    if mention.pronoun == "?":
        return 1.5 if mention.is_person else 0.8
    return 0.0
