"""Train the parser on the English Web Treebank and write its weights.

    python -m venv /tmp/torchenv && /tmp/torchenv/bin/pip install torch numpy
    PYTHONPATH=src /tmp/torchenv/bin/python scripts/train_parser.py --data ../shared/data/ud-ewt

It takes 20 minutes on two cores and needs torch, which the package does not use. The network is
trained with the rounding of the package: weights and inputs of every product have 8 bits. Sentences
lose their case or punctuation at random, so that the parser reads chat. Settings were chosen on the
dev part; the test part is not read. `bench/parser.py` measures the weights.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nexusmem.text.parser.features import (
    DIMENSION,
    FEATURES,
    describe_form,
    feature_ids,
    word_vectors,
)
from nexusmem.text.parser.lemmas import make_rule
from nexusmem.text.parser.network import (
    ARC_DIVISOR,
    DISTANCES,
    ROOT_FORM,
    WEIGHTS_PATH,
    distance_buckets,
)

MIN_COUNTS = {"word": 3, "suffix3": 6, "suffix2": 4, "prefix3": 8, "prefix1": 4, "shape": 5}
SIZES = {"word": 96, "suffix3": 48, "suffix2": 24, "prefix3": 32, "prefix1": 16, "shape": 24}
INPUT_SCALE = 32.0  # steps per unit of the input features
SCALE = 16.0  # steps per unit of every other input of a product
MAX_INT8 = 127.0
MAX_TRAIN_TOKENS = 90
MAX_DECAY = 0.998  # of the moving average


@dataclass
class Tree:
    """A sentence of the treebank; heads are numbered from 1, and 0 is the root."""

    forms: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    heads: list[int]
    labels: list[str]


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - chooses training data, protects nothing


def read_trees(path: Path) -> list[Tree]:
    """Return the sentences of a CoNLL-U file, without empty nodes and multi-word tokens."""
    trees = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line and line[0] != "#"]
        rows = [row for row in rows if row[0].isdigit()]
        if rows:
            columns = list(zip(*rows, strict=True))
            heads = [int(head) for head in columns[6]]
            trees.append(Tree(*(list(columns[at]) for at in (1, 2, 3, 4)), heads, list(columns[7])))
    return trees


def drop_tokens(tree: Tree, dropped: set[int]) -> Tree:
    """Return the tree without these tokens, which have no dependents."""
    kept = [at for at in range(len(tree.forms)) if at not in dropped]
    numbers = {0: 0} | {at + 1: number for number, at in enumerate(kept, 1)}
    return Tree(
        [tree.forms[at] for at in kept],
        [tree.lemmas[at] for at in kept],
        [tree.upos[at] for at in kept],
        [tree.xpos[at] for at in kept],
        [numbers[tree.heads[at]] for at in kept],
        [tree.labels[at] for at in kept],
    )


def drop_punctuation(tree: Tree, only_last: bool = False) -> Tree:
    """Return the tree without punctuation, or without the punctuation at its end."""
    heads = set(tree.heads)
    marks = {
        at
        for at, (tag, head) in enumerate(zip(tree.upos, tree.heads, strict=True))
        if tag == "PUNCT" and head and at + 1 not in heads
    }
    if only_last:
        last = len(tree.forms) - 1
        marks = {last} & marks
    return drop_tokens(tree, marks) if marks else tree


def lower_case(tree: Tree) -> Tree:
    return Tree(
        [form.lower() for form in tree.forms],
        tree.lemmas,
        tree.upos,
        tree.xpos,
        tree.heads,
        tree.labels,
    )


def vary_tree(tree: Tree, chance: random.Random) -> Tree:
    """Return the tree as somebody else might have typed it."""
    draw = chance.random()
    if draw < 0.15:
        tree = drop_punctuation(tree)
    elif draw < 0.27:
        tree = drop_punctuation(tree, only_last=True)
    draw = chance.random()
    if draw < 0.22:
        tree = lower_case(tree)
    elif draw < 0.27:
        first = tree.forms[0]
        lowered = lower_case(tree)
        lowered.forms[0] = first
        tree = lowered
    elif draw < 0.285:
        tree = lower_case(tree)
        tree.forms = [form.upper() for form in tree.forms]
    return tree


def word_tables(trees: Sequence[Tree]) -> dict[str, list[str]]:
    """Return the values of each feature that have a row; row 0 is for all others."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FEATURES}
    for tree in trees:
        for form in tree.forms:
            for name, value in describe_form(form).items():
                counts[name][value] += 1
                if name == "shape":
                    for other in (form.lower(), form.upper()):
                        counts[name][describe_form(other)[name]] += 0.2
    counts["shape"].update({describe_form(ROOT_FORM)["shape"]: 100})
    counts["word"].update({ROOT_FORM: 100})
    return {
        name: sorted(value for value, count in counts[name].items() if count >= MIN_COUNTS[name])
        for name in FEATURES
    }


class FormTable:
    """Features of all forms seen so far."""

    def __init__(self, tables: dict[str, list[str]]) -> None:
        self.vocabularies = {
            name: {value: row for row, value in enumerate(values, 1)}
            for name, values in tables.items()
        }
        self.numbers: dict[str, int] = {}
        self.ids = torch.zeros((0, len(FEATURES)), dtype=torch.long)
        self.vectors = torch.zeros((0, DIMENSION))

    def add(self, forms: Sequence[str]) -> None:
        new = sorted({form for form in forms if form not in self.numbers})
        if not new:
            return
        for form in new:
            self.numbers[form] = len(self.numbers)
        ids = torch.tensor([feature_ids(form, self.vocabularies) for form in new])
        vectors = torch.from_numpy(word_vectors(new).astype(np.float32)) / INPUT_SCALE
        self.ids = torch.cat([self.ids, ids])
        self.vectors = torch.cat([self.vectors, vectors])


# Network


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, values: Tensor, scale: float) -> Tensor:
        limit = MAX_INT8 / scale
        context.save_for_backward(values.abs() <= limit)
        return (values * scale).round_().clamp_(-MAX_INT8, MAX_INT8).div_(scale)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (inside,) = context.saved_tensors
        return gradient * inside, None


def round_through(values: Tensor, scale: float) -> Tensor:
    """Round to 8 bits; the gradient ignores the rounding."""
    rounded: Tensor = _Round.apply(values, scale)
    return rounded


class Linear(nn.Module):
    """Product with weights of 8 bits, one scale for each output."""

    def __init__(self, inputs: int, outputs: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * gain / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def steps(self) -> Tensor:
        return self.weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-6) / MAX_INT8

    def forward(self, values: Tensor) -> Tensor:
        """Return the product; the caller has rounded the values."""
        steps = self.steps()
        rounded = self.weight + (torch.round(self.weight / steps) * steps - self.weight).detach()
        return functional.linear(values, rounded, self.bias)


class Window(nn.Module):
    """Convolution over a word and a neighbour on each side, added to its input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = Linear(3 * width, width, gain=0.8)

    def forward(self, values: Tensor) -> Tensor:
        padded = functional.pad(round_through(values, SCALE), (0, 0, 1, 1))
        parts = [padded[:, at : at + values.shape[1]] for at in range(3)]
        return functional.relu(self.linear(torch.cat(parts, dim=2)))


class Recurrent(nn.Module):
    """Recurrent layer: half of the state reads forwards, half backwards."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = Linear(width, 2 * width)
        self.out = Linear(width, width, gain=0.7)
        self.width = width
        with torch.no_grad():
            self.gates.bias[:width] = torch.linspace(-1.0, 2.0, width // 2).repeat(2)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        both = self.gates(round_through(values, SCALE))
        keep = (both[..., : self.width] / 6 + 0.5).clamp(0, 1)
        update = (1 - keep) * both[..., self.width :]
        keep, update = keep * mask + (1 - mask), update * mask
        half = self.width // 2
        keep = torch.cat([keep[..., :half], keep[..., half:].flip(1)], dim=2)
        update = torch.cat([update[..., :half], update[..., half:].flip(1)], dim=2)
        state = scan(keep, update)
        state = torch.cat([state[..., :half], state[..., half:].flip(1)], dim=2)
        return functional.relu(self.out(round_through(state, SCALE)))


def scan(keep: Tensor, update: Tensor) -> Tensor:
    """Return state[t] = keep[t] · state[t-1] + update[t], in log2(length) steps."""
    step, length = 1, keep.shape[1]
    while step < length:
        earlier = functional.pad(update, (0, 0, step, 0))[:, :length]
        update = update + keep * earlier
        keep = keep * functional.pad(keep, (0, 0, step, 0), value=1.0)[:, :length]
        step *= 2
    return update


@dataclass
class Sizes:
    width: int = 192
    layers: str = "wwrwr"  # w: window, r: recurrent
    arc: int = 128
    label: int = 192
    dropout: float = 0.25
    input_dropout: float = 0.25


class Parser(nn.Module):
    def __init__(self, tables: dict[str, list[str]], sizes: Sizes, coder: Coder) -> None:
        super().__init__()
        self.sizes = sizes
        self.tables = nn.ModuleList(
            nn.Embedding(len(tables[name]) + 1, SIZES[name]) for name in FEATURES
        )
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.5)
        inputs = sum(SIZES[name] for name in FEATURES) + DIMENSION
        width = sizes.width
        self.input = Linear(inputs, width)
        self.layers = nn.ModuleList(
            Recurrent(width) if kind == "r" else Window(width) for kind in sizes.layers
        )
        self.dependent = Linear(width, sizes.arc, gain=0.4)
        self.head = Linear(width, sizes.arc, gain=0.4)
        self.distance = Linear(width, DISTANCES, gain=0.4)
        self.label_dependent = Linear(width, sizes.label)
        self.label_head = Linear(width, sizes.label)
        self.label = Linear(sizes.label, len(coder.labels), gain=0.5)
        self.upos = Linear(width, len(coder.upos))
        self.lemma = Linear(width, len(coder.rules))
        self.xpos = Linear(width, len(coder.xpos))  # only for training
        self.dropout = nn.Dropout(sizes.dropout)

    def encode(self, ids: Tensor, vectors: Tensor, mask: Tensor) -> Tensor:
        parts = []
        drop = self.sizes.input_dropout if self.training else 0.0
        for column, table in enumerate(self.tables):
            rows = table(ids[..., column])
            if drop:
                kept = (torch.rand(rows.shape[:2]) >= drop * 0.6).float()[..., None]
                rows = rows * kept
            parts.append(round_through(rows, INPUT_SCALE))
        if drop:
            vectors = vectors * (torch.rand(vectors.shape[:2]) >= drop * 0.4).float()[..., None]
        parts.append(vectors)
        values = self.input(torch.cat(parts, dim=2)) * mask
        for layer in self.layers:
            is_recurrent = isinstance(layer, Recurrent)
            change = layer(values, mask) if is_recurrent else layer(values)
            values = values + self.dropout(change) * mask
        return round_through(values, SCALE)

    def arcs(self, values: Tensor) -> Tensor:
        dependent = round_through(self.dependent(values), SCALE)
        head = round_through(self.head(values), SCALE)
        scores = dependent @ head.transpose(1, 2) / float(ARC_DIVISOR)
        buckets = torch.from_numpy(distance_buckets(values.shape[1]))
        return scores + self.distance(values).gather(2, buckets.expand(len(values), -1, -1))

    def label_scores(self, values: Tensor, heads: Tensor) -> Tensor:
        one = self.label_dependent(values)
        two = self.label_head(values)
        two = two.gather(1, heads[..., None].expand(-1, -1, two.shape[2]))
        return self.label(self.dropout(round_through(functional.relu(one + two), SCALE)))


# Batches


class Coder:
    """Numbers of labels, tags and lemma rules."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.labels = sorted({label for tree in trees for label in tree.labels})
        self.upos = sorted({tag for tree in trees for tag in tree.upos})
        self.xpos = sorted({tag for tree in trees for tag in tree.xpos})
        rules: Counter[str] = Counter()
        for tree in trees:
            rules.update(map(make_rule, tree.forms, tree.lemmas))
        self.rules = [rule for rule, count in rules.most_common() if count >= 8]

    def number(self, names: list[str], items: Sequence[str]) -> list[int]:
        known = {name: at for at, name in enumerate(names)}
        return [known.get(item, -1) for item in items]


@dataclass
class Batch:
    ids: Tensor
    vectors: Tensor
    mask: Tensor
    heads: Tensor  # -1 for root and padding
    labels: Tensor
    upos: Tensor
    xpos: Tensor
    lemmas: Tensor
    places: list[int]


def make_batch(trees: Sequence[Tree], places: list[int], forms: FormTable, coder: Coder) -> Batch:
    length = max(len(trees[at].forms) for at in places) + 1
    numbers = np.zeros((len(places), length), np.int64)
    gold = np.full((5, len(places), length), -1, np.int64)
    mask = np.zeros((len(places), length, 1), np.float32)
    for row, at in enumerate(places):
        tree = trees[at]
        size = len(tree.forms) + 1
        numbers[row, :size] = [forms.numbers[ROOT_FORM]] + [forms.numbers[f] for f in tree.forms]
        mask[row, :size] = 1
        gold[0, row, 1:size] = tree.heads
        gold[1, row, 1:size] = coder.number(coder.labels, tree.labels)
        gold[2, row, 1:size] = coder.number(coder.upos, tree.upos)
        gold[3, row, 1:size] = coder.number(coder.xpos, tree.xpos)
        rules = list(map(make_rule, tree.forms, tree.lemmas))
        gold[4, row, 1:size] = coder.number(coder.rules, rules)
    index = torch.from_numpy(numbers)
    parts = [torch.from_numpy(part) for part in gold]
    return Batch(
        forms.ids[index], forms.vectors[index], torch.from_numpy(mask), *parts, places=places
    )


def make_batches(trees: Sequence[Tree], tokens: int, chance: random.Random) -> Iterator[list[int]]:
    """Yield the positions of trees of similar length, in random order."""
    order = sorted(range(len(trees)), key=lambda at: len(trees[at].forms) + 4 * chance.random())
    groups: list[list[int]] = [[]]
    for at in order:
        if (len(groups[-1]) + 1) * (len(trees[at].forms) + 1) > tokens:
            groups.append([])
        groups[-1].append(at)
    groups = [group for group in groups if group]
    chance.shuffle(groups)
    yield from groups


def batch_loss(model: Parser, batch: Batch) -> Tensor:
    values = model.encode(batch.ids, batch.vectors, batch.mask)
    scores = model.arcs(values)
    scores = scores.masked_fill(batch.mask[:, None, :, 0] == 0, -1e4)
    cross = functional.cross_entropy
    arc = cross(scores.flatten(0, 1), batch.heads.flatten(), ignore_index=-1, label_smoothing=0.0)
    names = model.label_scores(values, batch.heads.clamp(min=0))
    label = cross(names.flatten(0, 1), batch.labels.flatten(), ignore_index=-1)
    upos = cross(model.upos(values).flatten(0, 1), batch.upos.flatten(), ignore_index=-1)
    xpos = cross(model.xpos(values).flatten(0, 1), batch.xpos.flatten(), ignore_index=-1)
    lemma = cross(model.lemma(values).flatten(0, 1), batch.lemmas.flatten(), ignore_index=-1)
    return arc + label + 0.4 * upos + 0.4 * xpos + 0.2 * lemma


@torch.no_grad()
def measure(
    model: Parser, trees: Sequence[Tree], forms: FormTable, coder: Coder
) -> dict[str, float]:
    """Return accuracies with the best head of each word (no tree search)."""
    model.eval()
    counts: Counter[str] = Counter()
    for places in make_batches(trees, 4000, seeded(0)):
        batch = make_batch(trees, places, forms, coder)
        values = model.encode(batch.ids, batch.vectors, batch.mask)
        scores = model.arcs(values).masked_fill(batch.mask[:, None, :, 0] == 0, -1e4)
        scores.diagonal(dim1=1, dim2=2).fill_(-1e4)
        heads = scores.argmax(dim=2)
        labels = model.label_scores(values, heads).argmax(dim=2)
        counted = batch.heads >= 0
        right = (heads == batch.heads) & counted
        counts["all"] += int(counted.sum())
        counts["uas"] += int(right.sum())
        counts["las"] += int((right & (labels == batch.labels)).sum())
        counts["upos"] += int(((model.upos(values).argmax(2) == batch.upos) & counted).sum())
        counts["lemma"] += int(((model.lemma(values).argmax(2) == batch.lemmas) & counted).sum())
    model.train()
    return {
        name: round(counts[name] / counts["all"], 4) for name in ("upos", "uas", "las", "lemma")
    }


# Export


def find_exceptions(trees: Sequence[Tree], rules: Sequence[str]) -> dict[str, list[list[str]]]:
    """Return the lemmas that no rule makes, by part of speech: verbs, and words seen twice."""
    seen: dict[tuple[str, str], Counter[str]] = {}
    for tree in trees:
        for form, lemma, tag, label in zip(
            tree.forms, tree.lemmas, tree.upos, tree.labels, strict=True
        ):
            if label != "goeswith" and lemma != "_":
                seen.setdefault((form.lower(), tag), Counter())[lemma] += 1
    known = set(rules)
    found: dict[str, list[list[str]]] = {}
    for (form, tag), lemmas in sorted(seen.items()):
        (lemma, count), *_ = lemmas.most_common(1)
        is_case = tag != "PROPN" and lemma != lemma.lower()
        is_irregular = make_rule(form, lemma) not in known
        if (count >= 2 and (is_irregular or is_case)) or (is_irregular and tag == "VERB"):
            found.setdefault(tag, []).append([form, lemma])
    return found


def export(
    model: Parser, tables: dict[str, list[str]], coder: Coder, trees: Sequence[Tree]
) -> None:
    """Write the weights of the package."""
    arrays: dict[str, np.ndarray] = {}
    for name, table in zip(FEATURES, model.tables, strict=True):
        rounded = (table.weight.detach() * INPUT_SCALE).round().clamp(-MAX_INT8, MAX_INT8)
        arrays[f"table.{name}"] = rounded.numpy().astype(np.int8)
    for name, module in model.named_modules():
        if isinstance(module, Linear) and name != "xpos":
            steps = module.steps()
            scale = INPUT_SCALE if name == "input" else SCALE
            weights = (module.weight.detach() / steps).round().numpy().astype(np.int8)
            arrays[f"{name}.weight"] = weights
            arrays[f"{name}.steps"] = (steps[:, 0] / scale).numpy().astype(np.float32)
            arrays[f"{name}.bias"] = module.bias.detach().numpy().astype(np.float32)
    names = {
        "features": tables,
        "upos": coder.upos,
        "labels": coder.labels,
        "rules": coder.rules,
        "lemmas": find_exceptions(trees, coder.rules),
        "layers": model.sizes.layers,
    }
    text = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode()
    arrays["names"] = np.frombuffer(text, np.uint8)
    np.savez_compressed(WEIGHTS_PATH, **arrays)
    print("wrote", WEIGHTS_PATH, WEIGHTS_PATH.stat().st_size)


# Training


@dataclass
class Averager:
    """Moving average of the weights: better than the last ones."""

    state: dict[str, Tensor]
    step: int = 0

    @torch.no_grad()
    def add(self, model: nn.Module) -> None:
        self.step += 1
        decay = min(MAX_DECAY, self.step / (self.step + 20))
        for name, value in model.state_dict().items():
            self.state[name].lerp_(value, 1 - decay)


def copy_state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def make_forms(trees: Sequence[Tree], tables: dict[str, list[str]]) -> FormTable:
    """Return the features of all forms, as written and in the cases of `vary_tree`."""
    written = {form for tree in trees for form in tree.forms}
    varied = {each for form in written for each in (form, form.lower(), form.lower().upper())}
    forms = FormTable(tables)
    forms.add([ROOT_FORM, *varied])
    return forms


def learning_rate(rate: float, step: int, steps: int) -> float:
    """Return the rate of a step: it rises for 200 steps and falls along a cosine."""
    cosine = 0.5 + 0.5 * math.cos(math.pi * min(step / steps, 1.0))
    return max(rate * min(1.0, (step + 1) / 200) * cosine, rate * 0.01)


def train(arguments: argparse.Namespace) -> None:
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    chance = seeded(arguments.seed)
    trees = read_trees(arguments.data / "train.conllu")
    trees = [tree for tree in trees if len(tree.forms) <= MAX_TRAIN_TOKENS]
    dev = read_trees(arguments.data / "dev.conllu")
    chat = [lower_case(drop_punctuation(tree)) for tree in dev]
    tables, coder = word_tables(trees), Coder(trees)
    forms = make_forms([*trees, *dev], tables)
    sizes = Sizes(width=arguments.width, layers=arguments.layers, dropout=arguments.dropout)
    model = Parser(tables, sizes, coder)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.rate, betas=(0.9, 0.98))
    average = Averager(copy_state(model))
    steps = arguments.epochs * len(list(make_batches(trees, arguments.tokens, seeded(0))))
    for epoch in range(arguments.epochs):
        varied = [vary_tree(tree, chance) for tree in trees]
        losses = []
        for places in make_batches(varied, arguments.tokens, chance):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(arguments.rate, average.step, steps)
            loss = batch_loss(model, make_batch(varied, places, forms, coder))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            average.add(model)
            losses.append(loss.item())
        print(epoch + 1, f"loss {np.mean(losses):.3f}", flush=True)
        if epoch % 3 == 2 or epoch + 1 == arguments.epochs:
            latest = copy_state(model)
            model.load_state_dict(average.state)
            print("dev", measure(model, dev, forms, coder), flush=True)
            print("dev as chat", measure(model, chat, forms, coder), flush=True)
            export(model, tables, coder, trees)
            model.load_state_dict(latest)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", type=Path, default=Path("../shared/data/ud-ewt"))
    options.add_argument("--epochs", type=int, default=24)
    options.add_argument("--tokens", type=int, default=1000, help="tokens of a batch")
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--dropout", type=float, default=0.3)
    options.add_argument("--width", type=int, default=192)
    options.add_argument("--layers", default="wwrwr", help="w: window, r: recurrent")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    train(options.parse_args())
