"""The job that keeps dossiers and the answers to standing questions fresh.

Each is made anew for whom it was made: of what its own label holds, which is all that its maker
could read (`core.reach`), and of nothing else. One at which nobody looked for long is left as it
is, and made anew when somebody asks for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ..core.access import Grant, administrator_grant
from ..core.audit import by_worker
from ..core.canonical import text_time, time_text
from ..core.errors import Unavailable
from ..core.filters import Condition, Every, Filter, Op
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Store
from ..core.reach import REACH
from ..core.records import Memory
from ..recall.answer import Ranking
from .dossiers import Narrate, in_words
from .weaving import DOSSIERS, Weaver, subject_of

if TYPE_CHECKING:
    from ..learn.episodes import Narrator

JOB = "dossiers"
AT_ONCE = 10  # looked at in one step: about a tenth of a second
PAGE = 500  # read for that: where nothing was written, there is nothing to look at
MOST_KNOWN = 100_000  # of which it is known that nothing happened since
SOON = timedelta(minutes=15)  # when to try again what could not be searched for

Narrators = Callable[[], "Narrator | None"]


class Freshening:
    """Looks after the dossiers of workspaces, again and again."""

    def __init__(
        self, store: Store, ranking: Ranking, narrator: Narrators, *, idle: timedelta
    ) -> None:
        self._store = store
        self._ranking = ranking
        self._narrator = narrator
        self._idle = idle
        self._known: dict[tuple[WorkspaceId, str], int] = {}  # the epoch it was fresh at

    def step(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
        """Look at the next few, newest first: what is made anew is not met again in this run."""
        before, seen, away = cursor or (None, [], 0)
        page, passed = self._page(workspace, before, seen), 0
        did = Counter({"looked_at": 0, "made": 0, "dropped": 0})
        tried = away + AT_ONCE
        while passed < len(page) and did["looked_at"] + away < tried:
            try:
                did.update(self._look(workspace, page[passed], now))
            except Unavailable:  # it is as fresh as it can be for now
                away += 1
            passed += 1
        if passed < len(page) or passed == PAGE:
            return Step(counts=did, cursor=[*_up_to(page[:passed], before, seen), away])
        return Step(counts=did, again_at=now + SOON if away else None)

    def _page(
        self, workspace: WorkspaceId, before: str | None, seen: Sequence[str]
    ) -> list[Memory]:
        where: Filter = DOSSIERS
        if before is not None:
            where = Every((DOSSIERS, Condition("at", Op.LTE, text_time(before))))
        everything, limit = administrator_grant(workspace), PAGE + len(seen)
        found = self._store.memories.find(everything, where=where, limit=limit)
        return [memory for memory in found if memory.id not in seen][:PAGE]

    def _look(self, workspace: WorkspaceId, memory: Memory, now: datetime) -> Counter[str]:
        """Make one anew if it is stale; nothing is done while nothing was written in its reach."""
        if REACH not in memory.body:  # a question
            return Counter()
        grant = administrator_grant(workspace).within(memory.label)
        epoch = self._store.epoch(grant)
        if self._known.get((workspace, memory.id)) == epoch:
            return Counter()
        looked_at = self._looked_at(grant, memory)
        if now - looked_at > self._idle:
            return Counter()
        did = self._refreshed(grant, memory, now, looked_at)
        if not did:
            self._note(workspace, memory, epoch)
        return did + Counter(looked_at=1)

    def _refreshed(
        self, grant: Grant, memory: Memory, now: datetime, looked_at: datetime
    ) -> Counter[str]:
        weaver, subject = self._weaver(grant, memory, now), subject_of(memory)
        with self._store.recording(grant.workspace, by_worker(JOB, now, memory=memory.id)):
            if subject.asked and subject not in weaver.standing().values():
                weaver.delete([memory])
                return Counter(dropped=1)
            woven = weaver.weave(weaver.order(subject, looked_at=looked_at), now=now)
        what = "made" if woven.memory else "dropped"
        return Counter({what: 1}) if woven.changed else Counter()

    def _looked_at(self, grant: Grant, memory: Memory) -> datetime:
        """When somebody last looked at it, as far as that was counted."""
        told = text_time(memory.body["looked_at"])
        use = self._store.uses.of(grant, [memory.id]).get(memory.id)
        return max(told, use.last_at) if use and use.last_at else told

    def _weaver(self, grant: Grant, memory: Memory, now: datetime) -> Weaver:
        return Weaver(
            store=self._store,
            ranking=self._ranking,
            grant=grant,
            home=memory.scope,
            narrate=self._narrate(grant.workspace, now),
            whole=True,
            only_while=memory.id,
        )

    def _narrate(self, workspace: WorkspaceId, now: datetime) -> Narrate | None:
        """By the model that tells episodes, if one does, on account of this workspace."""
        narrator = self._narrator()
        if narrator is None:
            return None
        from ..learn.episodes.narrating import Said  # noqa: PLC0415  # the rules load with it

        def narrate(_name: str, memories: Sequence[Memory]) -> tuple[str, ...] | None:
            said, keep = in_words(memories)
            turns = [Said(now, speaker, text) for speaker, text in said]
            return narrator.narrate(workspace, "session", turns, keep).sentences or None

        return narrate

    def _note(self, workspace: WorkspaceId, memory: Memory, epoch: int) -> None:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[workspace, memory.id] = epoch


def _up_to(
    page: Sequence[Memory], before: str | None, seen: Sequence[str]
) -> tuple[str, list[str]]:
    """Where the next step goes on, and what was seen of that very moment."""
    last = page[-1].at
    told = time_text(last)
    return told, [*(seen if told == before else ()), *(m.id for m in page if m.at == last)]
