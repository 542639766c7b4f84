"""Snapshot of the public API: every added or removed name changes this file."""

from __future__ import annotations

import inspect

import pytest

import nexusmem
from nexusmem import AsyncNexus, AsyncPlace, AsyncWorkspace, Nexus, Place, Workspace
from nexusmem.aio import AsyncDossiers, AsyncGoals, AsyncNotebook, AsyncProcedures, AsyncReviews
from nexusmem.place.dossiers import Dossiers
from nexusmem.place.goals import Goals
from nexusmem.place.notebook import Notebook
from nexusmem.place.procedures import Procedures
from nexusmem.place.reviews import Reviews

SNAPSHOT = """
    AgentId AsyncNexus AsyncPlace AsyncWorkspace Attachment BadOutput BudgetSpent ConfigError
    Conflict Context Corrupt EmbedderUnavailable EntityView Event Fact FactTimeline Forgotten
    Goal Grant Hit Hits InvalidInput JobFailed LeaseLost Memory MemoryPage MemoryVersion
    MissingExtra ModelUnavailable Nexus NexusError NotFound Place Progress QuotaExceeded Receipt
    Review Scope Stage StoreUnavailable Unavailable UserId Viewer Workspace WorkspaceId
""".split()

METHODS = {
    Nexus: (
        "close metrics open optimize progress prometheus reembed schedule_reembed user wait worker"
        " workspace workspaces"
    ),
    Workspace: (
        "admin_grant apply_flows audit audit_since check_indexes dm explain export export_audit"
        " find_sessions flush forget import_ jobs pending_work place quota rebuild"
        " refresh_episodes refresh_habits retry reviews room run_job session sharing stats usage"
        " user verify verify_audit"
    ),
    Place: (
        "active_goal add_document add_fact add_thought compact compose context_for correct"
        " delete_note dossiers entities entity episodes explain fact_timeline fact_timelines facts"
        " find_entities find_sessions"
        " flush forget get get_value goals history landmarks layer mark_confidential memories"
        " neighbourhood notebook"
        " notes observe observe_many outdated_facts procedures profile progress recall recent"
        " record remember reviews scope set_active_goal set_note set_value share source_events"
        " strength thoughts upsert_entity why_visible window"
    ),
    Dossiers: "add_question answers get history list questions refresh remove_question",
    Goals: "add block cancel complete get list reopen tree unblock update",
    Notebook: "delete history in_scope list read sync write",
    Procedures: "find finish record statistics",
    Reviews: "accept evidence get list reject undo",
}


def test_public_names_match_the_snapshot() -> None:
    assert nexusmem.__all__ == SNAPSHOT == sorted(SNAPSHOT)
    assert len(SNAPSHOT) <= 45


@pytest.mark.parametrize("name", SNAPSHOT)
def test_public_name_is_a_documented_class(name: str) -> None:
    value = getattr(nexusmem, name)

    assert inspect.isclass(value)
    assert value.__doc__


def test_package_exports_no_other_name() -> None:
    ours = {
        name
        for name, value in vars(nexusmem).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("nexus")
    }

    assert ours <= set(SNAPSHOT)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nexsu"):
        nexusmem.Nexsu  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_public_methods_match_the_snapshot(cls: type) -> None:
    public = [name for name in dir(cls) if not name.startswith("_")]

    assert public == METHODS[cls].split()


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_public_method_has_a_docstring(cls: type) -> None:
    missing = [
        name
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and not method.__doc__
    ]

    assert missing == []


@pytest.mark.requirement("D20")
@pytest.mark.parametrize(
    ("async_class", "sync_class"),
    [
        (AsyncNexus, Nexus),
        (AsyncWorkspace, Workspace),
        (AsyncPlace, Place),
        (AsyncReviews, Reviews),
        (AsyncGoals, Goals),
        (AsyncProcedures, Procedures),
        (AsyncNotebook, Notebook),
        (AsyncDossiers, Dossiers),
    ],
    ids=[*"nexus workspace place reviews goals procedures notebook dossiers".split()],
)
def test_async_class_has_every_public_method(async_class: type, sync_class: type) -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    assert public(sync_class) <= public(async_class)
    assert public(async_class) - public(sync_class) <= {
        "grant",
        "id",
        "scope",
        "viewer",
    }  # instance attributes of the synchronous class
