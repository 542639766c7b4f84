"""Train the sentence classifier of the flows and measure it on messages it has not seen.

    python scripts/train_flow_classifier.py           # write weights from bench/flows/{train,dev}
    python scripts/train_flow_classifier.py --check   # measure the weights of the package only

`train.jsonl` has labelled sentences, `dev.jsonl` and `test.jsonl` labelled messages. They were
written by people who had not seen the code. `test.jsonl` is never used for training.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.flow_classifier import (
    BUCKETS,
    LABELS,
    UNIT,
    WEIGHTS_PATH,
    Features,
    FlowClassifier,
    sentence_features,
)
from nexusmem.learn.flows.decide import MessageTopics, decide_topics
from nexusmem.learn.flows.topics import ROOM_TOPICS, split_sentences

DATA = Path(__file__).parent.parent / "bench" / "flows"
FACTS = DATA.parent / "continuity_facts.json"  # the first sets; later ones are not trained on
L2 = 1.0
STEPS = 700
RATE, MOMENTUM = 1.0, 0.9


class Example(NamedTuple):
    features: Features
    labels: dict[str, bool]
    in_project: bool


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def sentence_rows() -> Iterator[tuple[str, dict[str, Any], dict[str, bool]]]:
    """Yield sentences with their message and labels; a message of one sentence is one, too."""
    for message in read_lines("train.jsonl"):
        for sentence in message["sentences"]:
            yield sentence["text"], message, make_labels(sentence, sentence["project"])
    for message in read_lines("dev.jsonl"):
        if len(split_sentences(message["text"])) == 1:
            yield message["text"], message, make_labels(message, message["project_info"])

    for fact in (fact for each in json.loads(FACTS.read_text()) for fact in each):
        kind = fact["kind"]
        is_project = kind in ("decision", "project_fact")
        place = {"place": "room" if is_project else "private", "project": is_project}
        record = {"self": [] if is_project else [kind], "confidential": False, "sensitive": False}
        yield fact["told"], place, make_labels(record, is_project)


def make_labels(record: dict[str, Any], project: bool) -> dict[str, bool]:
    topics = set(record["self"])
    return {
        "self": bool(topics),
        "room": bool(topics & ROOM_TOPICS),
        "home": bool(topics - ROOM_TOPICS),
        "project": project,
        "confidential": record["confidential"],
        "sensitive": record["sensitive"],
    }


def make_examples() -> list[Example]:
    embedder, examples = BuiltinEmbedder(), []
    for text, message, labels in sentence_rows():
        in_room, project = message["place"] == "room", bool(message["project"])
        (features,) = sentence_features([text], embedder.embed([text]))
        examples.append(Example(features, labels, in_room and project))
    return examples


def make_matrix(examples: Sequence[Example]) -> NDArray[np.float64]:
    rows = []
    for example in examples:
        words = np.zeros(BUCKETS)
        words[list(example.features.words)] = 1 / np.sqrt(max(1, example.features.word_count))
        rows.append(np.concatenate([example.features.dense / UNIT, words]))
    return np.array(rows)


def fit(matrix: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of a logistic regression, by gradient descent with momentum."""
    weights = np.zeros(matrix.shape[1])
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-(matrix @ weights)))
        slope = (matrix.T @ (probability - wanted) + L2 * weights) / len(wanted)
        speed = MOMENTUM * speed - RATE * slope
        weights += speed
    return weights


def train() -> None:
    examples = make_examples()
    matrix = make_matrix(examples)
    in_project = np.array([example.in_project for example in examples])
    heads = []
    for label in LABELS:
        chosen = in_project if label == "project" else np.ones(len(examples), bool)
        wanted = np.array([example.labels[label] for example in examples], np.float64)
        heads.append(fit(matrix[chosen], wanted[chosen]))
    rounded = np.rint(np.array(heads) * UNIT).astype(np.int32)
    np.savez_compressed(WEIGHTS_PATH, weights=rounded)
    print(f"{len(examples)} sentences, {WEIGHTS_PATH.stat().st_size:,} bytes")


def measure(name: str) -> None:
    """Print precision and recall of what leaves its place, and what must not have left."""
    classifier, pairs = FlowClassifier(BuiltinEmbedder().embed), []
    for message in read_lines(name):
        in_room, project = message["place"] == "room", bool(message["project"])
        found = decide_topics(classifier, message["text"], in_room=in_room, project=project)
        pairs.append((message, found))
    print(name)
    for kind in ("self", "project", "stays"):
        rows = [judge(kind, message, found) for message, found in pairs]
        right, wrong, missed = (
            sum(row == each for row in rows) for each in ("hit", "wrong", "missed")
        )
        print(
            f"  {kind:8} precision {right / max(1, right + wrong):.2f}"
            f"  recall {right / max(1, right + missed):.2f}"
            f"  ({right}, {wrong} wrong, {missed} missed)"
        )
    left = [m for m, f in pairs if must_stay(m) and (f.self_text or f.project_text) and not f.stays]
    print(f"  confidential or sensitive messages that left: {len(left)} of {count_staying(pairs)}")
    for message in left:
        print("   ", message["text"][:100])


def must_stay(message: dict[str, Any]) -> bool:
    return bool(message["confidential"] or message["sensitive"])


def count_staying(pairs: Iterable[tuple[dict[str, Any], MessageTopics]]) -> int:
    return sum(must_stay(message) for message, _ in pairs)


def judge(kind: str, message: dict[str, Any], found: MessageTopics) -> str:
    in_room = message["place"] == "room"
    topics = set(message["self"])
    gold = {
        "self": bool(topics & ROOM_TOPICS if in_room else topics) and not must_stay(message),
        "project": bool(message["project_info"]) and not must_stay(message),
        "stays": must_stay(message),
    }[kind]
    leaves = not found.stays
    predicted = {
        "self": bool(found.self_text) and leaves,
        "project": bool(found.project_text) and leaves,
        "stays": found.stays,
    }[kind]
    if predicted:
        return "hit" if gold else "wrong"
    return "missed" if gold else "right"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="measure only")
    if not parser.parse_args().check:
        train()
    measure("dev.jsonl")
    measure("test.jsonl")
