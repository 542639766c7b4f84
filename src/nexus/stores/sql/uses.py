"""How often memories were shown, by the place they were shown in."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import text_time, time_text
from ...core.ids import WorkspaceId
from ...core.uses import (
    UNUSED,
    NewUse,
    Use,
    UseThere,
    added_up,
    conversation_digest,
    owner_digest,
)
from .labels import known_workspaces, label_number, locked_workspace, readable, workspace_number
from .session import Connections, Row, Session

FEW_USES = 500  # of a workspace: read at once, whosever they are
NEVER = UseThere()


class SqlUses:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, workspace: WorkspaceId, uses: Sequence[NewUse]) -> int:
        if not uses:
            return 0
        return self._connections.write(lambda session: _add(session, workspace, uses), lazily=True)

    def of(self, grant: Grant, ids: Sequence[str]) -> dict[str, Use]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            found = by_memory(session.run("uses_seen", bound))
        return {id: added_up([*places.values()]) for id, places in found.items()}

    def tidy(self, workspaces: Sequence[WorkspaceId], *, before: datetime) -> list[int]:
        with self._connections.reading() as session:
            rows = [(n, time_text(before)) for n in known_workspaces(session, workspaces)]
            strays = session.read_each("any_stray_uses", rows)
        return [  # nearly always there are none: nobody waits for a writer
            self._tidy(workspace, before) if some else 0
            for workspace, some in zip(workspaces, strays, strict=True)
        ]

    def _tidy(self, workspace: WorkspaceId, before: datetime) -> int:
        def tidy(session: Session) -> int:
            number = locked_workspace(session, workspace)
            bound = {"workspace": number, "before": time_text(before)}
            return int(session.run("drop_stray_uses", bound).rowcount)

        return self._connections.write(tidy)


def _add(session: Session, workspace: WorkspaceId, uses: Sequence[NewUse]) -> int:
    number = workspace_number(session, workspace)
    wanted = json.dumps(list(dict.fromkeys(id for use in uses for id in use.ids)))
    bound = {"workspace": number, "ids": wanted}
    there = {id for (id,) in session.run("among_memories", bound)}
    known = by_memory(session.run("uses_of", bound))
    places = {use.place: label_number(session, number, frozenset({use.place})) for use in uses}
    owners = {label: owner_digest(place) for place, label in places.items()}
    changed: dict[tuple[int, str], UseThere] = {}
    for use in uses:
        label, conversation = places[use.place], conversation_digest(use)
        for id in there.intersection(use.ids):
            before = changed.get((label, id)) or known.get(id, {}).get(label, NEVER)
            changed[label, id] = before.and_one(conversation, use.at)
    rows = [
        (number, *place, *_columns(use), owners[place[0]]) for place, use in sorted(changed.items())
    ]
    session.run_many("put_use", rows)
    return len({id for _, id in changed})


def _columns(use: UseThere) -> Row:
    return use.count, " ".join(use.conversations), time_text(use.last_at) if use.last_at else ""


def by_memory(rows: Iterable[Row]) -> dict[str, dict[int, UseThere]]:
    """The uses of each memory by the label of their place."""
    found: dict[str, dict[int, UseThere]] = defaultdict(dict)
    for id, label, count, conversations, last_at in rows:
        last = text_time(last_at) if isinstance(last_at, str) else last_at
        found[id][label] = UseThere(count, tuple(conversations.split()), last)
    return found


@dataclass(frozen=True, slots=True)
class UsesForAll:
    """Uses that all readers of a memory may know of.

    These are the uses in places whose scope is in the memory's label: whoever reads the memory
    holds all scopes of its label.
    """

    uses: Mapping[str, Mapping[int, UseThere]]
    scopes: Mapping[int, frozenset[str]]  # of each label
    learned: frozenset[int]  # labels that hold what was learned

    def of(self, id: str, label: int) -> Use:
        there = self.uses.get(id)
        if not there:
            return UNUSED
        theirs = self.scopes[label]
        return added_up([use for place, use in there.items() if self.scopes[place] <= theirs])


def common_uses(session: Session, ids: Mapping[int, Sequence[str]]) -> list[UsesForAll]:
    """Of these memories of each workspace."""
    found = session.read_each("some_uses", [(number, FEW_USES) for number in ids])
    labels = session.read_each("label_sets", [(number,) for number in ids])
    return [
        _for_all(_of_these(session, number, some, ids[number]), sets)
        for number, some, sets in zip(ids, found, labels, strict=True)
    ]


def _of_these(
    session: Session, number: int, some: Sequence[Row], ids: Sequence[str]
) -> dict[str, dict[int, UseThere]]:
    if len(some) == FEW_USES:  # there may be more than it is worth to read
        some = session.run("uses_of", {"workspace": number, "ids": json.dumps(ids)}).fetchall()
    wanted = set(ids)
    return by_memory(row for row in some if row[0] in wanted)


def _for_all(uses: Mapping[str, Mapping[int, UseThere]], labels: Sequence[Row]) -> UsesForAll:
    learned = frozenset(label for label, learned, _ in labels if learned)
    sets = labels if uses else []
    return UsesForAll(uses, {label: frozenset(json.loads(s)) for label, _, s in sets}, learned)


def erase_uses(session: Session, number: int, ids: Sequence[str]) -> int:
    """Those of these memories, and in the places of these tombstones."""
    bound = {"workspace": number, "ids": json.dumps(list(ids))}
    return int(session.run("erase_uses", bound).rowcount)
