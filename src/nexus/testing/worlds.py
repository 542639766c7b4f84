"""Hypothesis strategies: small worlds full of people with awkward names, and what they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.access import Viewer
from ..core.errors import MissingExtra
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.scope import Scope
from .housekeeping import Housekeeping
from .operations import (
    JOTS,
    SHAPES,
    Derive,
    Forget,
    Jot,
    Operation,
    Rebuild,
    Ref,
    SetFact,
    Tell,
)
from .shares import Share

try:
    from hypothesis import strategies as some
except ImportError as error:
    raise MissingExtra("nexus.testing.worlds", "testing") from error

# Pairs that somebody could mistake for each other, or for a pattern.
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
KEYS = ("k1", "k2", "k3", "k4", "k5", "k'%_")
CHORES = (
    *("flush", "learn everything", "learn everything", "tell episodes"),
    *("optimize", "reopen", "rebuild", "tomorrow", "three weeks pass"),
)

names = some.sampled_from(sorted({name for pair in LOOKALIKES for name in pair}))
texts = some.lists(some.sampled_from(WORDS), min_size=3, max_size=8).map(" ".join)
keys = some.sampled_from(KEYS)
deeper = some.booleans()
shapes = some.sampled_from(sorted(SHAPES))
values = some.sampled_from(["blue", 7, 2.5, None, True, ["tea"], {"a": "heron"}])


@dataclass(frozen=True)
class Cast:
    """Two people, their places, and the drawers they can reach."""

    viewers: tuple[Viewer, ...]

    @property
    def scopes(self) -> list[Scope]:
        return sorted({scope for viewer in self.viewers for scope in viewer.grant().scopes})

    @property
    def workspaces(self) -> list[WorkspaceId]:
        return sorted({viewer.workspace for viewer in self.viewers})


@some.composite
def casts(draw: some.DrawFn) -> Cast:
    """A room, DMs, sessions and a second workspace, for two people who are easily confused."""
    one, other = draw(some.sampled_from(LOOKALIKES))
    people = tuple(map(UserId, draw(some.permutations([one, other]))))
    bot = Viewer(
        workspace=WorkspaceId("w"), agent=AgentId("bot"), room="r", participants=people, project="p"
    )
    first, second = (replace(bot, room=None, participants=(), user=person) for person in people)
    return Cast(
        (
            bot,
            replace(bot, room="r 2", participants=people[:1], project=None),
            first,
            second,
            replace(first, session=other),
            replace(second, agent=AgentId("bot 2"), project=None),
            replace(first, workspace=WorkspaceId("w 2")),
        )
    )


def drawers(viewer: Viewer, everywhere: Sequence[Scope]) -> some.SearchStrategy[str]:
    """A scope as one would write it: mostly within reach."""
    own = [str(scope) for scope in sorted(viewer.grant().scopes)]
    return some.sampled_from([*own, *own, *map(str, everywhere)])


@some.composite
def tellings(
    draw: some.DrawFn, viewers: Sequence[Viewer], everywhere: Sequence[Scope]
) -> Tell | SetFact | Jot:
    """Somebody writes something down, at home or in a drawer."""
    viewer = draw(some.sampled_from(viewers))
    text, key = draw(texts), draw(keys)
    if draw(some.integers(0, 5)) == 0:
        what = draw(some.sampled_from([*JOTS, "question"]))
        return Jot(viewer, what, text, draw(some.none() | some.just(5.0)))
    people = [*viewer.participants, viewer.agent, *([viewer.user] if viewer.user else [])]
    speaker = draw(some.sampled_from(people)).value
    if draw(some.integers(0, 2)):
        return Tell(viewer, "observe", (speaker, text), key)
    scope = draw(drawers(viewer, everywhere))
    arguments: dict[str, tuple[Any, ...]] = {
        "remember": (text,),
        "index": (f"# {text}\n\n{text}.",),
        "add_fact": (speaker, "LIKES", text),
        "add": (text,),  # a goal
        "set_fact": ("color", draw(values)),
    }
    verb = draw(some.sampled_from(sorted(arguments)))
    if verb == "set_fact":
        return SetFact(viewer, scope, *arguments[verb])
    return Tell(viewer, verb, arguments[verb], key, scope)


@some.composite
def sharings(draw: some.DrawFn, cast: Cast, told: Sequence[Ref]) -> Share:
    """Somebody shares something: mostly what they may read, with those they can reach."""
    ref = draw(some.sampled_from(told))
    near = [v for v in cast.viewers if ref.scope in v.grant().scopes and draw(some.integers(0, 9))]
    viewer = draw(some.sampled_from(near or cast.viewers))
    places = [other for other in cast.viewers if viewer.user in (*other.people, other.user)]
    drawer = drawers(viewer, cast.scopes)
    to = draw(some.one_of(drawer, some.sampled_from(places)) if places else drawer)
    return Share(viewer, ref, to, draw(keys))


def about(cast: Cast, told: Sequence[Ref]) -> some.SearchStrategy[Operation]:
    """Something is made of what was told, or it is forgotten, or learned again."""
    known = some.sampled_from(told)
    some_known = some.lists(known, min_size=1, max_size=3, unique=True)
    sources = some_known.map(
        lambda refs: tuple(r for r in refs if r.workspace == refs[0].workspace)
    )
    return some.one_of(
        *[sharings(cast, told)] * 2,
        *[some.builds(Derive, some.sampled_from(cast.scopes), sources, texts, deeper, shapes)] * 3,
        known.map(lambda ref: Forget(ref.workspace, event=ref)),
        known.map(lambda ref: Forget(ref.workspace, memory=ref)),
        some.builds(Rebuild, known),
    )


def chores(viewers: Sequence[Viewer]) -> some.SearchStrategy[Housekeeping]:
    return some.builds(Housekeeping, some.sampled_from(CHORES), some.sampled_from(viewers))


@some.composite
def scripts(draw: some.DrawFn, longest: int = 15) -> tuple[Cast, list[Operation]]:
    """A cast, and what happens among them."""
    cast = draw(casts())
    script: list[Operation] = []
    told: list[Ref] = []
    for _ in range(draw(some.integers(1, longest))):
        kinds = [tellings(cast.viewers, cast.scopes)] * 3 + [chores(cast.viewers)]
        operation = draw(some.one_of(*kinds, *([about(cast, told)] * 2 if told else [])))
        script.append(operation)
        told += [operation.tells] if operation.tells else []
    return cast, script
