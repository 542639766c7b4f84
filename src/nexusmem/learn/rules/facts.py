"""Facts from clauses: by the table of relations, otherwise as a plain statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from ...text.dates import DateRelation, DateSpan
from .assertions import Assertion, find_assertions
from .clauses import Clause, RelationDraft, read_copula
from .coreference import Speakers, join_tokens
from .lexicon import (
    ADVERBS,
    CHATTER,
    CONDITIONS,
    COORDINATORS,
    DETERMINERS,
    FIRST_PERSON_WORDS,
    GENERAL_NOUNS,
    JUDGEMENT_WORDS,
    KIN,
    NEGATIVE_SUBJECTS,
    POLITE_NOW,
    POLITE_STATES,
    POLITE_VERBS,
    PRONOUNS,
    STOP_WORDS,
    SUBJECTS,
    VAGUE_WORDS,
)
from .relations import (
    FINISHED_RELATIONS,
    MAX_REST_CHARACTERS,
    ONGOING_RELATIONS,
    OPPOSITE_RELATIONS,
    PAST_ONLY_RELATIONS,
    PERMANENT_RELATIONS,
    PERSON_RELATIONS,
    START_RELATIONS,
    START_VERBS,
    STATE_RELATIONS,
    RelationRule,
    load_rules,
)
from .render import DATE_PREPOSITIONS, ClauseRenderer, format_sentence
from .results import Category, Certainty, Statement, StatementTense, TextSpan
from .subjects import find_opening
from .tokens import NAME_WORD, TITLES, Token
from .verbs import BASE, VERB_FORMS

# verb → continuation that makes an idiom
IDIOMS = {
    lemma: re.compile(pattern)  # lower case: Hope is also a village
    for lemma, pattern in {
        "hate": r"to (?:say|admit|tell|ask|bother|interrupt|complain|break|nag|disappoint)\b"
        r"|to be (?:that|the)\b",
        "work": r"for (?:a living|peanuts|free|nothing)\b",
        "live": r"in (?:hope|fear|denial|peace|harmony|dread|sin|misery)\b"
        r"|in the (?:moment|past|present)\b|on the edge\b",
        "join": r"(?:here|there)\b",
        "kill": r"(?:me|us)\b",
    }.items()
}
EMAIL_SIGNATURE = re.compile(r"from my \w+(?: \w+)?[.!\s]*", re.IGNORECASE)


def is_idiom(clause: Clause) -> bool:
    """Return whether a clause is an idiom."""
    if clause.lemma == "send" and clause.kind == "":
        return EMAIL_SIGNATURE.fullmatch(join_tokens(clause.words[clause.rest :])) is not None
    pattern = IDIOMS.get(clause.lemma)
    if pattern is None:
        return False
    return pattern.match(join_tokens(clause.words[clause.rest : clause.end])) is not None


COMPLEMENT_WORDS = frozenset("to how that when what".split())
MIN_OPINION_WORDS = 4  # minimum content words of an opinion
MIN_CONTENT_WORDS = 2  # minimum content words of a statement


def is_worth_storing(clause: Clause) -> bool:
    """Return whether a clause is worth storing as a statement."""
    words = clause.words[clause.rest : clause.end]
    if clause.kind in ("it", "you") or clause.link in CONDITIONS:
        return False
    now = clause.tense != "past" and not clause.perfect
    if clause.lemma in POLITE_VERBS or (now and clause.lemma in POLITE_NOW):
        return False
    if clause.lemma == "be" and words and words[0].lower in POLITE_STATES:
        return count_content_words(words) > MIN_CONTENT_WORDS + 1
    if clause.negated and not clause.is_first_person:
        return False
    if clause.kind == "noun" and _is_general(clause):
        return False
    return count_content_words(words) + (clause.lemma not in STOP_WORDS) >= MIN_CONTENT_WORDS


def is_judgement(clause: Clause) -> bool:
    following = clause.words[clause.rest : clause.rest + 4]
    return clause.kind == "noun" and any(word.lower in JUDGEMENT_WORDS for word in following)


def is_opinion(clause: Clause) -> bool:
    """Return whether a clause is an opinion about its complement: "it is great to have friends"."""
    if (
        clause.kind != "it"
        or clause.lemma != "be"
        or count_content_words(clause.words[clause.rest :]) < MIN_OPINION_WORDS
    ):
        return False
    following = clause.words[clause.rest : clause.rest + 5]
    for judged, then in pairwise(following):
        if judged.lower in JUDGEMENT_WORDS:
            return then.lower in COMPLEMENT_WORDS or (
                then.lower.endswith("ing") and len(then.lower) > 4
            )
    return False


def _is_general(clause: Clause) -> bool:
    """Return whether a clause is about no known person or thing: "kids need sleep"."""
    first, *others = clause.words[slice(*clause.subject)]
    if first.lower in VAGUE_WORDS or (others and others[0].lower in VAGUE_WORDS):
        return True
    if first.lower in DETERMINERS or any(word.lower in FIRST_PERSON_WORDS for word in clause.words):
        return False
    phrase = bool(others) and not others[-1].text[:1].isupper()
    return phrase or first.lower.endswith(("ing", "s")) or first.lower in GENERAL_NOUNS


def count_content_words(words: Sequence[Token]) -> int:
    return sum(
        word.kind in ("word", "number", "name") and word.lower not in STOP_WORDS for word in words
    )


DATE_RELATIONS = frozenset("BORN_ON ANNIVERSARY_ON HAS_SCHEDULE TYPICALLY_CONTACTS_AT".split())

TURN_WORDS = frozenset("but because please".split())  # the following words are about something else
REQUEST_WORDS = frozenset("please let lets thanks no see".split())
TURN_MARKS = TURN_WORDS | {",", "so"}
CONNECTIVES = COORDINATORS | ADVERBS

ValidityPeriod = tuple[datetime | None, datetime | None]


def validity_period(clause: Clause, relation: str, dates: Sequence[DateSpan]) -> ValidityPeriod:
    """Return the time of an event, or the start of a state. Unknown ends stay open."""
    span = next(_clause_dates(clause, relation, dates), None) if dates else None
    if span is None or relation in DATE_RELATIONS:
        born = span is not None and relation == "BORN_ON" and clause.lemma == "bear"
        return (span.since if span and born else None), None
    if span.relation in (DateRelation.SINCE, DateRelation.AFTER):
        return span.since, None
    if span.relation in (DateRelation.UNTIL, DateRelation.BEFORE):
        return None, span.until
    present = clause.tense == "present"
    if relation in PERMANENT_RELATIONS and present:
        return None, None  # liking to ski in May includes June
    goes_on = relation in START_RELATIONS or (relation in STATE_RELATIONS and present)
    return span.since, (None if goes_on else span.until)


def statement_tense(
    clause: Clause, relation: str, since: datetime | None, at: datetime
) -> StatementTense:
    """Return past, current or future, relative to the message time."""
    if clause.tense == "future" or (clause.lemma == "move" and clause.progressive):
        return StatementTense.FUTURE
    planned = clause.progressive and clause.tense == "present" and not clause.perfect
    if planned and since is not None and since > at:
        return StatementTense.FUTURE  # I am flying on Friday
    begun = (
        clause.lemma in START_VERBS and relation in STATE_RELATIONS
    )  # joining a company implies working there
    lasting = relation in STATE_RELATIONS and _says_never(
        clause
    )  # "never liked it" is a current dislike
    past = clause.tense == "past" and not begun and not lasting
    return StatementTense.PAST if past or has_ended(clause) else StatementTense.CURRENT


def has_ended(clause: Clause) -> bool:
    """Return whether a clause states that something has ended: "I no longer work there"."""
    first, words = clause.subject[1], clause.words
    return (
        first + 1 < clause.verb
        and words[first].lower == "no"
        and words[first + 1].lower == "longer"
    )


def _says_never(clause: Clause) -> bool:
    return any(word.lower == "never" for word in clause.words[clause.subject[1] : clause.verb])


def _clause_dates(clause: Clause, relation: str, dates: Sequence[DateSpan]) -> Iterator[DateSpan]:
    """Return the dates inside the clause."""
    words = clause.words
    begin = words[clause.begin].start
    verb = words[clause.verb].start
    end = words[_find_turn(clause) - 1].end
    state = relation in PERMANENT_RELATIONS or (
        relation in STATE_RELATIONS and clause.tense == "present"
    )
    for span in dates:
        if begin <= span.start < end and not (
            state and span.start < verb and _has_words_before(clause, span)
        ):
            yield span


def _find_turn(clause: Clause) -> int:
    """Return the position where the speaker changes the topic without a new subject."""
    words, end = clause.words, min(clause.end, len(clause.words))
    for at in range(clause.rest, end - 1):
        low = words[at].lower
        if low in TURN_MARKS and (low in TURN_WORDS or _is_request(words, at)):
            return at
    return end


def _is_request(words: Sequence[Token], at: int) -> bool:
    """Return whether a request or greeting follows ", so" or a comma."""
    begun = at
    while at < len(words) and (words[at].text == "," or words[at].lower in CONNECTIVES):
        at += 1
    if at >= len(words):
        return False
    low = words[at].lower
    if low in REQUEST_WORDS or (low in SUBJECTS and words[begun].text == ","):
        return True
    known = VERB_FORMS.get(low)
    return known is not None and BASE in known.tags and words[begun].text == ","


def _has_words_before(clause: Clause, span: DateSpan) -> bool:
    """Return whether content words precede the date: "No nuts on Friday, I am allergic"."""
    words = clause.words[clause.begin : clause.subject[0]]
    return any(
        word.kind == "word" and word.lower not in STOP_WORDS
        for word in words
        if word.start < span.start
    )


PARTICLES = frozenset("up out off down away back over".split())
FULL_STOP = "".join(rf"(?<!\b{title.capitalize()})" for title in sorted(TITLES))
FULL_STOP += r"(?<!\b[A-Z])\."  # "Dr. Lee", "J. Lee": abbreviations
OBJECT_TAIL = re.compile(
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
PRONOUN_OBJECT = re.compile(
    r"^(?:it|that|this|them|him|her|you|these|those|so|one|me|us)\b[\s.!,]*", re.IGNORECASE
)
NAME_AFTER_CALLED = re.compile(
    r"\b(?:called|named|whose name is)\s+(?P<name>[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)?)"
)
RECURRENCE = re.compile(
    r"\b(?:every|each|once|twice|times) (?:a )?\w+|\bon \w+days\b", re.IGNORECASE
)
TIMED_CATEGORIES = (Category.TEMPORAL, Category.BEHAVIOURAL)
PERSONAL_CATEGORIES = (
    Category.PERSONAL,
    Category.SOCIAL,
)  # "we" refers to people here, not to the project
PERSON_NAMES = re.compile(rf"{NAME_WORD}(?:(?: and | ){NAME_WORD})*")
CONTINUATION_PRONOUNS = frozenset("it they this that he she these".split())
MAX_SENTENCE_CHARACTERS = 320


class FactReader:
    """Extracts the facts of one message, sentence by sentence."""

    def __init__(self, speakers: Speakers, dates: Sequence[DateSpan], at: datetime) -> None:
        self._speakers = speakers
        self._dates = dates
        self._at = at
        self._renderer = ClauseRenderer(speakers, dates)

    def read_facts(self, words: Sequence[Token], clauses: Sequence[Clause]) -> list[Statement]:
        """Return the facts of one sentence: relations, or one plain statement without a
        relation.
        """
        facts: list[Statement] = []
        plain: tuple[Assertion, str] | None = None
        every = list(find_assertions(words, clauses))
        for each in every:
            subject = self._resolve_subject(each)
            if subject is None or is_idiom(each.clause):
                continue
            related = list(self._relation_facts(each, subject, only_clause=len(every) == 1))
            facts += related
            told = any(fact.certainty is not Certainty.INFERRED for fact in related)
            if not told and plain is None and is_worth_storing(each.clause):
                plain = each, subject
            self._record_mentions(each.clause, subject)
        if plain is not None and all(fact.aspect in KIN for fact in facts):
            facts += self._plain_statements(*plain)
        return facts

    def append_continuation(self, facts: list[Statement], words: Sequence[Token]) -> bool:
        """Append a sentence about "it" or "them" to the previous fact, which names the
        referent.
        """
        if not facts:
            return False
        place, last = find_opening(words), facts[-1]
        if place >= len(words) or words[place].lower not in CONTINUATION_PRONOUNS:
            return False
        if count_content_words(words[place:]) < MIN_CONTENT_WORDS:
            return False
        more = format_sentence(self._renderer.render_words(words[place:], speaker_named=True))
        if len(last.sentence) + len(more) > MAX_SENTENCE_CHARACTERS:
            return False
        facts[-1] = replace(last, sentence=f"{last.sentence} {more}")
        return True

    def write_sentence(self, words: Sequence[Token]) -> str:
        """Return a sentence without a fact, rewritten for readers without the conversation."""
        return format_sentence(self._renderer.render_words(words))

    # -- subjects

    def _resolve_subject(self, assertion: Assertion) -> str | None:
        clause = assertion.clause
        if assertion.reporting_clause is not None:
            return self._resolve_subject(Assertion(assertion.reporting_clause, Certainty.EXPLICIT))
        if clause.words[clause.subject[0]].lower in NEGATIVE_SUBJECTS and clause.kind == "noun":
            return None
        if clause.kind == "noun":
            return self._speakers.resolve_phrase(clause.words[slice(*clause.subject)])
        return self._speakers.resolve_pronoun(clause.kind or "i")

    def _record_mentions(self, clause: Clause, subject: str) -> None:
        """Register possible referents of "she" in the next sentence: people of the object,
        then the subject.
        """
        words = clause.words
        for at in range(clause.rest, min(clause.end, len(words) - 1)):
            if words[at].lower == "my" and (kin := words[at + 1].lower) in KIN:
                self._speakers.add_mention(f"{self._speakers.speaker}'s {kin}", kin)
        if not clause.is_first_person:
            self._speakers.add_mention(subject, join_tokens(clause.words[slice(*clause.subject)]))

    # -- relations

    def _relation_facts(
        self, assertion: Assertion, subject: str, *, only_clause: bool
    ) -> Iterator[Statement]:
        clause = assertion.clause
        rest = text_with_spaces(clause.words[clause.rest : clause.end])[:MAX_REST_CHARACTERS]
        for found in [
            *read_copula(clause, rest, subject, self._speakers),
            *self._match_relations(clause, rest, subject),
        ]:
            ours = clause.kind == "we" and found.category in PERSONAL_CATEGORIES
            about = found._replace(subject=self._speakers.speaker) if ours else found
            for each in self._split_draft(about):
                yield self._make_statement(
                    assertion, each, whole_sentence=only_clause and not found.inferred
                )
            if found.exclusive:
                return

    def _split_draft(self, draft: RelationDraft) -> Iterator[RelationDraft]:
        """Return one fact for each subject or object: two people are two facts."""
        first, together, second = draft.subject.partition(" and ")
        if together and draft.object.startswith("each other"):
            yield draft._replace(subject=first, object=second)
            return
        objects = [draft.object]
        if draft.type == "person":
            objects = self._speakers.split_names(draft.object, people_only=True)
        aspect = draft.aspect
        if len(objects) > 1 and aspect and aspect.removesuffix("s") in KIN:
            aspect = aspect.removesuffix("s")
        for subject in self._speakers.split_names(
            draft.subject, people_only=draft.relation in PERSON_RELATIONS
        ):
            for object in objects:
                yield draft._replace(subject=subject, object=object, aspect=aspect)

    def _match_relations(self, clause: Clause, rest: str, subject: str) -> Iterator[RelationDraft]:
        for rule in load_rules().get(clause.lemma, ()):
            match = rule.pattern.match(rest)
            if match is None or (rule.passive and not clause.passive):
                continue
            if rule.negated and not clause.negated:
                continue
            object = self._extract_object(clause, match.start("object"), match["object"], rule)
            if not object or PRONOUN_OBJECT.fullmatch(object + " "):
                return
            relation = _relation_in_tense(rule.relation, clause)
            negated = clause.negated and not rule.negated
            if negated and relation in OPPOSITE_RELATIONS:
                relation, negated = OPPOSITE_RELATIONS[relation], False
            if clause.modal == "would" and relation == "LIKES":
                relation = "WANTS"
                object = object.removeprefix("to ")
            yield RelationDraft(
                subject, relation, object, rule.type, rule.category, negated=negated
            )
            return

    def _extract_object(self, clause: Clause, offset: int, object: str, rule: RelationRule) -> str:
        """Return the words of the object without its time, reason and company."""
        type = rule.type
        start = clause.words[clause.rest].start + offset if clause.rest < len(clause.words) else 0
        called = (
            NAME_AFTER_CALLED.search(object)
            if type in ("pet", "person", "company", "project")
            else None
        )
        if called:
            return called["name"]
        for span in self._dates:
            if rule.category not in TIMED_CATEGORIES and start < span.start < start + len(object):
                object = object[: span.start - start]
                object = re.sub(r"\s(?:on|in|at|by|since|for|from)\s*$", "", object)
                break
        if type == "person" and (person := PERSON_NAMES.match(object)):
            return person.group()
        object = re.sub(r"\bmy\b", f"{self._speakers.speaker}'s", ARTICLE.sub("", object))
        object = (
            OBJECT_TAIL.sub("", " " + object).strip() if type != "pet" else object.strip(" ,.!")
        )
        return ARTICLE.sub("", object).strip() if type != "pet" else object

    def _make_statement(
        self, assertion: Assertion, draft: RelationDraft, *, whole_sentence: bool
    ) -> Statement:
        clause = assertion.clause
        since, until = validity_period(clause, draft.relation, self._dates)
        certainty = assertion.certainty
        if draft.relation.startswith("TYPICALLY") or draft.inferred:
            certainty = Certainty.INFERRED if certainty is Certainty.EXPLICIT else certainty
        habitual = clause.habitual and draft.category is not Category.PREFERENCES
        return Statement(
            subject=draft.subject,
            predicate=draft.relation,
            object=draft.object if draft.type else None,
            value=None if draft.type else draft.object,
            aspect=draft.aspect,
            category=Category.BEHAVIOURAL if habitual else draft.category,
            certainty=certainty,
            temporal=statement_tense(clause, draft.relation, since, self._at),
            valid_from=since,
            valid_to=until or (self._at if has_ended(clause) else None),
            negated=draft.negated and not has_ended(clause),
            sentence=self._write_draft(assertion, draft, whole_sentence=whole_sentence),
            source=TextSpan(clause.words[0].start, clause.words[-1].end),
        )

    def _write_draft(
        self, assertion: Assertion, draft: RelationDraft, *, whole_sentence: bool
    ) -> str:
        clause = assertion.clause
        if draft.inferred:
            return format_sentence(f"{draft.object} is {draft.subject}'s {draft.aspect}")
        end = len(clause.words) if whole_sentence else clause.end
        return self._write_clause(assertion, clause.begin, end, draft.subject)

    def _write_clause(
        self, assertion: Assertion, begin: int, end: int, group_name: str | None = None
    ) -> str:
        clause = assertion.clause
        words = clause.words[begin:end]
        named: dict[int, str] = {}
        subject = self._resolve_subject(assertion)
        if clause.kind == "we" and group_name is not None:
            named[clause.words[clause.subject[0]].start] = group_name
        if clause.kind in ("he", "she", "they") and subject:
            named[clause.words[clause.subject[0]].start] = subject
        if clause.kind == "":
            lead = {"been": "has ", "gon": "is "}.get(clause.words[clause.subject[0]].lower, "")
            body = self._renderer.render_words(words, speaker_named=True)
            return format_sentence(f"{self._speakers.speaker} {lead}{body[:1].lower()}{body[1:]}")
        if clause.kind == "noun" and subject:
            first = clause.words[clause.subject[0]]
            if first.lower in ("mom", "mum", "dad") or first.lower == "my":
                named[first.start] = f"{self._speakers.speaker}'s" + (
                    f" {first.lower}" if first.lower != "my" else ""
                )
        return format_sentence(self._renderer.render_words(words, named))

    # -- plain statements

    def _plain_statements(self, assertion: Assertion, subject: str) -> Iterator[Statement]:
        """Return a sentence as a statement whose relation is the verb."""
        clause = assertion.clause
        words = clause.words[clause.rest : clause.end]
        verb = clause.lemma
        if words and words[0].lower in PARTICLES:
            verb, words = f"{verb}_{words[0].lower}", words[1:]
        relation = SPECIAL_PREDICATES.get(verb) or NON_PREDICATE_CHARACTERS.sub(
            "_", verb.upper()
        ).strip("_")
        value = self._extract_value(words)
        if not relation or not relation[0].isascii() or not value:
            return
        since, until = validity_period(clause, relation, self._dates)
        category = _choose_category(clause)
        said = self._write_clause(assertion, clause.begin, len(clause.words))
        if is_judgement(clause):
            said = self._attribute_to_speaker(clause, said)
        for each in self._speakers.split_names(subject, people_only=False):
            yield Statement(
                subject=each,
                predicate=relation,
                value=value,
                category=category,
                certainty=assertion.certainty,
                temporal=statement_tense(clause, relation, since, self._at),
                valid_from=since,
                valid_to=until,
                negated=clause.negated,
                sentence=said,
                source=TextSpan(clause.words[0].start, clause.words[-1].end),
            )

    def read_opinions(
        self, words: Sequence[Token], clauses: Sequence[Clause]
    ) -> Iterator[Statement]:
        """Yield opinions as facts about the speaker: "it is important to rest"."""
        told = (
            next(find_assertions(words, clauses), None)
            if clauses and is_opinion(clauses[0])
            else None
        )
        if told is None:
            return
        clause = told.clause
        said = format_sentence(self._renderer.render_words(clause.words[clause.begin :]))
        yield Statement(
            subject=self._speakers.speaker,
            predicate="THINKS",
            value=said.rstrip("."),
            category=Category.PERSONAL,
            certainty=Certainty.IMPLIED,
            sentence=self._attribute_to_speaker(clause, said),
            source=TextSpan(clause.words[0].start, clause.words[-1].end),
        )

    def _attribute_to_speaker(self, clause: Clause, text: str) -> str:
        first = clause.words[clause.begin].lower
        plain = first in DETERMINERS or first in PRONOUNS or first.endswith("ing")
        start = text[:1].lower() if plain else text[:1]
        return f"{self._speakers.speaker} says that {start}{text[1:]}"

    def _extract_value(self, words: Sequence[Token]) -> str:
        """Return the action without its time, which the fact stores separately."""
        words = _drop_tail(words)
        if not self._dates:
            return self._renderer.render_words(words, speaker_named=True).strip(" ,.!;:")
        first = words[0].start if words else 0
        dated = {span.start: span.end for span in self._dates if span.start > first}
        kept: list[Token] = []
        until = -1
        for word in words:
            until = dated.get(word.start, until)
            if word.start >= until:
                kept.append(word)
        while kept and kept[-1].lower in DATE_PREPOSITIONS and len(kept) < len(words):
            kept.pop()
        return self._renderer.render_words(kept or words, speaker_named=True).strip(" ,.!;:")


def _drop_tail(words: Sequence[Token]) -> Sequence[Token]:
    """Drop negated and trailing parts: "$50k, not $40k", "at home lol"."""
    for place in range(1, len(words) - 1):
        if words[place].lower in (",", "and") and words[place + 1].lower == "not":
            words = words[:place]
            break
    end = len(words)
    while end > 1 and (words[end - 1].lower in CHATTER or words[end - 1].kind == "mark"):
        end -= 1
    return words[:end] if any(word.lower in CHATTER for word in words[end:]) else words


def text_with_spaces(words: Sequence[Token]) -> str:
    """Join words with one space wherever the text had whitespace. Offsets stay valid."""
    pieces, end = [], words[0].start if words else 0
    for word in words:
        pieces.append(" " * (word.start - end) + word.text)
        end = word.end
    return "".join(pieces)


NON_PREDICATE_CHARACTERS = re.compile(r"[^A-Z0-9]+")
SPECIAL_PREDICATES = {"be": "IS", "have": "HAS"}


def _relation_in_tense(relation: str, clause: Clause) -> str:
    if relation in ONGOING_RELATIONS and (clause.tense == "future" or clause.progressive):
        return ONGOING_RELATIONS[relation]
    if relation in PAST_ONLY_RELATIONS and (clause.tense == "future" or clause.progressive):
        return clause.lemma.upper()
    if relation in FINISHED_RELATIONS and clause.tense == "past" and not clause.progressive:
        return FINISHED_RELATIONS[relation]
    return relation


def _choose_category(clause: Clause) -> Category:
    rest = text_with_spaces(clause.words[clause.rest : clause.end])
    if clause.habitual or RECURRENCE.search(rest):
        return Category.BEHAVIOURAL
    if clause.kind == "we":
        return Category.PROJECTS
    return Category.PERSONAL
