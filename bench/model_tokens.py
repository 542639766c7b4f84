"""Model pass: tokens of the prompt and of an ideal answer, per message.

    python bench/model_tokens.py --data chat.jsonl

Each line of the file is a labelled message: id, speaker, timestamp, text, facts, landmarks and
entities. No model is called. The ideal answer has exactly the labels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from nexusmem.core.ids import WorkspaceId
from nexusmem.core.records import Event
from nexusmem.core.scope import Scope
from nexusmem.learn.model_pass.turns import Excerpt
from nexusmem.learn.settings import ModelReadLimits
from nexusmem.prompts import load_prompt
from nexusmem.text.tokens import count_tokens

BATCH_SIZES = (1, 10)
STATUS_BY_TENSE = {"current": "true", "past": "past", "future": "planned"}

Row = dict[str, Any]


def make_event(row: Row) -> Event:
    at = datetime.fromisoformat(row["timestamp"]).replace(tzinfo=UTC)
    return Event(
        workspace=WorkspaceId("bench"),
        scope=Scope.room("chat"),
        speaker=row["speaker"],
        text=row["text"],
        at=at,
        recorded_at=at,
        key=row["id"],
    )


def count_input(events: Sequence[Event]) -> int:
    """Return the tokens of the prompt for one call."""
    text = Excerpt.from_events(events, (), ModelReadLimits()).to_prompt_text()
    prompt = load_prompt("one_pass").render(asked=text, correction="")
    return count_tokens(prompt.system) + count_tokens(prompt.user)


def count_output(row: Row) -> int:
    """Return the tokens of the answer that has the labels of one message."""
    answer = {
        "facts": [make_fact(fact) for fact in row["facts"]],
        "landmarks": [make_landmark(row, landmark) for landmark in row["landmarks"]],
        "names": [
            {"name": each["name"], "type": each["type"], "aliases": []} for each in row["entities"]
        ],
        "right": [],
        "wrong": [],
    }
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def make_fact(fact: Row) -> Row:
    status = "denied" if fact["negated"] else STATUS_BY_TENSE.get(fact["tense"], "true")
    said = {"subject": fact["subject"], "predicate": fact["predicate"]}
    more = {"status": status, "certainty": "explicit", "by": None, "when": fact["when"]}
    return {"turns": [1], **said, "object": str(fact["object"]), **more}


def make_landmark(row: Row, landmark: Row) -> Row:
    text = landmark.get("text") or row["text"][:80]
    what = {"kind": landmark["kind"], "text": text, "owner": landmark.get("owner")}
    return {"turns": [1], **what, "due": landmark.get("due"), "wrong": None, "right": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="labelled messages, JSON lines")
    lines = parser.parse_args().data.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "text" in row]
    events = [make_event(row) for row in rows]
    table = Table("figure", "tokens")
    table.add_row("instructions", str(count_tokens(load_prompt("one_pass").system)))
    for size in BATCH_SIZES:
        calls = [events[start : start + size] for start in range(0, len(events), size)]
        mean = sum(map(count_input, calls)) / len(events)
        table.add_row(f"input per message, {size} per call", f"{mean:.0f}")
    table.add_row("output per message", f"{sum(map(count_output, rows)) / len(rows):.0f}")
    Console().print(f"{len(rows)} messages", table)


if __name__ == "__main__":
    main()
