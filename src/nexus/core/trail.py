"""The hash chain that the entries of an audit form.

Each link covers the one before it, its number, time and action, and a salted commitment to the
rest. Erasing an entry removes its content and its salt and keeps the commitment: the chain stays
whole, and nothing of what was said can be guessed from it. Whoever has a key also seals each
link with it.

Old days are dropped from the front. The entry that says so stands in the chain and holds the
anchors of those days, so that what is left begins where it should.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from typing import Any

from .audit import ADMINISTRATOR, WORKER, Entry, Recorded, TrailReport
from .canonical import canonical_json, clean_time, spelt_json, text_time, time_text
from .chain import GENESIS, commitment, new_salt
from .errors import Conflict, InvalidInput
from .ids import WorkspaceId, digest
from .records import Json, Tombstone

RETENTION = "retention"  # the action that drops old days
BYTES = ("salt", "commitment", "hash", "seal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link of the trail."""

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
        told = asdict(self)
        for name in BYTES:
            told[name] = None if told[name] is None else told[name].hex()
        return canonical_json(told)

    @classmethod
    def of(cls, line: str) -> Link:
        told = json.loads(line)
        for name in BYTES:
            told[name] = None if told[name] is None else bytes.fromhex(told[name])
        return cls(**told)

    @property
    def recorded(self) -> Recorded:
        return Recorded(
            number=self.number,
            at=text_time(self.at),
            action=self.action,
            entry=None if self.content is None else entry_of(self.content),
            proof={name: value.hex() if (value := getattr(self, name)) else None for name in BYTES},
        )

    @property
    def blank(self) -> Link:
        """The same without its content."""
        return replace(self, content=None, salt=None)


def content_of(entry: Entry) -> str:
    """An entry as the trail keeps it and commits to it."""
    told = {
        "at": time_text(clean_time(entry.at)),
        "action": entry.action,
        "actor": entry.actor,
        "place": entry.place,
        "people": sorted(set(entry.people)),
        "detail": dict(entry.detail),
    }
    return spelt_json(told, "an entry of the audit")


def entry_of(content: str) -> Entry:
    told: dict[str, Any] = json.loads(content)
    return Entry(**{**told, "at": text_time(told["at"]), "people": tuple(told["people"])})


def linked(length: int, head: bytes, entries: Sequence[Entry], key: bytes | None) -> list[Link]:
    """The links of these entries, after a trail of this length and head."""
    made: list[Link] = []
    for number, entry in enumerate(entries, start=length + 1):
        content, salt = content_of(entry), new_salt()
        promise, at = commitment(salt, content), time_text(clean_time(entry.at))
        head = _hash(head, number, at, entry.action, promise)
        made.append(
            Link(
                number=number,
                at=at,
                action=entry.action,
                content=content,
                salt=salt,
                commitment=promise,
                hash=head,
                seal=None if key is None else _seal(key, head),
            )
        )
    return made


def without_forgotten(
    links: Sequence[Link], entries: Sequence[Entry], stones: Iterable[Tombstone]
) -> list[Link]:
    """The links; without contents of what was done before somebody in it was forgotten.

    Such an entry waited somewhere else meanwhile.
    """
    gone = {stone.digest: stone.at for stone in stones if stone.kind == "user"}

    def waited(entry: Entry) -> bool:
        return any(entry.at <= gone[who] for who in people_of(entry) if who in gone)

    pairs = zip(links, entries, strict=True)
    return [link.blank if waited(entry) else link for link, entry in pairs]


def people_of(entry: Entry) -> Iterator[str]:
    """Who is in an entry, as tombstones know them."""
    return (digest("user", name) for name in entry.people)


def _hash(previous: bytes, number: int, at: str, action: str, promise: bytes) -> bytes:
    told = f"{number}\n{at}\n{action}\n".encode()
    return hashlib.sha256(previous + told + promise).digest()


def _seal(key: bytes, hash: bytes) -> bytes:
    return hmac.digest(key, b"nexus audit" + hash, "sha256")


def follows(previous: bytes, link: Link) -> bool:
    """Whether a link is the one after this hash."""
    return _hash(previous, link.number, link.at, link.action, link.commitment) == link.hash


def continues(length: int, head: bytes, coming: Sequence[Link]) -> None:
    """Refuse links that do not follow a trail of this length and head.

    An empty trail takes the first one as it is: what was before it may have been dropped.
    """
    begun = length > 0
    for link in coming:
        if begun and (link.number != length + 1 or not follows(head, link)):
            raise Conflict(f"entry {link.number} of the audit does not follow the {length} there")
        begun, length, head = True, link.number, link.hash


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a day of the trail begins and ends."""

    day: str
    first: int
    last: int
    hash: str  # of the last one


def dropping(kept: Iterable[tuple[int, str, bytes]], before: str) -> list[Anchor]:
    """The days that can be dropped from the front: (number, day, hash) of each entry in order."""
    anchors: list[Anchor] = []
    for number, day, hash in kept:
        if day >= before:
            break
        first = number
        if anchors and anchors[-1].day == day:
            first = anchors.pop().first
        anchors.append(Anchor(day, first, number, hash.hex()))
    return anchors


def retention_entry(anchors: Sequence[Anchor], before: date, now: datetime) -> Entry:
    """What is recorded when days are dropped."""
    told: dict[str, Json] = {
        "before": before.isoformat(),
        "through": anchors[-1].last,
        "days": [asdict(anchor) for anchor in anchors],
    }
    return Entry(at=now, action=RETENTION, actor=WORKER, detail=told)


def names_one_of(content: str, names: Sequence[str]) -> bool:
    """Whether a content holds one of these names as a word, in whatever spelling of capitals."""
    folded = content.casefold()
    wanted = [name.casefold() for name in names if canonical_json(name.casefold())[1:-1] in folded]
    if not wanted:
        return False
    entry = entry_of(content)
    texts = [*_texts([entry.place, *entry.people, entry.detail])]
    if entry.actor not in (ADMINISTRATOR, WORKER):
        texts.append(entry.actor)
    return entry.action != RETENTION and any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text.casefold())
        for name in wanted
        for text in texts
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | Mapping):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


@dataclass(slots=True)
class Walk:
    """A walk along a trail, link by link, and what was noticed on the way."""

    key: bytes | None
    anchor: tuple[int, str] | None
    first: Link | None = None
    number: int = 0
    head: bytes = GENESIS
    entries: int = 0
    erased: int = 0
    sealed: int = 0
    dropped: Mapping[str, Any] | None = None  # what the newest retention says
    anchored: bool = False
    problems: list[str] = field(default_factory=list)

    def along(self, trail: Iterable[Link]) -> Walk:
        for link in trail:
            if self.first is None:
                self.first = link
            elif link.number != self.number + 1 or not follows(self.head, link):
                self.problems.append(f"entry {link.number} does not follow the one before it")
            self._look_at(link)
            self.number, self.head = link.number, link.hash
        return self

    def _look_at(self, link: Link) -> None:
        self.entries += 1
        self.erased += link.content is None
        if link.content is not None and not _kept_promise(link):
            self.problems.append(f"entry {link.number} was changed")
        elif link.action == RETENTION and link.content is not None:
            self.dropped = json.loads(link.content)["detail"]
        if self.anchor and self.anchor[0] == link.number:
            self.anchored = self.anchor[1] == link.hash.hex()
        if self.key is not None:
            self._look_at_seal(link, self.key)

    def _look_at_seal(self, link: Link, key: bytes) -> None:
        if link.seal is not None and hmac.compare_digest(link.seal, _seal(key, link.hash)):
            self.sealed += 1
        elif link.seal is not None:
            self.problems.append(f"entry {link.number} was sealed with another key")
        elif self.sealed:
            self.problems.append(f"entry {link.number} lost its seal")

    def ended(self, workspace: WorkspaceId, length: int, head: bytes) -> TrailReport:
        """The report, with what the workspace itself says about its trail."""
        if self.number != length or self.head != head:
            self.problems.append(f"the trail ends at entry {self.number}, but {length} were made")
        through = self._begin()
        if self.anchor and not self.anchored and self.anchor[0] > through:
            self.problems.append(f"entry {self.anchor[0]} is not the one of the anchor")
        if self.key is not None and self.entries and not self.sealed:
            self.problems.append("a key is configured, but no entry is sealed with it")
        return TrailReport(
            workspace=workspace,
            entries=self.entries,
            erased=self.erased,
            dropped=through,
            sealed=self.sealed,
            head=f"{self.number}:{self.head.hex()}",
            problems=tuple(self.problems),
        )

    def _begin(self) -> int:
        """How many were dropped, if the first that is left begins where it should."""
        if self.first is None:
            return 0
        through, before = 0, GENESIS
        if self.dropped:
            through = int(self.dropped["through"])
            before = bytes.fromhex(self.dropped["days"][-1]["hash"])
        if self.first.number != through + 1 or not follows(before, self.first):
            self.problems.append(
                f"the trail begins at entry {self.first.number}, and nothing says that those"
                " before it were dropped"
            )
        return through


def _kept_promise(link: Link) -> bool:
    try:
        entry = entry_of(link.content or "")
        same = content_of(entry) == link.content and time_text(entry.at) == link.at
    except (ValueError, KeyError, TypeError):
        return False
    return (
        same
        and entry.action == link.action
        and link.salt is not None
        and commitment(link.salt, link.content or "") == link.commitment
    )


def parsed_anchor(anchor: str | None) -> tuple[int, str] | None:
    """`number:hash`, as a report's head."""
    if anchor is None:
        return None
    found = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", anchor.strip())
    if not found:
        raise InvalidInput("an anchor is the head of an earlier report: number:hash")
    return int(found[1]), found[2]
