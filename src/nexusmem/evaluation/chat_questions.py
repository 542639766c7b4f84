"""Questions about a conversation, answered by fact timelines and landmarks.

A question names a subject and predicates, as a program does. No model reads or writes text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..core.records import Memory
from ..place.place import Place
from ..recall.views.fact_timeline import FactTimeline
from ..recall.views.landmarks import LandmarkView
from ..text.terms import extract_terms
from .chat_format import due_day, fact_value

WE = "we"
TASK_KINDS = ("action_item", "commitment")
TASK_PREDICATE, DUE_PREDICATE = "ACTION_ITEM", "DUE_ON"
# Plans and dates are announced before they hold. The answer is the one announced last, and a
# question about an earlier day means what was known on that day.
PLAN_PREDICATES = frozenset(
    {"SCHEDULED_FOR", DUE_PREDICATE, "ENDED_ON", "MOVING_TO", "MIGRATING_TO"}
)
BEFORE, OPEN, DONE = "before", "open", "done"
DENIED_PREDICATES = ("EATS", "DRINKS", "LIKES")
DENIAL_QUESTION = re.compile(r"\b(?:can['’]?t|cannot|not|avoids?|never|refuses?)\b", re.IGNORECASE)
DAY = timedelta(days=1)
MAX_LANDMARKS = 1_000
SMALL_WORDS = frozenset("a an the of to in for".split())
YES_NO_QUESTION = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can)\b", re.IGNORECASE)
YES, NO = "yes", "no"
STOP_TERMS = frozenset(extract_terms("has have been is are was were the a it done yet already do"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatQuestion:
    """A question, with the names that a lookup needs."""

    id: str
    kind: str  # state, state_as_of, before, open or done
    text: str
    subject: str
    predicates: tuple[str, ...]  # the usual one first, then names that are as good
    day: datetime | None = None  # the day that state_as_of asks about

    @property
    def asks_for_plan(self) -> bool:
        return self.predicates[0] in PLAN_PREDICATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What a lookup found: the values asked for, and those that held before."""

    wanted: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    is_known: bool = False  # some fact was found, even if no value holds


def answer_question(place: Place, question: ChatQuestion, people: Sequence[str]) -> list[str]:
    """Return the answers as short texts; an empty list means that nothing is known."""
    if TASK_PREDICATE in question.predicates:
        tasks = _list_tasks(place, question.subject, status=question.kind)
        if _is_yes_no(question):
            return _answer_task(place, question)
        values = Values(wanted=tuple(tasks))
    else:
        values = _find_values(place, question, people)
    answers = dict.fromkeys(values.wanted)
    return _answer_yes_no(question, values) if _is_yes_no(question) else list(answers)


def _is_yes_no(question: ChatQuestion) -> bool:
    return bool(YES_NO_QUESTION.match(question.text))


def _answer_yes_no(question: ChatQuestion, values: Values) -> list[str]:
    """Return "yes" with the value that the question names, "no" if it ended or nothing is known."""
    asked = _name_words(question.text)
    if named := [each for each in values.wanted if _name_words(each) <= asked]:
        return [f"{YES}, {named[0]}"]
    has_ended = any(_name_words(each) <= asked for each in values.ended)
    return [NO] if has_ended or not values.wanted else list(values.wanted)


def _answer_task(place: Place, question: ChatQuestion) -> list[str]:
    """Return whether the task that a question describes is done: "has the order been sent?"."""
    asked = frozenset(extract_terms(question.text)) - STOP_TERMS
    tasks = [each for each in _find_tasks(place) if asked & (frozenset(extract_terms(each.text)))]
    if not tasks:
        return []
    newest = max(tasks, key=lambda each: each.at)
    return [YES] if newest.status.value == DONE else [NO]


def _list_tasks(place: Place, subject: str, *, status: str) -> list[str]:
    """Return the open or closed tasks of a person or about a thing.

    A person may be stored under the first name, or as one of "we". A thing may be named in the
    task or only in the message that gives it: "for the fair we need: …".
    """
    words = _name_words(subject)
    first = subject.split(maxsplit=1)[0]
    every = list(_find_tasks(place))
    chosen = (
        every
        if subject == WE
        else list(_find_tasks(place, subject))
        or (list(_find_tasks(place, first)) if first != subject else [])
        or [each for each in every if each.owner == WE and each.memory.speaker == subject]
        or [each for each in every if words <= _name_words(each.text)]
        or [each for each in every if words <= _message_words(place, each)]
    )
    return [each.text for each in chosen if each.status.value == status]


def _find_tasks(place: Place, owner: str | None = None) -> Iterator[LandmarkView]:
    for kind in TASK_KINDS:
        yield from place.landmarks(kind, owner=owner, limit=MAX_LANDMARKS)


def _message_words(place: Place, task: LandmarkView) -> frozenset[str]:
    """Return the words of the messages from which a task was learned."""
    texts = [each.text for each in place.source_events(task.id)]
    return _name_words(" ".join(texts))


def _find_values(place: Place, question: ChatQuestion, people: Sequence[str]) -> Values:
    """Return the values of the first lookup that knows something."""
    values = _find_by_subject(place, question, people)
    if values.is_known:
        return values
    wanted = (
        _find_denied(place, question)
        or _find_by_object(place, question)
        or _find_holder(place, question)
        or _find_due_day(place, question)
    )
    return Values(wanted=wanted)


def _find_denied(place: Place, question: ChatQuestion) -> tuple[str, ...]:
    """Return what somebody does not eat or like: "can't have cilantro" is stored as a denial."""
    if not DENIAL_QUESTION.search(question.text):
        return ()
    facts = [
        each
        for predicate in dict.fromkeys((*question.predicates, *DENIED_PREDICATES))
        for each in place.facts(question.subject, predicate, limit=None)
        if each.fact.negated and each.fact.tense == "current"
    ]
    return tuple(dict.fromkeys(map(fact_value, facts)))


def _find_holder(place: Place, question: ChatQuestion) -> tuple[str, ...]:
    """Return who has the value that the question names: "who is treasurer of the choir?"."""
    if not question.text.lower().startswith("who"):
        return ()
    asked = _name_words(question.text)
    for predicate in question.predicates:
        facts = place.facts(predicate=predicate, limit=None)
        named = dict.fromkeys(
            each.fact.subject for each in facts if _name_words(fact_value(each)) <= asked
        )
        found = [
            holder
            for holder in named
            for each in _select_values(_load_timeline(place, holder, predicate, question), question)
            if _name_words(fact_value(each)) <= asked
        ]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def _find_by_subject(place: Place, question: ChatQuestion, people: Sequence[str]) -> Values:
    """Return the values of the first spelling and predicate that have some."""
    ended: list[str] = []
    is_known = False
    for subject in _subject_names(place, question.subject, people):
        for predicate in question.predicates:
            timeline = _load_timeline(place, subject, predicate, question)
            is_known |= bool(timeline.observations)
            ended += map(fact_value, timeline.before)
            wanted = tuple(map(fact_value, _select_values(timeline, question)))
            # A plan that is known and cancelled is no plan, whatever the other names say.
            if wanted or (question.asks_for_plan and timeline.observations):
                return Values(wanted=wanted, ended=tuple(ended), is_known=True)
    return Values(ended=tuple(ended), is_known=is_known)


def _find_by_object(place: Place, question: ChatQuestion) -> tuple[str, ...]:
    """Return who has the relation: "who works on Pebble?" asks for subjects."""
    words = _name_words(question.subject)
    for predicate in question.predicates:
        facts = place.facts(predicate=predicate, limit=None)
        holders = dict.fromkeys(
            each.fact.subject for each in facts if words <= _name_words(fact_value(each))
        )
        found = [
            holder
            for holder in holders
            for each in _select_values(_load_timeline(place, holder, predicate, question), question)
            if words <= _name_words(fact_value(each))
        ]
        if found:
            return tuple(found)
    return ()


def _find_due_day(place: Place, question: ChatQuestion) -> tuple[str, ...]:
    """Return the due day of the newest landmark that names the subject."""
    if DUE_PREDICATE not in question.predicates:
        return ()
    words = _name_words(question.subject)
    days = (
        day
        for each in place.memories("landmark", limit=MAX_LANDMARKS)
        if words <= _name_words(each.text) and (day := due_day(each))
    )
    return tuple(days)[:1]


def _subject_names(place: Place, subject: str, people: Sequence[str]) -> Iterator[str]:
    """Yield the subject, then stored subjects that mean the same.

    "We" may be stored as the speaker, and a speaker as "we". "Class reunion" may be stored as
    "reunion".
    """
    yield subject
    if subject == WE:
        yield from people
        return
    words = _name_words(subject)
    shared: dict[str, int] = {}
    for memory in place.facts(limit=None):
        other = _name_words(memory.fact.subject)
        if other and (words <= other or words >= other):
            shared[memory.fact.subject] = len(words & other)
    yield from sorted(shared, key=lambda name: (-shared[name], name))
    if subject in people:
        yield WE


def _load_timeline(
    place: Place, subject: str, predicate: str, question: ChatQuestion
) -> FactTimeline:
    end = question.day and question.day + DAY
    known_by = end if question.asks_for_plan else None
    return place.fact_timeline(subject, predicate, at=end, as_of=known_by)


def _select_values(timeline: FactTimeline, question: ChatQuestion) -> Sequence[Memory]:
    """Return the facts of a timeline that a question asks for."""
    if question.asks_for_plan:
        said = sorted((*timeline.current, *timeline.upcoming), key=lambda each: each.at)
        return (said[-2:-1] or timeline.before[:1]) if question.kind == BEFORE else said[-1:]
    if question.kind == BEFORE:
        return timeline.before[:1]
    is_only_planned = question.day is None and not (timeline.current or timeline.before)
    return timeline.upcoming[-1:] if is_only_planned else timeline.current


def _name_words(text: str) -> frozenset[str]:
    return frozenset(extract_terms(text)) - SMALL_WORDS
