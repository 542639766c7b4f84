"""Who may read what: every way to read, every viewer, every drawer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ...core.access import Grant, Viewer, administrator_grant
from ...core.ids import AgentId, UserId
from ...core.protocols import Store
from ...core.scope import Scope
from ..reads import READS, every_way_shows, fill, read_every_way
from ..samples import ADMIN, ALICE, BOB, IN_ROOM, OTHER, ROOM

SESSION = replace(ALICE, session="monday")
CAROL_IN_ROOM = replace(IN_ROOM, user=UserId("carol"))  # who asks there is no participant
VIEWERS = {
    "room": IN_ROOM,
    "carol": CAROL_IN_ROOM,
    "alice": ALICE,
    "bob": BOB,
    "session": SESSION,
}

# Seed 000's tables, by hand: every drawer, and from where it is open.
OPEN_FROM = {
    Scope.workspace(): "room carol alice bob session",
    Scope.agent("scribe"): "room carol alice bob session",
    Scope.agent("critic"): "",
    Scope.project("apollo"): "room carol alice bob session",
    Scope.project("apollo 2"): "",
    Scope.room("design"): "room carol",
    Scope.room("design 2"): "",
    Scope.user("alice"): "room carol alice session",
    Scope.user("bob"): "room carol bob",
    Scope.user("carol"): "",
    Scope.dm("alice", "scribe"): "alice",
    Scope.dm("alice", "critic"): "",
    Scope.dm("bob", "scribe"): "bob",
    Scope.dm("bob", "critic"): "",
    Scope.session("alice", "monday"): "session",
    Scope.session("alice", "tuesday"): "",
    Scope.session("bob", "monday"): "",
    Scope.worker(): "",
}

# Names that somebody could mistake for each other, or for a pattern.
LOOKALIKES = (
    "ann anna Ann a:b a%3Ab a%253Ab % _ * a'b a\"b a\\b null 0"
    " \N{LATIN SMALL LETTER A WITH DIAERESIS} a\N{COMBINING DIAERESIS}"
).split()


def forgeries() -> dict[str, object]:
    changed = ALICE.grant()
    object.__setattr__(changed, "everything", True)
    widened = ALICE.grant()
    object.__setattr__(widened, "scopes", widened.scopes | {ROOM})
    return {
        "nothing": None,
        "a viewer": IN_ROOM,
        "a scope": ROOM,
        "an empty shell": object.__new__(Grant),
        "a grant for everything": changed,
        "a wider grant": widened,
        "text": "everything",
    }


class AccessSuite:
    """Needs a fixture `store`: an empty one."""

    @pytest.mark.parametrize("learned", [False, True], ids=["told", "learned"])
    @pytest.mark.parametrize("viewer", VIEWERS)
    def test_a_drawer_opens_only_from_where_it_should(
        self, store: Store, viewer: str, learned: bool
    ) -> None:
        shelf = fill(store, OPEN_FROM, learned=learned)
        fill(store, [Scope.room("design"), Scope.workspace()], workspace=OTHER)

        shown = read_every_way(store, VIEWERS[viewer].grant(), shelf)

        allowed = {str(scope) for scope, places in OPEN_FROM.items() if viewer in places.split()}
        assert shown == every_way_shows(allowed, learned=learned)

    @pytest.mark.parametrize(
        "viewer",
        [
            lambda name: replace(IN_ROOM, room=name, participants=()),
            lambda name: replace(IN_ROOM, room="?", participants=(UserId(name),)),
            lambda name: replace(IN_ROOM, room="?", participants=(), project=name),
            lambda name: replace(ALICE, user=UserId(name)),
            lambda name: replace(ALICE, agent=AgentId(name)),
            lambda name: replace(ALICE, session=name),
        ],
        ids="room participant project user agent session".split(),
    )
    def test_names_that_look_alike_are_not_the_same(
        self, store: Store, viewer: Callable[[str], Viewer]
    ) -> None:
        shelf = fill(store, {scope for name in LOOKALIKES for scope in viewer(name).grant().scopes})

        for name in LOOKALIKES:
            grant = viewer(name).grant()
            allowed = {str(scope) for scope in grant.scopes}
            assert read_every_way(store, grant, shelf) == every_way_shows(allowed)

    def test_a_colon_in_a_name_moves_no_border(self, store: Store) -> None:
        one, other = Scope.dm("a:b", "c"), Scope.dm("a", "b:c")
        shelf = fill(store, [one, other])

        shown = READS["memories.find"](store, ADMIN.within([one]), shelf)

        assert shown == {str(one)}

    def test_an_empty_grant_reads_nothing(self, store: Store) -> None:
        shelf = fill(store, [ROOM, Scope.workspace()])

        for grant in (ADMIN.within([]), ALICE.grant().within([ROOM])):
            assert read_every_way(store, grant, shelf) == every_way_shows(set())

    def test_a_grant_ends_at_the_wall(self, store: Store) -> None:
        shelf = fill(store, [ROOM, Scope.workspace()])
        unknown = administrator_grant(OTHER)
        assert read_every_way(store, unknown, shelf) == every_way_shows(set())

        fill(store, [Scope.project("theirs")], workspace=OTHER)

        inside = replace(IN_ROOM, workspace=OTHER).grant()
        assert read_every_way(store, inside, shelf) == every_way_shows(set())
        ours = {str(ROOM), str(Scope.workspace())}
        assert read_every_way(store, ADMIN, shelf) == every_way_shows(ours)

    @pytest.mark.parametrize("forgery", forgeries())
    def test_what_is_not_a_grant_reads_nothing(self, store: Store, forgery: str) -> None:
        shelf = fill(store, [ROOM, Scope.workspace()])
        forged: Any = forgeries()[forgery]
        allowed = {"queue.claim"} if forged is None else set()  # None: the worker's own call

        for way in READS.keys() - allowed:
            with pytest.raises(TypeError):
                READS[way](store, forged, shelf)

    def test_a_grant_cannot_be_made_copied_or_extended(self) -> None:
        grant = ALICE.grant()

        for forge in (
            Grant,
            lambda: copy.copy(grant),
            lambda: copy.deepcopy(grant),
            lambda: pickle.dumps(grant),
            lambda: type("Wider", (Grant,), {}),
        ):
            with pytest.raises(TypeError):
                forge()
        with pytest.raises(AttributeError):
            grant.everything = True

    def test_a_grant_is_narrowed_and_never_widened(self, store: Store) -> None:
        shelf = fill(store, OPEN_FROM)

        narrowed = ALICE.grant().within([Scope.user("alice"), Scope.user("bob"), ROOM])

        assert READS["memories.find"](store, narrowed, shelf) == {"user:alice"}
        assert READS["memories.find"](store, narrowed.within(OPEN_FROM), shelf) == {"user:alice"}
