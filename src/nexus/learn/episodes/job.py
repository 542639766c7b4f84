"""The job that tells episodes: what is closed is told, and what changed is told again.

It keeps no notes in the store. Which episodes there must be follows from the events alone, so a
pass compares that with those that are there, writes what is missing and takes out what is left
over. Weeks in which nothing is open any more are not looked at again while their events are as
many as before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ...core.access import administrator_grant
from ...core.canonical import text_time
from ...core.clock import day_of
from ...core.derive import embedded_text, span_name, tells_of_time
from ...core.errors import Unavailable
from ...core.ids import WorkspaceId
from ...core.jobs import Step
from ...core.protocols import Embedder, Store
from ...core.records import Draft, Event, Memory, MemoryKind, Stage
from ...core.scope import Scope
from ..immune import NOTHING_INJECTED, Injected
from .drafts import Teller, episode_id
from .narrating import Narrator
from .splitting import DAY, WEEK, Piece, pieces, week_of

SPANS = ("thread", "session", "day", "week")
EMPTY_WEEKS = 8  # after so many the next event is looked for
MOST_KNOWN = 100_000  # episodes of a place
SOON = timedelta(minutes=1)  # when to look again for what is still being learned

InjectedIn = Callable[[WorkspaceId, Scope], Injected]


class Episodes:
    """Tells the episodes of workspaces, again and again."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        narrator: Narrator | None = None,
        injected: InjectedIn | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._narrator = narrator
        self._injected = injected
        self._settled: dict[WorkspaceId, dict[datetime, int]] = {}  # week → its events

    @property
    def narrator(self) -> Narrator | None:
        """The model that tells them, if one does."""
        return self._narrator

    @property
    def without_model(self) -> Episodes:
        """One who tells the same, by the rules alone."""
        return Episodes(self._store, self._embedder, None, self._injected)

    def learn(
        self,
        workspace: WorkspaceId,
        now: datetime,
        *,
        again: bool | Callable[[Memory], bool] = False,
    ) -> int:
        """Tell what is closed, by now; returns how many episodes are new.

        Harmless to repeat: what did not change is left as it is, unless `again` says otherwise,
        of all or of some.
        """
        return self._pass(workspace, now, again=again).counts["told"]

    def step(self, workspace: WorkspaceId, now: datetime, *, limit: int) -> Step:
        """Tell about so many threads and sessions. Says if there is more, or when there will be."""
        return self._pass(workspace, now, limit=limit)

    def _pass(
        self,
        workspace: WorkspaceId,
        now: datetime,
        *,
        again: bool | Callable[[Memory], bool] = False,
        limit: int | None = None,
    ) -> Step:
        known = {} if again else self._settled.get(workspace, {})
        with self._store.moment():  # else what is told meanwhile would be seen and not counted
            total = self._count(workspace)
            latest = self._store.ledger.find(administrator_grant(workspace), since=week_of(now))
        retold = again if callable(again) else lambda _episode: bool(again)
        run = _Run(self._store, workspace, self._narrator, self._injected, now, retold, limit)
        settled: dict[datetime, int] = {}
        seen = 0
        for week, events in self._weeks(workspace, week_of(now), latest):
            if run.tell_week(week, events):
                settled[week] = len(events)
            seen += len(events)
            older = {each: count for each, count in known.items() if each < week}
            if seen + sum(older.values()) == total:
                settled |= older
                break
        embedded = self._embed(run)
        self._settled[workspace] = settled if embedded else {}
        # Days and weeks are told when they are over; where nobody talks, nothing is waited for.
        ends = [day_of(now) + DAY] if latest or run.wakes_at else []
        wakes_at = [*ends, *run.wakes_at, *([] if embedded else [now + SOON])]
        return Step(
            counts={"told": run.told},
            cursor="more" if run.cut_short else None,
            again_at=max(min(wakes_at), now + SOON) if wakes_at else None,
        )

    def _count(self, workspace: WorkspaceId) -> int:
        return self._store.count(administrator_grant(workspace)).get("events", 0)

    def _weeks(
        self, workspace: WorkspaceId, week: datetime, events: list[Event]
    ) -> Iterator[tuple[datetime, list[Event]]]:
        """The events of each week, newest first; what is yet to come counts to this one."""
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
                week, empty = week_of(newest[0].at), 0
            events = find(everything, since=week, until=until)

    def _embed(self, run: _Run) -> bool:
        """Give vectors to those that have none; False if the embedder is away."""
        if self._embedder is None or not run.standing:
            return True
        everything = administrator_grant(run.workspace)
        try:
            profile = self._embedder.profile
            there = self._store.vectors.get(everything, profile, list(run.standing))
            missing = [memory for id, memory in run.standing.items() if id not in there]
            if missing:
                rows = self._embedder.embed([embedded_text(memory) for memory in missing])
                made = {m.id: row for m, row in zip(missing, rows, strict=True) if row.any()}
                self._store.vectors.put(run.workspace, profile, made)
        except Unavailable:
            return False
        return True


def learn_episodes(
    store: Store,
    workspace: WorkspaceId,
    now: datetime,
    *,
    embedder: Embedder | None = None,
    narrator: Narrator | None = None,
    again: bool = False,
) -> int:
    """One pass over a whole workspace; returns how many episodes are new."""
    return Episodes(store, embedder, narrator).learn(workspace, now, again=again)


@dataclass(slots=True)
class _Run:
    """One pass over a workspace."""

    store: Store
    workspace: WorkspaceId
    narrator: Narrator | None
    injected: InjectedIn | None
    now: datetime
    retold: Callable[[Memory], bool]  # of those that are there
    limit: int | None
    told: int = 0
    cut_short: bool = False
    wakes_at: list[datetime] = field(default_factory=list)
    standing: dict[str, Memory] = field(default_factory=dict)  # the episodes there must be
    _known: dict[Scope, dict[str, Memory]] = field(default_factory=dict)
    _erased: set[str] | None = None

    def tell_week(self, week: datetime, events: Sequence[Event]) -> bool:
        """Tell every place of a week; True if nothing of it is open any more."""
        by_place: defaultdict[tuple[datetime, Scope], list[Event]] = defaultdict(list)
        for event in events:
            by_place[max(week, week_of(event.at)), event.scope].append(event)
        done = [self._tell(scope, start, said) for (start, scope), said in by_place.items()]
        return all(done) and self.now >= week + WEEK

    def _tell(self, scope: Scope, week: datetime, events: Sequence[Event]) -> bool:
        """Tell a week of one place, from the bottom up, and take out what is left over."""
        found = pieces(events, self.now)
        closed = [piece for piece in found if piece.closes_at is None]
        self.wakes_at += [each.closes_at for each in found if each.closes_at]
        ready = self._learned(scope, closed)
        if len(ready) < len(closed):
            self.wakes_at.append(self.now + SOON)
        lower = self._lower(scope, ready)
        finished = {piece.id for piece in ready}
        waiting = [piece for piece in found if piece.id not in finished]
        days = self._days(scope, lower, {day_of(piece.start) for piece in waiting})
        over = self.now >= week + WEEK and not waiting
        weeks = self._upper(scope, "week", [days] if over and days else [])
        standing = {each.id: each for each in (*lower, *days, *weeks)}
        self.standing |= standing
        if len(ready) == len(closed):
            self._take_out(scope, week, standing)
        return not waiting

    def _learned(self, scope: Scope, closed: Sequence[Piece]) -> list[Piece]:
        """The closed pieces whose events have been read; those that are told already were."""
        known = self._there(scope)
        fresh = [p for p in closed if episode_id(scope, p.span, _ids(p)) not in known]
        ids = [id for piece in fresh for id in _ids(piece)]
        grant = administrator_grant(self.workspace)
        states = self.store.ledger.progress(grant, ids) if ids else {}
        raw = {id for id, progress in states.items() if progress.stage is Stage.DURABLE}
        learned = [piece for piece in closed if raw.isdisjoint(_ids(piece))]
        if self.limit is None:
            return learned
        room = max(0, self.limit - self.told)
        put_off = {piece.id for piece in fresh[room:]}
        self.cut_short |= bool(put_off)
        return [piece for piece in learned if piece.id not in put_off]

    def _lower(self, scope: Scope, ready: Sequence[Piece]) -> list[Memory]:
        teller = self._teller(scope)
        made: list[Memory] = []
        drafts: list[Draft] = []
        for piece in ready:
            ids = _ids(piece)
            there = self._kept(scope, episode_id(scope, piece.span, ids))
            if there:
                made.append(there)
            elif episode_id(scope, piece.span, ids) not in self._forgotten():
                derived = self.store.eraser.derived(self.workspace, ids)
                drafts += filter(None, [teller.of_piece(scope, piece, derived)])
            if self.narrator is not None:  # what was paid for is kept at once
                made += self._put(drafts)
                drafts.clear()
        made += self._put(drafts)
        return sorted(made, key=lambda memory: (memory.body["start"], memory.id))

    def _days(
        self, scope: Scope, lower: Sequence[Memory], unfinished: set[datetime]
    ) -> list[Memory]:
        by_day: defaultdict[datetime, list[Memory]] = defaultdict(list)
        for memory in lower:
            by_day[day_of(text_time(memory.body["start"]))].append(memory)
        over = [
            parts
            for day, parts in sorted(by_day.items())
            if self.now >= day + DAY and day not in unfinished
        ]
        return self._upper(scope, "day", over)

    def _upper(self, scope: Scope, span: str, wholes: Sequence[Sequence[Memory]]) -> list[Memory]:
        """The episodes of days or weeks, each made of these."""
        here = administrator_grant(self.workspace).within([scope])
        teller = self._teller(scope)
        made: list[Memory] = []
        drafts: list[Draft] = []
        for parts in wholes:
            id = episode_id(scope, span, [memory.id for memory in parts])
            there = self._kept(scope, id)
            if there:
                made.append(there)
            elif id not in self._forgotten():
                ids = dict.fromkeys(id for part in parts for id in part.body["landmarks"])
                landmarks = self.store.memories.get(here, list(ids))
                drafts.append(teller.of_episodes(scope, span, parts, landmarks))
        made += self._put(drafts)
        return sorted(made, key=lambda memory: memory.body["start"])

    def _put(self, drafts: Sequence[Draft]) -> list[Memory]:
        made = self.store.memories.put(self.workspace, drafts) if drafts else []
        self.told += len(made)
        return made

    def _take_out(self, scope: Scope, week: datetime, standing: Iterable[str]) -> None:
        kept = set(standing)
        gone = [
            id
            for id, memory in self._there(scope).items()
            if id not in kept and week_of(text_time(memory.body["start"])) == week
        ]
        if gone:
            self.store.memories.delete(self.workspace, gone)

    def _kept(self, scope: Scope, id: str) -> Memory | None:
        """The episode that need not be told again."""
        there = self._there(scope).get(id)
        return None if there is None or self.retold(there) else there

    def _there(self, scope: Scope) -> dict[str, Memory]:
        """The episodes of a place that are kept already; read once a pass."""
        if scope not in self._known:
            here = administrator_grant(self.workspace).within([scope])
            names, kinds = [span_name(span) for span in SPANS], [MemoryKind.EPISODE]
            found = self.store.memories.named(here, names, limit=MOST_KNOWN, kinds=kinds)
            self._known[scope] = {each.id: each for each in found if tells_of_time(each)}
        return self._known[scope]

    def _forgotten(self) -> set[str]:
        """Episodes that somebody had erased are not told again, and no model is paid for them."""
        if self._erased is None:
            stones = self.store.eraser.tombstones(self.workspace)
            self._erased = {stone.digest for stone in stones if stone.kind == "memory"}
        return self._erased

    def _teller(self, scope: Scope) -> Teller:
        injected = self.injected(self.workspace, scope) if self.injected else NOTHING_INJECTED
        return Teller(self.workspace, self.narrator, injected)


def _ids(piece: Piece) -> list[str]:
    return [event.id for event in piece.events]
