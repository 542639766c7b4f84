"""What a cache of composed contexts promises that several processes share."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ...core.access import Grant, Viewer
from ...core.context import Compaction, Context, ContextReceipt, Cut, Item, Section, Shown
from ...core.ids import AgentId, UserId
from ...core.keeping import ContextKeeper, KeptContext
from ...core.part import Part
from ...core.records import Trust
from ..samples import ACME, ALICE, ALICE_DM, BOB, IN_ROOM, NOON, OTHER, ROOM, event, tell

LASTS = 300
KEY = "who asks what, and when"


def _full_item(text: str) -> Item:
    return Item(
        text=text,
        id="0" * 32,
        at=NOON,
        speaker="alice",
        trust=Trust.DIRECT,
        scope=str(ROOM),
        events=("1" * 32, "2" * 32),
        worth=0.1 + 0.2,
        why={"strategy": "keyword", "score": 1 / 3, "place": 2},
        tokens=7,
        line=f"- {text}",
        words=text.lower(),
    )


def full_context(text: str = "Tea is served at four. π ␀ </nexus-memory>") -> Context:
    """One that has something in every field."""
    item = _full_item(text)
    bare = Item(text="", id="rule")
    receipt = ContextReceipt(
        id="3" * 32,
        at=NOON + timedelta(microseconds=1),
        question="When is tea?",
        budget=4_000,
        tokens=99,
        plan={Part.WINDOW: "always", Part.RECALL: "a question"},
        sections={Part.RECALL: 9, Part.WINDOW: 0},
        frame=90,
        shown=(Shown(part=Part.RECALL, id=item.id, tokens=7, scope=str(ROOM), why=item.why),),
        cut=(Cut(part=Part.FACTS, id="4" * 32, tokens=3, why="budget"),),
        seconds={"plan": 1e-5, "recall": 0.25},
        degraded=("the embedder: it does not answer",),
        cached=True,
    )
    return Context(
        sections=(
            Section(part=Part.RECALL, items=(item, bare), tokens=9),
            Section(part=Part.WINDOW, items=(), tokens=0),
        ),
        receipt=receipt,
        text=f"<nexus-memory>\n{item.line}\n</nexus-memory>",
        steady=15,
        chat=({"role": "user", "content": text},),
        compaction=Compaction(fits=True, removed=3, left_out=1, degraded=("the model",)),
    )


class ContextsSuite:
    """Needs a fixture `store`: an empty one with its `contexts`."""

    @pytest.fixture
    def keeper(self, store: Any) -> ContextKeeper:
        contexts: ContextKeeper = store.contexts
        return contexts

    @staticmethod
    def _put(store: Any, grant: Grant, text: str = "tea", key: str = KEY, **more: Any) -> Any:
        """Keep a context as somebody does who composed it; what was kept."""
        ticket = store.contexts.get(grant, key).ticket
        assert ticket
        epoch = store.epoch(grant) + store.window.epoch(grant)
        kept = KeptContext(context=full_context(text), at=NOON, epoch=epoch)
        store.contexts.put(grant, key, kept, **{"ticket": ticket, "seconds": LASTS, **more})
        return kept

    def test_what_is_put_is_found_as_it_was(self, store: Any, keeper: ContextKeeper) -> None:
        grant, text = IN_ROOM.grant(), full_context().sections[0].items[0].text
        kept = self._put(store, grant, text)

        found = keeper.get(grant, KEY).kept

        assert found == kept
        assert found
        (recalled, *_), (put, *_) = (each.context.section(Part.RECALL) for each in (found, kept))
        assert (recalled.line, recalled.words) == (put.line, put.words)
        assert found.context.text == kept.context.text
        assert list(found.context.receipt.plan) == [Part.WINDOW, Part.RECALL]

    def test_there_is_nothing_at_first(self, keeper: ContextKeeper) -> None:
        looked = keeper.get(IN_ROOM.grant(), KEY)

        assert looked.kept is None
        assert looked.ticket
        assert keeper.get(ALICE.grant(), KEY).ticket == looked.ticket  # it says nothing of anybody

    def test_the_same_again_takes_its_place(self, store: Any, keeper: ContextKeeper) -> None:
        grant = IN_ROOM.grant()
        self._put(store, grant, "old")
        kept = self._put(store, grant, "new")

        assert keeper.get(grant, KEY).kept == kept

    def test_nobody_else_is_given_it(self, store: Any, keeper: ContextKeeper) -> None:
        """Not even with the same key: whoever may read one scope more or less is somebody else."""
        grant = ALICE.grant()
        self._put(store, grant)
        strangers = [
            BOB.grant(),
            IN_ROOM.grant(),
            grant.within(grant.scopes - {ALICE_DM}),
            grant.within([]),
            replace(ALICE, project=None).grant(),
            replace(ALICE, workspace=OTHER).grant(),
        ]

        assert [keeper.get(each, KEY).kept for each in strangers] == [None] * len(strangers)
        assert keeper.get(grant, "another question").kept is None
        assert keeper.get(grant, KEY).kept

    def test_a_read_needs_a_grant_that_was_minted(self, keeper: ContextKeeper) -> None:
        forged = object.__new__(Grant)

        with pytest.raises(TypeError):
            keeper.get(forged, KEY)
        kept = KeptContext(context=full_context(), at=NOON, epoch=0)
        with pytest.raises(TypeError):
            keeper.put(forged, KEY, kept, ticket="t", seconds=LASTS)

    def test_it_ends_by_itself(self, store: Any, keeper: ContextKeeper) -> None:
        grant = IN_ROOM.grant()
        self._put(store, grant, seconds=1)
        time.sleep(1.2)

        assert keeper.get(grant, KEY).kept is None

    def test_what_is_found_is_counted(self, store: Any, keeper: ContextKeeper) -> None:
        before = keeper.use
        self._put(store, IN_ROOM.grant())
        for viewer in (IN_ROOM, IN_ROOM, ALICE):
            keeper.get(viewer.grant(), KEY)

        assert keeper.use.hits - before.hits == 2
        assert keeper.use.misses - before.misses == 2  # before it was put, and Alice's

    def test_whoever_may_read_what_is_erased_has_no_context_any_more(
        self, store: Any, keeper: ContextKeeper
    ) -> None:
        """And nobody else notices: neither others, nor another workspace."""
        (id,) = tell(store, event("1", scope=ALICE_DM))
        aside = replace(ALICE, workspace=OTHER)
        others = [BOB.grant(), IN_ROOM.grant(), aside.grant()]
        for grant in (ALICE.grant(), *others):
            self._put(store, grant)

        erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert erased.contexts == 1
        assert keeper.get(ALICE.grant(), KEY).kept is None
        assert all(keeper.get(grant, KEY).kept for grant in others)

    def test_what_does_not_hold_any_more_goes_with_the_next_erasure(
        self, store: Any, keeper: ContextKeeper
    ) -> None:
        """Nobody is shown it, but it holds texts: also of what was erased by who knew no cache."""
        self._put(store, ALICE.grant())
        tell(store, event("1", scope=ALICE_DM))

        assert store.eraser.erase(ACME, events=[], memories=[], tombstones=[]).contexts == 1
        assert keeper.get(ALICE.grant(), KEY).kept is None

    def test_what_was_begun_before_an_erasure_is_not_kept_after_it(
        self, store: Any, keeper: ContextKeeper
    ) -> None:
        """However late it arrives, and whoever asks meanwhile."""
        grant = ALICE.grant()
        ticket = keeper.get(grant, KEY).ticket
        assert ticket
        kept = KeptContext(context=full_context(), at=NOON, epoch=store.epoch(grant))
        (id,) = tell(store, event("1", scope=ALICE_DM))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
        again = keeper.get(BOB.grant(), KEY).ticket

        keeper.put(grant, KEY, kept, ticket=ticket, seconds=LASTS)

        assert again != ticket
        assert keeper.get(grant, KEY).kept is None
        assert store.eraser.residue(ACME, [b"Tea is served at four."]) is not None

    def test_erasing_in_one_workspace_ends_no_ticket_of_another(
        self, store: Any, keeper: ContextKeeper
    ) -> None:
        grant = replace(ALICE, workspace=OTHER).grant()
        ticket = keeper.get(grant, KEY).ticket
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])

        assert keeper.get(grant, KEY).ticket == ticket

    def test_the_proof_of_an_erasure_looks_here_too(self, store: Any) -> None:
        """What holds is somebody's own words, and does not count."""
        text = "the heron nests in the tower"
        self._put(store, BOB.grant(), text)
        self._put(store, ALICE.grant(), text)
        tell(store, event("1", scope=ALICE_DM))  # Alice's is out of date, and still there

        found = store.eraser.residue(ACME, [text.encode()])

        assert sum(found.values()) > 0
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])
        assert sum(store.eraser.residue(ACME, [text.encode()]).values()) == 0

    def test_many_contexts_are_looked_through(self, store: Any, keeper: ContextKeeper) -> None:
        (id,) = tell(store, event("1"))
        visitors = [
            Viewer(
                workspace=ACME,
                agent=AgentId("scribe"),
                room="design",
                participants=(UserId(f"guest {number}"),),
            )
            for number in range(250)
        ]
        for visitor in visitors:
            self._put(store, visitor.grant())
        self._put(store, BOB.grant())

        erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert erased.contexts == len(visitors)
        assert keeper.get(BOB.grant(), KEY).kept
