"""Train the parser on the English Web Treebank and write its weights.

    PYTHONPATH=src python scripts/train_parser.py --data ../shared/data/ud-ewt

Needs torch, which the package does not use. The network is trained with the rounding of the
package: weights and inputs of every product are integers of 8 bits. Sentences lose their case or
punctuation at random, so that the parser reads chat. Dev chooses settings; test is never read.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nexusmem.embedders.parser.features import (
    DIMENSION,
    FEATURES,
    describe_form,
    feature_ids,
    word_vectors,
)

MIN_COUNTS = {"word": 3, "suffix3": 6, "suffix2": 4, "prefix3": 8, "prefix1": 4, "shape": 5}
SIZES = {"word": 96, "suffix3": 48, "suffix2": 24, "prefix3": 32, "prefix1": 16, "shape": 24}
INPUT_SCALE = 32.0  # steps per unit of the input features
SCALE = 16.0  # steps per unit of every other input of a product
MAX_INT8 = 127.0
MAX_TRAIN_TOKENS = 90
DISTANCES = 32  # signed buckets of head - dependent
ROOT_FORM = "<root>"


@dataclass
class Tree:
    forms: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    heads: list[int]
    labels: list[str]


def read_trees(path: Path) -> list[Tree]:
    trees = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line and line[0] != "#"]
        rows = [row for row in rows if row[0].isdigit()]
        if rows:
            columns = list(zip(*rows, strict=True))
            heads = [int(head) for head in columns[6]]
            trees.append(
                Tree(*(list(columns[at]) for at in (1, 2, 3, 4)), heads, list(columns[7]))
            )
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


# Lemmas


def lemma_rule(form: str, lemma: str) -> str:
    """Return how the lower-case form becomes the lemma: removed characters, added ending."""
    one, two = form.lower(), lemma.lower()
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    return f"{one[shared:]}>{two[shared:]}"


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
        context.save_for_backward((values.abs() <= limit))
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

    def __init__(self, width: int, step: int) -> None:
        super().__init__()
        self.linear = Linear(3 * width, width, gain=0.8)
        self.step = step

    def forward(self, values: Tensor) -> Tensor:
        padded = functional.pad(round_through(values, SCALE), (0, 0, self.step, self.step))
        size = values.shape[1]
        parts = [padded[:, at * self.step : at * self.step + size] for at in range(3)]
        return functional.relu(self.linear(torch.cat(parts, dim=2)))


class Memory(nn.Module):
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


def distance_buckets(length: int) -> Tensor:
    """Return the bucket of head - dependent for each dependent and head; root is bucket 0."""
    at = torch.arange(length)
    signed = at[None, :] - at[:, None]
    size = signed.abs()
    bucket = torch.where(
        size <= 8, size, (8 + torch.ceil(torch.log2(size.clamp(min=1) / 8) * 2)).long()
    ).clamp(max=DISTANCES // 2 - 1)
    buckets = torch.where(signed < 0, bucket, bucket + DISTANCES // 2)
    buckets[:, 0] = 0
    return buckets


@dataclass
class Sizes:
    width: int = 192
    layers: str = "wwrwr"  # w: window, W: wide window, r: recurrent
    arc: int = 128
    label: int = 192
    dropout: float = 0.25
    input_dropout: float = 0.25


class Parser(nn.Module):
    def __init__(self, tables: dict[str, list[str]], sizes: Sizes, outputs: dict[str, int]) -> None:
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
            Memory(width) if kind == "r" else Window(width, 3 if kind == "W" else 1)
            for kind in sizes.layers
        )
        self.dependent = Linear(width, sizes.arc, gain=0.4)
        self.head = Linear(width, sizes.arc, gain=0.4)
        self.distance = Linear(width, DISTANCES, gain=0.4)
        self.label_dependent = Linear(width, sizes.label)
        self.label_head = Linear(width, sizes.label)
        self.label = Linear(sizes.label, outputs["labels"], gain=0.5)
        self.upos = Linear(width, outputs["upos"])
        self.lemma = Linear(width, outputs["lemmas"])
        self.xpos = Linear(width, outputs["xpos"])  # only for training
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
            if isinstance(layer, Memory):
                change = layer(values, mask)
            else:
                change = layer(values)
            values = values + self.dropout(change) * mask
        return round_through(values, SCALE)

    def arcs(self, values: Tensor) -> Tensor:
        dependent = round_through(self.dependent(values), SCALE)
        head = round_through(self.head(values), SCALE)
        scores = dependent @ head.transpose(1, 2) / 8
        buckets = distance_buckets(values.shape[1])
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
            rules.update(map(lemma_rule, tree.forms, tree.lemmas))
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
        rules = list(map(lemma_rule, tree.forms, tree.lemmas))
        gold[4, row, 1:size] = coder.number(coder.rules, rules)
    index = torch.from_numpy(numbers)
    parts = [torch.from_numpy(part) for part in gold]
    return Batch(
        forms.ids[index], forms.vectors[index], torch.from_numpy(mask), *parts, places=places
    )


def make_batches(trees: Sequence[Tree], tokens: int, chance: random.Random) -> Iterator[list[int]]:
    order = sorted(range(len(trees)), key=lambda at: (len(trees[at].forms) + 4 * chance.random()))
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
def measure(model: Parser, trees: Sequence[Tree], forms: FormTable, coder: Coder) -> dict[str, float]:
    """Return accuracies with the best head of each word (no tree search)."""
    model.eval()
    counts: Counter[str] = Counter()
    for places in make_batches(trees, 4000, random.Random(0)):
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
    return {name: round(counts[name] / counts["all"], 4) for name in ("upos", "uas", "las", "lemma")}


def train(arguments: argparse.Namespace) -> None:
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    chance = random.Random(arguments.seed)
    trees = [t for t in read_trees(arguments.data / "train.conllu") if len(t.forms) <= MAX_TRAIN_TOKENS]
    dev = read_trees(arguments.data / "dev.conllu")
    plain = [lower_case(drop_punctuation(tree)) for tree in dev]
    tables, coder = word_tables(trees), Coder(trees)
    forms = FormTable(tables)
    for tree in [*trees, *dev]:
        for form in tree.forms:
            forms.numbers.setdefault(form, 0)
    known = {f for form in forms.numbers for f in (form, form.lower(), form.lower().upper())}
    forms.numbers.clear()
    forms.add([ROOT_FORM, *known])
    sizes = Sizes(width=arguments.width, layers=arguments.layers, dropout=arguments.dropout)
    outputs = {
        "labels": len(coder.labels),
        "upos": len(coder.upos),
        "xpos": len(coder.xpos),
        "lemmas": len(coder.rules),
    }
    model = Parser(tables, sizes, outputs)
    total = sum(p.numel() for name, p in model.named_parameters() if "xpos" not in name)
    print("parameters", total, {name: len(values) for name, values in tables.items()}, outputs, flush=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.rate, betas=(0.9, 0.98), eps=1e-8)
    average = {name: value.detach().clone() for name, value in model.state_dict().items()}
    varied = [vary_tree(tree, chance) for tree in trees]
    per_epoch = sum(1 for _ in make_batches(varied, arguments.tokens, chance))
    steps, step, started = per_epoch * arguments.epochs, 0, time.time()
    for epoch in range(arguments.epochs):
        varied = [vary_tree(tree, chance) for tree in trees]
        losses = []
        for places in make_batches(varied, arguments.tokens, chance):
            share = step / steps
            rate = arguments.rate * min(1.0, (step + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * min(share, 1)))
            for group in optimizer.param_groups:
                group["lr"] = max(rate, arguments.rate * 0.01)
            loss = batch_loss(model, make_batch(varied, places, forms, coder))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
            step += 1
            losses.append(loss.item())
            if step % 50 == 0:
                print(step, f"{np.mean(losses[-50:]):.3f} {time.time() - started:.0f}s", flush=True)
            decay = min(0.998, step / (step + 20))
            with torch.no_grad():
                for name, value in model.state_dict().items():
                    average[name].lerp_(value, 1 - decay)
        line = f"{epoch} loss {np.mean(losses):.3f} {time.time() - started:.0f}s"
        if epoch % arguments.every == arguments.every - 1 or epoch == arguments.epochs - 1:
            latest = {name: value.clone() for name, value in model.state_dict().items()}
            model.load_state_dict(average)
            line += f" dev {measure(model, dev, forms, coder)} plain {measure(model, plain, forms, coder)}"
            if arguments.save:
                torch.save({"state": average, "tables": tables, "sizes": vars(sizes),
                            "coder": vars(coder)}, arguments.save)
            model.load_state_dict(latest)
        print(line, flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, default=Path("../shared/data/ud-ewt"))
    options.add_argument("--epochs", type=int, default=25)
    options.add_argument("--tokens", type=int, default=1500)
    options.add_argument("--rate", type=float, default=2e-3)
    options.add_argument("--dropout", type=float, default=0.25)
    options.add_argument("--width", type=int, default=192)
    options.add_argument("--layers", default="wwrwr")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--every", type=int, default=2)
    options.add_argument("--save", type=Path)
    train(options.parse_args())
