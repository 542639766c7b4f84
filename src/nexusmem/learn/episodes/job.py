"""Episode job: write episodes of closed threads, sessions, days and weeks.

The job has no state in the store. The events determine all episodes, so a pass compares them with
the stored ones, writes missing episodes and deletes obsolete ones. Weeks without open segments are
skipped while their number of events stays the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ...core.access import administrator_grant
from ...core.canonical import format_time, parse_time
from ...core.derive import is_span_episode, normalize_name, span_key, text_to_embed
from ...core.errors import Unavailable
from ...core.flows import FlowRule, label_rule, memory_scopes
from ...core.ids import WorkspaceId
from ...core.protocols.embedder import Embedder
from ...core.protocols.jobs import JobStep
from ...core.protocols.store import Store
from ...core.records import Draft, Event, Memory, MemoryKind, Stage, memory_id
from ...core.scope import Scope
from ...runtime.clock import start_of_day
from ..extract.echo_filter import NOTHING_INJECTED, InjectedContexts, own_text
from .boundaries import DAY, WEEK, Segment, split_segments, week_start
from .extractive import EpisodeLine, candidate_lines, lines_from_episodes, select_lines
from .model_written import ModelSummarizer, SummaryTurn

MADE_BY = "extractive@2"
SOURCE = "episode"
SALIENCE = 0.7  # high: episodes are promoted to the long-term tier
MAX_ENTITIES = 24
MAX_TOPICS = 10
MAX_PARTICIPANTS = 50
MAX_IDS = 200  # of landmarks and facts in an episode


@dataclass(frozen=True, slots=True)
class EpisodeWriter:
    """Writes episode drafts of one workspace, extractive or by a model."""

    workspace: WorkspaceId
    summarizer: ModelSummarizer | None = None
    injected: InjectedContexts = NOTHING_INJECTED

    def draft_from_segment(
        self, scope: Scope, segment: Segment, derived: Sequence[Memory]
    ) -> Draft | None:
        """Return the episode of a thread or a session; None if it has no informative line.

        `derived` are the memories derived from its events.
        """
        ids = {event.id for event in segment.events}
        own = [each for each in derived if _is_within_segment(each, scope, ids)]
        landmarks = [each for each in own if each.kind is MemoryKind.LANDMARK]
        facts = [each for each in own if each.kind is MemoryKind.FACT]
        labels = [each for each in own if each.body.get("span") == "turn"]
        lines = select_lines(candidate_lines(segment.events, [*landmarks, *facts], self.injected))
        if not lines:
            return None
        people = dict.fromkeys(event.speaker for event in segment.events)
        turns = [SummaryTurn(e.at, e.speaker, own_text(e, self.injected)) for e in segment.events]
        return self._make_draft(
            scope,
            segment.span,
            sources=tuple(event.id for event in segment.events),
            lines=lines,
            turns=turns,
            thread=segment.thread,
            flow=_session_rule(own),
            body={
                "start": format_time(segment.start),
                "end": format_time(segment.end),
                "participants": list(people)[:MAX_PARTICIPANTS],
                "entities": _most_common((e.body["entities"] for e in labels), MAX_ENTITIES),
                "topics": _most_common((e.body["topics"] for e in labels), MAX_TOPICS),
                "landmarks": [each.id for each in landmarks][:MAX_IDS],
                "facts": [each.id for each in facts][:MAX_IDS],
            },
        )

    def draft_from_episodes(
        self, scope: Scope, span: str, episodes: Sequence[Memory], landmarks: Sequence[Memory]
    ) -> Draft:
        """Return the episode of a day or a week from its part episodes, oldest first."""
        lines = select_lines(lines_from_episodes(episodes, (each.text for each in landmarks)))
        bodies = [each.body for each in episodes]
        turns = [
            SummaryTurn(each.at, "", line) for each in episodes for line in each.text.split("\n")
        ]
        return self._make_draft(
            scope,
            span,
            sources=tuple(each.id for each in episodes),
            lines=lines,
            turns=turns,
            body={
                "start": min(body["start"] for body in bodies),
                "end": max(body["end"] for body in bodies),
                "participants": _unique_values(
                    (body["participants"] for body in bodies), MAX_PARTICIPANTS
                ),
                "entities": _most_common((body["entities"] for body in bodies), MAX_ENTITIES),
                "topics": _most_common((body["topics"] for body in bodies), MAX_TOPICS),
                "landmarks": _unique_values((body["landmarks"] for body in bodies), MAX_IDS),
                "facts": _unique_values((body["facts"] for body in bodies), MAX_IDS),
            },
        )

    def _make_draft(
        self,
        scope: Scope,
        span: str,
        *,
        sources: tuple[str, ...],
        lines: Sequence[EpisodeLine],
        turns: Sequence[SummaryTurn],
        body: dict[str, object],
        thread: str | None = None,
        flow: FlowRule | None = None,
    ) -> Draft:
        text, metadata = self._write_text(span, lines, turns)
        names = [*_only_strings(body["participants"]), *_only_strings(body["entities"])]
        return Draft(
            scope=scope,
            kind=MemoryKind.EPISODE,
            text=text,
            sources=sources,
            slot=span,
            indexed_text=" ".join([text, *names, *_only_strings(body["topics"])]),
            salience=SALIENCE,
            source=SOURCE,
            thread=thread,
            learned=True,
            metadata=metadata,
            body={"span": span, "place": str(scope), **body},
            flow=flow,
        )

    def _write_text(
        self, span: str, lines: Sequence[EpisodeLine], turns: Sequence[SummaryTurn]
    ) -> tuple[str, dict[str, object]]:
        """Return the text and the metadata `made_by` and, after a refusal, `refused`."""
        extractive = "\n".join(line.text for line in lines)
        if self.summarizer is None:
            return extractive, {"made_by": [MADE_BY]}
        landmarks = [line.sentence for line in lines if line.is_landmark]
        summary = self.summarizer.summarize(self.workspace, span, turns, landmarks)
        if summary.refusal is None:
            return "\n".join(summary.sentences), {"made_by": [self.summarizer.maker]}
        return extractive, {"made_by": [MADE_BY], "refused": summary.refusal}


def is_extractive(episode: Memory) -> bool:
    """Return whether an episode was written by the current extractive version on purpose."""
    return episode.metadata.get("made_by") == [MADE_BY] and "refused" not in episode.metadata


def episode_id(scope: Scope, span: str, sources: Iterable[str]) -> str:
    """Return the id of the episode with these sources."""
    return memory_id(MemoryKind.EPISODE, scope, span, tuple(sources))


def _is_within_segment(memory: Memory, scope: Scope, ids: set[str]) -> bool:
    """Return whether all sources of a memory are in the segment.

    Otherwise the episode would not be erased with such a source.
    """
    own_rule = label_rule(memory.label) in (None, FlowRule.SESSIONS)
    return memory.scope == scope and own_rule and ids.issuperset(memory.sources)


def _session_rule(memories: Iterable[Memory]) -> FlowRule | None:
    """Return the rule of a shared session: its episodes are shared like its other memories."""
    rules = {label_rule(memory.label) for memory in memories}
    return FlowRule.SESSIONS if FlowRule.SESSIONS in rules else None


def _most_common(lists: Iterable[Sequence[str]], limit: int) -> list[str]:
    """Return the most frequent names in their first spelling."""
    spellings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for names in lists:
        for name in names:
            spellings.setdefault(normalize_name(name), name)
            counts[normalize_name(name)] += 1
    return [spellings[key] for key, _ in counts.most_common(limit)]


def _unique_values(lists: Iterable[Sequence[str]], limit: int) -> list[str]:
    return list(dict.fromkeys(each for names in lists for each in names))[:limit]


def _only_strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


SPANS = ("thread", "session", "day", "week")
EMPTY_WEEKS = 8  # in a row; then the next older event is searched
MAX_EPISODES = 100_000  # of a scope
RETRY_DELAY = timedelta(minutes=1)  # for events that are still being learned

InjectedLookup = Callable[[WorkspaceId, Scope], InjectedContexts]


class EpisodeJob:
    """Writes episodes of workspaces; remembers closed weeks between passes."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        summarizer: ModelSummarizer | None = None,
        find_injected: InjectedLookup | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._summarizer = summarizer
        self._find_injected = find_injected
        self._closed_weeks: dict[WorkspaceId, dict[datetime, int]] = {}  # week → number of events

    @property
    def summarizer(self) -> ModelSummarizer | None:
        """The model that writes episodes; None: extractive."""
        return self._summarizer

    @property
    def without_model(self) -> EpisodeJob:
        """A job for the same store without a model."""
        return EpisodeJob(self._store, self._embedder, None, self._find_injected)

    def refresh_episodes(
        self,
        workspace: WorkspaceId,
        now: datetime,
        *,
        rewrite: bool | Callable[[Memory], bool] = False,
    ) -> int:
        """Write all missing episodes; return the number of new episodes.

        Idempotent: existing episodes stay, unless `rewrite` selects all or some of them.
        """
        return self._run_pass(workspace, now, rewrite=rewrite).counts["written"]

    def run_step(self, workspace: WorkspaceId, now: datetime, *, limit: int) -> JobStep:
        """Write up to `limit` threads and sessions; return the cursor and the time of the next."""
        return self._run_pass(workspace, now, limit=limit)

    def _run_pass(
        self,
        workspace: WorkspaceId,
        now: datetime,
        *,
        rewrite: bool | Callable[[Memory], bool] = False,
        limit: int | None = None,
    ) -> JobStep:
        closed = {} if rewrite else self._closed_weeks.get(workspace, {})
        with self._store.snapshot():  # both reads must see the same events
            total = self._count_events(workspace)
            latest = self._store.ledger.find(administrator_grant(workspace), since=week_start(now))
        should_rewrite = rewrite if callable(rewrite) else lambda _episode: bool(rewrite)
        run = _EpisodePass(
            self._store,
            workspace,
            self._summarizer,
            self._find_injected,
            now,
            should_rewrite,
            limit,
        )
        settled: dict[datetime, int] = {}
        seen = 0
        for week, events in self._iterate_weeks(workspace, week_start(now), latest):
            if run.write_week(week, events):
                settled[week] = len(events)
            seen += len(events)
            older = {each: count for each, count in closed.items() if each < week}
            if seen + sum(older.values()) == total:
                settled |= older
                break
        embedded = self._embed_missing(run)
        self._closed_weeks[workspace] = settled if embedded else {}
        # Days and weeks are written when they end; an idle workspace has nothing to wait for.
        ends = [start_of_day(now) + DAY] if latest or run.wake_times else []
        wakes_at = [*ends, *run.wake_times, *([] if embedded else [now + RETRY_DELAY])]
        return JobStep(
            counts={"written": run.written_count},
            cursor="more" if run.is_limit_reached else None,
            again_at=max(min(wakes_at), now + RETRY_DELAY) if wakes_at else None,
        )

    def _count_events(self, workspace: WorkspaceId) -> int:
        return self._store.count_records(administrator_grant(workspace)).get("events", 0)

    def _iterate_weeks(
        self, workspace: WorkspaceId, week: datetime, events: list[Event]
    ) -> Iterator[tuple[datetime, list[Event]]]:
        """Yield weeks with their events, newest first; future events belong to this week."""
        everything = administrator_grant(workspace)
        find = self._store.ledger.find
        empty = 0
        while True:
            yield week, events
            empty = 0 if events else empty + 1
            until, week = week, week - WEEK
            if empty >= EMPTY_WEEKS:
                newest = find(everything, until=until, limit=1)
                if not newest:
                    return
                week, empty = week_start(newest[0].at), 0
            events = find(everything, since=week, until=until)

    def _embed_missing(self, run: _EpisodePass) -> bool:
        """Embed episodes without vectors; return False if the embedder does not answer."""
        if self._embedder is None or not run.current:
            return True
        everything = administrator_grant(run.workspace)
        try:
            profile = self._embedder.profile
            stored = self._store.vectors.get(everything, profile, list(run.current))
            missing = [memory for id, memory in run.current.items() if id not in stored]
            if missing:
                rows = self._embedder.embed([text_to_embed(memory) for memory in missing])
                vectors = {m.id: row for m, row in zip(missing, rows, strict=True) if row.any()}
                self._store.vectors.put(run.workspace, profile, vectors)
        except Unavailable:
            return False
        return True


def refresh_episodes(
    store: Store,
    workspace: WorkspaceId,
    now: datetime,
    *,
    embedder: Embedder | None = None,
    summarizer: ModelSummarizer | None = None,
    rewrite: bool = False,
) -> int:
    """Write all missing episodes of a workspace; return the number of new episodes."""
    return EpisodeJob(store, embedder, summarizer).refresh_episodes(workspace, now, rewrite=rewrite)


@dataclass(slots=True)
class _EpisodePass:
    """One pass over a workspace."""

    store: Store
    workspace: WorkspaceId
    summarizer: ModelSummarizer | None
    find_injected: InjectedLookup | None
    now: datetime
    should_rewrite: Callable[[Memory], bool]  # existing episode → write it again
    limit: int | None
    written_count: int = 0
    is_limit_reached: bool = False
    wake_times: list[datetime] = field(default_factory=list)
    current: dict[str, Memory] = field(default_factory=dict)  # episodes by id
    _stored: dict[Scope, dict[str, Memory]] = field(default_factory=dict)
    _erased: set[str] | None = None

    def write_week(self, week: datetime, events: Sequence[Event]) -> bool:
        """Write the episodes of a week; return True if no segment is open."""
        by_scope: defaultdict[tuple[datetime, Scope], list[Event]] = defaultdict(list)
        for event in events:
            by_scope[max(week, week_start(event.at)), event.scope].append(event)
        done = [
            self._write_scope_week(scope, start, own) for (start, scope), own in by_scope.items()
        ]
        return all(done) and self.now >= week + WEEK

    def _write_scope_week(self, scope: Scope, week: datetime, events: Sequence[Event]) -> bool:
        """Write segments, days and the week of one scope; delete obsolete episodes."""
        segments = split_segments([e for e in events if not self._is_forgotten(e)], self.now)
        closed = [each for each in segments if each.closes_at is None]
        self.wake_times += [each.closes_at for each in segments if each.closes_at]
        ready = self._ready_segments(scope, closed)
        if len(ready) < len(closed):
            self.wake_times.append(self.now + RETRY_DELAY)
        lower = self._write_segments(scope, ready)
        finished = {each.id for each in ready}
        waiting = [each for each in segments if each.id not in finished]
        days = self._write_days(scope, lower, {start_of_day(each.start) for each in waiting})
        over = self.now >= week + WEEK and not waiting
        weeks = self._write_spans(scope, "week", [days] if over and days else [])
        current = {each.id: each for each in (*lower, *days, *weeks)}
        self.current |= current
        if len(ready) == len(closed):
            self._delete_obsolete(scope, week, current)
        return not waiting

    def _ready_segments(self, scope: Scope, segments: Sequence[Segment]) -> list[Segment]:
        """Return the closed segments with learned events, within the limit of the step."""
        stored = self._load_episodes(scope)
        new = [s for s in segments if episode_id(scope, s.span, _event_ids(s)) not in stored]
        ids = [id for segment in new for id in _event_ids(segment)]
        grant = administrator_grant(self.workspace)
        states = self.store.ledger.load_progress(grant, ids) if ids else {}
        pending = {id for id, progress in states.items() if progress.stage is Stage.DURABLE}
        learned = [each for each in segments if pending.isdisjoint(_event_ids(each))]
        if self.limit is None:
            return learned
        left = max(0, self.limit - self.written_count)
        postponed = {each.id for each in new[left:]}
        self.is_limit_reached |= bool(postponed)
        return [each for each in learned if each.id not in postponed]

    def _write_segments(self, scope: Scope, segments: Sequence[Segment]) -> list[Memory]:
        writer = self._make_writer(scope)
        episodes: list[Memory] = []
        drafts: list[Draft] = []
        for segment in segments:
            ids = _event_ids(segment)
            id = episode_id(scope, segment.span, ids)
            if existing := self._find_reusable(scope, id):
                episodes.append(existing)
            elif id not in self._load_erased():
                derived = self.store.eraser.list_derived(self.workspace, ids)
                drafts += filter(None, [writer.draft_from_segment(scope, segment, derived)])
            if self.summarizer is not None:  # store each paid answer immediately
                episodes += self._put_drafts(drafts)
                drafts.clear()
        episodes += self._put_drafts(drafts)
        return sorted(episodes, key=lambda memory: (memory.body["start"], memory.id))

    def _write_days(
        self, scope: Scope, episodes: Sequence[Memory], unfinished: set[datetime]
    ) -> list[Memory]:
        by_day: defaultdict[datetime, list[Memory]] = defaultdict(list)
        for memory in episodes:
            by_day[start_of_day(parse_time(memory.body["start"]))].append(memory)
        over = [
            parts
            for day, parts in sorted(by_day.items())
            if self.now >= day + DAY and day not in unfinished
        ]
        return self._write_spans(scope, "day", over)

    def _write_spans(
        self, scope: Scope, span: str, groups: Sequence[Sequence[Memory]]
    ) -> list[Memory]:
        """Write the episodes of days or weeks; each group has the part episodes of one."""
        here = administrator_grant(self.workspace).narrow_to(memory_scopes(scope))
        writer = self._make_writer(scope)
        episodes: list[Memory] = []
        drafts: list[Draft] = []
        for parts in groups:
            id = episode_id(scope, span, [memory.id for memory in parts])
            if existing := self._find_reusable(scope, id):
                episodes.append(existing)
            elif id not in self._load_erased():
                ids = dict.fromkeys(id for part in parts for id in part.body["landmarks"])
                landmarks = self.store.memories.get(here, list(ids))
                drafts.append(writer.draft_from_episodes(scope, span, parts, landmarks))
        episodes += self._put_drafts(drafts)
        return sorted(episodes, key=lambda memory: memory.body["start"])

    def _put_drafts(self, drafts: Sequence[Draft]) -> list[Memory]:
        memories = self.store.memories.put(self.workspace, drafts) if drafts else []
        self.written_count += len(memories)
        return memories

    def _delete_obsolete(self, scope: Scope, week: datetime, current_ids: Iterable[str]) -> None:
        current = set(current_ids)
        obsolete = [
            id
            for id, memory in self._load_episodes(scope).items()
            if id not in current and week_start(parse_time(memory.body["start"])) == week
        ]
        if obsolete:
            self.store.memories.delete(self.workspace, obsolete)

    def _find_reusable(self, scope: Scope, id: str) -> Memory | None:
        """Return the stored episode, unless it must be rewritten."""
        stored = self._load_episodes(scope).get(id)
        return None if stored is None or self.should_rewrite(stored) else stored

    def _load_episodes(self, scope: Scope) -> dict[str, Memory]:
        """Return the stored episodes of a scope; cached for the pass."""
        if scope not in self._stored:
            here = administrator_grant(self.workspace).narrow_to(memory_scopes(scope))
            names, kinds = [span_key(span) for span in SPANS], [MemoryKind.EPISODE]
            memories = self.store.memories.find_by_name(
                here, names, limit=MAX_EPISODES, kinds=kinds
            )
            self._stored[scope] = {
                each.id: each for each in memories if is_span_episode(each) and each.scope == scope
            }
        return self._stored[scope]

    def _is_forgotten(self, event: Event) -> bool:
        """Return whether the passage of a message was erased: no episode tells it again."""
        return memory_id(MemoryKind.PASSAGE, event.scope, "", [event.id]) in self._load_erased()

    def _load_erased(self) -> set[str]:
        """Return the ids of erased memories: erased episodes are never written again."""
        if self._erased is None:
            tombstones = self.store.eraser.list_tombstones(self.workspace)
            self._erased = {each.digest for each in tombstones if each.kind == "memory"}
        return self._erased

    def _make_writer(self, scope: Scope) -> EpisodeWriter:
        injected = (
            self.find_injected(self.workspace, scope) if self.find_injected else NOTHING_INJECTED
        )
        return EpisodeWriter(self.workspace, self.summarizer, injected)


def _event_ids(segment: Segment) -> list[str]:
    return [event.id for event in segment.events]
