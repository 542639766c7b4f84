"""Contract of the window: recent messages, notes, thoughts and the active goal."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ...core.access import Grant, Viewer
from ...core.errors import InvalidInput
from ...core.ids import AgentId, UserId, digest
from ...core.protocols.context_cache import CachedContext, SharedContextCache
from ...core.protocols.store import Store
from ...core.records import Tombstone, Trust
from ...core.records.context import (
    AddedWords,
    Compaction,
    Context,
    ContextItem,
    ContextReceipt,
    ContextSection,
    CutItem,
    ShownItem,
)
from ...core.records.window import IDLE_TIMEOUT, MAX_ITEMS, WindowItem, WindowSlot
from ...core.scope import Scope
from ..samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    BOB,
    IN_ROOM,
    NOON,
    OTHER,
    ROOM,
    add_memory,
    append_events,
    make_event,
)

HOUR = timedelta(hours=1)
DM = ALICE.home
ALL_SLOTS = tuple(WindowSlot)


def make_item(key: str = "k", value: Any = "v", **more: Any) -> WindowItem:
    fields: dict[str, Any] = {
        "scope": ROOM,
        "slot": WindowSlot.NOTE,
        "at": NOON,
        "by": "scribe",
        **more,
    }
    return WindowItem(key=key, value=value, **fields)


def find_values(store: Store, now: datetime = NOON, grant: Any = ADMIN, **more: Any) -> list[Any]:
    """Return the stored values, newest first."""
    wanted = {"slots": ALL_SLOTS, **more}
    return [each.value for each in store.window.find(grant, now=now, **wanted)]


class WindowSuite:
    """Needs a fixture `store` that yields an empty store."""

    def test_window_item_is_returned_unchanged(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        full = make_item(
            value={"deep": [1, 2.5, None, "π"]},
            expires_at=NOON + HOUR,
            source_ids=(id,),
            people=("alice",),
        )

        store.window.put(ACME, [full])

        assert store.window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON) == [full]

    def test_put_replaces_same_key(self, store: Store) -> None:
        store.window.put(
            ACME, [make_item("a", 1), make_item("b", 2), make_item("a", 3, slot=WindowSlot.GOAL)]
        )

        store.window.put(ACME, [make_item("a", 4, at=NOON + HOUR)])

        assert find_values(store, NOON + HOUR) == [4, 3, 2]
        assert find_values(store, NOON + HOUR, key="a") == [4, 3]
        assert find_values(store, NOON + HOUR, slots=[WindowSlot.NOTE]) == [4, 2]

    def test_items_are_ordered_newest_first_then_key(self, store: Store) -> None:
        late = [make_item(key, key, at=NOON + HOUR) for key in ("y", "x")]

        store.window.put(ACME, [make_item("z", "z"), *late, make_item("w", "w")])

        assert find_values(store, NOON + HOUR) == ["x", "y", "w", "z"]

    def test_window_items_respect_grant(self, store: Store) -> None:
        scopes = [ROOM, DM, BOB.home, Scope.user("alice"), Scope.workspace()]
        store.window.put(ACME, [make_item(value=str(scope), scope=scope) for scope in scopes])
        store.window.put(OTHER, [make_item(value="another company")])

        def find_scopes(grant: Any) -> set[str]:
            return set(find_values(store, grant=grant))

        assert find_scopes(IN_ROOM.grant()) == {str(ROOM), "user:alice", "workspace"}
        assert find_scopes(ALICE.grant()) == {str(DM), "user:alice", "workspace"}
        assert find_scopes(BOB.grant().narrow_to([DM, ROOM])) == set()
        assert find_scopes(ADMIN) == set(map(str, scopes))
        assert find_scopes(ADMIN.narrow_to([ROOM])) == {str(ROOM)}

    def test_expired_item_is_hidden(self, store: Store) -> None:
        store.window.put(
            ACME, [make_item("short", 1, expires_at=NOON + HOUR), make_item("long", 2)]
        )

        assert find_values(store, NOON + HOUR - timedelta(microseconds=1)) == [2, 1]
        assert find_values(store, NOON + HOUR) == [2]

    def test_item_with_expiry_outlives_idle_timeout(self, store: Store) -> None:
        store.window.put(
            ACME, [make_item("long", 1, expires_at=NOON + 3 * IDLE_TIMEOUT), make_item("plain", 2)]
        )

        assert find_values(store, NOON + 2 * IDLE_TIMEOUT) == [1]

    def test_idle_window_is_empty_after_timeout(self, store: Store) -> None:
        store.window.put(ACME, [make_item("a", 1), make_item("b", 2, scope=DM)])
        store.window.put(ACME, [make_item("c", 3, at=NOON + HOUR)])

        assert find_values(store, NOON + IDLE_TIMEOUT) == [3, 1]
        assert find_values(store, NOON + IDLE_TIMEOUT + HOUR) == []
        assert find_values(store, NOON + IDLE_TIMEOUT, idle=IDLE_TIMEOUT + HOUR) == [3, 1, 2]

    def test_message_keeps_window_alive(self, store: Store) -> None:
        store.window.put(ACME, [make_item("here", 1), make_item("elsewhere", 2, scope=DM)])

        append_events(store, make_event("1", at=NOON + IDLE_TIMEOUT - HOUR))

        assert find_values(store, NOON + IDLE_TIMEOUT) == [1]
        assert find_values(store, NOON + 2 * IDLE_TIMEOUT - HOUR) == []

    @pytest.mark.parametrize("what", ["said", "put", "summed up"])
    def test_idle_items_do_not_come_back(self, store: Store, what: str) -> None:
        store.window.put(ACME, [make_item("old", 1), make_item("elsewhere", 2, scope=DM)])
        back = NOON + 2 * IDLE_TIMEOUT

        if what == "put":
            store.window.put(ACME, [make_item("new", 3, at=back)])
        else:
            append_events(store, make_event("1", at=back))
        if what == "summed up":  # a summary has the time of its last message
            end = back + 30 * IDLE_TIMEOUT
            fields = make_item("so far", 4, slot=WindowSlot.SUMMARY, at=back, expires_at=end)
            store.window.put(ACME, [fields])

        assert 1 not in find_values(store, back)
        assert 1 not in find_values(store, back + HOUR)
        store.window.put(ACME, [make_item("later", 5, at=back + HOUR)])
        assert 1 not in find_values(store, back + HOUR)
        assert 5 in find_values(store, back + HOUR)

    @pytest.mark.parametrize("what", ["said", "put", "both"])
    def test_items_stay_while_scope_is_active(self, store: Store, what: str) -> None:
        store.window.put(ACME, [make_item("old", 1)])
        for day in range(1, 9):
            at = NOON + day * (IDLE_TIMEOUT - HOUR)
            if what == "said" or (what == "both" and day % 2):
                append_events(store, make_event(str(day), at=at))
            else:
                store.window.put(ACME, [make_item("again", 2, at=at)])

            assert 1 in find_values(store, at + HOUR)
        assert store.window.prune(now=at + HOUR) == 0
        assert find_values(store, at + IDLE_TIMEOUT) == []

    def test_idle_timeout_is_configurable(self, store: Store) -> None:
        store.window.put(ACME, [make_item("old", 1)], idle=2 * HOUR)
        append_events(store, make_event("1", at=NOON + HOUR))

        store.window.put(ACME, [make_item("new", 2, at=NOON + 3 * HOUR)], idle=2 * HOUR)

        assert find_values(store, NOON + 3 * HOUR, idle=2 * HOUR) == [2]
        assert find_values(store, NOON + 3 * HOUR) == [2]

    def test_future_message_does_not_keep_window(self, store: Store) -> None:
        store.window.put(ACME, [make_item()])

        append_events(store, make_event("1", at=NOON + 9 * IDLE_TIMEOUT))

        assert find_values(store, NOON + IDLE_TIMEOUT) == []

    @pytest.mark.parametrize("slot", MAX_ITEMS)
    def test_slot_keeps_only_newest_items(self, store: Store, slot: WindowSlot) -> None:
        most = MAX_ITEMS[slot]
        second = timedelta(seconds=1)
        fields = [make_item(str(n), n, slot=slot, at=NOON + n * second) for n in range(most + 3)]
        beside = [make_item("note", "n"), make_item("other", "o", slot=slot, scope=DM)]
        store.window.put(ACME, [*beside, *fields[:5]])

        store.window.put(ACME, fields[5:])

        assert find_values(store, NOON + HOUR, slots=[slot])[:-1] == list(range(most + 2, 2, -1))
        assert {"n", "o"} < set(find_values(store, NOON + HOUR))

    def test_drop_removes_one_key_or_whole_slot(self, store: Store) -> None:
        store.window.put(ACME, [make_item("a", 1), make_item("b", 2), make_item("c", 3)])
        store.window.put(
            ACME, [make_item("a", 4, scope=DM), make_item("a", 5, slot=WindowSlot.GOAL)]
        )

        assert store.window.delete(ACME, ROOM, WindowSlot.NOTE, "a") == 1
        assert store.window.delete(ACME, ROOM, WindowSlot.NOTE, "a") == 0
        assert store.window.delete(OTHER, ROOM, WindowSlot.NOTE) == 0
        assert sorted(find_values(store)) == [2, 3, 4, 5]
        assert store.window.delete(ACME, ROOM, WindowSlot.NOTE) == 2
        assert sorted(find_values(store)) == [4, 5]

    def test_prune_removes_hidden_items(self, store: Store) -> None:
        store.window.put(
            ACME, [make_item("gone", 1, expires_at=NOON + HOUR), make_item("idle", 2, scope=DM)]
        )
        store.window.put(ACME, [make_item("long", 3, scope=DM, expires_at=NOON + 9 * IDLE_TIMEOUT)])
        store.window.put(ACME, [make_item("kept", 4)])
        append_events(store, make_event("1", at=NOON + IDLE_TIMEOUT - HOUR))

        store.window.put(OTHER, [make_item("over", 5, expires_at=NOON + HOUR)])

        assert store.window.prune_many([OTHER], now=NOON) == [0]
        assert store.window.prune_many([ACME, OTHER], now=NOON + HOUR) == [1, 1]
        assert store.window.prune(now=NOON + IDLE_TIMEOUT) == 1
        assert store.window.prune(now=NOON + IDLE_TIMEOUT) == 0
        assert sorted(find_values(store, NOON + IDLE_TIMEOUT)) == [3, 4]
        assert sorted(find_values(store, NOON)) == [3, 4]

    def test_erasure_removes_dependent_window_items(self, store: Store) -> None:
        one, other = add_memory(store, "1", "the child"), add_memory(store, "2", "the sibling")
        resting = [
            make_item("on the event", 1, slot=WindowSlot.SUMMARY, source_ids=one.sources),
            make_item(
                "on the memory", 2, slot=WindowSlot.CONTEXT, scope=DM, source_ids=(one.id, other.id)
            ),
            make_item("on others", 3, slot=WindowSlot.INJECTED, source_ids=(other.id,)),
        ]
        store.window.put(ACME, resting)

        erased = store.eraser.erase(ACME, events=one.sources, memories=[], tombstones=[])

        assert erased.window == 2
        assert find_values(store) == [3]

    def test_item_with_erased_source_is_rejected(self, store: Store) -> None:
        memory = add_memory(store, "1")
        stone = Tombstone(kind="memory", digest="m", at=NOON)
        store.eraser.erase(ACME, events=memory.sources, memories=[], tombstones=[stone])

        store.window.put(ACME, [make_item("a", 1, source_ids=memory.sources), make_item("b", 2)])
        store.window.put(
            ACME, [make_item("c", 3, source_ids=("m",)), make_item("d", 4, source_ids=("?",))]
        )

        assert sorted(find_values(store)) == [2, 4]

    def test_forgetting_user_removes_window_items(self, store: Store) -> None:
        theirs = [
            make_item("own place", 1, scope=DM),
            make_item("own note", 2, by="alice"),
            make_item("about them", 3, slot=WindowSlot.CONTEXT, people=("alice", "bob")),
        ]
        store.window.put(ACME, [*theirs, make_item("not theirs", 4, people=("bob",))])
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON)

        tied = store.window.find_dependents(ACME, [stone.digest])
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        assert sorted(each.value for each in tied) == [1, 2, 3]  # type: ignore[type-var]
        assert find_values(store) == [4]

    def test_forgetting_scope_removes_window(self, store: Store) -> None:
        store.window.put(ACME, [make_item("here", 1), make_item("there", 2, scope=DM)])
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)

        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        assert find_values(store) == [2]

    @pytest.mark.parametrize("slot", WindowSlot)
    def test_late_item_of_forgotten_user_is_dropped(self, store: Store, slot: WindowSlot) -> None:
        """A context may be recorded later, in the background or by another process."""
        stone = Tombstone(kind="user", digest=digest("user", "alice"), at=NOON)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])
        before, after = NOON - HOUR, NOON + HOUR

        def put_items(at: datetime) -> None:
            theirs = [
                make_item("own place", 1, scope=DM, slot=slot, at=at),
                make_item("own", 2, by="alice", slot=slot, at=at),
                make_item("about them", 3, people=("alice", "bob"), slot=slot, at=at),
                make_item("not theirs", 4, people=("bob",), slot=slot, at=at),
            ]
            store.window.put(ACME, theirs)

        put_items(before)
        summed_up = (
            slot is WindowSlot.SUMMARY
        )  # it has the time of the last message and depends on it
        assert sorted(find_values(store)) == ([1, 2, 3, 4] if summed_up else [4])
        put_items(NOON)
        assert sorted(find_values(store)) == ([1, 2, 3, 4] if summed_up else [4])
        put_items(after)  # the items are written again
        assert sorted(find_values(store, after)) == [1, 2, 3, 4]

    def test_late_item_of_forgotten_scope_is_dropped(self, store: Store) -> None:
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[stone])

        store.window.put(ACME, [make_item("late", 1), make_item("new", 2, at=NOON + HOUR)])
        store.window.put(ACME, [make_item("there", 3, scope=DM)])

        assert sorted(find_values(store, NOON + HOUR)) == [2, 3]

    def test_erasing_event_removes_thoughts_of_scope(self, store: Store) -> None:
        """Thoughts may repeat erased text in other words, and no index links them to it."""
        (id,) = append_events(store, make_event("1"))
        thought = make_item("t", 1, slot=WindowSlot.THOUGHT)
        store.window.put(ACME, [thought, replace(thought, scope=DM, value=2), make_item("note", 3)])

        assert len(store.window.find_dependents(ACME, [id])) == 1
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert sorted(find_values(store)) == [2, 3]

    def test_window_erasure_is_limited_to_workspace(self, store: Store) -> None:
        (id,) = append_events(store, make_event("1"))
        store.window.put(ACME, [make_item(source_ids=(id,))])
        stone = Tombstone(kind="scope", digest=digest("scope", str(ROOM)), at=NOON)

        store.eraser.erase(OTHER, events=[id], memories=[], tombstones=[stone])

        assert find_values(store) == ["v"]

    def test_erased_window_text_is_in_no_file(self, store: Store) -> None:
        said = "the heron nests in the \N{GREEK SMALL LETTER PI} tower"
        (id,) = append_events(store, make_event("1", "something else"))
        store.window.put(ACME, [make_item(value={"lines": [said]}, source_ids=(id,))])

        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert sum(store.eraser.find_residue(ACME, [said.encode()]).values()) == 0
        for file in store.list_files():
            assert said.encode() not in file.read_bytes()

    @pytest.mark.parametrize("value", [float("nan"), {"a": "\0"}, {1: 2}, object()])
    def test_non_json_value_is_rejected(self, store: Store, value: Any) -> None:
        with pytest.raises(InvalidInput):
            store.window.put(ACME, [make_item("good", 1), make_item("bad", value)])

        assert find_values(store) == []

    def test_stored_value_is_isolated_from_caller(self, store: Store) -> None:
        value = {"list": [1]}
        store.window.put(ACME, [make_item(value=value)])
        value["list"].append(2)

        (found,) = find_values(store)
        found["list"].append(3)

        assert find_values(store) == [{"list": [1]}]

    def test_window_item_creates_no_workspace(self, store: Store) -> None:
        store.window.put(ACME, [make_item()])

        assert store.list_workspaces() == []
        assert store.count_records(ADMIN)["events"] == 0


TTL_SECONDS = 300
KEY = "who asks what, and when"


def _full_item(text: str) -> ContextItem:
    return ContextItem(
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
    """Return a context with a value in every field."""
    item = _full_item(text)
    bare = ContextItem(text="", id="rule")
    receipt = ContextReceipt(
        id="3" * 32,
        at=NOON + timedelta(microseconds=1),
        question="When is tea?",
        budget=4_000,
        tokens=99,
        plan={"window": "always", "recall": "a question"},
        searched="When is Ann's tea?",
        added=(AddedWords(words="Ann's", why="“her”", events=("5" * 32,)),),
        sections={"recall": 9, "window": 0},
        frame=90,
        shown=(ShownItem(part="recall", id=item.id, tokens=7, scope=str(ROOM), why=item.why),),
        cut=(CutItem(part="facts", id="4" * 32, tokens=3, why="budget"),),
        seconds={"plan": 1e-5, "recall": 0.25},
        degraded=("the embedder: it does not answer",),
        cached=True,
    )
    return Context(
        sections=(
            ContextSection(part="recall", items=(item, bare), tokens=9),
            ContextSection(part="window", items=(), tokens=0),
        ),
        receipt=receipt,
        text=f"<nexus-memory>\n{item.line}\n</nexus-memory>",
        stable_prefix_length=15,
        messages_to_send=({"role": "user", "content": text},),
        compaction=Compaction(fits=True, removed=3, left_out=1, degraded=("the model",)),
    )


class ContextCacheSuite:
    """Needs a fixture `store` that yields an empty store with a context cache."""

    @pytest.fixture
    def keeper(self, store: Any) -> SharedContextCache:
        contexts: SharedContextCache = store.contexts
        return contexts

    @staticmethod
    def _put_context(
        store: Any, grant: Grant, text: str = "tea", key: str = KEY, **more: Any
    ) -> Any:
        """Cache a context as a composer does and return the cached record."""
        ticket = store.contexts.get(grant, key).ticket
        assert ticket
        epoch = store.epoch(grant) + store.window.epoch(grant)
        kept = CachedContext(context=full_context(text), at=NOON, epoch=epoch)
        store.contexts.put(grant, key, kept, **{"ticket": ticket, "seconds": TTL_SECONDS, **more})
        return kept

    def test_cached_context_is_returned_unchanged(
        self, store: Any, keeper: SharedContextCache
    ) -> None:
        grant, text = IN_ROOM.grant(), full_context().sections[0].items[0].text
        kept = self._put_context(store, grant, text)

        found = keeper.get(grant, KEY).cached

        assert found == kept
        assert found
        (recalled, *_), (put, *_) = (each.context.section_items("recall") for each in (found, kept))
        assert (recalled.line, recalled.words) == (put.line, put.words)
        assert found.context.text == kept.context.text
        assert list(found.context.receipt.plan) == ["window", "recall"]

    def test_empty_cache_returns_ticket_only(self, keeper: SharedContextCache) -> None:
        looked = keeper.get(IN_ROOM.grant(), KEY)

        assert looked.cached is None
        assert looked.ticket
        assert (
            keeper.get(ALICE.grant(), KEY).ticket == looked.ticket
        )  # it contains nothing about other users

    def test_second_put_replaces_context(self, store: Any, keeper: SharedContextCache) -> None:
        grant = IN_ROOM.grant()
        self._put_context(store, grant, "old")
        kept = self._put_context(store, grant, "new")

        assert keeper.get(grant, KEY).cached == kept

    def test_context_is_returned_only_for_same_grant(
        self, store: Any, keeper: SharedContextCache
    ) -> None:
        """The same key with one scope more or less is another cache entry."""
        grant = ALICE.grant()
        self._put_context(store, grant)
        strangers = [
            BOB.grant(),
            IN_ROOM.grant(),
            grant.narrow_to(grant.scopes - {ALICE_DM}),
            grant.narrow_to([]),
            replace(ALICE, project=None).grant(),
            replace(ALICE, workspace=OTHER).grant(),
        ]

        assert [keeper.get(each, KEY).cached for each in strangers] == [None] * len(strangers)
        assert keeper.get(grant, "another question").cached is None
        assert keeper.get(grant, KEY).cached

    def test_cache_rejects_forged_grant(self, keeper: SharedContextCache) -> None:
        forged = object.__new__(Grant)

        with pytest.raises(TypeError):
            keeper.get(forged, KEY)
        kept = CachedContext(context=full_context(), at=NOON, epoch=0)
        with pytest.raises(TypeError):
            keeper.put(forged, KEY, kept, ticket="t", seconds=TTL_SECONDS)

    def test_cached_context_expires(self, store: Any, keeper: SharedContextCache) -> None:
        grant = IN_ROOM.grant()
        self._put_context(store, grant, seconds=1)
        time.sleep(1.2)

        assert keeper.get(grant, KEY).cached is None

    def test_hits_and_misses_are_counted(self, store: Any, keeper: SharedContextCache) -> None:
        before = keeper.stats
        self._put_context(store, IN_ROOM.grant())
        for viewer in (IN_ROOM, IN_ROOM, ALICE):
            keeper.get(viewer.grant(), KEY)

        assert keeper.stats.hits - before.hits == 2
        assert keeper.stats.misses - before.misses == 2  # cached before the erasure, and Alice's

    def test_erasure_drops_contexts_of_its_readers(
        self, store: Any, keeper: SharedContextCache
    ) -> None:
        """Contexts of other viewers and of other workspaces stay cached."""
        (id,) = append_events(store, make_event("1", scope=ALICE_DM))
        aside = replace(ALICE, workspace=OTHER)
        others = [BOB.grant(), IN_ROOM.grant(), aside.grant()]
        for grant in (ALICE.grant(), *others):
            self._put_context(store, grant)

        erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert erased.contexts == 1
        assert keeper.get(ALICE.grant(), KEY).cached is None
        assert all(keeper.get(grant, KEY).cached for grant in others)

    def test_erasure_drops_stale_contexts(self, store: Any, keeper: SharedContextCache) -> None:
        """No viewer gets a stale context, but it still contains text of erased records."""
        self._put_context(store, ALICE.grant())
        append_events(store, make_event("1", scope=ALICE_DM))

        assert store.eraser.erase(ACME, events=[], memories=[], tombstones=[]).contexts == 1
        assert keeper.get(ALICE.grant(), KEY).cached is None

    def test_ticket_from_before_erasure_is_rejected(
        self, store: Any, keeper: SharedContextCache
    ) -> None:
        """The ticket is rejected, however late it arrives and whichever reads ran in between."""
        grant = ALICE.grant()
        ticket = keeper.get(grant, KEY).ticket
        assert ticket
        kept = CachedContext(context=full_context(), at=NOON, epoch=store.epoch(grant))
        (id,) = append_events(store, make_event("1", scope=ALICE_DM))
        store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])
        again = keeper.get(BOB.grant(), KEY).ticket

        keeper.put(grant, KEY, kept, ticket=ticket, seconds=TTL_SECONDS)

        assert again != ticket
        assert keeper.get(grant, KEY).cached is None
        assert store.eraser.find_residue(ACME, [b"Tea is served at four."]) is not None

    def test_erasure_keeps_tickets_of_other_workspaces(
        self, store: Any, keeper: SharedContextCache
    ) -> None:
        grant = replace(ALICE, workspace=OTHER).grant()
        ticket = keeper.get(grant, KEY).ticket
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])

        assert keeper.get(grant, KEY).ticket == ticket

    def test_residue_search_covers_cached_contexts(self, store: Any) -> None:
        """Text that a viewer wrote and that still exists does not count as residue."""
        text = "the heron nests in the tower"
        self._put_context(store, BOB.grant(), text)
        self._put_context(store, ALICE.grant(), text)
        append_events(
            store, make_event("1", scope=ALICE_DM)
        )  # Alice's context is stale and still stored

        found = store.eraser.find_residue(ACME, [text.encode()])

        assert sum(found.values()) > 0
        store.eraser.erase(ACME, events=[], memories=[], tombstones=[])
        assert sum(store.eraser.find_residue(ACME, [text.encode()]).values()) == 0

    def test_erasure_scans_many_contexts(self, store: Any, keeper: SharedContextCache) -> None:
        (id,) = append_events(store, make_event("1"))
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
            self._put_context(store, visitor.grant())
        self._put_context(store, BOB.grant())

        erased = store.eraser.erase(ACME, events=[id], memories=[], tombstones=[])

        assert erased.contexts == len(visitors)
        assert keeper.get(BOB.grant(), KEY).cached
