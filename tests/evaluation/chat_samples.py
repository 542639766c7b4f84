"""A small chat corpus with a small scorer, in the format that `nexus eval chat` reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def message(id: str, speaker: str, at: str, text: str, **labels: Any) -> dict[str, Any]:
    """Return one message with its labels."""
    empty: dict[str, Any] = {"facts": [], "landmarks": [], "entities": [], "aliases": []}
    return {"id": id, "speaker": speaker, "timestamp": at, "text": text, **empty, **labels}


def fact(subject: str, predicate: str, object: str) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": object}


def question(id: str, kind: str, text: str, as_of: str | None = None) -> dict[str, Any]:
    """Return a question about where ole lives; `answer` is a label."""
    return {
        "id": id,
        "kind": kind,
        "text": text,
        "subject": "ole",
        "predicate": "LIVES_IN",
        "also": ["BASED_IN"],
        "as_of": as_of,
        "answer": [{"value": "Oslo" if kind != "state" else "Rome"}],
    }


CORPUS: list[dict[str, Any]] = [
    {
        "kind": "message",
        "register": "friends",
        **message(
            "t-1",
            "maya",
            "2026-03-02T09:00:00",
            "I work at Larkspur.",
            facts=[fact("maya", "WORKS_AT", "Larkspur")],
        ),
    },
    {
        "kind": "message",
        "register": "assistant",
        **message("t-2", "maya", "2026-03-01T09:00:00", "hello there"),
    },
    {
        "kind": "message",
        "register": "friends",
        **message(
            "t-3",
            "nils",
            "2026-03-03T09:00:00",
            "Bob lives in Lima.",
            facts=[fact("Bob", "WORKS_AT", "Acme")],  # is missed, and the fact learned is false
        ),
    },
    {
        "id": "t-c1",
        "kind": "conversation",
        "register": "conversation",
        "messages": [
            message("t-c1-m1", "ole", "2025-01-10T09:00:00", "I live in Oslo."),
            message("t-c1-m2", "pia", "2025-01-10T09:05:00", "nice!"),
            message("t-c1-m3", "ole", "2026-03-10T09:00:00", "I live in Rome now."),
        ],
        "questions": [
            question("t-c1-q1", "state", "Where does Ole live?"),
            question("t-c1-q2", "state_as_of", "Where did Ole live in June 2025?", "2025-06-01"),
            question("t-c1-q3", "before", "Where did Ole live before?"),
        ],
    },
]

SCORER = '''
"""Counts facts with the same subject, predicate and object, and answers that are the same."""

def key(fact):
    return fact["subject"].lower(), fact["predicate"], fact["object"].lower()

def score(gold, output, by, errors):
    given = {record["id"]: record for record in output}
    groups = {}
    for row in gold:
        group = groups.setdefault(row[by], [])
        for message in row.get("messages", [row]):
            want = {key(each): each for each in message["facts"]}
            got = {key(each): each for each in given[message["id"]]["facts"]}
            id = message["id"]
            errors += [(id, "missed fact", want[each]) for each in want if each not in got]
            errors += [(id, "false fact", got[each]) for each in got if each not in want]
            group.append((len(want), len(got), len(want.keys() & got.keys())))
        for question in row.get("questions", []):
            answers = given[row["id"]]["answers"][question["id"]]
            if answers != [each["value"] for each in question["answer"]]:
                errors.append((question["id"], "wrong answer", {"given": answers}))
    return [each for group in groups.values() for each in group], groups

def summary(counts):
    want, got, both = (sum(each[n] for each in counts) for n in range(3))
    facts = {"precision": both / got if got else 0.0, "recall": both / want if want else 0.0,
             "f1": 2 * both / (want + got) if want + got else 0.0, "gold": want, "given": got}
    none = {"precision": 0.0, "recall": 0.0, "f1": 0.0, "gold": 0, "given": 0}
    empty = [each for each in counts if not each[0]]
    return {
        "messages": len(counts), "facts_strict": facts, "facts_lenient": facts,
        "landmarks": none, "entities": none, "aliases": none,
        "landmark_kinds": {"decision": none},
        "question_kinds": {"state": {"accuracy": 1.0, "n": 1}},
        "owner_accuracy": None, "due_accuracy": None, "due_recall": None, "when_accuracy": None,
        "when_recall": None, "entity_type_accuracy": None, "questions": 1.0,
        "when_added": 0, "due_added": 0, "empty_messages": len(empty),
        "empty_messages_with_a_false_fact": sum(bool(each[1]) for each in empty),
        "false_facts_per_100_empty": 0.0, "false_landmarks_per_100_empty": None,
    }
'''


def write_corpus(folder: Path, *, scorer: str | None = SCORER) -> Path:
    """Write the corpus, and beside it the scorer; return the corpus file."""
    file = folder / "dev.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in CORPUS), encoding="utf-8")
    if scorer is not None:
        (folder / "score.py").write_text(scorer, encoding="utf-8")
    return file
