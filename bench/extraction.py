"""How much the rules extractor finds, how much of it is right, and how fast it is.

    python bench/extraction.py --data ../shared/data

Two measures. Labelled sentences of our own (`bench/extraction/*.jsonl`): a fact is right if its
subject, relation and object are. LoCoMo's `observation` sentences: one is found if the sentence of
a fact comes close enough to it (cosine ≥ 0.7), among the facts of its conversation, and, stricter,
among those of its session. With `--held` the sentences kept aside are measured as well.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from nexus.core.errors import NexusError
from nexus.learn.rules import Context, Extracted, Message, extract
from nexus.learn.rules.extracted import Landmark, Statement

HERE = Path(__file__).parent
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
PEOPLE = ("Alice", "Bob", "Carol", "Dana", "Erin")
ROOM = Context(participants=PEOPLE, project="Apollo")
NEAR = 0.7
ALIKE = 0.6  # of the words of an object, F1
WINDOW = 4
WORD = re.compile(r"[\w$€@.+-]*\w")
SMALL = {"a", "an", "the", "my", "their", "to", "of", "in", "on", "at", "for"}


# -- labelled sentences


@dataclass
class Tally:
    """How many of those found are right, and how many of those wanted are found."""

    counts: dict[str, list[int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def add(self, what: str, *numbers: int) -> None:
        """`numbers`: right, found; hit, wanted."""
        held = self.counts.setdefault(what, [0, 0, 0, 0])
        self.counts[what] = [one + other for one, other in zip(held, numbers, strict=True)]

    def figures(self) -> dict[str, float]:
        made = {}
        for what, (right, found, hit, wanted) in self.counts.items():
            made[f"{what} precision"] = round(right / found, 3) if found else 1.0
            made[f"{what} recall"] = round(hit / wanted, 3) if wanted else 1.0
        return made


def measure(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, float], list[str]]:
    tally = Tally()
    junk = chat = said = dated = resolved = 0
    for row in rows:
        found = extract(Message(speaker=row["speaker"], text=row["text"], at=AT), ROOM)
        _count_facts(row, found, tally)
        _count_landmarks(row, found, tally)
        _count_identities(row, found, tally)
        if row["topic"] == "small talk":
            chat += 1
            junk += bool(found.facts or found.landmarks)
        said += "date" in row
        if "date" in row and (day := _days(found)):
            dated += 1
            resolved += row["date"] in day
            if row["date"] not in day:
                tally.wrong.append(f"date {row['text']} {row['date']} {sorted(day)}")
    figures = tally.figures()
    figures["dates resolved"] = round(resolved / dated, 3) if dated else 1.0
    figures["dates resolved, of all said"] = round(resolved / said, 3) if said else 1.0
    figures["junk rate of small talk"] = round(junk / chat, 3) if chat else 0.0
    return figures, tally.wrong


def _count_facts(row: dict[str, Any], found: Extracted, tally: Tally) -> None:
    wanted = list(row["facts"])
    right = good = 0
    for fact in found.facts:
        match = next((gold for gold in wanted if _same(gold, fact)), None)
        if match is None:
            shown = fact.object or fact.value
            tally.wrong.append(f"extra {row['text']} → {fact.subject} {fact.predicate} {shown}")
            continue
        wanted.remove(match)
        good += 1
        right += not match.get("optional")
    missed = [gold for gold in wanted if not gold.get("optional")]
    tally.wrong += [
        f"missed {row['text']} → {gold['predicate']} {gold['object']}" for gold in missed
    ]
    tally.add("facts", good, len(found.facts), right, right + len(missed))


def _same(gold: dict[str, Any], fact: Statement) -> bool:
    if bool(gold.get("negated")) != fact.negated:
        return False
    if fact.subject not in gold["subject"] and "*" not in gold["subject"]:
        return False
    if "*" in gold["predicate"]:
        wanted, said = _words(gold["object"]), _words(fact.sentence)
        return len(wanted & said) >= ALIKE * len(wanted)
    if fact.predicate not in gold["predicate"]:
        return False
    return _f1(_words(gold["object"]), _words(fact.object or fact.value or "")) >= ALIKE


def _words(text: str) -> set[str]:
    return {_stem(word) for word in WORD.findall(text.lower())} - SMALL


def _stem(word: str) -> str:
    return re.sub(r"(?:'s|s|ed|ing)$", "", word) if len(word) > 4 else word


def _f1(one: set[str], other: set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else float(one == other)


def _count_landmarks(row: dict[str, Any], found: Extracted, tally: Tally) -> None:
    gold = row.get("landmark")
    right = [each for each in found.landmarks if gold and _is(gold, each)]
    for each in found.landmarks:
        if each not in right:
            tally.wrong.append(f"landmark {row['text']} → {each.kind} {each.owner}")
    required = bool(gold) and not gold.get("optional")
    if required and not right:
        tally.wrong.append(f"no landmark {row['text']} → {gold['kind']}")
    hit = int(required and bool(right))
    tally.add("landmarks", len(right), len(found.landmarks), hit, int(required))


def _is(gold: dict[str, Any], landmark: Landmark) -> bool:
    owner = gold.get("owner")
    return landmark.kind in gold["kind"] and (not owner or landmark.owner == owner)


def _count_identities(row: dict[str, Any], found: Extracted, tally: Tally) -> None:
    gold = row.get("identity")
    stated = [each for each in found.identities if each.kind != "kin"]  # those are facts as well
    right = sum(
        bool(gold) and each.kind == gold["kind"] and each.value == gold["value"] for each in stated
    )
    tally.add("identities", right, len(stated), min(right, 1), int(bool(gold)))


def _days(found: Extracted) -> set[str]:
    """The days a message was understood to speak of: from its facts and its landmarks."""
    times = [each.valid_from for each in found.facts] + [each.valid_to for each in found.facts]
    for landmark in found.landmarks:
        times += [landmark.due_from, landmark.due]
        if landmark.due:  # "by Friday" ends with Friday: its last moment is the day meant
            times.append(landmark.due.fromtimestamp(landmark.due.timestamp() - 1, UTC))
    return {time.date().isoformat() for time in times if time}


# -- LoCoMo


@dataclass(frozen=True)
class Found:
    session: int
    sentence: str


def read_locomo(
    file: Path,
) -> Iterator[tuple[list[tuple[int, Message]], tuple[str, str], list[Found]]]:
    """For each conversation: its messages, the two who talk, and the gold sentences."""
    for sample in json.loads(file.read_text(encoding="utf-8")):
        told = sample["conversation"]
        numbers = sorted(
            int(match[1]) for name in told if (match := re.fullmatch(r"session_(\d+)", name))
        )
        messages = []
        for number in numbers:
            date = told[f"session_{number}_date_time"] + " +0000"
            at = datetime.strptime(date, "%I:%M %p on %d %B, %Y %z")
            messages += [
                (number, Message(speaker=turn["speaker"], text=turn["text"], at=at))
                for turn in told[f"session_{number}"]
            ]
        gold = [
            Found(int(re.findall(r"\d+", name)[0]), sentence[0])
            for name, people in sample["observation"].items()
            for sentences in people.values()
            for sentence in sentences
        ]
        yield messages, (told["speaker_a"], told["speaker_b"]), gold


def facts_of(messages: Sequence[tuple[int, Message]], people: tuple[str, str]) -> list[Found]:
    found: list[Found] = []
    recent: list[tuple[int, Message]] = []
    for session, message in messages:
        near = tuple(each for number, each in recent[-WINDOW:] if number == session)
        got = extract(message, Context(recent=near, participants=people))
        found += [Found(session, fact.sentence) for fact in got.facts]
        recent.append((session, message))
    return found


def timed(
    messages: Sequence[tuple[int, Message]], people: tuple[str, str]
) -> tuple[list[Found], float]:
    """The facts, and the seconds of the best of three rounds: others share this machine."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        facts = facts_of(messages, people)
        best = min(best, time.process_time() - began)
    return facts, best


def locomo(file: Path) -> dict[str, Any]:
    embedder = _embedder()
    matched = strict = gold_count = fact_count = message_count = 0
    seconds = 0.0
    for messages, people, gold in read_locomo(file):
        facts, took = timed(messages, people)
        seconds += took
        scores = embedder.embed([each.sentence for each in gold]) @ (
            embedder.embed([each.sentence for each in facts]).T
        )
        same = np.array([[one.session == other.session for other in facts] for one in gold])
        matched += int((scores.max(axis=1) >= NEAR).sum())
        strict += int((np.where(same, scores, 0).max(axis=1) >= NEAR).sum())
        gold_count, fact_count = gold_count + len(gold), fact_count + len(facts)
        message_count += len(messages)
    return {
        "embedder": embedder.profile.name,
        "gold sentences": gold_count,
        "facts": fact_count,
        "facts per gold sentence": round(fact_count / gold_count, 2),
        "matched in the conversation": round(matched / gold_count, 3),
        "matched in the session": round(strict / gold_count, 3),
        "messages per second": round(message_count / seconds),
    }


def _embedder() -> Any:
    from nexus.embedders.builtin import BuiltinEmbedder
    from nexus.embedders.minilm import MiniLMEmbedder

    try:
        return MiniLMEmbedder()
    except NexusError:
        return BuiltinEmbedder()


# -- the program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, help="folder with locomo/locomo_dev.json")
    parser.add_argument("--held", action="store_true", help="measure the sentences kept aside, too")
    parser.add_argument("--wrong", action="store_true", help="show what was wrong (of dev only)")
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for name in ("dev", "held")[: 1 + given.held]:
        lines = (HERE / "extraction" / f"labelled_{name}.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in lines.splitlines()]
        figures, wrong = measure(rows)
        results[f"labelled {name}"] = {"sentences": len(rows), **figures}
        if given.wrong and name == "dev":
            print(*wrong, sep="\n")
    if given.data:
        results["locomo"] = locomo(given.data / "locomo" / "locomo_dev.json")
    show(results)
    target = HERE / "results" / "extraction.json"
    if given.data and given.held:
        target.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def show(results: dict[str, Any]) -> None:
    table = Table("measured on", "what", "figure", title="The rules extractor")
    for name, figures in results.items():
        for what, figure in figures.items():
            table.add_row(name, what, str(figure))
        table.add_section()
    Console().print(table)


if __name__ == "__main__":
    main()
