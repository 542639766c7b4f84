"""Clauses of a parsed sentence: who does what, when, and how surely it is asserted.

`read_clauses` turns a dependency tree into clauses. A clause has its own predicate: a verb, or a
noun or adjective after "be". Conjoined verbs share their subject, conjoined nouns become several
phrases: "I work at Hydro and live in Bergen" has two clauses, "two kids, Zofia and Jan" two names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from ...text.gazetteer import is_common_word, is_first_name, name_type
from ...text.parser.sentence import NO_HEAD, Sentence, Token
from .lexicon import KIN, LANGUAGES, PARENTS, PETS, word_set
from .verbs import VERB_FORMS

SUBJECT_RELATIONS = frozenset(["nsubj", "nsubj:pass", "nsubj:outer", "csubj"])
CLAUSE_RELATIONS = frozenset(
    """root conj ccomp xcomp advcl parataxis acl:relcl acl advcl:relcl csubj list appos dep
    orphan discourse vocative""".split()
)
# Words of a noun phrase that stand before its head, and those directly after it.
PREMODIFIERS = frozenset(
    "det amod compound nummod nmod:poss advmod nmod:unmarked nmod:desc".split()
)
POSTMODIFIERS = frozenset("flat nummod compound nmod:unmarked goeswith fixed".split())
DETERMINERS = word_set(
    "a an the this that these those some any all both my our your his her its their"
)
FUTURE_AUXILIARIES = word_set("will 'll ’ll wo shall ll")
MODALS = word_set("can could would should may might must ca 'd ’d")
PAST_BE = word_set("was were")
ENDING_WORDS = word_set("longer anymore more")
CONTRAST = "contrast"  # relation of what holds no longer: "Lund" in "in Malmö now, not in Lund"
CONTRAST_OPENERS = word_set(", and but ; - – ( yet")
NOW_WORDS = word_set("now nowadays currently today meanwhile days since")
NEGATIONS = word_set("not n't n’t nt never")
HYPOTHETICAL_MARKS = word_set("if unless whether lest suppose supposing assuming")
TIME_MARKS = word_set("once when whenever until till before after")
HEDGES = word_set(
    "almost nearly maybe perhaps possibly probably hopefully apparently supposedly allegedly"
    " hypothetically"
)
WISH_VERBS = word_set("wish hope imagine pretend suppose dream")
THINK_VERBS = word_set("think guess believe assume reckon bet feel suspect doubt wonder")
SAY_VERBS = word_set(
    "say tell write mention claim ask explain report text announce reply confirm hear"
)
OPENING_QUOTES, CLOSING_QUOTES = '"“„«', '"”“»'
DEGREE_WORDS = word_set("very highly severely also still both")
LIST_SEPARATORS = word_set(", and & or / plus")
CHUNK_TAGS = frozenset(["DET", "NOUN", "PROPN", "ADJ", "NUM", "X", "PRON", "SYM"])
ITEM_TAGS = frozenset(["NOUN", "PROPN", "ADJ", "NUM", "X"])
PARTICLES = word_set("over up off out down")
PHRASAL_VERBS = frozenset(
    [
        ("take", "over"),
        ("pick", "up"),
        ("give", "up"),
        ("set", "up"),
        ("call", "off"),
        ("look", "after"),
        ("lay", "off"),
    ]
)
MAX_PHRASE_WORDS = 12


class Tense(StrEnum):
    PAST = "past"
    PERFECT = "perfect"
    PRESENT = "present"
    PROGRESSIVE = "progressive"  # "is moving": now, or soon
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase of a tree."""

    tree: Tree
    head: int

    @property
    def token(self) -> Token:
        return self.tree.sentence[self.head]

    @property
    def lemma(self) -> str:
        return self.token.lemma.lower()

    @property
    def is_pronoun(self) -> bool:
        return self.token.upos == "PRON"

    @property
    def is_name(self) -> bool:
        return self.token.upos == "PROPN" or self.token.text[:1].isupper()

    @property
    def start(self) -> int:
        return self.tree.sentence[self.positions[0]].start

    @property
    def end(self) -> int:
        return self.tree.sentence[self.positions[-1]].end

    @property
    def positions(self) -> list[int]:
        """Positions of the words, without a leading determiner."""
        return self.tree.phrase_positions(self.head)

    @property
    def text(self) -> str:
        return self.tree.join(self.positions)

    @property
    def short_text(self) -> str:
        """The phrase without what follows after a preposition."""
        return self.tree.join(self.tree.phrase_positions(self.head, with_nmod=False))

    @property
    def possessor(self) -> int | None:
        """Position of the owner: "my" or "Theo" in "my car", "Theo's car"."""
        return next(
            (at for at in self.tree.children[self.head] if self.tree.relation(at) == "nmod:poss"),
            None,
        )

    @property
    def apposition(self) -> Phrase | None:
        """The name after a noun: "Klara" in "Theo's sister Klara"."""
        for at in self.tree.children[self.head]:
            if (
                at > self.head
                and self.tree.relation(at) in ("appos", "flat", "compound", "dep", "nmod:unmarked")
                and self.tree.sentence[at].upos == "PROPN"
            ):
                return Phrase(self.tree, at)
        return None

    @property
    def determiner(self) -> str | None:
        first = (
            self.tree.sentence[at].text.lower()
            for at in self.tree.children[self.head]
            if self.tree.relation(at) == "det"
        )
        return next(first, None)

    def confidence(self) -> float:
        return self.token.confidence


@dataclass(frozen=True, slots=True)
class Oblique:
    """A phrase with its preposition: "at" and "Hydro"."""

    preposition: str
    phrase: Phrase


@dataclass(frozen=True)
class Clause:
    """A predicate with its arguments."""

    tree: Tree
    at: int  # position of the predicate
    lemma: str  # with a particle: "break up"
    subjects: tuple[Phrase, ...]
    objects: tuple[Phrase, ...]
    obliques: tuple[Oblique, ...]
    tense: Tense
    is_copular: bool = False
    is_passive: bool = False
    is_negated: bool = False
    has_ended: bool = False  # "no longer", "not any more", "used to"
    is_imperative: bool = False
    is_question: bool = False
    is_hypothetical: bool = False
    is_hedged: bool = False
    modal: str | None = None
    quoted_speaker: Phrase | None = None  # who is said to have said it
    governor: Clause | None = None  # the clause that this one completes: "decided" of "to use"
    words: frozenset[str] = field(default_factory=frozenset)  # adverbs and particles, lower case

    @property
    def phrase(self) -> Phrase:
        return Phrase(self.tree, self.at)

    def oblique(self, *prepositions: str) -> Phrase | None:
        """Return the phrase after one of these prepositions."""
        return next(
            (each.phrase for each in self.obliques if each.preposition in prepositions), None
        )

    def phrase_after(self, *prepositions: str) -> Phrase | None:
        """Return the noun phrase after a preposition that follows the predicate at once.

        The tags are surer than the tree: "allergic to bees" may be read as an infinitive.
        """
        return self.tree.phrase_after(self.at, *prepositions)

    @property
    def is_asserted(self) -> bool:
        """Whether the speaker states it as a matter of fact."""
        blocked = self.is_question or self.is_hypothetical or self.is_imperative or self.is_hedged
        return not blocked and self.modal in (None, "will", "can", "must")

    @property
    def confidence(self) -> float:
        """The probability of the subject's arc."""
        return self.subjects[0].token.confidence if self.subjects else 1.0

    @cached_property
    def span(self) -> tuple[int, int]:
        positions = self.tree.clause_positions(self.at)
        sentence = self.tree.sentence
        return sentence[positions[0]].start, sentence[positions[-1]].end


class Tree:
    """A parsed sentence with its children and quotation marks looked up once."""

    def __init__(self, sentence: Sentence, text: str) -> None:
        repaired = _mark_contrast(_repair(sentence))
        sentence = repaired if _has_no_cycle(repaired) else sentence
        self.sentence = sentence
        self.text = text
        self.children: list[list[int]] = [[] for _ in sentence]
        for at, token in enumerate(sentence):
            if token.head != NO_HEAD:
                self.children[token.head].append(at)
        self.lower = [token.text.lower() for token in sentence]
        self._relations = [token.deprel for token in sentence]
        self.quoted = _quoted_positions(sentence)
        self.is_question = _is_question(self)

    def relation(self, at: int) -> str:
        return self._relations[at]

    def child(self, at: int, *relations: str) -> int | None:
        for each in self.children[at]:
            if self._relations[each] in relations:
                return each
        return None

    def join(self, positions: Sequence[int]) -> str:
        """Return the words with the spaces that the text has between them."""
        parts: list[str] = []
        for place, at in enumerate(positions):
            token = self.sentence[at]
            gap = place and self.sentence[positions[place - 1]].end < token.start
            parts.append(f" {token.text}" if gap else token.text)
        return "".join(parts).strip(" ,.;:!?")

    def phrase_positions(self, head: int, *, with_nmod: bool = True) -> list[int]:
        """Return the words of the noun phrase around a head, without a leading determiner."""
        kept = {head}
        for at in self.children[head]:
            relation = self.relation(at)
            is_before = at < head
            if self.lower[at] in ("no", "not") and at > head:
                continue
            if (
                (
                    is_before
                    and relation in PREMODIFIERS
                    and (relation != "advmod" or self.sentence[at].upos != "ADV")
                )
                or relation in POSTMODIFIERS
                or (not is_before and relation == "amod")
                or (
                    relation == "appos"
                    and at > head
                    and self.sentence[at].upos == "PROPN"
                    and self.sentence[head].upos == "PROPN"
                    and at == head + 1
                )
            ):
                kept.update(self.subtree(at))
            elif with_nmod and relation == "nmod" and at > head and self._is_close(head, at):
                kept.update(self.phrase_positions(at) + self._case_positions(at))
        run = self._complete_name(_contiguous_run(kept, head, self), head)
        while run and run[0] != head and self.lower[run[0]] in DETERMINERS:
            run = run[1:]
        while run[-1] != head and self.sentence[run[-1]].upos in ("ADP", "DET", "CCONJ"):
            run = run[:-1]
        return run[:MAX_PHRASE_WORDS]

    def _complete_name(self, run: list[int], head: int) -> list[int]:
        """Return the phrase with the rest of a name: "Hope Valley", "St. Mary's"."""
        sentence = self.sentence
        while run[0] > 1 and sentence[head].upos == "PROPN" and self._continues_left(run[0]):
            run = [run[0] - 1, *run]
        while (
            run[-1] + 2 < len(sentence)
            and sentence[run[-1] + 1].text in ("/", "-", "_")
            and sentence[run[-1] + 1].start == sentence[run[-1]].end
            and sentence[run[-1] + 2].start == sentence[run[-1] + 1].end
        ):  # "Europe/Helsinki"
            run = [*run, run[-1] + 1, run[-1] + 2]
        last = run[-1] + 1
        is_possessive = last < len(sentence) and self.lower[last] in ("'s", "’s")
        if is_possessive and run[-1] == head and self.relation(last) == "case":
            ends = last + 1 == len(sentence)
            ends = ends or sentence[last + 1].upos in ("PUNCT", "ADP", "CCONJ")
            run = [*run, last] if ends else run
        return run

    def _continues_left(self, at: int) -> bool:
        """Return whether the word before is a capitalized part of the same name."""
        word, before = self.sentence[at], self.sentence[at - 1]
        return (
            word.text[:1].isupper()
            and before.text[:1].isupper()
            and before.text[1:].islower()
            and before.upos in ("PROPN", "NOUN", "VERB", "ADJ")
            and before.end + 1 == word.start
        )

    def _case_positions(self, at: int) -> list[int]:
        return [
            each
            for each in self.children[at]
            if self.relation(each) in ("case", "det", "nmod:poss")
            for each in self.subtree(each)
        ]

    def _is_close(self, head: int, at: int) -> bool:
        """Whether a phrase after a preposition belongs to the noun before it."""
        case = self.child(at, "case")
        return (
            case is not None
            and case <= head + 4
            and self.lower[case] in ("of", "for", "in", "on", "at", "via", "after", "next")
        )

    def subtree(self, at: int) -> list[int]:
        found, pending = [], [at]
        while pending:
            word = pending.pop()
            if (
                self.relation(word) == "punct"
                and word != at
                and self.lower[word] in (",", ";", ":", "(", ")")
            ):
                continue
            found.append(word)
            pending.extend(self.children[word])
        return sorted(found)

    def clause_positions(self, at: int) -> list[int]:
        """Return the words below a predicate, without those of other clauses beside it."""
        found, pending = [], [at]
        while pending:
            word = pending.pop()
            found.append(word)
            pending.extend(
                each
                for each in self.children[word]
                if not (
                    word == at
                    and self.relation(each) in ("conj", "parataxis", "list")
                    and self.is_predicate(each)
                )
            )
        return sorted(found)

    def is_contrasted(self, at: int) -> bool:
        """Return whether a word stands in a phrase that holds no longer: see `_mark_contrast`."""
        head = self.sentence[at].head
        return CONTRAST in (self.relation(at), self.relation(head) if head != NO_HEAD else "")

    def is_predicate(self, at: int) -> bool:
        token = self.sentence[at]
        return token.upos in ("VERB", "AUX") or self.child(at, "cop") is not None

    def conjuncts(self, phrase: Phrase) -> list[Phrase]:
        """Return the phrase and the nouns that are joined to it by "and", commas or slashes."""
        found, pending = [phrase], [phrase.head]
        while pending:
            head = pending.pop(0)
            for at in self.children[head]:
                joined = self.relation(at) == "conj" and not self.is_predicate(at)
                if any(self.lower[each] in ("not", "n't") for each in self.children[at]):
                    continue
                if joined and self.sentence[at].upos not in ("VERB", "AUX", "ADV", "ADP"):
                    found.append(Phrase(self, at))
                    pending.append(at)
        return found

    def joined_name(self, phrase: Phrase) -> str | None:
        """Return "Marks and Spencer": two names around "and", neither of them a known company."""
        last = phrase.positions[-1]
        if last + 2 >= len(self.sentence) or self.lower[last + 1] not in ("and", "&"):
            return None
        other = self.sentence[last + 2]
        names = (phrase.token.text, other.text)
        is_name = other.text[:1].isupper() and phrase.token.text[:1].isupper()
        if not is_name or any(name_type(name) == "company" for name in names):
            return None
        follows = self.sentence[last + 3] if last + 3 < len(self.sentence) else None
        if follows is not None and follows.upos in ("VERB", "AUX"):
            return None
        return self.join(range(phrase.positions[0], last + 3))

    def chunk_end(self, start: int) -> int:
        """Return the end of the run of determiners, adjectives and nouns that starts here."""
        end = start
        while end < len(self.sentence) and (
            self.sentence[end].upos in CHUNK_TAGS
            or (end == start and self.sentence[end].upos == "VERB")
        ):
            if self.lower[end] in LIST_SEPARATORS:
                break
            end += 1
        return end

    def chunk_start(self, end: int) -> int:
        """Return the start of the run of determiners, adjectives and nouns that ends here."""
        start = end
        while start > 0 and (
            self.sentence[start - 1].upos in CHUNK_TAGS
            or self.lower[start - 1] in ("'s", "’s", "-")
        ):
            start -= 1
        return start

    def phrase_after(self, at: int, *prepositions: str) -> Phrase | None:
        """Return the noun phrase after a preposition that follows a word at once."""
        place = at + 1
        while place < len(self.lower) and self.lower[place] in DEGREE_WORDS:
            place += 1
        if place + 1 >= len(self.lower) or self.lower[place] not in prepositions:
            return None
        last = self.chunk_end(place + 1)
        return Phrase(self, last - 1) if last > place + 1 else None

    def list_items(self, phrase: Phrase) -> list[Phrase]:
        """Return the items of a list that starts with this phrase: "hiking, chess and old films".

        The conjunctions of the tree are the least reliable arcs. A run of nouns with commas and one
        "and" counts as a list, too.
        """
        joined = self.conjuncts(phrase)
        if len(joined) > 1:
            return joined
        items, at = [phrase.head], phrase.positions[-1] + 1
        ends_with_and = False
        while at < len(self.sentence) and self.lower[at] in LIST_SEPARATORS:
            is_and = self.lower[at] != ","
            start = at + 1
            if (
                start < len(self.sentence)
                and self.lower[at] == ","
                and self.lower[start] in ("and", "or", "&")
            ):
                start, is_and = start + 1, True
            stop = start
            while (
                stop < len(self.sentence)
                and self.sentence[stop].upos in ITEM_TAGS
                and self.lower[stop] not in LIST_SEPARATORS
            ):
                stop += 1
            if stop == start or self.sentence[stop - 1].upos not in ("NOUN", "PROPN", "X", "NUM"):
                break
            if any(
                self.lower[each] in DETERMINERS and self.lower[each] in ("i", "we")
                for each in range(start, stop)
            ):
                break
            if self.sentence[stop - 1].upos == "PROPN" and self.sentence[items[0]].upos == "NOUN":
                break
            items.append(stop - 1)
            ends_with_and = ends_with_and or is_and
            at = stop
            if is_and:
                break
        if len(items) == 1 and (other := self._parallel_item(at)) is not None:
            return [phrase, Phrase(self, other)]
        follows_verb = at < len(self.sentence) and self.sentence[at].upos in ("AUX", "VERB")
        if len(items) == 1 or not ends_with_and or follows_verb:
            return [phrase]
        return [phrase, *(Phrase(self, each) for each in items[1:])]

    def _parallel_item(self, at: int) -> int | None:
        """Return the second name of "Inter for body text and Fraunces for headings"."""
        if at >= len(self.sentence) or self.lower[at] != "for":
            return None
        for place in range(at + 1, min(at + 6, len(self.sentence) - 2)):
            if self.lower[place] in ("and", ","):
                end = self.chunk_end(place + 1)
                is_name = end < len(self.sentence) and self.sentence[end - 1].text[:1].isupper()
                return end - 1 if is_name and self.lower[end] == "for" else None
        return None

    def find_ancestor(self, at: int, positions: Sequence[int]) -> int | None:
        """Return the nearest of some positions at or above a word."""
        wanted = set(positions)
        while at != NO_HEAD:
            if at in wanted:
                return at
            at = self.sentence[at].head
        return None


THIRD_PERSON_VERBS = word_set(
    """works lives loves likes hates prefers uses owns runs manages leads reports moves studies
    teaches speaks plays eats drinks drives writes needs wants takes starts joins leaves covers
    handles reviews quit sends books renews translates stays keeps gets goes comes earns hangs sits
    lies stands talks belongs sings costs speaks swims rides sells wears commutes volunteers"""
)
PLACING_VERBS = word_set("hangs sits lies stands lives sleeps talks belongs runs rests connects")
BETWEEN_SUBJECT_AND_VERB = word_set(
    "no longer also just still now really never always only already"
)
PEOPLE_VERBS = word_set(  # with a person as their subject
    """works lives loves likes hates prefers moved moves studies studied teaches speaks plays eats
    drinks drives joined joins left leaves quit started starts lived worked bought sold married
    wants needs uses got has is was said says knows enjoys"""
)
NAMED_NOUNS = frozenset(KIN) | PETS | PARENTS
POSSESSIVES = word_set("my our your his her their")
SAME_IN_PAST = word_set("split set put cut shut hit let hurt read cast shed spread beat bet")
AHEAD_WORDS = word_set("tomorrow next tonight soon every each usually always often")
PAST_WORDS = word_set("ago last yesterday")
PERIODS = word_set(
    """january february march april may june july august september october november december spring
    summer autumn winter"""
)
CALENDAR_WORDS = word_set(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december christmas easter i"""
)
VERB_LEMMAS = {
    "life": "live",
    "leaf": "leave",
    "founded": "found",
    "works": "work",
    "lives": "live",
}


def _has_no_cycle(sentence: Sentence) -> bool:
    """Return whether the head of every word leads to the root."""
    reaches_root: set[int] = set()
    for start in range(len(sentence)):
        path: list[int] = []
        at = start
        while at != NO_HEAD and at not in reaches_root:
            if len(path) > len(sentence):
                return False
            path.append(at)
            at = sentence[at].head
        reaches_root.update(path)
    return True


def _repair(sentence: Sentence) -> Sentence:
    """Return the sentence with a name before its verb as the subject.

    The parser often takes a capitalized subject at the start for a part of a compound: "DPD
    replaces GLS", "Sabine writes section 2", "Emeka's freelancing".
    """
    tokens = [_repair_lemma(token) if token.upos == "VERB" else token for token in sentence]
    _name_first_word(tokens)
    for at in range(1, len(tokens) - 1):
        if _is_named_noun(tokens, at):
            _attach_name(tokens, at)
    for at in range(1, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        if (
            token.upos == "VERB"
            and token.deprel == "amod"
            and token.head > at
            and before.upos == "PROPN"
            and before.deprel in ("root", "flat", "compound", "nsubj")
        ):  # "David Okafor founded Lumen" is no "founded Lumen"
            first = at - 1 if before.deprel != "flat" else before.head
            noun = token.head
            tokens[at] = replace(token, deprel="root", head=NO_HEAD)
            tokens[first] = replace(tokens[first], deprel="nsubj", head=at)
            tokens[noun] = replace(
                tokens[noun], deprel="obj", head=at, confidence=max(0.5, tokens[noun].confidence)
            )
            return Sentence(tuple(tokens))
        if (
            token.upos == "NOUN"
            and token.deprel == "conj"
            and token.text in THIRD_PERSON_VERBS
            and token.head >= 0
            and tokens[token.head].upos == "VERB"
        ):  # "works at Nokia and lives in Espoo"
            lemma = VERB_LEMMAS.get(token.text, token.text[:-1])
            tokens[at] = token = replace(token, upos="VERB", lemma=lemma)
        if token.upos == "VERB" and before.upos == "PROPN" and token.deprel == "conj":
            joined = before.deprel == "conj" and token.text in THIRD_PERSON_VERBS
            if joined:  # "I work at Lufthansa and Tim works at Ryanair"
                tokens[at - 1] = replace(before, deprel="nsubj", head=at, confidence=0.6)
        if token.upos == "VERB" and token.text in THIRD_PERSON_VERBS:
            subjects = [
                i for i, each in enumerate(tokens) if each.head == at and each.deprel == "nsubj"
            ]
            for place in range(at + 1, min(at + 4, len(tokens))):  # "Sarah works at Globex"
                other = tokens[place]
                if other.head in subjects[:1] and other.deprel == "nmod":
                    tokens[place] = replace(
                        other, head=at, deprel="obl", confidence=max(0.5, other.confidence)
                    )
        if _is_hidden_verb(tokens, at):
            return _make_verb(tokens, at)
        name_first = before.upos == "PROPN" and before.head == at and before.deprel == "compound"
        if (
            name_first
            and token.upos == "VERB"
            and not any(each.head == at and each.deprel.startswith("nsubj") for each in tokens)
        ):
            tokens[at - 1] = replace(before, deprel="nsubj")
        elif (
            name_first
            and token.upos == "NOUN"
            and token.deprel == "root"
            and token.text.endswith("s")
            and at + 1 < len(tokens)
            and tokens[at + 1].upos in ("NOUN", "DET", "PRON")
        ):
            tokens[at - 1] = replace(before, deprel="nsubj")
            tokens[at] = replace(token, upos="VERB", lemma=token.text[:-1].lower())
            if tokens[at + 1].head == at and tokens[at + 1].upos == "NOUN":
                tokens[at + 1] = replace(
                    tokens[at + 1], deprel="obj", confidence=max(0.5, tokens[at + 1].confidence)
                )
        elif (
            token.text.endswith("ing")
            and token.upos == "NOUN"
            and token.deprel == "root"
            and before.text in ("'s", "’s")
            and at > 1
            and tokens[at - 2].head == at
            and tokens[at - 2].deprel == "nsubj"
        ):
            tokens[at] = replace(
                token,
                upos="VERB",
                lemma=token.text[:-3].lower()
                if not token.text.endswith("cing")
                else token.text[:-3].lower() + "e",
            )
            tokens[at - 1] = replace(before, upos="AUX", deprel="aux", head=at, lemma="be")
    return Sentence(tuple(_find_first_subject(tokens)))


def _name_first_word(tokens: list[Token]) -> None:
    """Tag an unusual name before a verb of people as a name: "Priya lives in Ghent"."""
    if len(tokens) < 3 or tokens[0].upos == "PROPN" or not tokens[0].text.istitle():
        return
    word = tokens[0].text
    follows = tokens[1].text in PEOPLE_VERBS or (
        tokens[1].text in BETWEEN_SUBJECT_AND_VERB and tokens[2].text in PEOPLE_VERBS
    )
    if follows and not is_common_word(word) and is_first_name(word):
        tokens[0] = replace(tokens[0], upos="PROPN", lemma=word)


def _is_named_noun(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a name follows "my sister" or "our dog" at once."""
    noun, name = tokens[at], tokens[at + 1]
    if noun.text not in NAMED_NOUNS or noun.lemma != noun.text:
        return False  # "my brothers Tom and Max" has two names
    word = name.text
    if not word[:1].isupper() or not word[1:].islower() or name_type(word) in ("place", "company"):
        return False
    is_name = name.upos == "PROPN" or is_first_name(word)
    if not is_name or word.lower() in CALENDAR_WORDS or word.lower() in LANGUAGES:
        return False
    is_owner = at + 2 < len(tokens) and tokens[at + 2].text in ("'s", "’s")
    owner = tokens[at - 1].text.lower()
    return not is_owner and (
        owner in POSSESSIVES or owner in ("'s", "’s") or tokens[at - 1].upos == "ADJ"
    )


def _attach_name(tokens: list[Token], at: int) -> None:
    """Make a name the apposition of the noun before it, and the noun the head of both."""
    noun, name = tokens[at], tokens[at + 1]
    if noun.head == at + 1 or name.deprel in SUBJECT_RELATIONS:
        tokens[at] = replace(noun, head=name.head, deprel=name.deprel, upos="NOUN")
    sure = max(0.5, name.confidence)
    tokens[at] = replace(tokens[at], confidence=max(0.5, noun.confidence))
    tokens[at + 1] = replace(
        name, upos="PROPN", lemma=name.text, head=at, deprel="appos", confidence=sure
    )
    if tokens[at].head == at + 1:
        tokens[at] = replace(tokens[at], head=name.head)
    last = at + 1
    while last + 1 < len(tokens) and tokens[last + 1].upos == "PROPN":
        last += 1
        if tokens[last].deprel in ("flat", "compound", "nmod:unmarked"):
            tokens[last] = replace(tokens[last], head=at + 1, deprel="flat")
    for place, token in enumerate(tokens):
        if token.head == at + 1 and (place < at or token.deprel != "flat") and place != at:
            tokens[place] = replace(token, head=at)


def _mark_contrast(sentence: Sentence) -> Sentence:
    """Return the sentence with a value that holds no longer outside of the clause before it.

    "I live in Malmö now, not in Lund anymore" negates Lund and not the verb.
    """
    words = [token.text.lower() for token in sentence]
    if "not" not in words and "longer" not in words:
        return sentence
    for first in range(2, len(words) - 1):
        if words[first - 1] not in CONTRAST_OPENERS:
            continue
        if words[first : first + 2] in (["no", "longer"], ["not", "longer"]):
            start, has_ended = first + 2, True
        elif words[first] == "not":
            start, has_ended = first + 1, False
        else:
            continue
        if found := _contrast_end(sentence, words, start):
            noun, end, ends = found
            if has_ended or ends or NOW_WORDS & set(words[:first]):
                return _detach_contrast(sentence, first, noun, end)
    return sentence


def _contrast_end(
    sentence: Sentence, words: Sequence[str], start: int
) -> tuple[int, int, bool] | None:
    """Return noun and end of a contrasted phrase, and whether "anymore" follows it."""
    at = start
    while at < len(words) and (sentence[at].upos in ("ADP", "DET") or words[at] in DETERMINERS):
        at += 1
    noun = at
    while noun < len(words) and (
        sentence[noun].upos in ITEM_TAGS or sentence[noun].text[:1].isupper()
    ):
        noun += 1
    if noun == at:
        return None
    end = noun
    if words[end : end + 1] == ["anymore"]:
        end += 1
    elif words[end : end + 2] in (["any", "more"], ["any", "longer"]):
        end += 2
    if end < len(words) and sentence[end].upos not in ("PUNCT", "CCONJ", "SCONJ"):
        return None
    return noun - 1, end, end > noun


def _detach_contrast(sentence: Sentence, first: int, noun: int, end: int) -> Sentence:
    inside = range(first, end)
    copular = {token.head for token in sentence if token.deprel == "cop"}
    verbs = [at for at in range(first) if sentence[at].upos == "VERB" or at in copular]
    above = verbs[-1] if verbs else sentence.root
    if sentence.root in inside:
        return sentence
    made = list(sentence)
    for at in inside:
        token = made[at]
        if at == noun:
            upos = "PROPN" if token.text[:1].isupper() else token.upos
            made[at] = replace(token, deprel=CONTRAST, head=above, upos=upos)
        elif token.head not in inside or token.upos in ("PART", "ADV") or at < noun - 1:
            relation = token.deprel if token.upos in ("ADP", "DET", "ADJ") else "dep"
            relation = "compound" if token.upos in ("PROPN", "NOUN") else relation
            made[at] = replace(token, head=noun, deprel=relation)
    for at, token in enumerate(made):
        if at not in inside and token.head in inside:
            made[at] = replace(token, head=above)
    return Sentence(tuple(made))


def _repair_lemma(token: Token) -> Token:
    """Return a verb with its lemma: "swap" for "swapped", "sing" for "sing"."""
    lemma, word = token.lemma.lower(), token.text.lower()
    if lemma in VERB_LEMMAS:
        return replace(token, lemma=VERB_LEMMAS[lemma])
    known = VERB_FORMS.get(word)
    listed = VERB_FORMS.get(lemma)
    if known is not None and known.lemma != lemma and (listed is None or listed.lemma != lemma):
        return replace(token, lemma=known.lemma)
    if lemma.endswith("ll") and listed is None and lemma[:-1] in VERB_FORMS:  # "cancelled"
        return replace(token, lemma=lemma[:-1])
    if lemma == word and word in THIRD_PERSON_VERBS and word.endswith("s"):
        return replace(token, lemma=word[:-1])
    if len(lemma) > 3 and lemma[-2:] in ("pp", "tt", "gg", "nn", "bb", "mm") and word != lemma:
        return replace(token, lemma=lemma[:-1])
    if word.endswith("ing") and lemma == word[:-3] and not set(lemma) & set("aeiouy"):
        return replace(token, lemma=word)
    return token


def _find_first_subject(tokens: list[Token]) -> list[Token]:
    """Return the words with a name at the start as the subject: "Mei no longer works here"."""
    end = 0
    _attach_object_name(tokens)
    if (
        len(tokens) > 1
        and tokens[0].upos in ("ADJ", "NOUN")
        and tokens[1].upos == "VERB"
        and tokens[0].text.istitle()
        and is_first_name(tokens[0].text)
    ):  # a rare name: "Priya lives with Omar"
        tokens[0] = replace(tokens[0], upos="PROPN", lemma=tokens[0].text)
    while end < len(tokens) and tokens[end].upos == "PROPN":
        end += 1
    verb = end
    while verb < len(tokens) and tokens[verb].text.lower() in BETWEEN_SUBJECT_AND_VERB:
        verb += 1
    if not end or verb >= len(tokens) or tokens[verb].upos != "VERB":
        return tokens
    token = tokens[verb]
    if verb_form(token) not in ("third", "past") or any(
        each.head == verb and each.deprel.startswith("nsubj") for each in tokens
    ):
        return tokens
    if tokens[0].head == NO_HEAD:  # the verb was attached to the name
        tokens[verb] = replace(token, deprel="root", head=NO_HEAD)
    sure = max(0.5, tokens[0].confidence)
    tokens[0] = replace(tokens[0], deprel="nsubj", head=verb, confidence=sure)
    return tokens


def _attach_object_name(tokens: list[Token]) -> None:
    """Make a name after a verb its object: no name goes on behind a verb, "Gunnar left Maersk"."""
    for at in range(1, len(tokens) - 1):
        token, name = tokens[at], tokens[at + 1]
        if (
            token.upos != "VERB"
            or name.upos != "PROPN"
            or name.deprel not in ("flat", "compound", "appos", "nmod:unmarked")
            or not 0 <= name.head < at
            or verb_form(token) not in ("third", "past")
            or tokens[name.head].upos != "PROPN"
        ):
            continue
        first = name.head
        sure = max(0.5, name.confidence)
        tokens[at + 1] = replace(name, deprel="obj", head=at, confidence=sure)
        for place in range(at + 2, len(tokens)):
            if tokens[place].head == first and tokens[place].upos == "PROPN":
                tokens[place] = replace(tokens[place], deprel="flat", head=at + 1)
            elif tokens[place].head == first and tokens[place].upos != "PUNCT":
                tokens[place] = replace(tokens[place], head=at)


def _is_hidden_verb(tokens: list[Token], at: int) -> bool:
    """Return whether a verb after a name was taken for a noun: "Sarah works at Globex"."""
    token, before = tokens[at], tokens[at - 1]
    if (
        token.upos == "NOUN"
        and token.text in PLACING_VERBS
        and token.deprel == "root"
        and before.upos in ("NOUN", "ADJ")
        and at + 1 < len(tokens)
        and tokens[at + 1].upos == "ADP"
    ):  # "the spare key hangs on the hook"
        return not any(each.upos in ("VERB", "AUX") for each in tokens)
    return (
        token.upos != "VERB"
        and token.text in THIRD_PERSON_VERBS
        and before.upos == "PROPN"
        and (at == 1 or tokens[at - 2].upos in ("PUNCT", "PROPN") or before.deprel == "appos")
        and at + 1 < len(tokens)
        and not any(each.upos in ("VERB", "AUX") for each in tokens[:at])
    )


def _make_verb(tokens: list[Token], at: int) -> Sentence:
    """Return the sentence with the word as its verb and the name before it as the subject."""
    verb = tokens[at].text
    lemma = {"goes": "go", "quit": "quit", "studies": "study"}.get(verb, verb[:-1])
    first = at - 1
    while tokens[first].deprel in ("flat", "appos") and 0 <= tokens[first].head < first:
        first = tokens[first].head
    made = [_attach(tokens, place, at, first) for place in range(len(tokens))]
    made[at] = replace(tokens[at], upos="VERB", lemma=lemma, deprel="root", head=NO_HEAD)
    return Sentence(tuple(made))


def _attach(tokens: Sequence[Token], place: int, verb: int, subject: int) -> Token:
    """Return a word with its place in the tree of a verb."""
    token = tokens[place]
    sure = max(0.5, token.confidence)
    if place == subject:
        upos = "NOUN" if token.upos == "ADJ" else token.upos
        return replace(token, deprel="nsubj", head=verb, upos=upos, confidence=sure)
    if token.head == NO_HEAD or (
        token.head in (verb, subject)
        and place > verb
        and token.deprel in ("nmod", "appos", "conj", "dep")
    ):
        has_case = any(each.head == place and each.deprel == "case" for each in tokens)
        return replace(token, deprel="obl" if has_case else "obj", head=verb, confidence=sure)
    return replace(token, head=verb) if token.head == subject and place > verb else token


def _contiguous_run(kept: set[int], head: int, tree: Tree) -> list[int]:
    """Return the words around the head without gaps; hyphens and slashes between words are kept."""
    joins = {"-", "/", "&", "'", "–", "+", "'s", "’s", "."}
    first = last = head
    while first - 1 in kept or (first - 2 in kept and tree.lower[first - 1] in joins):
        first -= 1
    while last + 1 in kept or (
        last + 2 in kept and last + 2 < len(tree.sentence) and tree.lower[last + 1] in joins
    ):
        last += 1
    return list(range(first, last + 1))


def _opens_quote(sentence: Sentence, at: int) -> bool:
    """Return whether an apostrophe stands before a word and after a space."""
    after = at + 1 < len(sentence) and sentence[at + 1].start == sentence[at].end
    before = at == 0 or sentence[at - 1].end < sentence[at].start
    return after and before


def _quoted_positions(sentence: Sentence) -> frozenset[int]:
    """Return the words inside quotation marks, if at least three words are quoted."""
    found: set[int] = set()
    opened: int | None = None
    for at, token in enumerate(sentence):
        if (opened is None and token.text[:1] in OPENING_QUOTES and len(token.text) == 1) or (
            opened is None and token.text in ("'", "‘") and _opens_quote(sentence, at)
        ):
            opened = at
        elif (
            opened is not None and token.text in ("'", "’") and sentence[opened].text in ("'", "‘")
        ):
            if at - opened > 2:
                found.update(range(opened, at + 1))
            opened = None
        elif opened is not None and token.text[-1:] in CLOSING_QUOTES and len(token.text) == 1:
            if at - opened > 3:
                found.update(range(opened, at + 1))
            opened = None
    if opened is not None and len(sentence) - opened > 3:
        found.update(range(opened, len(sentence)))
    return frozenset(found)


WH_WORDS = word_set("who what where when why how which whose whom")
INVERTED = word_set(
    "do does did is are am was were can could will would should shall have has had may might"
    " isn don doesn didn"
)


def _is_question(tree: Tree) -> bool:
    words = [
        word for word, token in zip(tree.lower, tree.sentence, strict=True) if token.upos != "PUNCT"
    ]
    if any("?" in token.text for token in tree.sentence):
        return True
    start = next(
        (
            at
            for at, word in enumerate(words)
            if word
            not in (
                "hey",
                "so",
                "and",
                "but",
                "ok",
                "hi",
                "btw",
                "also",
                "wait",
                "hm",
                "hmm",
                "anyone",
                "anybody",
            )
        ),
        0,
    )
    words = words[start : start + 3]
    if len(words) < 2:
        return False
    pronouns = (
        "i",
        "you",
        "we",
        "they",
        "he",
        "she",
        "it",
        "there",
        "anyone",
        "anybody",
        "someone",
        "somebody",
        "everyone",
        "everybody",
        "that",
        "this",
    )
    if words[0] in INVERTED and (words[1] in pronouns or words[1] == "n't"):
        return True
    return (
        words[0] in WH_WORDS
        and words[0] != "when"
        and (words[1] in INVERTED or words[1] in ("'s", "’s", "'d", "has", "else"))
    )


# -- clauses


def read_clauses(tree: Tree) -> list[Clause]:
    """Return the clauses of a sentence, in the order of their predicates."""
    reader = _ClauseReader(tree)
    starts = [at for at in range(len(tree.sentence)) if reader.starts_clause(at)]
    for at in sorted(starts, key=reader.depth):
        reader.clauses[at] = reader.read(at)
    return [reader.clauses[at] for at in sorted(reader.clauses)]


class _ClauseReader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.sentence = tree.sentence
        self.clauses: dict[int, Clause] = {}

    def depth(self, at: int) -> tuple[int, int]:
        depth, word = 0, at
        while self.sentence[word].head != NO_HEAD and depth < 200:
            word = self.sentence[word].head
            depth += 1
        return depth, at

    def starts_clause(self, at: int) -> bool:
        token = self.sentence[at]
        if at in self.tree.quoted:
            return False
        if self.tree.child(at, "cop") is not None:
            return True
        if token.upos == "AUX" and token.deprel in ("aux", "aux:pass", "cop"):
            return False
        if token.upos in ("VERB", "AUX"):
            return token.deprel in CLAUSE_RELATIONS or (
                token.deprel == "amod" and self.tree.child(at, "nsubj", "obj") is not None
            )
        return (
            token.deprel in ("root", "parataxis", "conj", "ccomp")
            and self.tree.child(at, *SUBJECT_RELATIONS) is not None
        )

    def read(self, at: int) -> Clause:
        tree = self.tree
        above = self._governing_clause(at)
        words = self._words(at)
        tense, modal = self._tense(at)
        is_copular = tree.child(at, "cop") is not None or self.sentence[at].upos not in (
            "VERB",
            "AUX",
        )
        is_passive = tree.child(at, "aux:pass", "nsubj:pass") is not None
        if is_passive and self._is_contracted_perfect(at):
            is_passive, tense = False, Tense.PERFECT
        subjects = self._subjects(at, above)
        is_imperative = self._is_imperative(at, subjects)
        ended = self._has_ended(at)
        negated = self._is_negated(at)
        return Clause(
            tree=tree,
            at=at,
            lemma=self._lemma(at),
            subjects=subjects,
            objects=self._objects(at),
            obliques=tuple(self._obliques(at)),
            tense=tense,
            is_copular=is_copular,
            is_passive=is_passive,
            is_negated=negated and not ended,
            has_ended=ended,
            is_imperative=is_imperative,
            is_question=self._in_question(at),
            is_hypothetical=self._is_hypothetical(at, above),
            is_hedged=bool(words & HEDGES)
            or bool(above and above.lemma in THINK_VERBS and self.sentence[at].deprel == "ccomp")
            or bool(above and above.is_hedged),
            modal=modal,
            quoted_speaker=self._quoted_speaker(at, above),
            governor=above if self.sentence[at].deprel in ("xcomp", "ccomp", "advcl") else None,
            words=words,
        )

    def _is_contracted_perfect(self, at: int) -> bool:
        """Return whether "'s" is "has": "she's left Coldline", "Dad's given up the garden"."""
        auxiliary = self.tree.child(at, "aux:pass")
        has_object = self.tree.child(at, "obj") is not None
        return has_object and (auxiliary is None or self.tree.lower[auxiliary] in ("'s", "’s"))

    def _governing_clause(self, at: int) -> Clause | None:
        head = self.sentence[at].head
        while head != NO_HEAD:
            if head in self.clauses:
                return self.clauses[head]
            head = self.sentence[head].head
        return None

    def _words(self, at: int) -> frozenset[str]:
        """Return adverbs and particles of the predicate, with the words below them."""
        found: set[str] = set()
        for child in self.tree.children[at]:
            if self.tree.relation(child) in (
                "advmod",
                "compound:prt",
                "discourse",
                "obl:unmarked",
                "obl",
                "cc",
                "mark",
                "advmod:emph",
                "det",
            ):
                found.add(self.tree.lower[child])
                found.update(
                    self.tree.lower[each]
                    for each in self.tree.children[child]
                    if self.tree.relation(each) in ("advmod", "amod", "det", "fixed")
                )
        return frozenset(found)

    def _lemma(self, at: int) -> str:
        lemma = self.sentence[at].lemma.lower()
        particle = self.tree.child(at, "compound:prt")
        if (
            particle is None
            and at + 1 < len(self.sentence)
            and self.tree.lower[at + 1] in PARTICLES
        ):
            head = self.sentence[at + 1].head  # "takes over the service": read as a preposition
            if (
                head >= 0
                and self.tree.relation(at + 1) == "case"
                and self.tree.relation(head) in ("obj", "obl")
            ):
                particle = at + 1 if (lemma, self.tree.lower[at + 1]) in PHRASAL_VERBS else None
        return f"{lemma} {self.tree.lower[particle]}" if particle is not None else lemma

    def _subjects(self, at: int, above: Clause | None) -> tuple[Phrase, ...]:
        tree = self.tree
        own = tree.child(at, *SUBJECT_RELATIONS)
        relation = self.sentence[at].deprel
        if own is not None:
            token = self.sentence[own]
            if relation == "acl:relcl" and tree.lower[own] in ("who", "which", "that"):
                return (Phrase(tree, self.sentence[at].head),)
            if token.deprel == "csubj":
                return ()
            return tuple(tree.conjuncts(Phrase(tree, own)))
        if relation == "acl":
            return (Phrase(tree, self.sentence[at].head),)
        if above is None:
            return ()
        if (
            relation == "xcomp"
            and above.objects
            and above.lemma in ("want", "ask", "tell", "let", "help", "need", "get", "make", "have")
        ):
            return above.objects
        if (
            relation == "parataxis"
            and tree.child(at, "aux") is not None
            and self.sentence[at].head == above.at
        ):
            return above.subjects
        if relation == "advcl" and above.lemma == "use" and tree.child(at, "mark") is not None:
            return above.subjects  # "used to work"
        if relation in ("conj", "xcomp") or (
            relation == "advcl" and tree.lower[at].endswith("ing")
        ):
            if relation == "conj" and self.sentence[at].head != above.at:
                return ()
            if relation == "conj" and self.sentence[at - 1].upos in ("NOUN", "PROPN", "PRON"):
                return ()  # the word before the verb may be its subject
            first = above.subjects[0].token.text.lower() if above.subjects else ""
            if first in ("i", "we", "you", "they") and verb_form(self.sentence[at]) == "third":
                return ()  # another subject that the tree does not show
            return above.subjects
        return ()

    def _objects(self, at: int) -> tuple[Phrase, ...]:
        found: list[Phrase] = []
        for child in self.tree.children[at]:
            is_object = self.tree.relation(child) in ("obj", "iobj")
            is_clause = self.tree.relation(child) in ("xcomp", "ccomp")
            if is_clause and self._is_bare_name(child):  # "left Shopify", "speak Spanish"
                is_object = True
            if is_object and child not in self.tree.quoted:
                found += self.tree.conjuncts(Phrase(self.tree, child))
        return tuple(found)

    def _is_bare_name(self, at: int) -> bool:
        token = self.sentence[at]
        named = token.upos in ("PROPN", "ADJ") and token.text[:1].isupper()
        return named and self.tree.child(at, "mark", "cop", *SUBJECT_RELATIONS) is None

    def _obliques(self, at: int) -> Iterator[Oblique]:
        tree = self.tree
        for child in tree.children[at]:
            relation = tree.relation(child)
            if relation in ("obl", "obl:agent", "obl:unmarked", "nmod", "advcl") or (
                relation == "advmod" and tree.child(child, "case") is not None
            ):
                case = tree.child(child, "case")
                if relation == "advcl" and case is None:
                    continue
                preposition = self._preposition(case) if case is not None else ""
                yield Oblique(preposition, Phrase(tree, child))
                yield from self._nested_obliques(child)
            elif relation == "obj":
                yield from self._nested_obliques(child)
        case = tree.child(at, "case")
        if (
            case is not None and tree.child(at, "cop") is not None
        ):  # "is at Hydro": the noun is the predicate
            yield Oblique(self._preposition(case), Phrase(tree, at))

    def _nested_obliques(self, at: int) -> Iterator[Oblique]:
        """Yield phrases that the tree attaches to a phrase: "from Jenkins to Actions"."""
        for child in self.tree.children[at]:
            case = self.tree.child(child, "case")
            if (
                case is not None
                and self.tree.relation(child) in ("nmod", "obl")
                and self.tree.lower[case] != "of"
            ):
                yield Oblique(self._preposition(case), Phrase(self.tree, child))

    def _preposition(self, case: int) -> str:
        fixed = [
            case,
            *(each for each in self.tree.children[case] if self.tree.relation(each) == "fixed"),
        ]
        return " ".join(self.tree.lower[each] for each in fixed)

    def _tense(self, at: int) -> tuple[Tense, str | None]:
        tree, token = self.tree, self.sentence[at]
        auxiliaries = [
            tree.lower[each]
            for each in tree.children[at]
            if tree.relation(each) in ("aux", "aux:pass", "cop") and not self._stands_apart(each)
        ]
        if not auxiliaries and token.deprel == "conj" and token.head in self.clauses:
            above = self.clauses[token.head]
            shares_auxiliary = (
                verb_form(token) == "base"
                and token.text.lower() != "quit"
                and (above_form(above) != "past" or tree.child(above.at, "aux") is not None)
            )  # "I'll call and ask"; not "I left Hydro and work at Equinor"
            same_form = verb_form(token) == above_form(above) and token.text.lower() != "quit"
            if shares_auxiliary or same_form:
                return above.tense, above.modal
        modal = next((word for word in auxiliaries if word in MODALS), None)
        if any(word in FUTURE_AUXILIARIES for word in auxiliaries):
            return Tense.FUTURE, None
        if "gon" in auxiliaries or (
            token.deprel == "xcomp" and token.head in self.clauses and self._is_going_to(token.head)
        ):
            was = (
                any(tree.lower[each] in PAST_BE for each in tree.children[token.head])
                if token.head >= 0
                else False
            )
            return Tense.FUTURE, "would" if was else None
        tense = self._finite_tense(token, auxiliaries)
        if tense is Tense.PRESENT and not auxiliaries and self._reports_past(at):
            tense = Tense.PAST
        return tense, {
            "ca": "can",
            "'d": "would",
            "’d": "would",
        }.get(modal or "", modal)

    def _reports_past(self, at: int) -> bool:
        """Return whether a verb without an ending is a past form: "Vera and I split up in May"."""
        tree, word = self.tree, self.tree.lower[at]
        subject = tree.child(at, "nsubj")
        if word not in SAME_IN_PAST or subject is None:
            return False
        joined = tree.child(subject, "conj") is not None
        if not joined and (
            tree.lower[subject] in ("he", "she", "it") or self.sentence[subject].upos == "PROPN"
        ):
            return True  # otherwise it is "splits"
        after = tree.lower[at + 1 :]
        if AHEAD_WORDS & set(after):
            return False
        dated = any(
            one == "in" and two in PERIODS
            for one, two in itertools.pairwise(_without_articles(after))
        )
        return dated or bool(PAST_WORDS & set(after))

    def _stands_apart(self, at: int) -> bool:
        """Return whether an auxiliary is a reply of its own: "can't, I'm in Graz"."""
        return at < 2 and any(
            self.tree.lower[each] == "," for each in range(at + 1, min(at + 3, len(self.sentence)))
        )

    def _is_going_to(self, at: int) -> bool:
        return (
            self.tree.lower[at] in ("going", "gon", "about", "set", "due")
            and self.tree.child(at, "aux", "cop") is not None
        )

    def _finite_tense(self, token: Token, auxiliaries: Sequence[str]) -> Tense:
        form = verb_form(token)
        if any(word in PAST_BE or word in ("did", "had") for word in auxiliaries):
            return Tense.PAST
        if any(word in ("have", "has", "'ve", "’ve", "ve") for word in auxiliaries):
            return Tense.PERFECT
        if "'s" in auxiliaries and "been" in auxiliaries:
            return Tense.PERFECT
        if "got" in auxiliaries:  # "got laid off"
            return Tense.PAST
        if form == "ing":
            return Tense.PROGRESSIVE
        if form == "past" and not auxiliaries and token.upos == "VERB":
            return Tense.PAST
        if token.text.lower() == "quit" and not auxiliaries:  # its past has no ending
            return Tense.PAST
        return Tense.PRESENT

    def _is_negated(self, at: int) -> bool:
        tree = self.tree
        for child in tree.children[at]:
            if tree.lower[child] in NEGATIONS and tree.relation(child) in (
                "advmod",
                "aux",
                "det",
                "cc",
                "dep",
            ):
                return True
            if tree.relation(child) in SUBJECT_RELATIONS and (
                tree.lower[child] in ("nobody", "none", "nothing") or self._has_no(child)
            ):
                return True
            if tree.relation(child) == "obj" and self._has_no(child):
                return True
            if tree.relation(child) in SUBJECT_RELATIONS and self._has_neither(child):
                return True
        return tree.child(at, "cop") is not None and self._has_no(at)

    def _has_ended(self, at: int) -> bool:
        """Return whether "no longer" or "not any more" stands in the clause."""
        if ENDING_WORDS.isdisjoint(self.tree.lower):
            return False
        words = [
            self.tree.lower[each]
            for each in self.tree.clause_positions(at)
            if not self.tree.is_contrasted(each)
        ]
        pairs = set(itertools.pairwise(words))
        if ("no", "longer") in pairs or ("not", "longer") in pairs:
            return True
        more = "anymore" in words or ("any", "more") in pairs or ("any", "longer") in pairs
        return more and any(word in NEGATIONS for word in words)

    def _has_neither(self, at: int) -> bool:
        return any(self.tree.lower[each] == "neither" for each in self.tree.children[at]) or (
            at > 0 and self.tree.lower[at - 1] == "neither"
        )

    def _has_no(self, at: int) -> bool:
        return any(
            self.tree.lower[each] == "no" and self.tree.relation(each) == "det"
            for each in self.tree.children[at]
        )

    def _is_imperative(self, at: int, subjects: Sequence[Phrase]) -> bool:
        token = self.sentence[at]
        if (
            subjects
            or token.upos != "VERB"
            or token.deprel not in ("root", "parataxis", "conj", "ccomp", "list")
        ):
            return False
        auxiliaries = [
            self.tree.lower[each]
            for each in self.tree.children[at]
            if self.tree.relation(each) in ("aux", "aux:pass")
        ]
        return (
            verb_form(token) == "base"
            and all(word == "do" for word in auxiliaries)
            and token.lemma.lower() not in ("thank", "thanks")
        )

    def _in_question(self, at: int) -> bool:
        if not self.tree.is_question:
            return False
        mark = next(
            (place for place, token in enumerate(self.sentence) if "?" in token.text),
            len(self.sentence),
        )
        return at <= mark

    def _is_hypothetical(self, at: int, above: Clause | None) -> bool:
        tree = self.tree
        if above and above.is_hypothetical and self.sentence[at].deprel != "parataxis":
            return True
        marks = {
            tree.lower[each]
            for each in tree.children[at]
            if tree.relation(each) in ("mark", "advmod")
        }
        if marks & HYPOTHETICAL_MARKS:
            return True
        if (
            self.sentence[at].deprel == "advcl"
            and self._has_time_mark(at)
            and self._tense(at)[0] is Tense.PRESENT
        ):
            return True  # "once I live in Berlin": not yet
        for child in tree.children[at]:
            if tree.relation(child) == "advcl" and any(
                tree.lower[each] in HYPOTHETICAL_MARKS
                for each in tree.children[child]
                if tree.relation(each) == "mark"
            ):
                return True
        return bool(above and above.lemma in WISH_VERBS)

    def _has_time_mark(self, at: int) -> bool:
        tree = self.tree
        marks = {
            tree.lower[each]
            for each in tree.children[at]
            if tree.relation(each) in ("mark", "advmod")
        }
        fixed = {
            tree.lower[each]
            for child in tree.children[at]
            for each in tree.children[child]
            if tree.relation(each) == "fixed"
        }
        return bool(marks & TIME_MARKS) or "case" in fixed

    def _quoted_speaker(self, at: int, above: Clause | None) -> Phrase | None:
        if above is None:
            return None
        said = above.lemma in SAY_VERBS and self.sentence[at].deprel in (
            "ccomp",
            "parataxis",
            "obj",
        )
        if said and above.subjects and above.subjects[0].lemma not in ("i", "we"):
            return above.subjects[0]
        inherits = self.sentence[at].deprel in ("conj", "xcomp", "acl", "advcl", "acl:relcl")
        return above.quoted_speaker if inherits else None


def above_form(clause: Clause) -> str:
    return verb_form(clause.tree.sentence[clause.at])


def _without_articles(words: Sequence[str]) -> list[str]:
    return [word for word in words if word != "the"]


def verb_form(token: Token) -> str:
    """Return "ing", "past", "third" or "base": the form of a verb by its ending and lemma."""
    word, lemma = token.text.lower(), token.lemma.lower()
    if word == lemma:
        return "base"
    if word in ("has", "does", "goes", "is"):
        return "third"
    if word.endswith(("ing", "in'")):
        return "ing"
    if word.endswith("s") and (
        (word.startswith(lemma[:2]) and word[:-1] in (lemma, lemma + "e"))
        or word == lemma[:-1] + "ies"
    ):
        return "third"
    return "past"
