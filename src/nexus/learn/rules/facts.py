"""From clauses to facts: by the table of relations where a line fits, else as a plain statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.dates import DateSpan
from .cast import Cast, joined
from .clauses import Clause
from .copula import Told, copula
from .extracted import Category, Certainty, Span, Statement
from .idioms import is_idiom
from .lexicon import CHATTER, DETERMINERS, KIN, NOBODY, PRONOUNS
from .mood import Asserted, asserted
from .relations import (
    FINISHED,
    LONGEST_REST,
    ONLY_PEOPLE,
    OPPOSITE,
    PAST_ONLY,
    UNFINISHED,
    Rule,
    rules,
)
from .render import SAID_BEFORE, Renderer, sentence
from .subjects import opening
from .tokens import NAMED, TITLES, Token
from .when import is_over, temporal, validity
from .worth import SHORTEST, content, is_judgement, is_opinion, says_something

PARTICLES = frozenset("up out off down away back over".split())
FULL_STOP = "".join(rf"(?<!\b{title.capitalize()})" for title in sorted(TITLES))
FULL_STOP += r"(?<!\b[A-Z])\."  # "Dr. Lee", "J. Lee": these shorten a word
CUT = re.compile(
    rf"\s*(?:(?:[,;!?(]|{FULL_STOP})(?=\s|$)"
    r"|\s(?:these days|any ?more|any longer|for (?:years|ages|\w+ (?:years|months|weeks)))\b"
    r"|\s(?:right now|now|nowadays|currently|at the moment)(?=\s*(?:[,;.!?]|$))"
    rf"|(?:\s(?:right now|now|today|too|again))?\s(?:{'|'.join(sorted(CHATTER))})\b"
    r"|(?<=\S),?\s(?:and )?not\s(?!to\s)"
    r"|\s(?:as|with|since|because|when|while|where|which|who|that|but|so|if|instead of|rather than"
    r"|over|than|after|before|until|and (?:I|we|he|she|they|it))\s).*",
    re.DOTALL,
)
ARTICLE = re.compile(r"^(?:an?|the|my|our|some)\s+", re.IGNORECASE)
NO_OBJECT = re.compile(
    r"^(?:it|that|this|them|him|her|you|these|those|so|one|me|us)\b[\s.!,]*", re.IGNORECASE
)
CALLED = re.compile(
    r"\b(?:called|named|whose name is)\s+(?P<name>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)"
)
EVERY = re.compile(r"\b(?:every|each|once|twice|times) (?:a )?\w+|\bon \w+days\b", re.IGNORECASE)
TIMED = (Category.TEMPORAL, Category.BEHAVIOURAL)
OF_PEOPLE = (Category.PERSONAL, Category.SOCIAL)  # a project has no puppy: "we" are people here
PERSON = re.compile(rf"{NAMED}(?:(?: and | ){NAMED})*")
CONTINUES = frozenset("it they this that he she these".split())
LONGEST_SENTENCE = 320


class FactReader:
    """Reads the facts of one message, sentence after sentence."""

    def __init__(self, cast: Cast, dates: Sequence[DateSpan], at: datetime) -> None:
        self._cast = cast
        self._dates = dates
        self._at = at
        self._renderer = Renderer(cast, dates)

    def read(self, words: Sequence[Token], found: Sequence[Clause]) -> list[Statement]:
        """The facts of one sentence: relations, or one plain statement if it holds no relation."""
        facts: list[Statement] = []
        plain: tuple[Asserted, str] | None = None
        every = list(asserted(words, found))
        for each in every:
            subject = self._subject(each)
            if subject is None or is_idiom(each.clause):
                continue
            related = list(self._related(each, subject, alone=len(every) == 1))
            facts += related
            told = any(fact.certainty is not Certainty.INFERRED for fact in related)
            if not told and plain is None and says_something(each.clause):
                plain = each, subject
            self._meet(each.clause, subject)
        if plain is not None and all(fact.aspect in KIN for fact in facts):
            facts += self._plain(*plain)
        return facts

    def continued(self, facts: list[Statement], words: Sequence[Token]) -> bool:
        """Add a sentence about "it" or "them" to the fact before, which says what that is."""
        if not facts:
            return False
        place, last = opening(words), facts[-1]
        if place >= len(words) or words[place].low not in CONTINUES:
            return False
        if content(words[place:]) < SHORTEST:
            return False
        more = sentence(self._renderer.write(words[place:], said=True))
        if len(last.sentence) + len(more) > LONGEST_SENTENCE:
            return False
        facts[-1] = replace(last, sentence=f"{last.sentence} {more}")
        return True

    def write(self, words: Sequence[Token]) -> str:
        """A sentence that holds no fact, for somebody who was not there."""
        return sentence(self._renderer.write(words))

    # -- who

    def _subject(self, told: Asserted) -> str | None:
        clause = told.clause
        if told.teller is not None:
            return self._subject(Asserted(told.teller, Certainty.EXPLICIT))
        if clause.words[clause.subject[0]].low in NOBODY and clause.kind == "noun":
            return None
        if clause.kind == "noun":
            return self._cast.named(clause.words[slice(*clause.subject)])
        return self._cast.who(clause.kind or "i")

    def _meet(self, clause: Clause, subject: str) -> None:
        """Those who can be "she" in the next sentence: the object's people, then the subject."""
        words = clause.words
        for at in range(clause.rest, min(clause.end, len(words) - 1)):
            if words[at].low == "my" and (kin := words[at + 1].low) in KIN:
                self._cast.meet(f"{self._cast.speaker}'s {kin}", kin)
        if not clause.first_person:
            self._cast.meet(subject, joined(clause.words[slice(*clause.subject)]))

    # -- relations

    def _related(self, told: Asserted, subject: str, *, alone: bool) -> Iterator[Statement]:
        clause = told.clause
        rest = text_of(clause.words[clause.rest : clause.end])[:LONGEST_REST]
        for found in [
            *copula(clause, rest, subject, self._cast),
            *self._by_table(clause, rest, subject),
        ]:
            ours = clause.kind == "we" and found.category in OF_PEOPLE
            about = found._replace(subject=self._cast.speaker) if ours else found
            for each in self._each(about):
                yield self._statement(told, each, whole=alone and not found.inferred)
            if found.only:
                return

    def _each(self, found: Told) -> Iterator[Told]:
        """One fact for each of those it is about: of two people none is the other."""
        first, together, second = found.subject.partition(" and ")
        if together and found.object.startswith("each other"):
            yield found._replace(subject=first, object=second)
            return
        objects = [found.object]
        if found.type == "person":
            objects = self._cast.each(found.object, people=True)
        aspect = found.aspect
        if len(objects) > 1 and aspect and aspect.removesuffix("s") in KIN:
            aspect = aspect.removesuffix("s")
        for subject in self._cast.each(found.subject, people=found.relation in ONLY_PEOPLE):
            for object in objects:
                yield found._replace(subject=subject, object=object, aspect=aspect)

    def _by_table(self, clause: Clause, rest: str, subject: str) -> Iterator[Told]:
        for rule in rules().get(clause.lemma, ()):
            match = rule.pattern.match(rest)
            if match is None or (rule.passive and not clause.passive):
                continue
            if rule.negated and not clause.negated:
                continue
            object = self._object(clause, match.start("object"), match["object"], rule)
            if not object or NO_OBJECT.fullmatch(object + " "):
                return
            relation = _in_tense(rule.relation, clause)
            negated = clause.negated and not rule.negated
            if negated and relation in OPPOSITE:
                relation, negated = OPPOSITE[relation], False
            if clause.modal == "would" and relation == "LIKES":
                relation = "WANTS"
                object = object.removeprefix("to ")
            yield Told(subject, relation, object, rule.type, rule.category, negated=negated)
            return

    def _object(self, clause: Clause, offset: int, object: str, rule: Rule) -> str:
        """The object's own words, without what says when, why or with whom."""
        type = rule.type
        start = clause.words[clause.rest].start + offset if clause.rest < len(clause.words) else 0
        called = CALLED.search(object) if type in ("pet", "person", "company", "project") else None
        if called:
            return called["name"]
        for span in self._dates:
            if rule.category not in TIMED and start < span.start < start + len(object):
                object = object[: span.start - start]
                object = re.sub(r"\s(?:on|in|at|by|since|for|from)\s*$", "", object)
                break
        if type == "person" and (person := PERSON.match(object)):
            return person.group()
        object = re.sub(r"\bmy\b", f"{self._cast.speaker}'s", ARTICLE.sub("", object))
        object = CUT.sub("", " " + object).strip() if type != "pet" else object.strip(" ,.!")
        return ARTICLE.sub("", object).strip() if type != "pet" else object

    def _statement(self, told: Asserted, found: Told, *, whole: bool) -> Statement:
        clause = told.clause
        since, until = validity(clause, found.relation, self._dates)
        certainty = told.certainty
        if found.relation.startswith("TYPICALLY") or found.inferred:
            certainty = Certainty.INFERRED if certainty is Certainty.EXPLICIT else certainty
        habitual = clause.habitual and found.category is not Category.PREFERENCES
        return Statement(
            subject=found.subject,
            predicate=found.relation,
            object=found.object if found.type else None,
            value=None if found.type else found.object,
            aspect=found.aspect,
            category=Category.BEHAVIOURAL if habitual else found.category,
            certainty=certainty,
            temporal=temporal(clause, found.relation, since, self._at),
            valid_from=since,
            valid_to=until or (self._at if is_over(clause) else None),
            negated=found.negated and not is_over(clause),
            sentence=self._written(told, found, whole=whole),
            source=Span(clause.words[0].start, clause.words[-1].end),
        )

    def _written(self, told: Asserted, found: Told, *, whole: bool) -> str:
        clause = told.clause
        if found.inferred:
            return sentence(f"{found.object} is {found.subject}'s {found.aspect}")
        end = len(clause.words) if whole else clause.end
        return self._sentence(told, clause.begin, end, found.subject)

    def _sentence(self, told: Asserted, begin: int, end: int, of: str | None = None) -> str:
        clause = told.clause
        words = clause.words[begin:end]
        named: dict[int, str] = {}
        subject = self._subject(told)
        if clause.kind == "we" and of is not None:
            named[clause.words[clause.subject[0]].start] = of
        if clause.kind in ("he", "she", "they") and subject:
            named[clause.words[clause.subject[0]].start] = subject
        if clause.kind == "":
            lead = {"been": "has ", "gon": "is "}.get(clause.words[clause.subject[0]].low, "")
            body = self._renderer.write(words, said=True)
            return sentence(f"{self._cast.speaker} {lead}{body[:1].lower()}{body[1:]}")
        if clause.kind == "noun" and subject:
            first = clause.words[clause.subject[0]]
            if first.low in ("mom", "mum", "dad") or first.low == "my":
                named[first.start] = f"{self._cast.speaker}'s" + (
                    f" {first.low}" if first.low != "my" else ""
                )
        return sentence(self._renderer.write(words, named))

    # -- plain statements

    def _plain(self, told: Asserted, subject: str) -> Iterator[Statement]:
        """What a sentence says, as it was said: the verb is the relation."""
        clause = told.clause
        words = clause.words[clause.rest : clause.end]
        verb = clause.lemma
        if words and words[0].low in PARTICLES:
            verb, words = f"{verb}_{words[0].low}", words[1:]
        relation = PREDICATE.get(verb) or NO_LETTERS.sub("_", verb.upper()).strip("_")
        value = self._value(words)
        if not relation or not relation[0].isascii() or not value:
            return
        since, until = validity(clause, relation, self._dates)
        category = _category(clause)
        said = self._sentence(told, clause.begin, len(clause.words))
        if is_judgement(clause):
            said = self._attributed(clause, said)
        for each in self._cast.each(subject, people=False):
            yield Statement(
                subject=each,
                predicate=relation,
                value=value,
                category=category,
                certainty=told.certainty,
                temporal=temporal(clause, relation, since, self._at),
                valid_from=since,
                valid_to=until,
                negated=clause.negated,
                sentence=said,
                source=Span(clause.words[0].start, clause.words[-1].end),
            )

    def opinions(self, words: Sequence[Token], found: Sequence[Clause]) -> Iterator[Statement]:
        """It is important to rest: a fact about whoever says so."""
        told = next(asserted(words, found), None) if found and is_opinion(found[0]) else None
        if told is None:
            return
        clause = told.clause
        said = sentence(self._renderer.write(clause.words[clause.begin :]))
        yield Statement(
            subject=self._cast.speaker,
            predicate="THINKS",
            value=said.rstrip("."),
            category=Category.PERSONAL,
            certainty=Certainty.IMPLIED,
            sentence=self._attributed(clause, said),
            source=Span(clause.words[0].start, clause.words[-1].end),
        )

    def _attributed(self, clause: Clause, said: str) -> str:
        first = clause.words[clause.begin].low
        plain = first in DETERMINERS or first in PRONOUNS or first.endswith("ing")
        return f"{self._cast.speaker} says that {said[:1].lower() if plain else said[:1]}{said[1:]}"

    def _value(self, words: Sequence[Token]) -> str:
        """What was done, without when: that is in the fact's own times."""
        words = _without_tail(words)
        if not self._dates:
            return self._renderer.write(words, said=True).strip(" ,.!;:")
        first = words[0].start if words else 0
        dated = {span.start: span.end for span in self._dates if span.start > first}
        kept: list[Token] = []
        until = -1
        for word in words:
            until = dated.get(word.start, until)
            if word.start >= until:
                kept.append(word)
        while kept and kept[-1].low in SAID_BEFORE and len(kept) < len(words):
            kept.pop()
        return self._renderer.write(kept or words, said=True).strip(" ,.!;:")


def _without_tail(words: Sequence[Token]) -> Sequence[Token]:
    """What is meant, without what is not: "$50k, not $40k", "at home lol"."""
    for place in range(1, len(words) - 1):
        if words[place].low in (",", "and") and words[place + 1].low == "not":
            words = words[:place]
            break
    end = len(words)
    while end > 1 and (words[end - 1].low in CHATTER or words[end - 1].kind == "mark"):
        end -= 1
    return words[:end] if any(word.low in CHATTER for word in words[end:]) else words


def text_of(words: Sequence[Token]) -> str:
    """The words with the spaces they had, each as one: offsets stay."""
    pieces, end = [], words[0].start if words else 0
    for word in words:
        pieces.append(" " * (word.start - end) + word.text)
        end = word.end
    return "".join(pieces)


NO_LETTERS = re.compile(r"[^A-Z0-9]+")
PREDICATE = {"be": "IS", "have": "HAS"}


def _in_tense(relation: str, clause: Clause) -> str:
    if relation in UNFINISHED and (clause.tense == "future" or clause.progressive):
        return UNFINISHED[relation]
    if relation in PAST_ONLY and (clause.tense == "future" or clause.progressive):
        return clause.lemma.upper()
    if relation in FINISHED and clause.tense == "past" and not clause.progressive:
        return FINISHED[relation]
    return relation


def _category(clause: Clause) -> Category:
    rest = text_of(clause.words[clause.rest : clause.end])
    if clause.habitual or EVERY.search(rest):
        return Category.BEHAVIOURAL
    if clause.kind == "we":
        return Category.PROJECTS
    return Category.PERSONAL
