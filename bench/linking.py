"""Entity linking: precision, recall and cost of linking names to entities.

    python bench/linking.py            # the dev conversations
    python bench/linking.py --held     # also the held-out conversations

A link assigns a mention to an entity that existed in its room. A link is correct if a mention of
the same person or thing introduced the entity. `joined` is stricter: an unresolved name also
counts as a link to the entity with the same name. Mentions labelled `?` are ambiguous, so any
link is wrong. Each held-out set counts as held out until its first measurement.

The conversations are our own and serve as a regression set only. `nexus eval chat` measures
learning on a corpus that is not part of the project.
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

from nexusmem.core.derive import normalize_name
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Draft, Event
from nexusmem.core.scope import Scope
from nexusmem.learn.extract.event_context import EventContext
from nexusmem.learn.extract.fact_drafts import knowledge_drafts
from nexusmem.learn.names.entities import entity_drafts
from nexusmem.learn.names.name_directory import NameDirectory
from nexusmem.learn.names.resolve import ResolvedExtraction, resolve_names
from nexusmem.learn.rules import SourceMessage, extract

HERE = Path(__file__).parent
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
WINDOW = 10
ROUNDS = 5


@dataclass
class Room:
    """State of one room: entities, messages and gold labels."""

    directory: NameDirectory = field(default_factory=NameDirectory)
    messages: list[Event] = field(default_factory=list)
    gold: dict[str, str] = field(
        default_factory=dict
    )  # entity → gold id of the mention that introduced it
    mentioned: set[str] = field(default_factory=set)  # gold ids mentioned so far

    def _names(self, event: Event) -> list[str]:
        entries = self.directory.entries.values()
        return [each.name for each in entries if each.can_be_lowercase or each.name in event.text]

    def add_message(self, event: Event) -> tuple[ResolvedExtraction, list[Draft]]:
        """Extract and resolve a message; return the resolution and the drafts."""
        context = EventContext(event, tuple(self.messages[-WINDOW:]))
        extraction = extract(
            SourceMessage.from_event(event), context.extraction_context(self._names(event))
        )
        resolved = resolve_names(extraction, self.directory, context)
        drafts = [*resolved.reviews, *entity_drafts(event, resolved.extracted, self.directory)]
        facts = list(knowledge_drafts(event, resolved.extracted, context.find_name_sources))
        self.directory.add_records([*resolved.reviews, *facts])
        self.messages.append(event)
        return resolved, drafts


@dataclass
class Tally:
    """Counts of links and mentions."""

    links: int = 0
    right: int = 0
    joined: int = 0
    joined_right: int = 0
    wanted: int = 0
    hit: int = 0
    mentions: int = 0
    unrecognized: int = 0
    reviews: int = 0
    wrong: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        return {
            "mentions": self.mentions,
            "links": self.links,
            "precision": _ratio(self.right, self.links),
            "precision, joined": _ratio(self.joined_right, self.joined),
            "recall": _ratio(self.hit, self.wanted),
            "not recognized as names": self.unrecognized,
            "reviews": self.reviews,
        }


def _ratio(part: int, total: int) -> float:
    return round(part / total, 3) if total else 1.0


def make_events(conversation: dict[str, Any]) -> Iterator[tuple[Event, dict[str, str]]]:
    """Yield the events of a conversation with their labelled mentions."""
    for number, turn in enumerate(conversation["turns"]):
        event = Event(
            workspace=WorkspaceId("bench"),
            scope=Scope.room(turn["room"]),
            speaker=turn["speaker"],
            text=turn["text"],
            at=AT + timedelta(minutes=number),
            recorded_at=AT,
            key=f"{conversation['id']}/{number}",
        )
        yield event, turn["mentions"]


def measure(conversations: Sequence[dict[str, Any]]) -> Tally:
    """Return the tally over all conversations."""
    tally = Tally()
    for conversation in conversations:
        rooms: defaultdict[str, Room] = defaultdict(Room)
        for event, mentions in make_events(conversation):
            room = rooms[str(event.scope)]
            room.gold.setdefault(normalize_name(event.speaker), event.speaker)
            room.mentioned.add(event.speaker)
            resolved, drafts = room.add_message(event)
            tally.reviews += sum(draft.kind == "review" for draft in drafts)
            for surface, gold in mentions.items():
                count_mention(tally, room, resolved, (surface, gold, event))
    return tally


def count_mention(
    tally: Tally, room: Room, resolved: ResolvedExtraction, mention: tuple[str, str, Event]
) -> None:
    """Add one mention to the tally."""
    surface, gold, event = mention
    tally.mentions += 1
    link = resolved.links.get(surface)
    is_known = gold in room.mentioned
    room.mentioned.add(gold)
    tally.wanted += is_known
    if link is None:
        tally.unrecognized += 1
        if is_known:
            tally.wrong.append(f"not recognized: {surface} in {event.text}")
        return
    key = normalize_name(link.name)
    is_new = key not in room.gold
    entity_gold = room.gold.setdefault(key, gold)
    is_correct = entity_gold == gold and gold != "?"
    if link.is_linked and not is_new:
        tally.links += 1
        tally.right += is_correct
    if not is_new:
        tally.joined += 1
        tally.joined_right += is_correct
    tally.hit += is_known and is_correct and link.is_linked
    if link.is_linked and not is_new and not is_correct:
        tally.wrong.append(
            f"WRONG {surface} → {link.name} ({link.method}, is {gold}): {event.text}"
        )
    elif is_known and not (is_correct and link.is_linked):
        tally.wrong.append(
            f"missed {surface} → {link.name} ({link.method}, is {gold}): {event.text}"
        )


def measure_speed(conversations: Sequence[dict[str, Any]], entity_count: int) -> float:
    """Return the CPU microseconds per message for resolving names among `entity_count` entities."""
    room = Room()
    for number in range(entity_count):
        event = next(make_events({"id": f"c{number}", "turns": [_make_turn(number)]}))[0]
        room.add_message(event)
    prepared = []
    for conversation in conversations:
        for event, _ in make_events(conversation):
            context = EventContext(event, tuple(room.messages[-WINDOW:]))
            prepared.append(
                (
                    event,
                    context,
                    extract(SourceMessage.from_event(event), context.extraction_context()),
                )
            )
    best = 1.0
    for _ in range(ROUNDS):  # the first round loads the stemmer
        started = time.process_time()
        for event, context, extraction in prepared:
            resolved = resolve_names(extraction, room.directory, context)
            list(entity_drafts(event, resolved.extracted, room.directory))
        best = min(best, (time.process_time() - started) / len(prepared))
    return best * 1e6


def _make_turn(number: int) -> dict[str, Any]:
    first = ("Sarah", "Peter", "Anna", "Luis", "Emma", "Tom")[number % 6]
    text = f"{first} {_make_name(number)} works at {_make_name(number * 7)}."
    return {"room": "crowd", "speaker": "alice", "text": text, "mentions": {}}


def _make_name(number: int) -> str:
    letters = "bcdfglmnprst"
    name = "".join(letters[number // 12**place % 12] + "aeiou"[place] for place in range(4))
    return name.capitalize()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--held", action="store_true", help="also measure the held-out conversations"
    )
    parser.add_argument("--wrong", action="store_true", help="list wrong and missed links")
    parser.add_argument(
        "--crowd", type=int, default=2000, help="number of entities for the speed measurement"
    )
    options = parser.parse_args()
    table = Table("", "dev", *(["held out, first", "held out, second"] if options.held else []))
    names = ["dev", "held", "fresh"] if options.held else ["dev"]
    conversations = {
        name: _read_jsonl(HERE / "linking" / f"labelled_{name}.jsonl") for name in names
    }
    tallies = {name: measure(conversations[name]) for name in names}
    for figure in tallies["dev"].figures():
        table.add_row(figure, *(str(tally.figures()[figure]) for tally in tallies.values()))
    microseconds = [f"{measure_speed(conversations[name], options.crowd):.0f}" for name in names]
    table.add_row("µs per message", *microseconds)
    console = Console()
    console.print(table)
    if options.wrong:
        for name in names:
            console.print(*tallies[name].wrong, sep="\n", markup=False)


def _read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
