"""What `from nexus import …` offers: adding a name is a decision, made here."""

from __future__ import annotations

import inspect

import pytest

import nexus
from nexus import AsyncNexus, AsyncPlace, AsyncWorkspace, Nexus, Place, Workspace
from nexus.aio import AsyncDossiers, AsyncGoals, AsyncNotebook, AsyncProcedures, AsyncReviews
from nexus.dossiers import Dossiers
from nexus.goals import Goals
from nexus.notebook import Notebook
from nexus.procedures import Procedures
from nexus.reviews import Reviews

SNAPSHOT = """
    AgentId AsyncNexus AsyncPlace AsyncWorkspace Attachment ConfigError Conflict Context Corrupt
    EmbedderUnavailable EntityView Event Fact Forgotten Found Goal Grant Hit Interpretation
    InvalidInput Memory MissingExtra Nexus NexusError NotFound Place Progress QuotaExceeded
    Receipt Review Scope Stage StoreUnavailable Unavailable UserId Viewer Workspace WorkspaceId
""".split()

METHODS = {
    Nexus: (
        "close metrics open optimize progress prometheus reembed reembed_soon shift wait workspace"
        " workspaces"
    ),
    Workspace: (
        "administrator audit audit_after damage dm explain export export_audit flush forget import_"
        " jobs learn_episodes learn_patterns place quota rebuild retry reviews room"
        " run_job session sessions_knowing stats usage verify verify_audit waiting"
    ),
    Place: (
        "add_fact after before compact compose dossiers drop_note entities entity episodes explain"
        " fact facts flush get goal goals index interpret note notebook notes observe"
        " observe_many procedures profile progress recall recent remember reviews scope"
        " sessions_knowing set_fact set_goal share sources stale strength think thoughts window"
    ),
    Dossiers: "answers ask drop get list questions refresh",
    Goals: "abandon add block change complete get list reopen tree unblock",
    Notebook: "delete history list read sync write",
    Procedures: "find finish record statistics",
    Reviews: "accept evidence get list reject undo",
}


def test_the_public_names_are_these() -> None:
    assert nexus.__all__ == SNAPSHOT == sorted(SNAPSHOT)
    assert len(SNAPSHOT) <= 40


@pytest.mark.parametrize("name", SNAPSHOT)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(nexus, name)

    assert inspect.isclass(value)
    assert value.__doc__


def test_nothing_else_is_public() -> None:
    ours = {
        name
        for name, value in vars(nexus).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("nexus")
    }

    assert ours <= set(SNAPSHOT)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nexsu"):
        nexus.Nexsu  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("face", METHODS, ids=lambda face: face.__name__)
def test_every_face_has_these_methods(face: type) -> None:
    public = [name for name in dir(face) if not name.startswith("_")]

    assert public == METHODS[face].split()


@pytest.mark.parametrize("face", METHODS, ids=lambda face: face.__name__)
def test_every_method_says_what_it_does(face: type) -> None:
    silent = [
        name
        for name, method in inspect.getmembers(face, inspect.isfunction)
        if not name.startswith("_") and not method.__doc__
    ]

    assert set(silent) <= {"close", "workspace", "progress", "stats"}


@pytest.mark.requirement("D20")
@pytest.mark.parametrize(
    ("awaited", "plain"),
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
def test_the_awaited_face_has_every_method_of_the_plain_one(awaited: type, plain: type) -> None:
    def public(face: type) -> set[str]:
        return {name for name in dir(face) if not name.startswith("_")}

    assert public(plain) <= public(awaited)
    assert public(awaited) - public(plain) <= {
        "grant",
        "id",
        "scope",
        "viewer",
    }  # set by the plain one
