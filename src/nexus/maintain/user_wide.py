"""What proved itself in use is known for a person: it gets a record in that person's scope.

The record is a link (`core.links`) that says the same and rests on the fact. So it has the readers
of the fact who also read the person's scope and never one more, it goes when the fact goes, and
what is said against the fact is said against it. Who wants more readers shares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from ..core.access import administrator_grant
from ..core.audit import Entry
from ..core.ids import WorkspaceId
from ..core.links import Relation, links_of
from ..core.protocols import Store
from ..core.records import Draft, Memory, MemoryKind, Tier
from ..core.scope import Scope

SLOT = "user_wide"

Widened = Mapping[str, Scope]  # the id of a fact, and whose it is


def make_user_wide(
    store: Store,
    workspace: WorkspaceId,
    ids: Sequence[str],
    entry: Callable[[Widened], Entry],
    *,
    now: datetime,
) -> int:
    """Those of these facts that are not user-wide yet; how many there were."""
    everything = administrator_grant(workspace)
    known = links_of(store, everything, ids, Relation.USER_WIDE)
    facts = store.memories.get(everything, [id for id in ids if id not in known])
    drafts = [user_wide(fact, person, now) for fact in facts if (person := whose(fact))]
    wanted = [draft for draft in drafts if not _unwanted(store, workspace, draft)]
    if not wanted:
        return 0
    people = {draft.body["members"][0]: draft.scope for draft in wanted}
    with store.recording(workspace, entry(people)):
        return len(store.memories.put(workspace, wanted))


def _unwanted(store: Store, workspace: WorkspaceId, draft: Draft) -> bool:
    """Whether somebody had it forgotten, or all that lay in that scope."""
    forgotten = store.eraser.gone(workspace, [draft.id])
    return forgotten or bool(store.eraser.stones(workspace, [draft.scope]))


def whose(fact: Memory) -> Scope | None:
    """The person in whose drawer it lies, or else who said it; None if it is there already."""
    person = fact.scope.owner or (fact.speaker if fact.role == "user" else None)
    wide = Scope.user(person) if person else None
    return None if wide == fact.scope else wide


def user_wide(fact: Memory, person: Scope, now: datetime) -> Draft:
    """The record that says so, with the way back."""
    return Draft(
        scope=person,
        kind=MemoryKind.LINK,
        text=fact.text,
        indexed_text="",  # found by what it is promoted from, which says the same
        sources=(fact.id,),
        slot=SLOT,
        at=now,
        confidence=fact.confidence,
        salience=fact.salience,
        tier=Tier.LONG,
        speaker=fact.speaker,
        role=fact.role,
        source=SLOT,
        learned=True,
        metadata={"made_by": [SLOT]},
        body={
            "relation": Relation.USER_WIDE.value,
            "what": fact.kind.value,
            "members": [fact.id],
            "promoted_from": str(fact.scope),
        },
    )
