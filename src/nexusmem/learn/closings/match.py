"""Match closing cues with open landmarks, by owner and content. Pure.

A wrong status is worse than a missing one: if a message may mean several landmarks, it closes none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from ...core.derive import normalize_name
from ...core.records import Event, Trust
from ...core.records.event import PROJECT_KEY
from ...core.records.landmark_status import (
    LandmarkOutline,
    LandmarkStatus,
    content_terms,
    owner_key,
)
from ...core.records.landmarks import LandmarkKind
from ...text.terms import extract_terms, mentions_name
from .cues import (
    MAX_CHARS,
    ClosingCue,
    completing_verbs,
    is_affirmative,
    is_plain_statement,
    last_question,
    past_verbs,
    task_verbs,
    topic_of,
)

MIN_TOPIC_SHARE = 0.6  # of the words of a statement that the landmark has
MAX_DONE_AGE = timedelta(days=90)  # of the only task that "sent it" may mean
MAX_THING_TERMS = 3  # of a landmark that names a thing and no action
MAX_ANSWER_DISTANCE = 3  # messages between a request and its answer
MIN_ANSWER_WORDS = 3
CLOSABLE_KINDS = frozenset(
    {LandmarkKind.DECISION, LandmarkKind.ACTION_ITEM, LandmarkKind.COMMITMENT}
)
EVERYBODY = frozenset({"", "we", "us", "everyone", "everybody", "all", "team", "the team"})
NAME_BREAK = re.compile(r"[\s_.-]")
BEGUN = re.compile(r"\b(?:ordered|requested|asked|started|begun|booked)\b", re.IGNORECASE)
REQUEST = re.compile(r"\b(?:can|could|would|will) \w+|\bplease\b|\?", re.IGNORECASE)
ANSWERED_BY_PEOPLE = "recommend suggest tell explain advise describe name remind know say"
ANSWERED_BY_AGENTS = (
    "write draft summarize summarise translate show list compare help give check look calculate"
    " outline find rewrite answer rephrase brainstorm"
)
NO_ANSWER = re.compile(
    r"\b(?:sorry|no idea|not sure|don't know|do not know|dunno|can't|cannot|unable|let me|later"
    r"|tomorrow|will|i'll|we'll|going to|in a minute|get back|working on|need to)\b|'ll\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MatchedClosing:
    """A landmark that a message closes."""

    landmark: LandmarkOutline
    status: LandmarkStatus


def may_close(event: Event, recent: Sequence[Event], cues: Sequence[ClosingCue]) -> bool:
    """Return whether a message may close a landmark; most messages do not."""
    if event.trust <= Trust.EXTERNAL:
        return False
    return bool(
        cues
        or is_affirmative(event.text)
        or any(
            each.speaker != event.speaker and REQUEST.search(each.text[:MAX_CHARS])
            for each in recent[-MAX_ANSWER_DISTANCE:]
        )
    )


def match_closings(
    event: Event,
    recent: Sequence[Event],
    cues: Sequence[ClosingCue],
    newest_first: Sequence[LandmarkOutline],
) -> list[MatchedClosing]:
    """Return the open landmarks that a message closes, each once.

    `recent` are the preceding messages of the conversation, oldest first. `cues` are those of the
    message.
    """
    open_ones = [
        each
        for each in newest_first
        if each.kind in CLOSABLE_KINDS and each.at <= event.at and event.id not in each.sources
    ]
    matcher = _Matcher(event, recent, cues, open_ones)
    found: dict[str, MatchedClosing] = {}
    for each in matcher.match_all():
        found.setdefault(each.landmark.id, each)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Matcher:
    event: Event
    recent: Sequence[Event]
    cues: Sequence[ClosingCue]
    newest_first: Sequence[LandmarkOutline]

    def match_all(self) -> Iterator[MatchedClosing]:
        cues = list(self._without_owners())
        stated = [match for cue in cues if not cue.is_bare for match in self._match_stated(cue)]
        yield from stated
        bare = [cue for cue in cues if cue.is_bare]
        if not stated and bare:
            yield from self._match_bare(_join_bare(bare))
        if not self.cues:
            yield from self._match_yes()
            yield from self._match_answer()

    def _without_owners(self) -> Iterator[ClosingCue]:
        """Yield the cues; "Bob sent it" names the owner of a task, and not the task."""
        names = {name for each in self.newest_first for name in owner_key(each) if name}
        for cue in self.cues:
            named = [name for name in names if mentions_name(cue.sentence, name.split()[0])]
            terms = cue.terms.difference(*(extract_terms(name) for name in named))
            yield replace(cue, terms=terms) if terms != cue.terms else cue

    # -- statements that name the task: "the report is sent"

    def _match_stated(self, cue: ClosingCue) -> Iterator[MatchedClosing]:
        own = [each for each in self.newest_first if self._is_owner(each)]
        others = [
            each
            for each in self.newest_first
            if not cue.is_own and self._is_concerned(each, cue.sentence)
        ]
        for possible in (own, others):
            fitting = [each for each in possible if _fits(cue, each)]
            if fitting:
                best = _choose_best(fitting, lambda each: len(cue.terms & content_terms(each)))
                if best:
                    yield MatchedClosing(best, _status_for(cue, best))
                return

    def _is_owner(self, landmark: LandmarkOutline) -> bool:
        """Return whether the speaker has to act; a request to nobody in particular is for the
        person who replies to it.
        """
        if landmark.owner is None:
            before = [each.id for each in self.recent[-1:] if each.speaker != self.event.speaker]
            return landmark.sources[0] in before
        speaker = normalize_name(self.event.speaker)
        return any(_is_same_person(speaker, name) for name in owner_key(landmark))

    def _is_concerned(self, landmark: LandmarkOutline, sentence: str) -> bool:
        """Return whether the speaker may report the end of another person's landmark.

        Agents report their own tasks only. People report what they asked for or stated, what the
        group has to do, and what a person does whom the sentence names.
        """
        if self.event.role != "user":
            return False
        owners = owner_key(landmark)
        is_joint = self._is_joint(landmark)
        is_asker = landmark.speaker == self.event.speaker
        return (
            is_joint
            or is_asker
            or any(name and mentions_name(sentence, name.split()[0]) for name in owners)
        )

    def _is_joint(self, landmark: LandmarkOutline) -> bool:
        owners = owner_key(landmark)
        project = self.event.metadata.get(PROJECT_KEY)
        return (
            len(owners) > 1
            or owners[0] in EVERYBODY
            or (isinstance(project, str) and owners[0] == normalize_name(project))
        )

    # -- statements that do not name it: "done", "never mind"

    def _match_bare(self, cue: ClosingCue) -> Iterator[MatchedClosing]:
        if cue.status is LandmarkStatus.CANCELLED:
            asked = self._asked_to_cancel()
            targets = self._declined() if cue.is_declined else asked or self._taken_back()
        elif cue.verbs or all(each.is_bare for each in self.cues):
            targets = [self._asked_task(cue) or self._own_task(cue)]
        else:
            return  # the message is about something else that is done
        yield from (MatchedClosing(each, _status_for(cue, each)) for each in targets if each)

    def _declined(self) -> list[LandmarkOutline | None]:
        """Return the task that the message before offers: "I'll bring a drill" – "no need"."""
        before = [each.id for each in self.recent[-1:]]
        tasks = [each for each in self.newest_first if each.is_task and each.sources[0] in before]
        return [_only(tasks)]

    def _taken_back(self) -> list[LandmarkOutline | None]:
        """Return the landmark of the speaker's last message, and the promise that answers it."""
        own = [each.id for each in self.recent if each.speaker == self.event.speaker][-1:]
        last = _only([each for each in self.newest_first if each.sources[0] in own])
        if last is None:
            return []
        before = [each.id for each in self.recent[-1:] if each.id not in own]
        answers = [each for each in self.newest_first if each.sources[0] in before and each.is_task]
        content = content_terms(last)
        return [last, *(each for each in answers if content & content_terms(each))]

    def _asked_to_cancel(self) -> list[LandmarkOutline | None]:
        """Return the speaker's task to cancel something, which "it's cancelled" reports."""
        verbs = past_verbs("cancelled")
        tasks = [each for each in self._own_tasks() if not verbs.isdisjoint(content_terms(each))]
        task = _only(tasks)
        return [task] if task else []

    def _own_task(self, cue: ClosingCue) -> LandmarkOutline | None:
        """Return the newest task of the last messages, or else the only one.

        It is a task of the speaker, or of the person whom the sentence names: "Bob sent it".
        """
        every = self._named_tasks(cue) or self._own_tasks()
        tasks = [each for each in every if _has_verb(cue, each)]
        if cue.is_general and not tasks:
            tasks = every
        is_finished = completing_verbs(cue.verbs) and not BEGUN.search(cue.sentence)
        if not tasks and len(every) == 1 and _is_thing(every[0]) and is_finished:
            tasks = every  # "uploaded" after "Ute: the text"
        near = {each.id for each in self.recent}
        last = [each for each in tasks if each.sources[0] in near]
        return last[0] if last else _only(tasks)

    def _named_tasks(self, cue: ClosingCue) -> list[LandmarkOutline]:
        """Return the tasks of the only other person whom the sentence names."""
        if cue.is_own or self.event.role != "user":
            return []
        since = self.event.at - MAX_DONE_AGE
        named = [
            each
            for each in self.newest_first
            if each.is_task and each.at >= since and each.thread == self.event.thread
            for name in owner_key(each)[:1]
            if name
            and not _is_same_person(normalize_name(self.event.speaker), name)
            and mentions_name(cue.sentence, name.split()[0])
            and len(owner_key(each)) == 1
        ]
        return named if len({owner_key(each) for each in named}) == 1 else []

    def _own_tasks(self) -> list[LandmarkOutline]:
        since = self.event.at - MAX_DONE_AGE
        speaker = self.event.speaker
        return [
            each
            for each in self.newest_first
            if each.is_task
            and each.thread == self.event.thread
            and each.at >= since
            and (
                each.speaker == speaker
                if self._is_joint(each) and each.owner is not None
                else self._is_owner(each)
            )
        ]

    # -- answers

    def _asked_task(self, cue: ClosingCue) -> LandmarkOutline | None:
        """Return the task that the question before asks about: "did you send the report?"."""
        before = self.recent[-1] if self.recent else None
        if before is None or before.speaker == self.event.speaker or "?" not in before.text:
            return None
        asked = replace(cue, terms=topic_of(last_question(before.text)))
        if asked.is_bare:
            return None
        fitting = [each for each in self._own_tasks() if _fits(asked, each)]
        return _choose_best(fitting, lambda each: len(asked.terms & content_terms(each)))

    def _match_yes(self) -> Iterator[MatchedClosing]:
        """Yield the task that "yes" reports as done, after "did you send it yet?"."""
        before = self.recent[-1] if self.recent else None
        if before is None or not is_affirmative(self.event.text):
            return
        words = before.text.lower().replace("’", "'").split()
        asks = any(one in words for one in ("did", "have", "has", "is", "are", "done"))
        if asks and not {"can", "could", "will", "would"} & set(words):
            cue = ClosingCue(status=LandmarkStatus.DONE, terms=frozenset(), is_general=True)
            target = self._asked_task(cue)
            if target:
                yield MatchedClosing(target, LandmarkStatus.DONE)

    def _match_answer(self) -> Iterator[MatchedClosing]:
        """Yield the request that this message answers in words."""
        text = self.event.text.replace("’", "'")
        if (
            len(text.split()) < MIN_ANSWER_WORDS
            or text.rstrip().endswith("?")
            or NO_ANSWER.search(text)
            or not is_plain_statement(text)
        ):
            return
        near = [each.id for each in self.recent[-MAX_ANSWER_DISTANCE:]]
        requests = [
            each
            for each in self.newest_first
            if each.sources[0] in near
            and each.is_task
            and each.due is None
            and each.speaker != self.event.speaker
            and self._is_owner(each)
            and self._is_answerable(each)
        ]
        if target := _only(requests):
            yield MatchedClosing(target, LandmarkStatus.DONE)

    def _is_answerable(self, landmark: LandmarkOutline) -> bool:
        """Return whether words fulfil a request; an agent also writes texts on request."""
        by_agent = f"{ANSWERED_BY_PEOPLE} {ANSWERED_BY_AGENTS}"
        verbs = by_agent if self.event.role == "assistant" else ANSWERED_BY_PEOPLE
        is_asked = bool(REQUEST.search(landmark.text))
        return is_asked and not content_terms(landmark).isdisjoint(extract_terms(verbs))


def _join_bare(cues: Sequence[ClosingCue]) -> ClosingCue:
    """Return one cue for "Done, I sent it"."""
    return replace(
        cues[0],
        verbs=frozenset[str]().union(*(each.verbs for each in cues)),
        is_general=any(each.is_general for each in cues),
    )


def _fits(cue: ClosingCue, landmark: LandmarkOutline) -> bool:
    """Return whether a statement may be about a landmark."""
    if cue.status is LandmarkStatus.DONE and not landmark.is_task:
        return False  # a decision is not done, it holds
    content = content_terms(landmark)
    shared = cue.terms & content
    if not shared or len(shared) < MIN_TOPIC_SHARE * len(cue.terms):
        return False  # "sent the invoice to the client" is not about the report for the client
    if cue.is_general or _has_verb(cue, landmark):
        return True
    return _is_thing(landmark) and bool(completing_verbs(cue.verbs))


def _is_thing(landmark: LandmarkOutline) -> bool:
    """Return whether a task names only a thing: "new hosting quote"."""
    content = content_terms(landmark)
    return len(content) <= MAX_THING_TERMS and not task_verbs(content)


def _has_verb(cue: ClosingCue, landmark: LandmarkOutline) -> bool:
    return not cue.verbs.isdisjoint(content_terms(landmark))


def _status_for(cue: ClosingCue, landmark: LandmarkOutline) -> LandmarkStatus:
    """Return the new status; "cancelled" means done if the task was to cancel something."""
    asked_to_cancel = not past_verbs("cancelled").isdisjoint(content_terms(landmark))
    return LandmarkStatus.DONE if asked_to_cancel else cue.status


def _choose_best(
    fitting: Iterable[LandmarkOutline], score: Callable[[LandmarkOutline], int]
) -> LandmarkOutline | None:
    """Return the landmark with the highest score; None if several have it."""
    ranked = sorted(fitting, key=score, reverse=True)
    best = [each for each in ranked if score(each) == score(ranked[0])]
    return _only(best)


def _only(found: Sequence[LandmarkOutline]) -> LandmarkOutline | None:
    """Return the only landmark, or the newest of several with the same content."""
    if len({content_terms(each) for each in found}) == 1:
        return found[0]
    return None


def _is_same_person(one: str, other: str) -> bool:
    """Return whether two names may mean the same person: "chris", "chris amari", "chris_a"."""
    if not one or not other:
        return False
    first, second = (NAME_BREAK.split(name, maxsplit=1)[0] for name in (one, other))
    return one in (other, second) or first == other
