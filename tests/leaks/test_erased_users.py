"""Importing an archive does not reveal which other users were erased."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from io import StringIO

import pytest
from tests.conftest import MONDAY, Clock, Open
from tests.stories.conftest import Team, make_team

from nexusmem.core.canonical import format_time
from nexusmem.core.scope import Scope

CAYS = "I said this a while ago."


def forget_cay(team: Team) -> None:
    """Erase Cay, who talked only with the agent, in scopes that no other user reads."""
    team.workspace.dm("cay", agent="scribe").observe("cay", "A word in private.", key="k")
    team.workspace.forget(user="cay")


def line(speaker: str, scope: Scope, *, key: str = "k") -> str:
    """Return an archive line written by hand."""
    at = format_time(MONDAY - timedelta(days=1))
    event = {"type": "event", "scope": str(scope), "kind": "message", "speaker": speaker}
    event |= {"role": "user", "text": CAYS, "at": at, "recorded_at": at, "key": key}
    event |= {"thread": None, "trust": "direct", "attachments": [], "metadata": {}}
    return "\n".join(map(json.dumps, ({"type": "nexus-archive", "version": 1}, event)))


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("scope", [Scope.dm("bob", "scribe"), Scope.project("apollo")], ids=str)
def test_import_does_not_reveal_erased_user(open_nexus: Open, clock: Clock, scope: Scope) -> None:
    learned = []
    for forgotten in (True, False):
        team = make_team(open_nexus(), clock)
        if forgotten:
            forget_cay(team)
        archive = StringIO(line("cay", scope))

        imported = team.workspace.import_(archive, grant=team.bobs.grant)

        learned.append((asdict(imported), [seen.text for seen in team.bobs.recall("a while ago")]))

    assert learned[0] == learned[1]
    assert learned[0][1] == [CAYS]


@pytest.mark.requirement("X6")
def test_administrator_import_reports_erased_user(open_nexus: Open, clock: Clock) -> None:
    team = make_team(open_nexus(), clock)
    forget_cay(team)
    into = Scope.dm("bob", "scribe")

    team.workspace.import_(StringIO(line("cay", into)), grant=team.bobs.grant)
    team.workspace.import_(StringIO(line("bob", into, key="b")), grant=team.bobs.grant)
    refused = team.workspace.import_(StringIO(line("cay", into, key="c")))

    told = [each.entry.detail for each in team.workspace.audit(action="import") if each.entry]
    assert [each["of_forgotten"] for each in reversed(told)] == [1, 0, 0]
    assert (refused.events, refused.forgotten) == (0, 1)


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("into", [None, Scope.room("design"), Scope.project("apollo")], ids=str)
def test_erased_event_is_not_imported_again(
    open_nexus: Open, clock: Clock, into: Scope | None
) -> None:
    team = make_team(open_nexus(), clock)
    team.room.observe("alice", CAYS, key="a")
    kept = StringIO()
    team.workspace.export(kept, grant=team.room.grant)
    team.clock.advance(days=1)
    team.workspace.forget(user="alice")

    archive = StringIO(kept.getvalue())
    imported = team.workspace.import_(archive, grant=team.room.grant, scope=into)

    assert (imported.events, imported.forgotten) == (0, 1)


@pytest.mark.requirement("X6")
def test_erased_event_is_not_imported_into_other_scope(open_nexus: Open, clock: Clock) -> None:
    team = make_team(open_nexus(), clock)
    receipt = team.alices.observe("alice", CAYS, key="a")
    kept = StringIO()
    team.workspace.export(kept)
    team.workspace.forget(event=receipt)

    into = Scope.room("design")
    from_outside = team.workspace.import_(
        StringIO(kept.getvalue()), grant=team.room.grant, scope=into
    )
    by_all = team.workspace.import_(StringIO(kept.getvalue()), scope=Scope.project("apollo"))

    assert (by_all.events, by_all.forgotten) == (0, 1)
    assert (from_outside.events, from_outside.forgotten) == (
        1,
        0,
    )  # must not know of the DM
