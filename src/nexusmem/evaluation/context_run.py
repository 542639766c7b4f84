"""Context run: compose the context of each question of a benchmark and measure it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter, thread_time
from typing import TypeVar

from ..client import Nexus
from ..core.errors import EmbedderUnavailable, InvalidInput
from ..core.records.context import Context
from ..place.place import Place
from ..runtime.progress import ProgressCallback
from .benchmarks import ASKED_AFTER_HOURS, BenchmarkConversation, BenchmarkQuestion
from .chat import ReplayClock
from .context_answers import AnswerJudge
from .context_lines import ContextPage, EvidenceFinder, GoldEvidence, count_repeated, has_found
from .run import ROOM_NAME

BUDGETS = (250, 500, 1_000, 2_000, 4_000)  # tokens; the first is the smallest of `compose`
FULL_BUDGET = BUDGETS[-1]  # of questions without an answer, and of small talk
ANSWERABLE, NEVER_MENTIONED = "answerable", "never mentioned"
SMALL_TALK = (
    "thanks!",
    "Thank you so much",
    "ok",
    "Okay, sounds good.",
    "Great, perfect!",
    "Hi there",
    "good morning",
    "How are you?",
    "lol",
    "Haha, that's funny",
    "bye, see you tomorrow",
    "Good night!",
    "No worries",
    "Got it.",
    "You're welcome",
    "please continue",
)
EMPTY_QUESTION = "What do you know about me?"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFigures:
    """The measures of one context."""

    budget: int
    tokens: int
    milliseconds: float
    cpu_milliseconds: float  # of the calling thread
    lines: int
    repeated: int  # lines that another line shows, too
    retrieved: int  # lines of the sections that the question fills
    recall: int  # lines of the recall section
    is_silent: bool  # the question found nothing
    on_topic: int = 0  # of these
    retrieved_on_topic: int = 0
    gold_shown: int = 0
    sections: Mapping[str, int] = field(default_factory=dict)  # → tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """The contexts of one question, without its text."""

    id: str
    conversation: str
    category: str
    group: str  # ANSWERABLE, NEVER_MENTIONED, or the category of an abstention question
    gold: int  # turns
    contexts: tuple[ContextFigures, ...]  # largest budget first

    @property
    def full(self) -> ContextFigures:
        return self.contexts[0]

    @property
    def is_answerable(self) -> bool:
        return self.group == ANSWERABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTalkResult:
    """The context of a message that asks nothing."""

    conversation: str
    text: str
    context: ContextFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRun:
    """All results of a run, and the time for indexing."""

    rows: tuple[ContextResult, ...]
    small_talk: tuple[SmallTalkResult, ...]
    empty_tokens: int  # of a context without any memories
    messages: int
    indexing_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question with its group."""

    question: BenchmarkQuestion
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedConversation:
    """A conversation with the questions to ask."""

    conversation: BenchmarkConversation
    questions: tuple[AskedQuestion, ...]


def load_unanswerable(
    file: Path, conversations: Sequence[BenchmarkConversation]
) -> dict[str, list[str]]:
    """Read questions about things never mentioned: JSON Lines with `sample_id` and `question`.

    Return the questions of each conversation. Raise InvalidInput if a line has another form or
    names no conversation of the benchmark.
    """
    names = {conversation.name for conversation in conversations}
    asked: dict[str, list[str]] = {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {file}: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            given = json.loads(line)
            name, question = given["sample_id"], given["question"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidInput(
                f"line {number} of {file} must be a JSON object with sample_id and question"
            ) from error
        if name not in names or not isinstance(question, str):
            raise InvalidInput(
                f"line {number} of {file} has sample_id {name!r:.80}; the conversations are"
                f" {', '.join(sorted(names)):.200}"
            )
        asked.setdefault(name, []).append(question)
    return asked


def choose_questions(
    conversations: Sequence[BenchmarkConversation],
    unanswerable: Mapping[str, Sequence[str]],
    sample: int | None = None,
) -> list[AskedConversation]:
    """Return the questions to ask; with `sample`, at most that many of each group.

    A sample is evenly spaced over all conversations, so that it is the same in every run.
    """
    groups: dict[str, list[tuple[int, BenchmarkQuestion]]] = {}
    for number, conversation in enumerate(conversations):
        for question in conversation.answerable_questions:
            if question.gold:
                groups.setdefault(ANSWERABLE, []).append((number, question))
        for question in conversation.questions:
            if question.abstention:
                groups.setdefault(question.category, []).append((number, question))
        for index, text in enumerate(unanswerable.get(conversation.name, ())):
            never = _make_unanswerable(conversation.name, index, text)
            groups.setdefault(NEVER_MENTIONED, []).append((number, never))
    chosen: dict[int, list[AskedQuestion]] = {}
    for group, listed in groups.items():
        for number, question in pick_evenly(listed, sample):
            chosen.setdefault(number, []).append(AskedQuestion(question=question, group=group))
    return [
        AskedConversation(conversation=conversations[number], questions=tuple(chosen[number]))
        for number in sorted(chosen)
    ]


def _make_unanswerable(conversation: str, index: int, text: str) -> BenchmarkQuestion:
    return BenchmarkQuestion(
        id=f"{conversation}/never-{index}",
        text=text,
        category=NEVER_MENTIONED,
        gold=frozenset(),
        gold_sessions=frozenset(),
        abstention=True,
    )


def pick_evenly(items: Sequence[T], count: int | None) -> Sequence[T]:
    """Return `count` items with equal distances, or all if there are fewer."""
    if count is None or len(items) <= count:
        return items
    return [items[number * len(items) // count] for number in range(count)]


def run_contexts(
    nexus: Nexus,
    clock: ReplayClock,
    asked: Sequence[AskedConversation],
    *,
    name: str,
    asked_after: timedelta = timedelta(hours=ASKED_AFTER_HOURS),
    judge: AnswerJudge | None = None,
    report: ProgressCallback,
) -> ContextRun:
    """Compose all contexts; each conversation has its own workspace, named `name`-1 and so on.

    `clock` must be the clock of `nexus`. Questions without a time are asked `asked_after` the last
    message. `judge` gets the largest context of each question.
    """
    total, done = sum(len(each.questions) for each in asked), 0
    rows: list[ContextResult] = []
    small_talk: list[SmallTalkResult] = []
    seconds = 0.0
    empty = compose_empty(nexus, f"{name}-empty")
    for number, each in enumerate(asked, start=1):
        started = perf_counter()
        last = max((m.at for m in each.conversation.messages), default=clock.time)
        clock.time = last + asked_after
        indexed = index_for_contexts(nexus, f"{name}-{number}", each.conversation)
        seconds += perf_counter() - started
        for question in each.questions:
            rows.append(_run_question(indexed, question, clock, judge))
            done += 1
            report(done, total)
        small_talk += _run_small_talk(indexed)
    return ContextRun(
        rows=tuple(rows),
        small_talk=tuple(small_talk),
        empty_tokens=empty,
        messages=sum(len(each.conversation.messages) for each in asked),
        indexing_seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class IndexedConversation:
    """A conversation in a room, and how to find the evidence of its questions."""

    name: str
    place: Place
    finder: EvidenceFinder


def index_for_contexts(
    nexus: Nexus, workspace: str, conversation: BenchmarkConversation
) -> IndexedConversation:
    """Store and index all messages; raise EmbedderUnavailable if some could not be indexed."""
    place = nexus.workspace(workspace).room(ROOM_NAME, participants=conversation.people)
    receipts = place.observe_many(asdict(message) for message in conversation.messages)
    if stuck := place.flush():
        raise EmbedderUnavailable(f"{stuck} messages of {conversation.name} could not be indexed")
    events = {
        message.key: receipt.event_id
        for message, receipt in zip(conversation.messages, receipts, strict=True)
    }
    finder = EvidenceFinder.from_conversation(conversation, events)
    return IndexedConversation(conversation.name, place, finder)


def _run_question(
    indexed: IndexedConversation,
    asked: AskedQuestion,
    clock: ReplayClock,
    judge: AnswerJudge | None,
) -> ContextResult:
    """Compose the context of a question at each budget, largest first.

    Only the largest is composed if the question has no answer.
    """
    question, before = asked.question, clock.time
    clock.time = question.at or before
    evidence = indexed.finder.find_evidence(question)
    largest_first = BUDGETS[::-1]
    budgets = largest_first if asked.group == ANSWERABLE else largest_first[:1]
    composed = [compose_timed(indexed.place, question.text, budget) for budget in budgets]
    clock.time = before
    if judge:
        judge.judge_context(question, composed[0].context)
    return ContextResult(
        id=question.id,
        conversation=indexed.name,
        category=question.category,
        group=asked.group,
        gold=len(evidence.turns),
        contexts=tuple(measure_context(each, evidence) for each in composed),
    )


@dataclass(frozen=True, slots=True)
class TimedContext:
    """A context and the duration of `compose`."""

    context: Context
    milliseconds: float
    cpu_milliseconds: float  # of the calling thread


def compose_timed(place: Place, question: str, budget: int = FULL_BUDGET) -> TimedContext:
    """Return the context and its durations; raise EmbedderUnavailable if it is degraded."""
    started, cpu_started = perf_counter(), thread_time()
    context = place.compose(question, budget=budget)
    seconds, cpu_seconds = perf_counter() - started, thread_time() - cpu_started
    if context.receipt.degraded:
        raise EmbedderUnavailable(f"a context was degraded: {context.receipt.degraded[0]}")
    return TimedContext(context, round(1_000 * seconds, 3), round(1_000 * cpu_seconds, 3))


def measure_context(timed: TimedContext, evidence: GoldEvidence | None = None) -> ContextFigures:
    """Return the figures of one context."""
    context, page = timed.context, ContextPage.from_context(timed.context)
    figures = ContextFigures(
        budget=context.receipt.budget,
        tokens=context.tokens,
        milliseconds=timed.milliseconds,
        cpu_milliseconds=timed.cpu_milliseconds,
        lines=len(page.lines),
        repeated=count_repeated(page.lines),
        retrieved=len(page.retrieved),
        recall=len(page.recall),
        is_silent=not has_found(context),
        sections=dict(context.receipt.sections),
    )
    if evidence is None:
        return figures
    return replace(
        figures,
        on_topic=sum(map(evidence.is_on_topic, page.recall)),
        retrieved_on_topic=sum(map(evidence.is_on_topic, page.retrieved)),
        gold_shown=evidence.count_shown(page),
    )


def _run_small_talk(indexed: IndexedConversation) -> Iterator[SmallTalkResult]:
    for text in SMALL_TALK:
        figures = measure_context(compose_timed(indexed.place, text))
        yield SmallTalkResult(conversation=indexed.name, text=text, context=figures)


def compose_empty(nexus: Nexus, workspace: str) -> int:
    """Return the tokens of a context of an empty memory."""
    place = nexus.workspace(workspace).room(ROOM_NAME, participants=["alice"])
    return compose_timed(place, EMPTY_QUESTION).context.tokens
