"""Contexts that were composed a moment ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from nexus.compose.cache import ContextCache, key_of
from nexus.compose.messages import Said
from nexus.compose.wish import Wish
from nexus.core.access import Viewer
from nexus.core.context import Context, ContextReceipt
from nexus.core.errors import StoreUnavailable
from nexus.core.ids import AgentId, UserId, WorkspaceId

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ACME, OTHER = WorkspaceId("acme"), WorkspaceId("other")
ALICE = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"))
ASKED = Wish(question="What did we decide?")


class World:
    """A store with an epoch, a clock, and a count of how often somebody composed."""

    def __init__(self) -> None:
        self.now, self.epoch, self.composed = NOON, 1, 0
        self.degraded: tuple[str, ...] = ()
        self.length = 10
        self.cache = ContextCache(lambda: self.now, most_bytes=10_000)

    def compose(self, epoch: int | None = None) -> tuple[Context, int]:
        del epoch  # this one reads its own
        self.composed += 1
        receipt = ContextReceipt(
            id=f"{self.composed}",
            at=self.now,
            question="",
            budget=1,
            tokens=1,
            plan={},
            degraded=self.degraded,
        )
        return Context(sections=(), receipt=receipt, text="x" * self.length), self.epoch

    def ask(self, viewer: Viewer = ALICE, wish: Wish = ASKED) -> Context:
        return self.cache.composed(viewer, wish, lambda: self.epoch, self.compose)


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.requirement("D23")
def test_the_same_question_has_the_same_context(world: World) -> None:
    first, second = world.ask(), world.ask()

    assert world.composed == 1
    assert (first.receipt.cached, second.receipt.cached) == (False, True)
    assert first.id == second.id
    assert first.text == second.text
    assert (world.cache.stats.hits, world.cache.stats.misses) == (1, 1)
    assert world.cache.stats.hit_rate == 0.5


@pytest.mark.requirement("D23")
def test_a_write_ends_it(world: World) -> None:
    world.ask()
    world.epoch += 1

    assert not world.ask().receipt.cached


@pytest.mark.requirement("D23")
def test_it_lasts_five_minutes_at_most_also_if_it_is_asked_for_all_the_time(world: World) -> None:
    world.ask()
    for _ in range(4):
        world.now += timedelta(minutes=1)
        assert world.ask().receipt.cached
    world.now += timedelta(minutes=1)

    assert not world.ask().receipt.cached


def test_a_clock_that_goes_back_makes_nothing_fresh(world: World) -> None:
    world.ask()
    world.now -= timedelta(seconds=1)

    assert not world.ask().receipt.cached


def elsewhere() -> Iterator[tuple[Viewer, Wish]]:
    bob = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("bob"))
    tenant = Viewer(workspace=OTHER, agent=AgentId("scribe"), user=UserId("alice"))
    agent = Viewer(workspace=ACME, agent=AgentId("other"), user=UserId("alice"))
    project = Viewer(
        workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"), project="apollo"
    )
    yield from ((viewer, ASKED) for viewer in (bob, tenant, agent, project))
    for wish in (
        Wish(question="What did we decide"),
        Wish(question=ASKED.question, budget=500),
        Wish(question=ASKED.question, window=3),
        Wish(question=ASKED.question, model="claude"),
        Wish(question=ASKED.question, as_of=NOON),
        Wish(question=ASKED.question, explain=True),
        Wish(question=ASKED.question, thread="t"),
        Wish(question=ASKED.question, said=[Said(role="user", text="hello")]),
    ):
        yield ALICE, wish


@pytest.mark.parametrize(("viewer", "wish"), list(elsewhere()))
def test_anybody_else_and_anything_else_is_another_question(
    world: World, viewer: Viewer, wish: Wish
) -> None:
    world.ask()

    assert not world.ask(viewer, wish).receipt.cached
    assert key_of(viewer, wish, 1) != key_of(ALICE, ASKED, 1)


def test_the_order_of_names_is_no_way_around_the_key() -> None:
    def viewer(*people: str) -> Viewer:
        return Viewer(
            workspace=ACME,
            agent=AgentId("scribe"),
            room="design",
            participants=tuple(map(UserId, people)),
        )

    assert key_of(viewer("a", "b"), ASKED, 1) != key_of(viewer("a"), ASKED, 1)
    assert key_of(viewer("sees"), ASKED, 1) != key_of(viewer(), ASKED, 1)


def test_what_was_written_while_it_was_composed_is_not_missed(world: World) -> None:
    def compose(_: int | None) -> tuple[Context, int]:
        context, epoch = world.compose()
        world.epoch += 1  # somebody tells something while it is being rendered
        return context, epoch

    world.cache.composed(ALICE, ASKED, lambda: world.epoch, compose)

    assert not world.ask().receipt.cached


def test_what_is_degraded_is_for_this_once(world: World) -> None:
    world.degraded = ("meaning: away",)
    world.ask()
    world.degraded = ()

    assert not world.ask().receipt.cached


def test_a_store_that_is_away_is_no_reason_not_to_try(world: World) -> None:
    def away() -> int:
        raise StoreUnavailable("away")

    assert world.cache.composed(ALICE, ASKED, away, world.compose).id == "1"


def test_forgetting_takes_out_what_no_longer_holds_in_this_workspace(world: World) -> None:
    tenant = Viewer(workspace=OTHER, agent=AgentId("scribe"), user=UserId("alice"))
    world.ask()
    world.ask(tenant)
    world.epoch += 1  # something was erased that alice could see

    world.cache.forget(ACME)

    assert world.cache.stats.contexts == 1
    assert not world.ask().receipt.cached


@pytest.mark.requirement("X2")
def test_who_cannot_see_what_was_forgotten_does_not_notice(world: World) -> None:
    world.ask()

    world.cache.forget(ACME)

    assert world.ask().receipt.cached


def test_what_is_forgotten_while_it_is_composed_is_not_kept(world: World) -> None:
    def compose(_: int | None) -> tuple[Context, int]:
        made = world.compose()
        world.cache.forget(ACME)
        return made

    world.cache.composed(ALICE, ASKED, lambda: world.epoch, compose)

    assert world.cache.stats.contexts == 0


def test_it_is_bounded_and_those_asked_for_longest_ago_go(world: World) -> None:
    world.length = 1_500  # 3,000 bytes each: three of them fit
    wishes = [Wish(question=f"{n}?") for n in range(4)]
    for wish in wishes[:3]:
        world.ask(ALICE, wish)
    world.ask(ALICE, wishes[0])

    world.ask(ALICE, wishes[3])

    assert world.cache.stats.bytes <= 10_000
    assert world.ask(ALICE, wishes[0]).receipt.cached
    assert not world.ask(ALICE, wishes[1]).receipt.cached


def test_one_that_is_larger_than_all_is_not_kept(world: World) -> None:
    world.length = 1_000_000
    world.ask()

    assert world.cache.stats.contexts == 0


def test_it_can_be_switched_off(world: World) -> None:
    world.cache = ContextCache(lambda: world.now, seconds=0)

    assert not world.ask().receipt.cached
    assert not world.ask().receipt.cached
