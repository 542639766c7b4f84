"""What was learned says again what was told, and changes nothing for what was told."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import Grant, administrator_grant
from ...core.filters import parse_filter
from ...core.ids import WorkspaceId
from ...core.protocols import Scored, Store
from ...core.records import Draft, MemoryKind
from ..samples import (
    ACME,
    ADMIN,
    ALICE_DM,
    IN_ROOM,
    LATER,
    NOON,
    OTHER,
    ROOM,
    SPACE,
    draft,
    event,
    keep,
    point,
    tell,
    towards,
)

MINUTE = timedelta(minutes=1)
WORDS = "tea milk sugar cake jam toast".split()
ASKED = ["tea", "sugar", "jam"]
ABOUT = {"subject": "Ada", "predicate": "LIKES", "object": "tea"}


def told_drafts(sources: list[str]) -> list[Draft]:
    """Passages of two conversations and two drawers."""
    return [
        draft(
            source,
            text=" ".join(WORDS[n % 6 :] * (1 + n % 3)),
            at=NOON + n * MINUTE,
            thread="t" if n % 2 else None,
            scope=ALICE_DM if n % 5 == 0 else ROOM,
        )
        for n, source in enumerate(sources)
    ]


def learned_drafts(sources: list[str]) -> list[Draft]:
    """Facts of all of it, several of each, with the same words."""
    return [
        replace(
            told,
            kind=MemoryKind.FACT,
            slot=str(number),
            text=f"{told.text} tea " * (1 + number),
            learned=True,
            body=ABOUT,
        )
        for told in told_drafts(sources)
        for number in range(3)
    ]


def put(store: Store, drafts: list[Draft], workspace: WorkspaceId) -> list[str]:
    """Keep these, each with a vector of its own; their ids."""
    kept = store.memories.put(workspace, drafts)
    directions = {memory.id: towards(1 + len(memory.text) % 7, n) for n, memory in enumerate(kept)}
    point(store, directions, workspace)
    return list(directions)


def sources_of(store: Store, workspace: WorkspaceId, count: int = 12) -> list[str]:
    events = [event(str(n), scope=ALICE_DM if n % 5 == 0 else ROOM) for n in range(count)]
    return tell(store, *events, workspace=workspace)


def searched(store: Store, grant: Grant, ids: list[str], **more: Any) -> list[Any]:
    """All that searches and ranking can tell about these ids and these words."""
    where = parse_filter({"role": {"ne": "assistant"}})
    memories, vectors = store.memories, store.vectors
    described = memories.describe(grant, ids, ASKED)
    talks = defaultdict(set)
    for id, candidate in described.items():
        talks[candidate.thread].add(id)
    return [
        *(memories.matching(grant, ASKED, limit=limit, **more) for limit in (3, 99)),
        memories.matching(grant, ASKED, where=where, limit=9, **more),
        memories.holding(grant, ASKED, **more),
        memories.between(grant, NOON, LATER, limit=5, **more),
        memories.between(grant, NOON, LATER, limit=99, **more),
        *(vectors.nearest(grant, SPACE, towards(1, 2), limit=n, **more) for n in (3, 99)),
        vectors.nearest(grant, SPACE, towards(1, 2), where=where, limit=9, **more),
        vectors.scores(grant, SPACE, towards(1, 2), ids),
        memories.neighbours(grant, ids, reach=3),
        {id: candidate._replace(thread="") for id, candidate in described.items()},
        sorted(map(sorted, talks.values())),
    ]


class ShelvesSuite:
    """Needs a fixture `store`: an empty one."""

    @pytest.mark.parametrize("viewer", ["everybody", "room"])
    def test_what_is_learned_changes_no_search(self, store: Store, viewer: str) -> None:
        grant = ADMIN if viewer == "everybody" else IN_ROOM.grant()
        sources = sources_of(store, ACME)
        ids = put(store, told_drafts(sources), ACME)
        before = searched(store, grant, ids)

        put(store, learned_drafts(sources), ACME)

        assert searched(store, grant, ids) == before
        assert len(before[1]) > 5

    def test_it_changes_none_whichever_came_first(self, store: Store) -> None:
        plain, full = sources_of(store, ACME), sources_of(store, OTHER)
        ids = put(store, told_drafts(plain), ACME)
        learned = learned_drafts(full)
        for place, each in enumerate(told_drafts(full)):
            put(store, learned[3 * place : 3 * place + 2], OTHER)
            put(store, [each], OTHER)
            put(store, learned[3 * place + 2 : 3 * place + 3], OTHER)
        vectors = store.vectors.get(ADMIN, SPACE, ids)
        point(store, vectors, OTHER)

        expected = searched(store, ADMIN, ids)

        assert searched(store, administrator_grant(OTHER), ids) == expected
        assert store.count(administrator_grant(OTHER))["fact"] == len(learned)

    def test_asked_for_it_is_searched_like_everything_else(self, store: Store) -> None:
        """As if all had been told: the same scores, from the same statistics."""
        ours, theirs = sources_of(store, ACME), sources_of(store, OTHER)
        drafts = [*told_drafts(ours), *learned_drafts(ours)]
        all_told = [replace(each, learned=False) for each in drafts]
        put(store, drafts, ACME)
        put(store, all_told, OTHER)
        elsewhere = administrator_grant(OTHER)
        assert ours == theirs

        for ask in (
            lambda grant, **more: store.memories.matching(grant, ASKED, limit=30, **more),
            lambda grant, **more: store.memories.holding(grant, ASKED, **more),
            lambda grant, **more: store.memories.between(grant, NOON, LATER, limit=30, **more),
            lambda grant, **more: store.vectors.nearest(
                grant, SPACE, towards(1, 2), limit=30, **more
            ),
        ):
            both = ask(ADMIN, learned=True)
            assert both == ask(elsewhere)
            assert both != ask(ADMIN)

    def test_what_was_learned_is_described_as_a_search_for_it_scores_it(self, store: Store) -> None:
        sources = sources_of(store, ACME)
        put(store, told_drafts(sources), ACME)
        ids = put(store, learned_drafts(sources), ACME)

        described = store.memories.describe(ADMIN, ids, ASKED)
        found = store.memories.matching(ADMIN, ASKED, limit=99, learned=True)

        scores = {hit.id: hit.score for hit in found if hit.id in ids}
        assert {id: candidate.keyword for id, candidate in described.items()} == scores
        assert len(scores) == len(ids)

    def test_conversations_are_of_one_shelf(self, store: Store) -> None:
        (source,) = tell(store, event("1"))
        texts = [draft(source, slot=str(n), at=NOON + n * MINUTE, thread="t") for n in range(4)]
        mixed = [replace(each, learned=bool(n % 2)) for n, each in enumerate(texts)]
        one, two, three, four = (memory.id for memory in store.memories.put(ACME, mixed))

        around = store.memories.neighbours(ADMIN, [one, two], reach=5)
        threads = {
            id: each.thread for id, each in store.memories.describe(ADMIN, [one, two], ()).items()
        }

        assert around == {one: ((), (three,)), two: ((), (four,))}
        assert threads[one] != threads[two]

    def test_whoever_names_it_gets_either(self, store: Store) -> None:
        told = keep(store, "1", "tea", kind=MemoryKind.FACT, body=ABOUT)
        learned = keep(store, "2", "tea", kind=MemoryKind.FACT, body=ABOUT, learned=True)
        both = [told, learned]
        ids = [memory.id for memory in both]

        assert [memory.learned for memory in store.memories.get(ADMIN, ids)] == [False, True]
        assert store.memories.get(ADMIN, ids) == both
        assert sorted(ids) == [memory.id for memory in store.memories.find(ADMIN)]
        assert store.memories.texts(ADMIN, ids).keys() == set(ids)
        assert {memory.id for memory in store.memories.named(ADMIN, ["ada"], limit=9)} == set(ids)
        assert {m.id for m in store.vectors.missing(ADMIN, SPACE, limit=9)} == set(ids)
        assert store.count(ADMIN)["fact"] == 2
        assert store.memories.find(ADMIN, where=parse_filter({"subject": "Ada"}), limit=9)

    def test_what_is_put_again_as_the_other_moves_to_the_other_shelf(self, store: Store) -> None:
        memory = keep(store, "1", "tea")
        point(store, {memory.id: towards(1)})
        assert self._shown(store) == ([memory.id], [memory.id])

        store.memories.put(ACME, [draft(*memory.sources, text="tea", learned=True)])
        point(store, {memory.id: towards(1)})
        assert self._shown(store) == ([], [])
        assert self._shown(store, learned=True) == ([memory.id], [memory.id])

        store.memories.put(ACME, [draft(*memory.sources, text="tea")])
        point(store, {memory.id: towards(1)})
        assert self._shown(store) == ([memory.id], [memory.id])

    def test_what_is_learned_and_erased_leaves_the_told_as_it_was(self, store: Store) -> None:
        sources = sources_of(store, ACME)
        ids = put(store, told_drafts(sources), ACME)
        before = searched(store, ADMIN, ids)
        gone = put(store, learned_drafts(sources), ACME)

        store.memories.delete(ACME, gone[:5])
        store.eraser.erase(ACME, events=[], memories=gone[5:9], tombstones=[])

        assert searched(store, ADMIN, ids) == before
        assert store.memories.get(ADMIN, gone[:9]) == []
        assert store.memories.named(ADMIN, ["Ada"], limit=99)

        store.eraser.erase(ACME, events=sources, memories=[], tombstones=[])
        assert store.memories.find(ADMIN) == store.memories.named(ADMIN, ["Ada"], limit=9) == []

    def _shown(self, store: Store, **more: Any) -> tuple[list[str], list[str]]:
        def ids(hits: list[Scored]) -> list[str]:
            return [hit.id for hit in hits]

        return (
            ids(store.memories.matching(ADMIN, ["tea"], limit=9, **more)),
            ids(store.vectors.nearest(ADMIN, SPACE, towards(1), limit=9, **more)),
        )
