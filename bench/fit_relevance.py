"""Fit the weights of `nexusmem.recall.ranking.relevance` and check them on data left out.

    python bench/fit_relevance.py --data FOLDER --write MODULE

Questions with an answer: LoCoMo and BEAM (`--data`), the story of `bench/story`, and the facts of
`bench/continuity_*.json` in memories of 4 to 150 messages. Questions without one: those of other
conversations with the names replaced, facts that a memory was not told, and
`bench/never_mentioned.jsonl`. A fold is a conversation; the printed figures are of folds left out
of the fit. MODULE is src/nexusmem/recall/ranking/relevance_weights.py. `--check FILE` prints how
many other questions about things never mentioned get nothing; they are in no fit. FILE has the form
of `bench/never_mentioned.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from rich.progress import track

from nexusmem.config.settings import Settings
from nexusmem.embedders.builtin import match_words
from nexusmem.evaluation.benchmarks import (
    BenchmarkConversation,
    BenchmarkMessage,
    read_benchmark,
)
from nexusmem.evaluation.evaluate import open_memory
from nexusmem.evaluation.run import index_conversation
from nexusmem.recall.query import SearchSettings, make_query
from nexusmem.recall.ranking.candidates import CandidateCollector
from nexusmem.recall.ranking.contextual import rank_pool, rated_head
from nexusmem.recall.ranking.relevance import (
    HIT_INPUTS,
    QUESTION_INPUTS,
    RatedHead,
    hit_inputs,
    question_inputs,
)
from nexusmem.recall.ranking.weights import STATIC_WEIGHTS
from nexusmem.recall.strategy_run import QuestionPreparer
from nexusmem.wiring.ranking import make_strategies

FOLDER = Path(__file__).parent
ANSWERABLE, ELSEWHERE, NEVER, ADVERSARIAL = "answerable", "elsewhere", "never", "adversarial"
CHECKED = "never, in no fit"
FIT_WEIGHTS = {ANSWERABLE: 1.0, ELSEWHERE: 0.5, NEVER: 4.0}
SOURCE_WEIGHTS = {"locomo": 1.0, "beam": 1.0, "story": 1.2, "facts": 1.2}
HIT_RIDGE, QUESTION_RIDGE, STEPS = 1e-3, 2e-3, 60
LOSS = 0.03  # of answerable questions that may get nothing
QUESTIONS_OF_OTHERS = {"locomo": 60, "beam": 12}
FACT_MEMORIES = ((4, 10), (10, 8), (25, 6), (60, 4), (150, 3))  # messages, repetitions
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Asked:
    """A question, its answers by message key, and its group."""

    text: str
    gold: frozenset[str]
    group: str


@dataclass
class Case:
    """The inputs of one question."""

    source: str
    fold: str
    asked: Asked
    head: RatedHead
    inputs: np.ndarray
    helps: np.ndarray  # 1 for a gold message or its neighbour
    chances: np.ndarray = field(default_factory=lambda: np.zeros(0))
    answerable: float = 0.0

    @property
    def weight(self) -> float:
        return FIT_WEIGHTS[self.asked.group] * SOURCE_WEIGHTS[self.source]


def build_cases(
    source: str, fold: str, conversation: BenchmarkConversation, questions: Iterable[Asked]
) -> Iterator[Case]:
    """Index a conversation and yield the inputs of each question."""
    keys = [message.key for message in conversation.messages]
    threads = conversation.session_by_key
    with open_memory(Settings()) as nexus:
        room, parts = index_conversation(nexus, "bench", conversation), nexus._parts
        collector = CandidateCollector(
            parts.store,
            parts.embedder,
            QuestionPreparer(parts.embedder.embed_query),
            make_strategies(SearchSettings().strategies, parts.store, parts.embedder),
        )
        people = [person.value for person in room.viewer.people]
        for asked in questions:
            query = make_query(asked.text, limit=100, threshold=0.0, people=people)
            pool, _ = collector.collect_candidates(room.grant, query)
            ranked = rank_pool(
                pool,
                lambda ids: parts.store.memories.load_texts(room.grant, ids),
                match_words,
                STATIC_WEIGHTS,
            )
            head = rated_head(pool, ranked)
            if not head.positions:
                continue
            ids = [candidate.id for candidate in head.candidates]
            memories = {each.id: each for each in parts.store.memories.get(room.grant, ids)}
            sources = [memories[id].sources[0] for id in ids]
            found = parts.store.ledger.load_keys(room.grant, sources)
            near = asked.gold if source == "facts" else _with_neighbours(asked.gold, keys, threads)
            helps = np.array([found[event] in near for event in sources], float)
            yield Case(source, fold, asked, head, hit_inputs(head), helps)


def _with_neighbours(
    gold: frozenset[str], keys: Sequence[str], threads: dict[str, str]
) -> frozenset[str]:
    near = set()
    for place, key in enumerate(keys):
        if key in gold:
            around = keys[max(0, place - 1) : place + 2]
            near |= {other for other in around if threads[other] == threads[key]}
    return frozenset(near)


def public_conversations(
    data: Path, never: dict[str, list[str]]
) -> Iterator[tuple[str, str, BenchmarkConversation, list[Asked]]]:
    """Yield LoCoMo and BEAM with their own questions and those of other conversations."""
    chance = random.Random(7)
    for source, count in QUESTIONS_OF_OTHERS.items():
        group = list(read_benchmark(source, data))
        for conversation in group:
            asked = [
                Asked(each.text, each.gold, ADVERSARIAL if each.abstention else ANSWERABLE)
                for each in conversation.questions
                if each.gold or each.abstention
            ]
            for other in group:
                if other is conversation:
                    continue
                answerable = [each.text for each in other.answerable_questions if each.gold]
                for text in chance.sample(answerable, min(count, len(answerable))):
                    renamed = _rename(text, other.people, conversation.people)
                    asked.append(Asked(renamed, frozenset(), ELSEWHERE))
            asked += [Asked(text, frozenset(), NEVER) for text in never.get(conversation.name, ())]
            yield source, conversation.name, conversation, asked


def _rename(text: str, old: Sequence[str], new: Sequence[str]) -> str:
    for one, other in zip(old, new, strict=False):
        text = re.sub(rf"\b{re.escape(one)}\b", other, text)
        text = re.sub(rf"\b{re.escape(one.split()[0])}\b", other.split()[0], text)
    return text


def fact_conversations() -> Iterator[tuple[str, str, BenchmarkConversation, list[Asked]]]:
    """Yield memories with some of the facts; the questions about other facts have no answer."""
    chance = random.Random(11)
    files = (FOLDER / "continuity_facts.json", FOLDER / "continuity_unseen.json")
    facts = [fact for file in files for group in json.loads(file.read_text()) for fact in group]
    names = ["Ann", "Bob", "Mira", "Tom"]
    for number, (size, repetitions) in enumerate(FACT_MEMORIES):
        for repetition in range(repetitions):
            told = chance.sample(facts, size)
            others = [fact for fact in facts if fact not in told]
            is_own = repetition % 2 == 0  # asked by the only speaker, else about one of several
            speakers = [names[0] if is_own else chance.choice(names[:3]) for _ in told]
            messages = [
                (speaker.casefold(), fact["told"], f"s{place // 6}")
                for place, (speaker, fact) in enumerate(zip(speakers, told, strict=True))
            ]
            conversation = _make_conversation(f"facts-{number}-{repetition}", messages)
            shown = range(min(size, 20))
            asked = [
                Asked(
                    _ask(told[place], speakers[place], is_own), frozenset({f"m{place}"}), ANSWERABLE
                )
                for place in shown
            ]
            asked += [
                Asked(_ask(fact, chance.choice(speakers), is_own), frozenset(), ELSEWHERE)
                for fact in chance.sample(others, len(shown))
            ]
            yield "facts", f"facts-{repetition}", conversation, asked


def _ask(fact: dict[str, str], name: str, is_own: bool) -> str:
    text = fact["question"] if is_own else fact.get("question_about", fact["question"])
    return text.replace("{name}", name)


def story_conversation() -> tuple[str, str, BenchmarkConversation, list[Asked]]:
    """Return the story of thirty sessions with its questions."""
    thread, keys, messages, asked = "", {}, [], []
    for line in (FOLDER / "story/sessions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            thread = f"s{line.split()[1]}"
        elif question := re.match(r"[?!]\s*(?:\S+\s+)?\[([\w-]+)\]\s*(.*)", line):
            asked.append(question.groups())
        elif said := re.match(r"(\w+)(?: \[([\w-]+)=.*?\])?(?: > \w+)?: (.*)", line):
            speaker, key, text = said.groups()
            keys[key] = f"m{len(messages)}"
            messages.append((speaker, text, thread))
    conversation = _make_conversation("story", messages)
    questions = [
        Asked(text, frozenset({keys[key]}), ANSWERABLE) for key, text in asked if key in keys
    ]
    return "story", "story", conversation, questions


def _make_conversation(
    name: str, messages: Sequence[tuple[str, str, str]]
) -> BenchmarkConversation:
    made = tuple(
        BenchmarkMessage(
            speaker=speaker,
            text=text,
            key=f"m{place}",
            thread=thread,
            at=START + timedelta(hours=3 * place),
        )
        for place, (speaker, text, thread) in enumerate(messages)
    )
    people = tuple(dict.fromkeys(message.speaker for message in made))
    return BenchmarkConversation(name=name, people=people, messages=made, questions=())


def fit(inputs: np.ndarray, target: np.ndarray, counts: np.ndarray, ridge: float) -> np.ndarray:
    """Return bias and weights of a logistic model, fitted by Newton's method."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    spread[spread < 1e-9] = np.inf  # an input that never changes has no weight
    rows = np.column_stack([np.ones(len(inputs)), (inputs - mean) / spread])
    weights, penalty = np.zeros(rows.shape[1]), ridge * np.eye(rows.shape[1])
    penalty[0, 0] = 0.0
    shares = counts / counts.sum()
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (shares * (chance - target)) + penalty @ weights
        bend = (rows.T * (shares * chance * (1 - chance))) @ rows + penalty
        weights = weights - np.linalg.solve(bend + 1e-9 * np.eye(len(weights)), slope)
    plain = weights[1:] / spread
    return np.concatenate([[weights[0] - float(plain @ mean)], plain])


def predict(model: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(inputs @ model[1:] + model[0], -30, 30)))


def fit_hits(cases: Sequence[Case]) -> np.ndarray:
    used = [case for case in cases if case.asked.group in (ANSWERABLE, ELSEWHERE)]
    counts = np.concatenate([np.full(len(c.helps), SOURCE_WEIGHTS[c.source]) for c in used])
    inputs = np.concatenate([case.inputs for case in used])
    return fit(inputs, np.concatenate([case.helps for case in used]), counts, HIT_RIDGE)


def fit_questions(cases: Sequence[Case]) -> np.ndarray:
    used = [case for case in cases if case.asked.group in FIT_WEIGHTS]
    target = np.array([case.asked.group == ANSWERABLE for case in used], float)
    inputs = np.array([_question_row(case) for case in used])
    return fit(inputs, target, np.array([case.weight for case in used]), QUESTION_RIDGE)


def _question_row(case: Case) -> np.ndarray:
    return question_inputs(case.head, case.chances)


def print_figures(cases: Sequence[Case], cut: float) -> None:
    """Print the calibration of hits, and the share of each group that gets nothing."""
    for source in SOURCE_WEIGHTS:
        own = [c for c in cases if c.source == source and c.asked.group == ANSWERABLE]
        chances = np.concatenate([case.chances for case in own])
        helps = np.concatenate([case.helps for case in own])
        for low, high in ((0, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 1.01)):
            part = helps[(chances >= low) & (chances < high)]
            share = f"{part.mean():.3f}" if len(part) else "–"
            print(f"{source}: hits at {low:.2f} to {high:.2f}: {share} help of {len(part)}")
    for source in SOURCE_WEIGHTS:
        for group in (ANSWERABLE, ELSEWHERE, NEVER, ADVERSARIAL, CHECKED):
            own = [c for c in cases if c.source == source and c.asked.group == group]
            if own:
                quiet = np.mean([case.answerable < cut for case in own])
                print(f"{source}: {group}: {quiet:.3f} of {len(own)} get nothing")


def format_row(name: str, values: Sequence[float]) -> str:
    labels = HIT_INPUTS if name == "hit" else QUESTION_INPUTS
    pairs = zip(labels, values, strict=True)
    return "\n".join(f"    {value:.4f},  # {label}" for label, value in pairs)


def write_weights(file: Path, hits: np.ndarray, questions: np.ndarray, cut: float) -> None:
    """Write the module with the weights."""
    file.write_text(
        '"""Weights of the relevance models, written by `bench/fit_relevance.py`."""\n\n'
        "from __future__ import annotations\n\nimport numpy as np\n\n"
        "from .relevance import RelevanceWeights\n\n"
        f"HIT_WEIGHTS = (\n{format_row('hit', hits[1:])}\n)\n"
        f"QUESTION_WEIGHTS = (\n{format_row('question', questions[1:])}\n)\n"
        "RELEVANCE_WEIGHTS = RelevanceWeights(\n"
        f"    hit_bias={hits[0]:.4f},\n    hit=np.array(HIT_WEIGHTS),\n"
        f"    question_bias={questions[0]:.4f},\n    question=np.array(QUESTION_WEIGHTS),\n"
        f"    min_answerable={cut:.3f},\n)\n"
    )


def load_never(files: Iterable[Path]) -> dict[str, list[str]]:
    asked: dict[str, list[str]] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            asked.setdefault(row["sample_id"], []).append(row["question"])
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark data")
    parser.add_argument("--check", type=Path, help="more questions about things never mentioned")
    parser.add_argument("--write", type=Path, help="module to write the weights to")
    options = parser.parse_args()
    never = load_never([FOLDER / "never_mentioned.jsonl"])
    extra = load_never([options.check]) if options.check else {}
    sources = [
        *public_conversations(options.data, never),
        *fact_conversations(),
        story_conversation(),
    ]
    cases: list[Case] = []
    for source, fold, conversation, asked in track(sources, description="collecting candidates"):
        more = [Asked(text, frozenset(), CHECKED) for text in extra.get(conversation.name, ())]
        cases += build_cases(source, fold, conversation, [*asked, *more])
    predict_left_out(cases)
    own = [c for c in cases if c.source == "locomo" and c.asked.group == ANSWERABLE]
    cut = float(np.quantile([case.answerable for case in own], LOSS))
    print_figures(cases, cut)
    if options.write:
        write_weights(options.write, fit_hits(cases), fit_questions(cases), cut)


def predict_left_out(cases: Sequence[Case]) -> None:
    """Set the probabilities of each case by models that were fitted without its fold."""
    folds = sorted({case.fold for case in cases})
    for fold in track(folds, description="hits, left out"):
        model = fit_hits([case for case in cases if case.fold != fold])
        for case in cases:
            if case.fold == fold:
                case.chances = predict(model, case.inputs)
    for fold in track(folds, description="questions, left out"):
        model = fit_questions([case for case in cases if case.fold != fold])
        for case in cases:
            if case.fold == fold:
                case.answerable = float(predict(model, _question_row(case)))


if __name__ == "__main__":
    main()
