"""Hash chain of an audit log.

Each link covers the previous link, its own number, time and action, and a salted commitment to the
content. Erasing an entry removes content and salt but keeps the commitment. So the chain stays
verifiable, and the content cannot be guessed from it. With a configured key, each link is also
sealed with an HMAC.

Retention drops the oldest days. It adds an entry with the anchors of the dropped days, so that the
new start of the chain can be verified.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from ..core.access import Grant
from ..core.canonical import canonical_json, clean_time, encode_json, format_time, parse_time
from ..core.errors import Conflict, InvalidInput
from ..core.filters import Condition, Op
from ..core.hash_chain import GENESIS, make_commitment, new_salt
from ..core.ids import WorkspaceId, digest
from ..core.protocols.jobs import JobStep
from ..core.protocols.store import Store
from ..core.records import Event, EventKind, Json, Tombstone
from .records import ADMINISTRATOR, WORKER, AuditCursor, AuditEntry, AuditReport, RecordedEntry

RETENTION = "retention"  # action of dropping old days
BYTES_FIELDS = ("salt", "commitment", "hash", "seal")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLink:
    """One link of the hash chain."""

    number: int
    at: str
    action: str
    content: str | None
    salt: bytes | None
    commitment: bytes
    hash: bytes
    seal: bytes | None

    @property
    def day(self) -> str:
        return self.at[:10]

    @property
    def line(self) -> str:
        data = asdict(self)
        for name in BYTES_FIELDS:
            data[name] = None if data[name] is None else data[name].hex()
        return canonical_json(data)

    @classmethod
    def from_line(cls, line: str) -> AuditLink:
        data = json.loads(line)
        for name in BYTES_FIELDS:
            data[name] = None if data[name] is None else bytes.fromhex(data[name])
        return cls(**data)

    @property
    def as_recorded(self) -> RecordedEntry:
        return RecordedEntry(
            number=self.number,
            at=parse_time(self.at),
            action=self.action,
            entry=None if self.content is None else parse_entry(self.content),
            proof={
                name: value.hex() if (value := getattr(self, name)) else None
                for name in BYTES_FIELDS
            },
        )

    @property
    def without_content(self) -> AuditLink:
        """The link without content and salt."""
        return replace(self, content=None, salt=None)


def entry_content(entry: AuditEntry) -> str:
    """Return the canonical JSON that the audit log stores and commits to."""
    data = {
        "at": format_time(clean_time(entry.at)),
        "action": entry.action,
        "actor": entry.actor,
        "place": entry.place,
        "people": sorted(set(entry.people)),
        "detail": dict(entry.detail),
    }
    return encode_json(data, "an audit entry")


def parse_entry(content: str) -> AuditEntry:
    data: dict[str, Any] = json.loads(content)
    return AuditEntry(**{**data, "at": parse_time(data["at"]), "people": tuple(data["people"])})


def build_links(
    length: int, head: bytes, entries: Sequence[AuditEntry], key: bytes | None
) -> list[AuditLink]:
    """Return the links of these entries, after a chain of this length and head."""
    links: list[AuditLink] = []
    for number, entry in enumerate(entries, start=length + 1):
        content, salt = entry_content(entry), new_salt()
        commitment, at = make_commitment(salt, content), format_time(clean_time(entry.at))
        head = _link_hash(head, number, at, entry.action, commitment)
        links.append(
            AuditLink(
                number=number,
                at=at,
                action=entry.action,
                content=content,
                salt=salt,
                commitment=commitment,
                hash=head,
                seal=None if key is None else _link_seal(key, head),
            )
        )
    return links


def blank_forgotten(
    links: Sequence[AuditLink], entries: Sequence[AuditEntry], tombstones: Iterable[Tombstone]
) -> list[AuditLink]:
    """Return the links, without the contents that mention a person erased since.

    Such an entry was queued while the person was erased.
    """
    erased = {each.digest: each.at for each in tombstones if each.kind == "user"}

    def is_forgotten(entry: AuditEntry) -> bool:
        return any(entry.at <= erased[who] for who in people_digests(entry) if who in erased)

    pairs = zip(links, entries, strict=True)
    return [link.without_content if is_forgotten(entry) else link for link, entry in pairs]


def people_digests(entry: AuditEntry) -> Iterator[str]:
    """Yield the tombstone digests of the people in an entry."""
    return (digest("user", name) for name in entry.people)


def _link_hash(previous: bytes, number: int, at: str, action: str, commitment: bytes) -> bytes:
    fields = f"{number}\n{at}\n{action}\n".encode()
    return hashlib.sha256(previous + fields + commitment).digest()


def _link_seal(key: bytes, hash: bytes) -> bytes:
    return hmac.digest(key, b"nexus audit" + hash, "sha256")


def is_successor(previous: bytes, link: AuditLink) -> bool:
    """Return whether a link directly follows the link with this hash."""
    return _link_hash(previous, link.number, link.at, link.action, link.commitment) == link.hash


def check_link_chain(length: int, head: bytes, links: Sequence[AuditLink]) -> None:
    """Raise Conflict unless these links continue a chain of this length and head.

    An empty chain accepts any first link, since earlier ones may have been dropped.
    """
    has_links = length > 0
    for link in links:
        if has_links and (link.number != length + 1 or not is_successor(head, link)):
            raise Conflict(
                f"audit entry {link.number} does not continue the chain of {length} entries"
            )
        has_links, length, head = True, link.number, link.hash


@dataclass(frozen=True, slots=True)
class DayAnchor:
    """First and last entry of a day, with the hash of the last one."""

    day: str
    first: int
    last: int
    hash: str  # of the last entry


def droppable_days(entries: Iterable[tuple[int, str, bytes]], before: str) -> list[DayAnchor]:
    """Return the oldest days before `before`; `entries` are (number, day, hash) in order."""
    anchors: list[DayAnchor] = []
    for number, day, hash in entries:
        if day >= before:
            break
        first = number
        if anchors and anchors[-1].day == day:
            first = anchors.pop().first
        anchors.append(DayAnchor(day, first, number, hash.hex()))
    return anchors


def retention_entry(anchors: Sequence[DayAnchor], before: date, now: datetime) -> AuditEntry:
    """Return the entry that records dropped days."""
    detail: dict[str, Json] = {
        "before": before.isoformat(),
        "through": anchors[-1].last,
        "days": [asdict(anchor) for anchor in anchors],
    }
    return AuditEntry(at=now, action=RETENTION, actor=WORKER, detail=detail)


def mentions_any(content: str, names: Sequence[str]) -> bool:
    """Return whether a content contains one of these names as a word, ignoring case."""
    folded = content.casefold()
    wanted = [name.casefold() for name in names if canonical_json(name.casefold())[1:-1] in folded]
    if not wanted:
        return False
    entry = parse_entry(content)
    texts = [*_iter_texts([entry.place, *entry.people, entry.detail])]
    if entry.actor not in (ADMINISTRATOR, WORKER):
        texts.append(entry.actor)
    return entry.action != RETENTION and any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text.casefold())
        for name in wanted
        for text in texts
    )


def _iter_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | Mapping):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _iter_texts(inner)


@dataclass(slots=True)
class ChainVerifier:
    """Verifies a chain link by link and collects problems."""

    key: bytes | None
    anchor: tuple[int, str] | None
    first: AuditLink | None = None
    number: int = 0
    head: bytes = GENESIS
    entries: int = 0
    erased: int = 0
    sealed: int = 0
    dropped: Mapping[str, Any] | None = None  # detail of the newest retention entry
    anchored: bool = False
    problems: list[str] = field(default_factory=list)

    def verify_links(self, links: Iterable[AuditLink]) -> ChainVerifier:
        for link in links:
            if self.first is None:
                self.first = link
            elif link.number != self.number + 1 or not is_successor(self.head, link):
                self.problems.append(f"entry {link.number} does not follow the one before it")
            self._check_link(link)
            self.number, self.head = link.number, link.hash
        return self

    def _check_link(self, link: AuditLink) -> None:
        self.entries += 1
        self.erased += link.content is None
        if link.content is not None and not _matches_commitment(link):
            self.problems.append(f"entry {link.number} was changed")
        elif link.action == RETENTION and link.content is not None:
            self.dropped = json.loads(link.content)["detail"]
        if self.anchor and self.anchor[0] == link.number:
            self.anchored = self.anchor[1] == link.hash.hex()
        if self.key is not None:
            self._check_seal(link, self.key)

    def _check_seal(self, link: AuditLink, key: bytes) -> None:
        if link.seal is not None and hmac.compare_digest(link.seal, _link_seal(key, link.hash)):
            self.sealed += 1
        elif link.seal is not None:
            self.problems.append(f"entry {link.number} was sealed with another key")
        elif self.sealed:
            self.problems.append(f"entry {link.number} lost its seal")

    def make_report(self, workspace: WorkspaceId, length: int, head: bytes) -> AuditReport:
        """Return the report, after comparing the end with the length and head of the workspace."""
        if self.number != length or self.head != head:
            self.problems.append(
                f"the audit log ends at entry {self.number}, but {length} were written"
            )
        through = self._check_beginning()
        if self.anchor and not self.anchored and self.anchor[0] > through:
            self.problems.append(f"entry {self.anchor[0]} does not match the anchor")
        if self.key is not None and self.entries and not self.sealed:
            self.problems.append("a key is configured, but no entry is sealed with it")
        return AuditReport(
            workspace=workspace,
            entries=self.entries,
            erased=self.erased,
            dropped=through,
            sealed=self.sealed,
            head=f"{self.number}:{self.head.hex()}",
            problems=tuple(self.problems),
        )

    def _check_beginning(self) -> int:
        """Return the number of dropped entries; report a first link without a matching anchor."""
        if self.first is None:
            return 0
        through, before = 0, GENESIS
        if self.dropped:
            through = int(self.dropped["through"])
            before = bytes.fromhex(self.dropped["days"][-1]["hash"])
        if self.first.number != through + 1 or not is_successor(before, self.first):
            self.problems.append(
                f"the audit log starts at entry {self.first.number}, but no retention entry"
                " covers those before it"
            )
        return through


def _matches_commitment(link: AuditLink) -> bool:
    try:
        entry = parse_entry(link.content or "")
        same = entry_content(entry) == link.content and format_time(entry.at) == link.at
    except (ValueError, KeyError, TypeError):
        return False
    return (
        same
        and entry.action == link.action
        and link.salt is not None
        and make_commitment(link.salt, link.content or "") == link.commitment
    )


def parse_anchor(anchor: str | None) -> tuple[int, str] | None:
    """Parse `number:hash`, the head of a report; raise InvalidInput otherwise."""
    if anchor is None:
        return None
    found = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", anchor.strip())
    if not found:
        raise InvalidInput(
            f"an anchor must be the head of an earlier report (number:hash), got {anchor!r:.80}"
        )
    return int(found[1]), found[2]


DAYS_AHEAD = 14  # days prepared in advance, so that no write fails at midnight
BATCH_SIZE = 1_000


def list_history(
    store: Store,
    grant: Grant,
    *,
    action: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int,
) -> list[RecordedEntry]:
    """Return entries and events, newest first; events with speaker, scope and id, without text."""
    found = store.audit.find(grant, action=action, since=since, until=until, limit=limit)
    if grant.everything and _is_event_action(action):
        kind = None if action is None else Condition("kind", Op.EQ, action)
        events = store.ledger.find(grant, where=kind, since=since, until=until, limit=limit)
        found += map(entry_from_event, events)
    return sorted(found, key=_sort_key, reverse=True)[:limit]


def read_since(
    store: Store,
    grant: Grant,
    after: AuditCursor | None,
    *,
    action: str | None = None,
    events: bool,
) -> tuple[list[RecordedEntry], AuditCursor]:
    """Return the entries written since a cursor, oldest first, and the next cursor.

    The order is by number, since an event may have any time, also a future one. Without a cursor,
    return no entries and the current cursor.
    """
    if after is None:
        newest = store.audit.find(grant, limit=1)
        end = store.ledger.events_since(grant, limit=0)[1] if events else 0
        return [], AuditCursor(entry=newest[0].number if newest else 0, event=end)
    found = store.audit.find(grant, after=after.entry, action=action, limit=BATCH_SIZE)
    new_events, end = (
        store.ledger.events_since(grant, after=after.event, limit=BATCH_SIZE) if events else ([], 0)
    )
    cursor = AuditCursor(entry=found[-1].number if found else after.entry, event=end)
    found += [each for each in map(entry_from_event, new_events) if action in (None, each.action)]
    return sorted(found, key=_sort_key), cursor


def _sort_key(each: RecordedEntry) -> tuple[datetime, int]:
    return each.at, each.number


def _is_event_action(action: str | None) -> bool:
    """Return whether this action is recorded as an event of the ledger."""
    return action is None or action in frozenset(EventKind)


def entry_from_event(event: Event) -> RecordedEntry:
    """Return an event in the form of an audit entry; its proof is in the ledger."""
    entry = AuditEntry(
        at=event.at,
        action=event.kind.value,
        actor=event.speaker,
        place=str(event.scope),
        people=(event.speaker,),
        detail={"event": event.id},
    )
    return RecordedEntry(number=0, at=event.at, action=event.kind.value, entry=entry)


def export_lines(store: Store, grant: Grant) -> Iterator[str]:
    """Yield the complete audit log, oldest first, as JSON lines with their proofs."""
    after = 0
    while page := store.audit.find(grant, after=after, limit=BATCH_SIZE):
        yield from (json.dumps(entry_to_json(each), ensure_ascii=False) for each in page)
        after = page[-1].number


def entry_to_json(each: RecordedEntry) -> dict[str, Json]:
    """Return an entry as JSON for display and export."""
    at = each.at.isoformat()
    data: dict[str, Json] = {"number": each.number, "at": at, "action": each.action}
    if each.entry is None:
        return {**data, "erased": True, "proof": dict(each.proof)}
    entry = asdict(each.entry)
    rest: dict[str, Json] = {name: entry[name] for name in ("actor", "place", "detail")}
    return {**data, **rest, "people": list(each.entry.people), "proof": dict(each.proof)}


def apply_retention(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json = None,
    retention_days: int,
) -> JobStep:
    """Drop expired days of the audit log and prepare the next days; a job step."""
    del cursor  # the job has one step only
    today = now.date()
    before = today - timedelta(days=retention_days) if retention_days else None
    counts = {
        "dropped": store.audit.apply_retention(workspace, before=before, now=now) if before else 0
    }
    days = store.audit.prepare_days(today=today, ahead=DAYS_AHEAD, before=before)
    return JobStep(counts={**counts, **{f"days_{name}": n for name, n in days.items()}})
