"""Hypothesis strategies: small worlds of users with confusable names, and scripts of
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.access import Viewer
from ...core.errors import MissingExtra
from ...core.flows import AGENT_MODES, NO_SHARING, Sharing
from ...core.ids import AgentId, UserId, WorkspaceId
from ...core.scope import Scope
from .flow_oracle import CALL_BACK, SENTENCES
from .operations import (
    DRAFT_SHAPES,
    PLACE_ACTIONS,
    ChangeMemory,
    DeriveMemory,
    EventRef,
    ForgetData,
    MaintenanceStep,
    MarkConfidential,
    Operation,
    PlaceAction,
    RebuildEvent,
    SetValue,
    ShareMemory,
    WriteEvent,
)

try:
    from hypothesis import strategies as some
except ImportError as error:
    raise MissingExtra("nexusmem.testing.leaks.strategies", "testing") from error

# Pairs that are easy to confuse with each other or with a pattern.
LOOKALIKES = (
    ("ann", "anna"),
    ("ann", "Ann"),
    ("a", "a:b"),
    ("a:b", "a%3Ab"),
    ("%", "_"),
    ("o'hara", 'o"hara'),
    ("\N{LATIN SMALL LETTER A WITH DIAERESIS}", "a\N{COMBINING DIAERESIS}"),
    ("null", "None"),
    ("\U0001f980", "\u4e2d\u6587"),
)
WORDS = "tea heron blue secret ledger likes the who staging database \u4e2d\u6587 zebra".split()
TASK_TEXTS = (  # promises, and messages that close them
    *("I will send the blue heron ledger by Friday.", "I will send the secret tea."),
    *("The heron ledger is sent.", "Done.", "Never mind."),
)
KEYS = ("k1", "k2", "k3", "k4", "k5", "k'%_")
MAINTENANCE_ACTIONS = (
    *("flush", "learn everything", "learn everything", "build episodes"),
    *("optimize", "reopen", "rebuild", "tomorrow", "three weeks pass", "switch sharing"),
)

names = some.sampled_from(sorted({name for pair in LOOKALIKES for name in pair}))
texts = some.lists(some.sampled_from(WORDS), min_size=3, max_size=8).map(" ".join)
sentences = some.sampled_from([*(each.text for each in SENTENCES), CALL_BACK, *TASK_TEXTS])
statements = texts | sentences
sharings = some.just(NO_SHARING) | some.builds(
    Sharing,
    sessions=some.booleans(),
    agents=some.sampled_from(AGENT_MODES),
    profile=some.booleans(),
    project=some.booleans(),
    rooms=some.booleans(),
)
keys = some.sampled_from(KEYS)
memory_id_flags = some.booleans()
shapes = some.sampled_from(sorted(DRAFT_SHAPES))
values = some.sampled_from(["blue", 7, 2.5, None, True, ["tea"], {"a": "heron"}])


@dataclass(frozen=True)
class ViewerGroup:
    """Two users, their places, and the scopes they can reach."""

    viewers: tuple[Viewer, ...]

    @property
    def scopes(self) -> list[Scope]:
        return sorted({scope for viewer in self.viewers for scope in viewer.grant().places})

    @property
    def names(self) -> list[str]:
        """The names of all users."""
        people = {person for each in self.viewers for person in (*each.participants, each.user)}
        return sorted(person.value for person in people if person)

    @property
    def workspaces(self) -> list[WorkspaceId]:
        return sorted({viewer.workspace for viewer in self.viewers})


@some.composite
def viewer_groups(draw: some.DrawFn) -> ViewerGroup:
    """Generate a room, direct messages, sessions and a second workspace for two confusable
    users.
    """
    one, other = draw(some.sampled_from(LOOKALIKES))
    people = tuple(map(UserId, draw(some.permutations([one, other]))))
    bot = Viewer(
        workspace=WorkspaceId("w"), agent=AgentId("bot"), room="r", participants=people, project="p"
    )
    first, second = (replace(bot, room=None, participants=(), user=person) for person in people)
    return ViewerGroup(
        (
            bot,
            replace(bot, room="r 2", participants=people[:1], project=None),
            first,
            second,
            replace(first, session=other),
            replace(first, session="s 2", private=True),
            replace(second, agent=AgentId("bot 2"), project=None),
            replace(first, workspace=WorkspaceId("w 2")),
        )
    )


def scope_names(viewer: Viewer, all_scopes: Sequence[Scope]) -> some.SearchStrategy[str]:
    """Generate scope names, mostly names the viewer can reach."""
    own = [str(scope) for scope in sorted(viewer.grant().scopes)]
    return some.sampled_from([*own, *own, *map(str, all_scopes)])


@some.composite
def write_operations(
    draw: some.DrawFn, viewers: Sequence[Viewer], all_scopes: Sequence[Scope]
) -> WriteEvent | SetValue | PlaceAction:
    """Generate a write into the viewer's own scope or into a named scope."""
    viewer = draw(some.sampled_from(viewers))
    text, key = draw(statements), draw(keys)
    if draw(some.integers(0, 5)) == 0:
        what = draw(some.sampled_from([*PLACE_ACTIONS, "question"]))
        return PlaceAction(viewer, what, text, draw(some.none() | some.just(5.0)))
    people = [*viewer.participants, viewer.agent, *([viewer.user] * 2 if viewer.user else [])]
    speaker = draw(some.sampled_from(people)).value
    confidential = draw(some.integers(0, 9)) == 0
    if draw(some.integers(0, 2)):
        return WriteEvent(viewer, "observe", (speaker, text), key, confidential=confidential)
    scope = draw(scope_names(viewer, all_scopes))
    arguments: dict[str, tuple[Any, ...]] = {
        "remember": (text,),
        "add_document": (f"# {text}\n\n{text}.",),
        "add_fact": (speaker, "LIKES", text),
        "upsert_entity": (text,),
        "add": (text,),  # a goal
        "set_value": ("color", draw(values)),
    }
    verb = draw(some.sampled_from(sorted(arguments)))
    if verb == "set_value":
        return SetValue(viewer, scope, *arguments[verb])
    return WriteEvent(viewer, verb, arguments[verb], key, scope)


@some.composite
def share_operations(
    draw: some.DrawFn, group: ViewerGroup, events: Sequence[EventRef]
) -> ShareMemory:
    """Generate a share, mostly of a readable memory to a reachable scope."""
    ref = draw(some.sampled_from(events))
    near = [v for v in group.viewers if ref.scope in v.grant().scopes and draw(some.integers(0, 9))]
    viewer = draw(some.sampled_from(near or group.viewers))
    places = [other for other in group.viewers if viewer.user in (*other.people, other.user)]
    scopes = scope_names(viewer, group.scopes)
    to = draw(some.one_of(scopes, some.sampled_from(places)) if places else scopes)
    return ShareMemory(viewer, ref, to, draw(keys))


@some.composite
def mark_operations(
    draw: some.DrawFn, group: ViewerGroup, events: Sequence[EventRef]
) -> MarkConfidential:
    """Generate a mark of a confidential message, mostly in the place where it was said."""
    ref = draw(some.sampled_from(events))
    near = [v for v in group.viewers if v.home == ref.scope and draw(some.integers(0, 9))]
    return MarkConfidential(draw(some.sampled_from(near or group.viewers)), ref)


def followup_operations(
    group: ViewerGroup, events: Sequence[EventRef]
) -> some.SearchStrategy[Operation]:
    """Generate a derivation, an erasure, a correction, a mark, a share or a rebuild of events."""
    known_events = some.sampled_from(events)
    event_lists = some.lists(known_events, min_size=1, max_size=3, unique=True)
    sources = event_lists.map(
        lambda refs: tuple(r for r in refs if r.workspace == refs[0].workspace)
    )
    return some.one_of(
        *[share_operations(group, events)] * 2,
        *[
            some.builds(
                DeriveMemory,
                some.sampled_from(group.scopes),
                sources,
                texts,
                memory_id_flags,
                shapes,
            )
        ]
        * 3,
        known_events.map(lambda ref: ForgetData(ref.workspace, event=ref)),
        known_events.map(lambda ref: ForgetData(ref.workspace, memory=ref)),
        some.builds(
            ChangeMemory, some.sampled_from(group.viewers), known_events, some.none() | statements
        ),
        mark_operations(group, events),
        some.builds(RebuildEvent, known_events),
    )


def maintenance_steps(viewers: Sequence[Viewer]) -> some.SearchStrategy[MaintenanceStep]:
    return some.builds(
        MaintenanceStep, some.sampled_from(MAINTENANCE_ACTIONS), some.sampled_from(viewers)
    )


@some.composite
def operation_scripts(
    draw: some.DrawFn, max_steps: int = 15
) -> tuple[ViewerGroup, list[Operation]]:
    """Generate a group of viewers and a script of operations."""
    group = draw(viewer_groups())
    script: list[Operation] = []
    events: list[EventRef] = []
    for _ in range(draw(some.integers(1, max_steps))):
        kinds = [write_operations(group.viewers, group.scopes)] * 3 + [
            maintenance_steps(group.viewers)
        ]
        operation = draw(
            some.one_of(*kinds, *([followup_operations(group, events)] * 2 if events else []))
        )
        script.append(operation)
        events += [operation.event_ref] if operation.event_ref else []
    return group, script
