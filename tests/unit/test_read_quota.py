"""Every read of a place checks the quota of reads."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from tests.conftest import Open

from nexusmem import QuotaExceeded, Workspace
from nexusmem.config.settings import QuotaSettings, Settings
from nexusmem.place.place import Place

# Methods that are no reads: they write, or return a part with counted reads.
NO_READS = {
    "Place": {
        *("observe", "observe_many", "remember", "add_document", "set_value", "add_fact", "record"),
        *("upsert_entity",),
        *("set_note", "add_thought", "set_active_goal", "delete_note", "share"),
        *("correct", "forget", "mark_confidential"),
        *("flush", "progress", "scope"),  # status of the caller's own message
    },
    "Goals": {"cancel", "add", "block", "update", "complete", "reopen", "unblock"},
    "Dossiers": {"remove_question"},
    "Notebook": {"write", "delete", "in_scope"},
    "Procedures": {"record", "finish"},
    "Reviews": {"accept", "reject", "undo"},
}


def opened(open_nexus: Open, **quotas: int) -> Place:
    settings = Settings(quotas=QuotaSettings(**quotas))
    return open_nexus(settings=settings).workspace("acme").room("design", participants=["alice"])


def parts_of(place: Place) -> list[Any]:
    collections = place.goals, place.dossiers, place.notebook, place.procedures, place.reviews
    return [place, *collections]


def reads_of(part: object) -> Iterator[str]:
    name = type(part).__name__
    every = {each for each, _ in inspect.getmembers(type(part), inspect.isfunction)}
    public = {each for each in every if not each.startswith("_")}
    assert NO_READS[name] <= public, "the list is as it was once"
    yield from sorted(public - NO_READS[name])


@pytest.mark.requirement("E34")
def test_every_read_checks_the_quota(open_nexus: Open) -> None:
    place = opened(open_nexus, reads_per_minute=0)

    free = []
    for part in parts_of(place):
        for read in reads_of(part):
            try:
                getattr(part, read)()
            except QuotaExceeded:
                continue
            except Exception:  # it went on, whatever came of it  # noqa: BLE001
                pass
            free.append(f"{type(part).__name__}.{read}")

    assert free == []


@pytest.mark.requirement("E34")
def test_viewer_export_counts_as_read(open_nexus: Open) -> None:
    place = opened(open_nexus, reads_per_minute=0)
    acme = Workspace(place._parts, place.viewer.workspace)

    with pytest.raises(QuotaExceeded):
        acme.export(StringIO(), grant=place.grant)
    assert acme.export(StringIO()).events == 0  # the administrator has no quota


@pytest.mark.requirement("E34")
def test_nested_reads_count_once(open_nexus: Open) -> None:
    place = opened(open_nexus, reads_per_minute=1)
    place.set_value("room", "color", "blue")

    assert place.get_value("room", "color") == "blue"  # calls facts() inside
    with pytest.raises(QuotaExceeded):
        place.facts()


@pytest.mark.requirement("E34")
def test_read_quota_resets_after_a_minute(open_nexus: Open, clock: Any) -> None:
    place = opened(open_nexus, reads_per_minute=1)
    place.facts()
    with pytest.raises(QuotaExceeded) as refused:
        place.profile("alice")
    clock.now = refused.value.frees_at

    assert place.facts() == []
