"""Message neighbours: the message before and after a hit, so that a question brings its answer.

An answer ("Epifanes, six coats.") often shares no word with the question it replies to. Both are
neighbours in one conversation. Neighbours outside the grant do not exist here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...core.access import Grant
from ...core.derive import is_question
from ...core.filters import Filter, matches_filter
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind, memory_id

# Rows read on each side: a long message has several passages, and notes lie between messages.
ROWS_PER_SIDE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageNeighbours:
    """The visible messages next to a message in its conversation.

    Of a long message, `before` is the last passage and `after` the first one.
    """

    message: Memory  # the passage whose neighbours these are
    before: Memory | None = None
    after: Memory | None = None

    @property
    def question(self) -> Memory | None:
        """The question that the message answers, or None.

        That is the message before it, by another speaker, if it ends with a question mark.
        """
        before = self.before
        if before is None or not is_question(before.text) or _same_speaker(before, self.message):
            return None
        return before

    @property
    def reply(self) -> Memory | None:
        """The reply to the message, or None.

        That is the message after it, by another speaker, if the message is a question or the
        next one is an assistant's.
        """
        after = self.after
        if after is None or _same_speaker(after, self.message):
            return None
        return after if is_question(self.message.text) or after.role == "assistant" else None


def load_neighbours(
    store: Store, grant: Grant, memories: Iterable[Memory], *, where: Filter | None = None
) -> dict[str, MessageNeighbours]:
    """Return the messages next to each of these memories, by the id of the memory.

    The neighbours of a fact or another memory with one source event are those of the message it
    comes from. Memories without a visible message are left out. Archived messages, and messages
    that do not match the filter `where`, are no neighbours. Three lookups, for any number of
    memories.
    """
    wanted = list(memories)
    message_ids = {each.id: id for each in wanted if (id := _message_id(each)) is not None}
    with store.snapshot():
        missing = sorted(set(message_ids.values()) - {each.id for each in wanted})
        loaded = store.memories.get(grant, missing) if missing else []
        messages = {each.id: each for each in (*wanted, *loaded)}
        heads = sorted(messages.keys() & set(message_ids.values()))
        around = store.memories.find_neighbours(grant, heads, reach=ROWS_PER_SIDE) if heads else {}
        ids = {id for before, after in around.values() for id in (*before, *after)}
        rows = {each.id: each for each in store.memories.get(grant, sorted(ids))} if ids else {}
    shown = {
        id: row
        for id, row in rows.items()
        if row.kind is MemoryKind.PASSAGE
        and not row.archived
        and (where is None or matches_filter(where, row))
    }
    return {
        memory: MessageNeighbours(
            message=messages[head],
            before=_find_neighbour(messages[head], around[head][0], rows, shown),
            after=_find_neighbour(messages[head], around[head][1], rows, shown, is_first=True),
        )
        for memory, head in message_ids.items()
        if head in around
    }


def _message_id(memory: Memory) -> str | None:
    """Return the id of the passage of a memory's only source; None if it has several."""
    if memory.kind is MemoryKind.PASSAGE:
        return memory.id
    if len(memory.sources) != 1:
        return None
    return memory_id(MemoryKind.PASSAGE, memory.scope, "", memory.sources)


def _find_neighbour(
    message: Memory,
    ids: Sequence[str],
    rows: Mapping[str, Memory],
    shown: Mapping[str, Memory],
    *,
    is_first: bool = False,
) -> Memory | None:
    """Return the nearest message of these; with `is_first`, the first passage of a long one.

    Rows that are no messages are passed over. A message that is not shown ends the search: the
    one behind it is no neighbour.
    """
    others = [rows[id] for id in ids if id in rows and rows[id].sources != message.sources]
    near = next((each for each in others if each.kind is MemoryKind.PASSAGE), None)
    if near is None or near.id not in shown:
        return None
    if not is_first:
        return near
    pieces = [each for each in others if each.sources == near.sources and each.id in shown]
    return min(pieces, key=lambda each: each.slot)


def _same_speaker(left: Memory, right: Memory) -> bool:
    return (left.speaker, left.role) == (right.speaker, right.role)
