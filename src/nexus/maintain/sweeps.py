"""What sweeps share: they look at some workspaces at once, and write to some at once.

There may be thousands of workspaces, and little to do in each: by itself, each would cost a dozen
questions and a commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core.access import administrator_grant
from ..core.audit import Entry
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.states import State

MOST_MARKED = 2_000  # memories in one transaction: nobody waits long for its end

Pages = dict[WorkspaceId, list[State]]


def pages(
    store: Store, after: Mapping[WorkspaceId, str | None], *, limit: int, **wanted: Any
) -> Pages:
    """The next light rows of each of these workspaces."""
    places = [(administrator_grant(workspace), place) for workspace, place in after.items()]
    found = store.memories.states_in(places, limit=limit, **wanted) if places else []
    return dict(zip(after, found, strict=True))


def next_place(page: Sequence[State], limit: int) -> str | None:
    """Where the next step goes on; None: that was all."""
    return page[-1].place if len(page) == limit else None


def marked(
    store: Store,
    turned: Mapping[WorkspaceId, Sequence[State]],
    entry: Callable[[Sequence[State]], Entry],
    **state: Any,
) -> dict[WorkspaceId, int]:
    """Give these another state, with an entry in the trail of each workspace; how many changed."""
    changed: dict[WorkspaceId, int] = {}
    for some in _portions(turned):
        ids = {workspace: [each.id for each in theirs] for workspace, theirs in some.items()}
        entries = {workspace: entry(theirs) for workspace, theirs in some.items()}
        with store.recording_in(entries):
            changed |= store.memories.mark_in(ids, **state)
    return changed


def _portions(
    turned: Mapping[WorkspaceId, Sequence[State]],
) -> Iterator[dict[WorkspaceId, Sequence[State]]]:
    """Whole workspaces, as many as may be written to at once."""
    some: dict[WorkspaceId, Sequence[State]] = {}
    for workspace, states in turned.items():
        if some and sum(map(len, some.values())) + len(states) > MOST_MARKED:
            yield some
            some = {}
        if states:
            some[workspace] = states
    if some:
        yield some
