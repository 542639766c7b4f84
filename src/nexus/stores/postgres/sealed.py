"""Connections whose contents are sealed: neither the parts above nor the tables below notice.

Rows are sealed on their way in and opened on their way out. Words that are looked up (keywords,
names, subjects, threads) are replaced by keyed digests, so that equal ones are still found.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from ...core.canonical import canonical_json
from ...core.ids import digest
from ...core.protocols import Floats
from ...core.scope import parse_scope
from ..holding import Holding
from ..sql.labels import Readable
from ..sql.session import Connections, Row, Rows, Session
from .rows import LazyRows
from .vault import Key, Vault, key_ids

T = TypeVar("T")

KEYS_IN_MEMORY = 10_000
# Which column of a query's rows is a content.
CONTENTS = {
    "chain": 1,
    "contents_at": 1,
    "events_by_id": 1,
    "events_by_time": 0,
    "known_events": 1,
    "newest_events": 2,
    "standing_events": 2,
    "known_memories": 1,
    "latest": 0,
    "memories_by_fact": 0,
    "memories_by_id": 0,
    "contents": 1,
    "memories_by_kind": 0,
    "memories_by_number": 1,
    "memories_by_time": 0,
    "memories_of_label": 8,
    "memories_placed": 3,
    "named": 0,
    "named_since": 0,
    "newest_of_kind": 2,
    "next_named": 2,
    "outlines": 0,
    "resting_on": 0,
    "standing_memories": 1,
    "without_vector": 0,
    "standing_window": 3,
    "window_items": 0,
    "window_tied_to": 0,
    "newest_audit": 3,
    "next_audit": 3,
    "trail": 3,
    "audit_contents": 1,
    "standing_audit": 3,
}
# Which column is a text that was sealed by itself.
TEXTS = {"waiting": 1, "new_cards": 4, "event_keys": 1, "chain": 5}
# Which columns of the rows that are written or asked for, and which named values, are blinded.
BLIND_COLUMNS = {
    "add_memory": (6, 7),
    "add_name": (2,),
    "drop_name": (2,),
    "mend_name": (2,),
    "mend_posting": (2,),
    "add_posting": (2,),
    "drop_posting": (2,),
    "new_postings": (2,),
}
BLIND_VALUES = {
    "thread": ("name",),
    "add_thread": ("name",),
    "restore_thread": ("name",),
    "memories_by_fact": ("subject", "predicate"),
    "put_window_item": ("key",),
    "move_window_item": ("key",),
    "drop_window_item": ("key",),
    "window_items": ("key",),
}
BLIND_LISTS = {"latest": "subjects", "named": "names", "outlines": "names"}
WINDOWS = ("window_items", "window_tied_to")  # in order of time, and then of what was blinded
EVENT_KEY, EVENT_CONTENT = 4, 6  # columns of what is written
MEMORY_SPEAKER, MEMORY_CONTENT = 9, 14
AUDIT_CONTENT = 5


class KeyRing:
    """Keys that were unwrapped lately. One that was destroyed elsewhere may stay for a while."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._known: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, workspace: int, id: str) -> bytes | None:
        with self._lock:
            return self._known.get((workspace, id))

    def keep(self, workspace: int, key: Key) -> None:
        with self._lock:
            self._known[workspace, key.id] = key.secret
            while len(self._known) > KEYS_IN_MEMORY:
                self._known.popitem(last=False)

    def drop(self, workspace: int, ids: Iterable[str]) -> None:
        with self._lock:
            for id in ids:
                self._known.pop((workspace, id), None)


class SealedConnections:
    """The same connections; what goes through them is sealed."""

    def __init__(self, connections: Connections, vault: Vault) -> None:
        self._connections = connections
        self._ring = KeyRing(vault)

    @property
    def holding(self) -> Holding:
        return self._connections.holding

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self._connections.reading() as session:
            yield SealedSession(session, self._ring)

    def write(self, work: Callable[[Session], T], /, *, lazily: bool = False) -> T:
        return self._connections.write(
            lambda session: work(SealedSession(session, self._ring)), lazily=lazily
        )


class SealedSession:
    """One transaction in which contents are sealed and opened."""

    def __init__(self, session: Session, ring: KeyRing) -> None:
        self._session = session
        self._ring = ring
        self._vault = ring.vault

    def run(self, name: str, values: Mapping[str, object] = {}, /) -> Rows:
        if name in ("put_window_item", "move_window_item"):
            values = {**values, "content": self._sealed_item(values)}
        found = self._session.run(name, self._blinded_values(name, values))
        if name in WINDOWS:
            return LazyRows(iter(_in_order(self._opened(name, found))), found.rowcount)
        if name in CONTENTS or name in TEXTS:
            return LazyRows(self._opened(name, found), found.rowcount)
        return found

    def run_many(self, name: str, rows: Sequence[Row], /) -> int:
        if name == "add_event":
            rows = self._sealed_events(rows)
        elif name == "add_memory":
            rows = self._sealed_memories(rows)
        elif name == "add_audit":
            rows = [self._sealed_entry(row) for row in rows]
        done = self._session.run_many(name, self._blinded_rows(name, rows))
        if name == "add_tombstone":
            for workspace, kind, owner, _ in rows:
                if kind == "user":
                    self._destroy(workspace, owner)
        return done

    def read_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        found = self._session.read_each(name, self._blinded_rows(name, rows))
        if name in CONTENTS or name in TEXTS:
            return [list(self._opened(name, each)) for each in found]
        return found

    def view(self, key: Hashable, make: Callable[[], Readable], /) -> Readable:
        return self._session.view(key, make)

    def floats(self, vectors: Sequence[bytes], /) -> Floats:
        return self._session.floats(vectors)

    # On the way out

    def _opened(self, name: str, rows: Iterable[Row]) -> Iterator[Row]:
        content, text = CONTENTS.get(name), TEXTS.get(name)
        for row in rows:
            opened = row
            if content is not None and row[content] is not None:
                sealed = json.loads(row[content])["sealed"]
                opened = _replaced(opened, content, self._vault.open(sealed, self._find_keys))
            if text is not None and row[text] is not None:
                opened = _replaced(opened, text, self._vault.open(row[text], self._find_keys))
            yield opened

    def _find_keys(self, workspace: int, ids: Sequence[str]) -> dict[str, bytes]:
        known = {id: secret for id in ids if (secret := self._ring.get(workspace, id))}
        missing = [id for id in ids if id not in known]
        if missing:
            bound = {"workspace": workspace, "ids": json.dumps(missing)}
            for id, wrapped in self._session.run("keys_by_id", bound).fetchall():
                key = self._vault.unwrap(workspace, id, wrapped)
                self._ring.keep(workspace, key)
                known[id] = key.secret
        return known

    # On the way in

    def _sealed_events(self, rows: Sequence[Row]) -> list[Row]:
        """Sealed for whoever speaks and whoever owns the place: forgetting either erases them."""
        told = [json.loads(row[EVENT_CONTENT]) if row[EVENT_CONTENT] else None for row in rows]
        owners = [_owners(each["speaker"], each["scope"]) if each else () for each in told]
        needed: dict[int, list[tuple[str, ...]]] = defaultdict(list)  # several workspaces at once
        for row, some in zip(rows, owners, strict=True):
            needed[row[0]].append(some)
        keys = {workspace: self._keys_of(workspace, some) for workspace, some in needed.items()}
        return [
            self._sealed_event(row, [keys[row[0]][owner] for owner in some], each) if each else row
            for row, each, some in zip(rows, told, owners, strict=True)
        ]

    def _sealed_event(self, row: Row, keys: Sequence[Key], told: Mapping[str, Any]) -> Row:
        """Its scope is sealed by itself: the operator asks where work waits."""
        key, content, scope = (
            self._vault.seal(row[0], keys, text)
            for text in (row[EVENT_KEY], row[EVENT_CONTENT], told["scope"])
        )
        cell = canonical_json({"scope": scope, "sealed": content})
        return _replaced(_replaced(row, EVENT_KEY, key), EVENT_CONTENT, cell)

    def _sealed_memories(self, rows: Sequence[Row]) -> list[Row]:
        """Sealed with all keys of what they rest on."""
        told = [json.loads(row[MEMORY_CONTENT]) for row in rows]
        workspace = rows[0][0] if rows else 0
        needed = self._key_ids_of(workspace, {id for each in told for id in each["sources"]})
        sealed = []
        for row, each in zip(rows, told, strict=True):
            ids = self._needed_keys(workspace, each, needed)
            needed[each["id"]] = ids
            secrets = self._find_keys(workspace, ids)
            keys = [Key(id, secrets[id]) for id in ids]
            never = {"indexed_text": ""} if each["indexed_text"] == "" else {}
            content = self._vault.seal(workspace, keys, row[MEMORY_CONTENT])
            kept = _replaced(row, MEMORY_CONTENT, canonical_json({**never, "sealed": content}))
            if (speaker := row[MEMORY_SPEAKER]) is not None:
                kept = _replaced(kept, MEMORY_SPEAKER, self._vault.seal(workspace, keys, speaker))
            sealed.append(kept)
        return sealed

    def _needed_keys(
        self, workspace: int, told: Mapping[str, Any], known: Mapping[str, Sequence[str]]
    ) -> list[str]:
        """Those of its sources. One that is yet to come (in a migration) is its speaker's."""
        ids = {key for source in told["sources"] for key in known.get(source, ())}
        if told["speaker"] and not known.keys() >= set(told["sources"]):
            owner = digest("user", told["speaker"])
            ids.add(self._keys_of(workspace, [[owner]])[owner].id)
        return sorted(ids)

    def _key_ids_of(self, workspace: int, ids: Iterable[str]) -> dict[str, list[str]]:
        """With which keys these events and memories are sealed."""
        bound = {"workspace": workspace, "ids": json.dumps(sorted(ids))}
        cells = dict(self._session.run("known_events", bound).fetchall())
        cells |= {id: cell for id, cell, *_ in self._session.run("known_memories", bound)}
        return {id: key_ids(json.loads(cell)["sealed"]) for id, cell in cells.items() if cell}

    def _sealed_item(self, values: Mapping[str, Any]) -> str:
        """Something in a window: sealed for whoever it is tied to."""
        told = json.loads(values["content"])
        owners = _owners(told["by"], told["scope"], *told["people"])
        keys = self._keys_of(values["workspace"], [owners])
        sealed = self._vault.seal(
            values["workspace"], [keys[owner] for owner in owners], values["content"]
        )
        return canonical_json({"sealed": sealed})

    def _sealed_entry(self, row: Row) -> Row:
        """What was done: sealed for all whose names or words it holds."""
        if row[AUDIT_CONTENT] is None:
            return row
        told = json.loads(row[AUDIT_CONTENT])
        owners = tuple(sorted(digest("user", name) for name in told["people"]))
        keys = self._keys_of(row[0], [owners]) if owners else {}
        sealed = self._vault.seal(row[0], list(keys.values()), row[AUDIT_CONTENT])
        return _replaced(row, AUDIT_CONTENT, canonical_json({"sealed": sealed}))

    def _keys_of(self, workspace: int, owners: Iterable[Iterable[str]]) -> dict[str, Key]:
        """The keys of these people, made for whoever has none.

        Always asked of the database, in the transaction that writes: a key that was destroyed
        meanwhile must not seal anything any more.
        """
        wanted = sorted({owner for some in owners for owner in some})
        bound = {"workspace": workspace, "owners": json.dumps(wanted)}
        keys = {
            owner: self._vault.unwrap(workspace, id, wrapped)
            for owner, id, wrapped in self._session.run("keys_of_owners", bound).fetchall()
        }
        made = {owner: self._vault.make_key(workspace) for owner in wanted if owner not in keys}
        rows = [(workspace, key.id, owner, wrapped) for owner, (key, wrapped) in made.items()]
        if rows:
            self._session.run_many("add_key", rows)
        return keys | {owner: key for owner, (key, _) in made.items()}

    def _destroy(self, workspace: int, owner: str) -> None:
        """A person was forgotten: their key goes, unless something that is kept needs it."""
        bound = {"workspace": workspace, "owners": json.dumps([owner])}
        for _, id, _ in self._session.run("keys_of_owners", bound).fetchall():
            given = {"workspace": workspace, "id": id}
            if not self._session.run("needs_key", given).fetchone():
                self._session.run("destroy_key", given)
                self._ring.drop(workspace, [id])

    # Words that are looked up

    def _blinded_rows(self, name: str, rows: Sequence[Row]) -> Sequence[Row]:
        columns = BLIND_COLUMNS.get(name)
        if not columns:
            return rows
        blinded = []
        for row in rows:
            for column in columns:
                if row[column] is not None:
                    row = _replaced(row, column, self._vault.blind(row[0], row[column]))  # noqa: PLW2901
            blinded.append(row)
        return blinded

    def _blinded_values(self, name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        changed = {
            each: self._vault.blind(values["workspace"], values[each])
            for each in BLIND_VALUES.get(name, ())
            if values[each] is not None
        }
        if name in BLIND_LISTS:
            words = json.loads(values[BLIND_LISTS[name]])
            blind = [self._vault.blind(values["workspace"], word) for word in words]
            changed[BLIND_LISTS[name]] = json.dumps(blind)
        return {**values, **changed}


def _in_order(items: Iterable[Row]) -> list[Row]:
    """Newest first, then by slot and key: their order in the table is that of digests."""
    told = [(json.loads(row[0]), row) for row in items]
    told.sort(key=lambda each: (each[0]["slot"], each[0]["key"]))
    told.sort(key=lambda each: each[0]["at"], reverse=True)
    return [row for _, row in told]


def _owners(speaker: str | None, scope: str, *more: str) -> tuple[str, ...]:
    """Whose a record is, as digests: the same that tombstones have."""
    names = {speaker, parse_scope(scope).owner, *more} - {None}
    return tuple(sorted(digest("user", name) for name in names if name))


def _replaced(row: Row, column: int, value: object) -> Row:
    return (*row[:column], value, *row[column + 1 :])
