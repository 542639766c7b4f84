"""Request and section input: what a context is composed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..core.access import Grant, Viewer
from ..core.canonical import canonical_json, clean_list, clean_text, clean_time
from ..core.errors import InvalidInput
from ..core.filters import Condition, Filter, Op, combine_filters
from ..core.ids import check_name
from ..core.protocols.store import Store
from ..core.records import Hits, Memory, MemoryKind, Trust
from ..core.records.annotations import annotate_text
from ..core.records.context import ContextItem, make_item
from ..core.records.facts import HABIT_SOURCE, SURE_CONFIDENCE
from ..core.records.links import LinkRelation, load_links, select_links, statement_count
from ..core.records.memory import drop_copies
from ..core.records.window import Summary, WindowView
from ..core.scope import Scope
from ..observe.chat_messages import fence_safe_json
from ..recall.query import MAX_QUESTION_CHARS
from ..recall.views.episodes import QueryVector
from ..recall.views.landmarks import MAX_READ
from .settings import MAX_BUDGET, MAX_EVENTS, MIN_BUDGET, ComposeSettings
from .templates import MARKDOWN, ContextTemplate, check_template

if TYPE_CHECKING:
    from ..observe.chat_messages import ChatMessage
    from .router import ContextPlan

DAY_SECONDS = 86_400
HUNDREDTH_DAY_SECONDS = DAY_SECONDS // 100
MAX_LANDMARKS = MAX_READ  # the newest are read
MAX_TOOLS, MAX_TOOL_CHARS = 30, 200
EXACT_KIND = "exact"  # kind of a value that is shown byte for byte
MENTION_COUNT_KEY = "times"  # in `why`: number of times it was stated
OBSERVED = "observed"  # in `why`: counted in messages, and said by nobody
TRUST_MARKS = {
    Trust.DIRECT: "said",
    Trust.INTERNAL: "tool",
    Trust.INFERRED: "agent",
    Trust.EXTERNAL: "external",
    Trust.UNKNOWN: "unverified",
}
SURE_KEY = "sure"  # in `why`: how sure, in words, if it is not sure
LIKELY_CONFIDENCE = 0.6
EMPTY_VIEW = WindowView(events=(), summary=Summary())


Tool = str | Mapping[str, Any]  # a name, or a tool in the format of OpenAI or Anthropic


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """The arguments of one `compose` call."""

    question: str
    budget: int | None = None  # tokens
    recent_messages: int | None = None
    model: str | None = None
    as_of: datetime | None = None
    explain: bool = False
    messages: Sequence[ChatMessage] = ()  # messages the caller sends with the context
    thread: str | None = None
    template: ContextTemplate = MARKDOWN
    tools: Sequence[Tool] = ()  # that the agent has; without any, those of the settings


def validate_request(request: ContextRequest) -> ContextRequest:
    """Return the request with a clean question and time; raise InvalidInput on a bad argument."""
    question = clean_text(request.question, "the question")[:MAX_QUESTION_CHARS]
    _check_range("budget", request.budget, MIN_BUDGET, MAX_BUDGET)
    _check_range("recent_messages", request.recent_messages, 1, MAX_EVENTS)
    if request.model is not None and not isinstance(request.model, str):
        raise InvalidInput(f"model must be a string, got {request.model!r:.80}")
    if request.thread is not None:
        check_name(request.thread, "the thread")
    check_template(request.template)
    as_of = None if request.as_of is None else clean_time(request.as_of, "as_of")
    return replace(request, question=question, as_of=as_of, tools=_parse_tools(request.tools))


def _parse_tools(tools: Iterable[Tool]) -> tuple[str, ...]:
    """Return the names of tools given as texts or in the format of OpenAI or Anthropic."""
    names: list[str] = []
    for each in clean_list(tools, "tools"):
        tool = each.get("function", each) if isinstance(each, Mapping) else each
        name = tool.get("name") if isinstance(tool, Mapping) else tool
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput(f"a tool must be a name or a mapping with a name, got {each!r:.80}")
        names.append(" ".join(clean_text(name, "a tool").split())[:MAX_TOOL_CHARS])
    return tuple(dict.fromkeys(names))[:MAX_TOOLS]


def _check_range(name: str, value: int | None, minimum: int, maximum: int) -> None:
    if value is not None and (type(value) is not int or not minimum <= value <= maximum):
        raise InvalidInput(f"{name} must be between {minimum} and {maximum}, got {value!r:.80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionInput:
    """What every section reads: viewer, question, plan, last messages and hits of one request."""

    store: Store
    grant: Grant
    viewer: Viewer
    plan: ContextPlan
    now: datetime  # the time the context is for: `as_of`, if it was given
    is_replay: bool = False  # `now` is in the past: memories recorded later are ignored
    window_view: WindowView = EMPTY_VIEW  # the last messages, summary, notes and active goal
    search_results: Hits | None = None
    question_vector: QueryVector | None = None  # if the plan has episodes
    shown_event_ids: frozenset[str] = frozenset()  # events that the caller's messages show
    settings: ComposeSettings = field(default_factory=ComposeSettings)
    tools: Sequence[str] = ()  # that the agent has
    home: Scope = field(init=False)  # the viewer's place
    _memory_cache: dict[MemoryKind, list[Memory]] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "home", self.viewer.home)

    @property
    def empty_period(self) -> str | None:
        """Return the period that the question is about if nothing is known of it."""
        return None if self.search_results is None else self.search_results.empty_period

    @property
    def is_unanswered(self) -> bool:
        """Return whether the search found something, but nothing that is likely to help."""
        results = self.search_results
        return results is not None and results.withheld > 0 and not results.hits

    @property
    def as_of_filter(self) -> Filter | None:
        """Return the filter for memories recorded by `now`; None unless this is a replay."""
        return Condition("recorded_at", Op.LTE, self.now) if self.is_replay else None

    def memories_of_kind(self, kind: MemoryKind, *, limit: int | None = None) -> list[Memory]:
        """Return the memories of a kind that the viewer may see, newest first."""
        where = combine_filters([Condition("kind", Op.EQ, kind), self.as_of_filter])
        return drop_copies(self.store.memories.find(self.grant, where=where, limit=limit))

    @property
    def landmarks(self) -> list[Memory]:
        """Return the newest landmarks; two sections use them, and they are read once."""
        kind = MemoryKind.LANDMARK
        if kind not in self._memory_cache:
            self._memory_cache[kind] = self.memories_of_kind(kind, limit=MAX_LANDMARKS)
        return self._memory_cache[kind]

    def filter_recorded(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories that had been recorded by `now`."""
        return [each for each in memories if not self.is_replay or each.recorded_at <= self.now]

    def same_as_links(self, memories: Iterable[Memory]) -> dict[str, Memory]:
        """Return the duplicate links of these memories, by memory id."""
        every = list(memories)
        ids = [memory.id for memory in every]
        return select_links(self.load_links(every), ids, LinkRelation.SAME_AS)

    def load_links(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return all links of these memories: duplicates and closings."""
        ids = [memory.id for memory in memories]
        return self.filter_recorded(load_links(self.store, self.grant, ids))

    def filter_active(self, memories: Iterable[Memory]) -> list[Memory]:
        """Return the memories that had been recorded by `now` and are not archived.

        A replay includes archived memories: the store does not know when each was archived.
        """
        return [
            each for each in self.filter_recorded(memories) if self.is_replay or not each.archived
        ]

    def make_item(self, memory: Memory, worth: float, **why: float | str) -> ContextItem:
        """Return a memory as an item; its scope is set if it is not the viewer's place.

        An exact value is shown as JSON, escaped so that the fence does not change it.
        """
        home, scope, text = self.home, memory.scope, annotate_text(memory)
        if memory.source == HABIT_SOURCE:
            why[OBSERVED] = 1
        why["age_days"] = self.age_days(memory.at)
        if memory.body.get("exact"):
            why["kind"], text = EXACT_KIND, _exact_item_text(memory)
        return make_item(
            text=text,
            id=memory.id,
            at=memory.at,
            speaker=memory.speaker,
            trust=memory.trust,
            scope=None if scope is home or scope == home else str(scope),
            events=memory.sources,
            worth=worth,
            why=why,
        )

    def age_days(self, at: datetime) -> float:
        """Return the age in days, rounded to two digits; integer arithmetic, for speed."""
        age = self.now - at
        days, seconds = age.days, age.seconds + HUNDREDTH_DAY_SECONDS // 2
        # Times in the future and exact halves go through `round`.
        if days >= 0 and seconds % HUNDREDTH_DAY_SECONDS:
            return (100 * days + seconds // HUNDREDTH_DAY_SECONDS) / 100
        return round(age.total_seconds() / DAY_SECONDS, 2)


def _exact_item_text(memory: Memory) -> str:
    from ..text.secrets import mask_value  # loaded with the first context

    shown = mask_value(str(memory.body["predicate"]), memory.body.get("value"))
    value = fence_safe_json(canonical_json(shown))
    return f"{memory.body['subject']} {memory.body['predicate']} = {value}"


def sure_reason(memory: Memory, confidence: float) -> dict[str, str]:
    """Return how sure a fact is, in words; empty if it is sure, or a habit ("usually")."""
    if confidence >= SURE_CONFIDENCE or memory.source == HABIT_SOURCE:
        return {}
    return {SURE_KEY: "likely" if confidence >= LIKELY_CONFIDENCE else "unsure"}


def mention_reason(link: Memory | None) -> dict[str, float]:
    """Return how often something was stated, as a reason; empty if it was stated once."""
    times = statement_count(link) if link else 1
    return {MENTION_COUNT_KEY: times} if times > 1 else {}


def rank_worth(rank: int, decay: float = 0.9) -> float:
    """Return the worth of the item with this rank, counted from 0."""
    return float(decay**rank)
