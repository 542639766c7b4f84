"""Parser: accuracy on the English Web Treebank, and speed.

    python bench/parser.py                # the dev part
    python bench/parser.py --part test    # not for choosing settings

`gold words` are the words of the treebank. `chat` are they in lower case and without punctuation.
`own words` are made from the text of each sentence; a word is right if its place, its head's place
and its relation are (F1). Lemmas are compared without case. Clauses are words with an nsubj, sorted
by their least sure arc. Speed is CPU time of one thread (OPENBLAS_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from rich.console import Console
from rich.table import Table

from nexusmem.text.parser.network import WEIGHTS_PATH
from nexusmem.text.parser.parse import parse, parse_each
from nexusmem.text.parser.sentence import Sentence

DATA = Path(os.environ.get("NEXUS_DATA") or Path(__file__).parents[2] / "shared" / "data")
ROUNDS = 3


class Word(NamedTuple):
    form: str
    lemma: str
    upos: str
    head: int  # position in the sentence, -1 for the root
    deprel: str


class Gold(NamedTuple):
    text: str
    words: list[Word]


def read_gold(path: Path) -> list[Gold]:
    sentences = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.splitlines()
        text = next((line[9:] for line in lines if line.startswith("# text = ")), "")
        rows = [line.split("\t") for line in lines if line and line[0] != "#"]
        words = [
            Word(row[1], row[2], row[3], int(row[6]) - 1, row[7])
            for row in rows
            if row[0].isdigit()
        ]
        if words:
            sentences.append(Gold(text, words))
    return sentences


def make_chat(words: Sequence[Word]) -> list[Word]:
    """Return the words in lower case, without punctuation that nothing depends on."""
    heads = {word.head for word in words}
    kept = [
        at
        for at, word in enumerate(words)
        if word.upos != "PUNCT" or at in heads or word.head == -1
    ]
    places = {-1: -1} | {at: place for place, at in enumerate(kept)}
    return [
        words[at]._replace(form=words[at].form.lower(), head=places[words[at].head]) for at in kept
    ]


def count_words(gold: Sequence[Sequence[Word]], parsed: Sequence[Sentence]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for words, sentence in zip(gold, parsed, strict=True):
        for word, token in zip(words, sentence, strict=True):
            is_head = word.head == token.head
            counts["words"] += 1
            counts["UPOS"] += word.upos == token.upos
            counts["UAS"] += is_head
            counts["LAS"] += is_head and word.deprel == token.deprel
            counts["lemma"] += word.lemma.lower() == token.lemma.lower()
    return {name: counts[name] / counts["words"] for name in ("UPOS", "UAS", "LAS", "lemma")}


def find_places(gold: Gold) -> list[tuple[int, int]] | None:
    """Return the places of the words, or None if they differ from the text."""
    places, at = [], 0
    for word in gold.words:
        while gold.text[at : at + 1].isspace() and not word.form[0].isspace():
            at += 1
        if not gold.text.startswith(word.form, at):
            return None
        places.append((at, at + len(word.form)))
        at += len(word.form)
    return places


def count_own_words(gold: Sequence[Gold]) -> dict[str, float]:
    """Return F1 with our own words, sentence boundaries of the treebank given."""
    counts: Counter[str] = Counter()
    for each, sentences in zip(gold, parse_each([each.text for each in gold]), strict=True):
        places = find_places(each)
        if places is None:
            continue
        wanted: dict[tuple[int, int], tuple[str, object, str]] = {
            place: (word.upos, places[word.head] if word.head >= 0 else None, word.deprel)
            for place, word in zip(places, each.words, strict=True)
        }
        counts["total"] += len(wanted)
        for sentence in sentences:
            for token in sentence:
                counts["total"] += 1
                found = wanted.get((token.start, token.end))
                if found:
                    head = sentence[token.head] if token.head >= 0 else None
                    is_head = found[1] == ((head.start, head.end) if head else None)
                    counts["words"] += 2
                    counts["UPOS"] += 2 * (found[0] == token.upos)
                    counts["UAS"] += 2 * is_head
                    counts["LAS"] += 2 * (is_head and found[2] == token.deprel)
    return {name: counts[name] / counts["total"] for name in ("words", "UPOS", "UAS", "LAS")}


def measure_clauses(gold: Sequence[Gold], parsed: Sequence[Sentence]) -> list[tuple[float, bool]]:
    """Return confidence and correctness of each clause that the parser found.

    A clause is a word with its subject, objects, obliques and complements. It is right if the
    treebank has the same words with the same relations.
    """
    kinds = ("nsubj", "obj", "iobj", "obl", "xcomp", "ccomp")
    clauses = []
    for wanted_words, sentence in zip(gold, parsed, strict=True):
        for at in range(len(sentence)):
            children = {child: sentence[child] for child in sentence.children(at)}
            mine = {c: each for c, each in children.items() if each.deprel.split(":")[0] in kinds}
            if not any(token.deprel.startswith("nsubj") for token in mine.values()):
                continue
            wanted = {
                (place, word.deprel)
                for place, word in enumerate(wanted_words.words)
                if word.head == at and word.deprel.split(":")[0] in kinds
            }
            is_right = wanted == {(place, token.deprel) for place, token in mine.items()}
            clauses.append((min(token.confidence for token in mine.values()), is_right))
    return sorted(clauses, reverse=True)


def measure_calibration(gold: Sequence[Gold], parsed: Sequence[Sentence]) -> list[str]:
    """Return confidence and share of right words, for words of similar confidence."""
    groups: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for each, sentence in zip(gold, parsed, strict=True):
        for word, token in zip(each.words, sentence, strict=True):
            is_right = (word.head, word.deprel) == (token.head, token.deprel)
            groups[min(9, int(token.confidence * 10))].append((token.confidence, is_right))
    lines = []
    for _, group in sorted(groups.items()):
        confidence, right = (sum(column) / len(group) for column in zip(*group, strict=True))
        lines.append(f"{len(group)} words with confidence {confidence:.2f}: {right:.2f} right")
    return lines


def measure_speed(action: Callable[[], object]) -> float:
    """Return the least CPU time of several rounds, in seconds."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return min(times)


def print_accuracy(console: Console, gold: Sequence[Gold]) -> None:
    words = [each.words for each in gold]
    chat = [changed for each in words if (changed := make_chat(each))]
    lower = [[word._replace(form=word.form.lower()) for word in each] for each in words]
    parsed = parse([[word.form for word in each] for each in words])
    table = Table("words", "found", "UPOS", "UAS", "LAS", "lemma")
    for name, sentences in (("gold words", words), ("lower case", lower), ("chat", chat)):
        result = count_words(sentences, parse([[word.form for word in each] for each in sentences]))
        table.add_row(name, "1", *(f"{value:.4f}" for value in result.values()))
    table.add_row("own words", *(f"{value:.4f}" for value in count_own_words(gold).values()))
    console.print(table)

    clauses = measure_clauses(gold, parsed)
    for share in (0.25, 0.5, 0.75, 1.0):
        part = clauses[: int(len(clauses) * share)]
        right = sum(is_right for _, is_right in part) / len(part)
        console.print(f"surest {share:.0%} of {len(clauses)} clauses: {right:.3f} exactly right")
    for line in measure_calibration(gold, parsed):
        console.print(line)


def print_speed(console: Console, gold: Sequence[Gold]) -> None:
    texts = [each.text for each in gold]
    parse(texts)
    groups = [texts[at : at + 32] for at in range(0, len(texts), 32)]
    runs = {
        "all at once": lambda: parse(texts),
        "32 at once": lambda: [parse(group) for group in groups],
        "one by one": lambda: [parse([text]) for text in texts],
    }
    for name, run in runs.items():
        console.print(f"{name}: {len(texts) / measure_speed(run):.0f} sentences/s")
    junk = "a.b-c@d'e!\n 1:2$" * 6250
    console.print(f"100,000 characters of junk: {measure_speed(lambda: parse([junk])):.2f} s")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--part", choices=("dev", "test"), default="dev")
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--no-speed", action="store_true")
    arguments = options.parse_args()
    path = arguments.data / "ud-ewt" / f"{arguments.part}.conllu"
    if not path.exists():
        sys.exit(f"no treebank at {path}; set NEXUS_DATA")
    console = Console()
    gold = read_gold(path)
    console.print(f"{arguments.part}: {len(gold)} sentences, {WEIGHTS_PATH.stat().st_size:,} bytes")
    print_accuracy(console, gold)
    if not arguments.no_speed:
        print_speed(console, gold)


if __name__ == "__main__":
    main()
