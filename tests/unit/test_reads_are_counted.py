"""Every read of a place is one question: none is free, and none forgets to ask."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from tests.conftest import Open

from nexus import QuotaExceeded, Workspace
from nexus.config import QuotaSettings, Settings
from nexus.place import Place

# What tells nothing of what others said: it writes, or leads to a part that is asked itself.
NO_READS = {
    "Place": {
        *("observe", "observe_many", "remember", "index", "set_fact", "add_fact", "after"),
        *("note", "think", "set_goal", "drop_note", "share"),
        *("goals", "dossiers", "notebook", "procedures", "reviews"),
        *("flush", "progress", "scope"),  # how far one's own message has come
    },
    "Goals": {"abandon", "add", "block", "change", "complete", "reopen", "unblock"},
    "Dossiers": {"drop"},
    "Notebook": {"write", "delete"},
    "Procedures": {"record", "finish"},
    "Reviews": {"accept", "reject", "undo"},
}


def opened(open_nexus: Open, **quotas: int) -> Place:
    settings = Settings(quotas=QuotaSettings(**quotas))
    return open_nexus(settings=settings).workspace("acme").room("design", participants=["alice"])


def parts_of(place: Place) -> list[Any]:
    books = place.goals(), place.dossiers(), place.notebook(), place.procedures(), place.reviews()
    return [place, *books]


def reads_of(part: object) -> Iterator[str]:
    name = type(part).__name__
    every = {each for each, _ in inspect.getmembers(type(part), inspect.isfunction)}
    public = {each for each in every if not each.startswith("_")}
    assert NO_READS[name] <= public, "the list is as it was once"
    yield from sorted(public - NO_READS[name])


@pytest.mark.requirement("E34")
def test_every_read_of_a_place_asks(open_nexus: Open) -> None:
    place = opened(open_nexus, recalls_per_minute=0)

    free = []
    for part in parts_of(place):
        for read in reads_of(part):
            try:
                getattr(part, read)()
            except QuotaExceeded:
                continue
            except Exception:  # noqa: BLE001  # it went on, whatever came of it
                pass
            free.append(f"{type(part).__name__}.{read}")

    assert free == []


@pytest.mark.requirement("E34")
def test_an_archive_of_what_a_viewer_may_see_is_a_question(open_nexus: Open) -> None:
    place = opened(open_nexus, recalls_per_minute=0)
    acme = Workspace(place._parts, place.viewer.workspace)

    with pytest.raises(QuotaExceeded):
        acme.export(StringIO(), grant=place.grant)
    assert acme.export(StringIO()).events == 0  # the administrator's


@pytest.mark.requirement("E34")
def test_what_a_read_asks_inside_is_one_question(open_nexus: Open) -> None:
    place = opened(open_nexus, recalls_per_minute=1)
    place.set_fact("room", "color", "blue")

    assert place.fact("room", "color") == "blue"  # it reads the facts
    with pytest.raises(QuotaExceeded):
        place.facts()


@pytest.mark.requirement("E34")
def test_what_is_not_answered_any_more_is_free_again_after_a_minute(
    open_nexus: Open, clock: Any
) -> None:
    place = opened(open_nexus, recalls_per_minute=1)
    place.facts()
    with pytest.raises(QuotaExceeded) as refused:
        place.profile("alice")
    clock.now = refused.value.frees_at

    assert place.facts() == []
