"""How many names are put to whom they mean, and how many of those rightly; and what it costs.

    python bench/linking.py            # the conversations to work with
    python bench/linking.py --held     # those kept aside as well, each until it was measured once

A link is a mention put to an entity that was known in its room. It is right if the entity was
introduced by a mention of the same person or thing. `joined` is stricter: a name that stays as it
was said, because nothing decides whom it means, is read together with whoever else is just called
so; it counts as a link, too. Mentions labelled `?` could mean several: any link is wrong.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from nexus.core.derive import known_as
from nexus.core.ids import WorkspaceId
from nexus.core.records import Draft, Event
from nexus.core.scope import Scope
from nexus.learn.around import Around
from nexus.learn.directory import Directory
from nexus.learn.entities import entity_drafts
from nexus.learn.knowledge import knowledge
from nexus.learn.linking import Resolved, resolved
from nexus.learn.rules import Message, extract

HERE = Path(__file__).parent
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
WINDOW = 10
ROUNDS = 5


@dataclass
class Room:
    """What is known and what was said in one room."""

    known: Directory = field(default_factory=Directory)
    said: list[Event] = field(default_factory=list)
    gold: dict[str, str] = field(default_factory=dict)  # entity → who introduced it is about
    met: set[str] = field(default_factory=set)  # gold ids that were mentioned

    def _names(self, event: Event) -> list[str]:
        entries = self.known.entries.values()
        return [each.name for each in entries if each.plain or each.name in event.text]

    def hear(self, event: Event) -> tuple[Resolved, list[Draft]]:
        """Who was meant, and what becomes of it."""
        around = Around(event, tuple(self.said[-WINDOW:]))
        extracted = extract(Message.of(event), around.context(self._names(event)))
        found = resolved(extracted, self.known, around)
        drafts = [*found.reviews, *entity_drafts(event, found.extracted, self.known)]
        facts = list(knowledge(event, found.extracted, around.grounds))
        self.known.with_([*found.reviews, *facts])
        self.said.append(event)
        return found, drafts


@dataclass
class Tally:
    links: int = 0
    right: int = 0
    joined: int = 0
    joined_right: int = 0
    wanted: int = 0
    hit: int = 0
    mentions: int = 0
    unread: int = 0
    reviews: int = 0
    wrong: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        return {
            "mentions": self.mentions,
            "links": self.links,
            "precision": _share(self.right, self.links),
            "precision, joined": _share(self.joined_right, self.joined),
            "recall": _share(self.hit, self.wanted),
            "not read as names": self.unread,
            "reviews": self.reviews,
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 1.0


def events(talk: dict[str, Any]) -> Iterator[tuple[Event, dict[str, str]]]:
    for number, turn in enumerate(talk["turns"]):
        event = Event(
            workspace=WorkspaceId("bench"),
            scope=Scope.room(turn["room"]),
            speaker=turn["speaker"],
            text=turn["text"],
            at=AT + timedelta(minutes=number),
            recorded_at=AT,
            key=f"{talk['id']}/{number}",
        )
        yield event, turn["mentions"]


def measure(talks: Sequence[dict[str, Any]]) -> Tally:
    tally = Tally()
    for talk in talks:
        rooms: defaultdict[str, Room] = defaultdict(Room)
        for event, mentions in events(talk):
            room = rooms[str(event.scope)]
            room.gold.setdefault(known_as(event.speaker), event.speaker)
            room.met.add(event.speaker)
            found, drafts = room.hear(event)
            tally.reviews += sum(draft.kind == "review" for draft in drafts)
            for surface, gold in mentions.items():
                count(tally, room, found, (surface, gold, event))
    return tally


def count(tally: Tally, room: Room, found: Resolved, said: tuple[str, str, Event]) -> None:
    surface, gold, event = said
    tally.mentions += 1
    link = found.links.get(surface)
    met = gold in room.met
    room.met.add(gold)
    tally.wanted += met
    if link is None:
        tally.unread += 1
        if met:
            tally.wrong.append(f"not read: {surface} in {event.text}")
        return
    key = known_as(link.name)
    fresh = key not in room.gold
    means = room.gold.setdefault(key, gold)
    right = means == gold and gold != "?"
    if link.linked and not fresh:
        tally.links += 1
        tally.right += right
    if not fresh:
        tally.joined += 1
        tally.joined_right += right
    tally.hit += met and right and link.linked
    if link.linked and not fresh and not right:
        tally.wrong.append(f"WRONG {surface} → {link.name} ({link.how}, is {gold}): {event.text}")
    elif met and not (right and link.linked):
        tally.wrong.append(f"missed {surface} → {link.name} ({link.how}, is {gold}): {event.text}")


def speed(talks: Sequence[dict[str, Any]], crowd: int) -> float:
    """Microseconds a message for `resolved` and `entity_drafts` among this many entities."""
    room = Room()
    for number in range(crowd):
        event = next(events({"id": f"c{number}", "turns": [_turn(number)]}))[0]
        room.hear(event)
    ready = []
    for talk in talks:
        for event, _ in events(talk):
            around = Around(event, tuple(room.said[-WINDOW:]))
            ready.append((event, around, extract(Message.of(event), around.context())))
    best = 1.0
    for _ in range(ROUNDS):  # the first loads the stemmer
        started = time.process_time()
        for event, around, extracted in ready:
            found = resolved(extracted, room.known, around)
            list(entity_drafts(event, found.extracted, room.known))
        best = min(best, (time.process_time() - started) / len(ready))
    return best * 1e6


def _turn(number: int) -> dict[str, Any]:
    first = ("Sarah", "Peter", "Anna", "Luis", "Emma", "Tom")[number % 6]
    text = f"{first} {_name(number)} works at {_name(number * 7)}."
    return {"room": "crowd", "speaker": "alice", "text": text, "mentions": {}}


def _name(number: int) -> str:
    letters = "bcdfglmnprst"
    made = "".join(letters[number // 12**place % 12] + "aeiou"[place] for place in range(4))
    return made.capitalize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", action="store_true", help="measure those kept aside as well")
    parser.add_argument("--wrong", action="store_true", help="show what is wrong or missed")
    parser.add_argument("--crowd", type=int, default=2000, help="entities when speed is measured")
    asked = parser.parse_args()
    table = Table("", "dev", *(["kept aside, first", "kept aside, second"] if asked.held else []))
    names = ["dev", "held", "fresh"] if asked.held else ["dev"]
    talks = {name: _read(HERE / "linking" / f"labelled_{name}.jsonl") for name in names}
    tallies = {name: measure(talks[name]) for name in names}
    for figure in tallies["dev"].figures():
        table.add_row(figure, *(str(tally.figures()[figure]) for tally in tallies.values()))
    micros = [f"{speed(talks[name], asked.crowd):.0f}" for name in names]
    table.add_row("µs a message", *micros)
    console = Console()
    console.print(table)
    if asked.wrong:
        for name in names:
            console.print(*tallies[name].wrong, sep="\n", markup=False)


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
