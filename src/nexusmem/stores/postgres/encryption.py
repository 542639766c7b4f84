"""Transparent encryption: encrypts rows on the way to the tables and decrypts them on the way back.

Lookup values (keywords, names, subjects, threads) are replaced by keyed digests, so that equal
values still match. The store and the tables do not change.
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
from ...core.protocols.embedder import Floats
from ...core.scope import parse_scope
from ..sql.readable_labels import ReadableLabels
from ..sql.transactions import Connections, QueryResult, Row, Transaction
from ..transaction_hooks import HeldLeases
from .key_vault import KeyVault, OwnerKey, parse_key_ids
from .transaction import LazyRows

T = TypeVar("T")

MAX_CACHED_KEYS = 10_000
# The column with the encrypted record in the result of each query.
CONTENT_COLUMNS = {
    "chain": 1,
    "event_contents_by_seq": 1,
    "events_by_id": 1,
    "events_by_time": 0,
    "event_contents_by_id": 1,
    "newest_events": 2,
    "page_events": 2,
    "memory_states_by_id": 1,
    "latest_facts": 0,
    "memories_by_fact": 0,
    "memories_by_id": 0,
    "memory_contents": 1,
    "memories_by_kind": 0,
    "memories_by_number": 1,
    "memories_by_time": 0,
    "memories_of_label": 8,
    "memory_rows_by_id": 3,
    "memories_by_name": 0,
    "oldest_by_name": 0,
    "memories_by_source": 0,
    "named_memories_since": 0,
    "newest_of_kind": 2,
    "next_named_memories": 2,
    "fact_outlines": 0,
    "derived_memories": 0,
    "page_memories": 1,
    "memories_without_vector": 0,
    "page_window_items": 3,
    "window_items": 0,
    "window_items_by_link": 0,
    "newest_audit": 3,
    "next_audit": 3,
    "audit_chain": 3,
    "audit_contents": 1,
    "page_audit": 3,
}
# The column with a text that was encrypted separately.
TEXT_COLUMNS = {"list_pending": 1, "new_candidate_rows": 4, "event_keys": 1, "chain": 5}
# Columns of rows, and named parameters, that are replaced by keyed digests.
BLIND_COLUMNS = {
    "add_memory": (6, 7),
    "add_name": (2,),
    "drop_name": (2,),
    "repair_name": (2,),
    "repair_posting": (2,),
    "add_posting": (2,),
    "drop_posting": (2,),
    "new_postings": (2,),
}
BLIND_VALUES = {
    "find_conversation": ("name",),
    "add_conversation": ("name",),
    "restore_conversation": ("name",),
    "memories_by_fact": ("subject", "predicate"),
    "put_window_item": ("key",),
    "import_window_item": ("key",),
    "drop_window_item": ("key",),
    "window_items": ("key",),
}
BLIND_LISTS = {
    "latest_facts": "subjects",
    "memories_by_name": "names",
    "oldest_by_name": "names",
    "fact_outlines": "names",
}
# Sorted by time and key; the key is a digest, so the rows are sorted again after decryption.
WINDOW_QUERIES = ("window_items", "window_items_by_link")
# Columns of the rows that are written.
EVENT_KEY, EVENT_CONTENT = 4, 6
MEMORY_SPEAKER, MEMORY_CONTENT = 9, 14
AUDIT_CONTENT = 5


class KeyCache:
    """Cache of unwrapped keys. A key destroyed by another process may stay for a while."""

    def __init__(self, vault: KeyVault) -> None:
        self.vault = vault
        self._secrets: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, workspace: int, id: str) -> bytes | None:
        with self._lock:
            return self._secrets.get((workspace, id))

    def put(self, workspace: int, key: OwnerKey) -> None:
        with self._lock:
            self._secrets[workspace, key.id] = key.secret
            while len(self._secrets) > MAX_CACHED_KEYS:
                self._secrets.popitem(last=False)

    def drop(self, workspace: int, ids: Iterable[str]) -> None:
        with self._lock:
            for id in ids:
                self._secrets.pop((workspace, id), None)


class EncryptedConnections:
    """Connections with transactions that encrypt and decrypt."""

    def __init__(self, connections: Connections, vault: KeyVault) -> None:
        self._connections = connections
        self._key_cache = KeyCache(vault)

    @property
    def held_leases(self) -> HeldLeases:
        return self._connections.held_leases

    @contextmanager
    def read_transaction(self) -> Iterator[Transaction]:
        with self._connections.read_transaction() as session:
            yield EncryptedTransaction(session, self._key_cache)

    def write(self, work: Callable[[Transaction], T], /, *, lazily: bool = False) -> T:
        return self._connections.write(
            lambda session: work(EncryptedTransaction(session, self._key_cache)), lazily=lazily
        )


class EncryptedTransaction:
    """A transaction that encrypts records and blinds lookup values."""

    def __init__(self, session: Transaction, key_cache: KeyCache) -> None:
        self._session = session
        self._key_cache = key_cache
        self._vault = key_cache.vault

    def execute_query(self, name: str, values: Mapping[str, object] = {}, /) -> QueryResult:
        if name in ("put_window_item", "import_window_item"):
            values = {**values, "content": self._encrypt_item(values)}
        rows = self._session.execute_query(name, self._blind_values(name, values))
        if name in WINDOW_QUERIES:
            return LazyRows(iter(_sort_items(self._decrypt_rows(name, rows))), rows.rowcount)
        if name in CONTENT_COLUMNS or name in TEXT_COLUMNS:
            return LazyRows(self._decrypt_rows(name, rows), rows.rowcount)
        return rows

    def execute_batch(self, name: str, rows: Sequence[Row], /) -> int:
        if name == "add_event":
            rows = self._encrypt_events(rows)
        elif name == "add_memory":
            rows = self._encrypt_memories(rows)
        elif name == "add_audit":
            rows = [self._encrypt_entry(row) for row in rows]
        done = self._session.execute_batch(name, self._blind_rows(name, rows))
        if name == "add_tombstone":
            for workspace, kind, owner, _ in rows:
                if kind == "user":
                    self._destroy_key(workspace, owner)
        return done

    def fetch_each(self, name: str, rows: Sequence[Row], /) -> list[list[Any]]:
        results = self._session.fetch_each(name, self._blind_rows(name, rows))
        if name in CONTENT_COLUMNS or name in TEXT_COLUMNS:
            return [list(self._decrypt_rows(name, each)) for each in results]
        return results

    def get_view(self, key: Hashable, make: Callable[[], ReadableLabels], /) -> ReadableLabels:
        return self._session.get_view(key, make)

    def decode_vectors(self, vectors: Sequence[bytes], /) -> Floats:
        return self._session.decode_vectors(vectors)

    # Decryption

    def _decrypt_rows(self, name: str, rows: Iterable[Row]) -> Iterator[Row]:
        content, text = CONTENT_COLUMNS.get(name), TEXT_COLUMNS.get(name)
        for row in rows:
            decrypted = row
            if content is not None and row[content] is not None:
                ciphertext = json.loads(row[content])["sealed"]
                decrypted = _replace_column(
                    decrypted, content, self._vault.decrypt(ciphertext, self._find_keys)
                )
            if text is not None and row[text] is not None:
                decrypted = _replace_column(
                    decrypted, text, self._vault.decrypt(row[text], self._find_keys)
                )
            yield decrypted

    def _find_keys(self, workspace: int, ids: Sequence[str]) -> dict[str, bytes]:
        secrets = {id: secret for id in ids if (secret := self._key_cache.get(workspace, id))}
        missing = [id for id in ids if id not in secrets]
        if missing:
            bound = {"workspace": workspace, "ids": json.dumps(missing)}
            for id, wrapped in self._session.execute_query("keys_by_id", bound).fetchall():
                key = self._vault.unwrap_key(workspace, id, wrapped)
                self._key_cache.put(workspace, key)
                secrets[id] = key.secret
        return secrets

    # Encryption

    def _encrypt_events(self, rows: Sequence[Row]) -> list[Row]:
        """Encrypt with the keys of speaker and scope owner: erasing either erases the event."""
        records = [json.loads(row[EVENT_CONTENT]) if row[EVENT_CONTENT] else None for row in rows]
        owners = [
            _owner_digests(each["speaker"], each["scope"]) if each else () for each in records
        ]
        needed: dict[int, list[tuple[str, ...]]] = defaultdict(list)
        for row, some in zip(rows, owners, strict=True):
            needed[row[0]].append(some)
        keys = {workspace: self._ensure_keys(workspace, some) for workspace, some in needed.items()}
        return [
            self._encrypt_event(row, [keys[row[0]][owner] for owner in some], each) if each else row
            for row, each, some in zip(rows, records, owners, strict=True)
        ]

    def _encrypt_event(self, row: Row, keys: Sequence[OwnerKey], record: Mapping[str, Any]) -> Row:
        """Encrypt the scope separately: the list of queued work shows it without the content."""
        key, content, scope = (
            self._vault.encrypt(row[0], keys, text)
            for text in (row[EVENT_KEY], row[EVENT_CONTENT], record["scope"])
        )
        cell = canonical_json({"scope": scope, "sealed": content})
        return _replace_column(_replace_column(row, EVENT_KEY, key), EVENT_CONTENT, cell)

    def _encrypt_memories(self, rows: Sequence[Row]) -> list[Row]:
        """Encrypt with the keys of all sources."""
        records = [json.loads(row[MEMORY_CONTENT]) for row in rows]
        workspace = rows[0][0] if rows else 0
        needed = self._load_key_ids(workspace, {id for each in records for id in each["sources"]})
        encrypted = []
        for row, each in zip(rows, records, strict=True):
            ids = self._memory_key_ids(workspace, each, needed)
            needed[each["id"]] = ids
            secrets = self._find_keys(workspace, ids)
            keys = [OwnerKey(id, secrets[id]) for id in ids]
            unindexed = {"indexed_text": ""} if each["indexed_text"] == "" else {}
            content = self._vault.encrypt(workspace, keys, row[MEMORY_CONTENT])
            encrypted_row = _replace_column(
                row, MEMORY_CONTENT, canonical_json({**unindexed, "sealed": content})
            )
            if (speaker := row[MEMORY_SPEAKER]) is not None:
                encrypted_row = _replace_column(
                    encrypted_row, MEMORY_SPEAKER, self._vault.encrypt(workspace, keys, speaker)
                )
            encrypted.append(encrypted_row)
        return encrypted

    def _memory_key_ids(
        self, workspace: int, memory: Mapping[str, Any], key_ids: Mapping[str, Sequence[str]]
    ) -> list[str]:
        """Return the key ids of the sources.

        A migration writes memories before their sources; then the speaker's key is used.
        """
        ids = {key for source in memory["sources"] for key in key_ids.get(source, ())}
        if memory["speaker"] and not key_ids.keys() >= set(memory["sources"]):
            owner = digest("user", memory["speaker"])
            ids.add(self._ensure_keys(workspace, [[owner]])[owner].id)
        return sorted(ids)

    def _load_key_ids(self, workspace: int, ids: Iterable[str]) -> dict[str, list[str]]:
        """Return the ids of the keys that these events and memories are encrypted with."""
        bound = {"workspace": workspace, "ids": json.dumps(sorted(ids))}
        cells = dict(self._session.execute_query("event_contents_by_id", bound).fetchall())
        cells |= {
            id: cell for id, cell, *_ in self._session.execute_query("memory_states_by_id", bound)
        }
        return {id: parse_key_ids(json.loads(cell)["sealed"]) for id, cell in cells.items() if cell}

    def _encrypt_item(self, values: Mapping[str, Any]) -> str:
        """Encrypt a window item with the keys of its author, scope owner and people."""
        item = json.loads(values["content"])
        owners = _owner_digests(item["by"], item["scope"], *item["people"])
        keys = self._ensure_keys(values["workspace"], [owners])
        ciphertext = self._vault.encrypt(
            values["workspace"], [keys[owner] for owner in owners], values["content"]
        )
        return canonical_json({"sealed": ciphertext})

    def _encrypt_entry(self, row: Row) -> Row:
        """Encrypt an audit entry with the keys of the people it names."""
        if row[AUDIT_CONTENT] is None:
            return row
        entry = json.loads(row[AUDIT_CONTENT])
        owners = tuple(sorted(digest("user", name) for name in entry["people"]))
        keys = self._ensure_keys(row[0], [owners]) if owners else {}
        ciphertext = self._vault.encrypt(row[0], list(keys.values()), row[AUDIT_CONTENT])
        return _replace_column(row, AUDIT_CONTENT, canonical_json({"sealed": ciphertext}))

    def _ensure_keys(self, workspace: int, owners: Iterable[Iterable[str]]) -> dict[str, OwnerKey]:
        """Return the keys of these people; create the missing ones.

        The keys are read from the database in the writing transaction and not from the cache: a
        destroyed key must not encrypt anything.
        """
        wanted = sorted({owner for some in owners for owner in some})
        bound = {"workspace": workspace, "owners": json.dumps(wanted)}
        keys = {
            owner: self._vault.unwrap_key(workspace, id, wrapped)
            for owner, id, wrapped in self._session.execute_query("keys_by_owner", bound).fetchall()
        }
        made = {owner: self._vault.make_key(workspace) for owner in wanted if owner not in keys}
        rows = [(workspace, key.id, owner, wrapped) for owner, (key, wrapped) in made.items()]
        if rows:
            self._session.execute_batch("add_key", rows)
        return keys | {owner: key for owner, (key, _) in made.items()}

    def _destroy_key(self, workspace: int, owner: str) -> None:
        """Destroy the key of an erased person, unless a remaining record needs it."""
        bound = {"workspace": workspace, "owners": json.dumps([owner])}
        for _, id, _ in self._session.execute_query("keys_by_owner", bound).fetchall():
            parameters = {"workspace": workspace, "id": id}
            if not self._session.execute_query("is_key_used", parameters).fetchone():
                self._session.execute_query("destroy_key", parameters)
                self._key_cache.drop(workspace, [id])

    # Lookup values

    def _blind_rows(self, name: str, rows: Sequence[Row]) -> Sequence[Row]:
        columns = BLIND_COLUMNS.get(name)
        if not columns:
            return rows
        return [self._blind_columns(row, columns) for row in rows]

    def _blind_columns(self, row: Row, columns: Iterable[int]) -> Row:
        for column in columns:
            if row[column] is not None:
                blinded = self._vault.blind_digest(row[0], row[column])
                row = _replace_column(row, column, blinded)
        return row

    def _blind_values(self, name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        changed = {
            each: self._vault.blind_digest(values["workspace"], values[each])
            for each in BLIND_VALUES.get(name, ())
            if values[each] is not None
        }
        if name in BLIND_LISTS:
            words = json.loads(values[BLIND_LISTS[name]])
            blind = [self._vault.blind_digest(values["workspace"], word) for word in words]
            changed[BLIND_LISTS[name]] = json.dumps(blind)
        return {**values, **changed}


def _sort_items(items: Iterable[Row]) -> list[Row]:
    """Sort newest first, then by slot and key: the table sorts by digests."""
    decoded = [(json.loads(row[0]), row) for row in items]
    decoded.sort(key=lambda each: (each[0]["slot"], each[0]["key"]))
    decoded.sort(key=lambda each: each[0]["at"], reverse=True)
    return [row for _, row in decoded]


def _owner_digests(speaker: str | None, scope: str, *more: str) -> tuple[str, ...]:
    """Return the digests of the people a record belongs to, in the form of tombstones."""
    names = {speaker, parse_scope(scope).owner, *more} - {None}
    return tuple(sorted(digest("user", name) for name in names if name))


def _replace_column(row: Row, column: int, value: object) -> Row:
    return (*row[:column], value, *row[column + 1 :])
