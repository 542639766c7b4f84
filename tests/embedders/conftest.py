"""Fixtures: every embedder, and a scripted provider."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import certifi
import numpy as np
import pytest
from tests.loopback import Loopback

from nexusmem.core.protocols.embedder import Floats
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.gemini import GeminiEmbedder
from nexusmem.embedders.model_files import OfficialFile
from nexusmem.embedders.ollama import OllamaEmbedder
from nexusmem.embedders.onnx import LocalModel, OnnxEmbedder, pull_model
from nexusmem.embedders.openai import OpenAIEmbedder
from nexusmem.runtime.backoff import RetryPolicy
from nexusmem.testing.suites.embedder import ENDING, FILLER, QUESTIONS, TEXTS
from nexusmem.text.wordpiece import split_words

Make = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use one certificate: loading the CA bundle takes 40 ms per client, and no test uses TLS."""
    end = "-----END CERTIFICATE-----\n"
    file = tmp_path_factory.mktemp("tls") / "one.pem"
    file.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def waits() -> list[float]:
    """Record the seconds before each retry; the clock advances only by them."""
    return []


@pytest.fixture
def patience(waits: list[float]) -> RetryPolicy:
    return RetryPolicy(sleep=waits.append, clock=lambda: sum(waits))


@pytest.fixture
def openai_embedder(server: Loopback, patience: RetryPolicy) -> Iterator[Make]:
    made: list[OpenAIEmbedder] = []

    def make(**options: Any) -> OpenAIEmbedder:
        given = {"base_url": f"{server.url}/v1", "api_key": "key", "patience": patience}
        made.append(OpenAIEmbedder(**{**given, **options}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def gemini_embedder(server: Loopback, patience: RetryPolicy) -> Iterator[Make]:
    made: list[GeminiEmbedder] = []

    def make(**options: Any) -> GeminiEmbedder:
        key = {} if "project_id" in options else {"api_key": "key"}
        given = {"base_url": server.url, "patience": patience, **key}
        made.append(GeminiEmbedder(**{**given, **options}))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def ollama_embedder(server: Loopback, patience: RetryPolicy) -> Make:
    return lambda **options: OllamaEmbedder(
        **{"base_url": server.url, "patience": patience, **options}
    )


@pytest.fixture(params=["openai", "gemini", "ollama"])
def provider(request: pytest.FixtureRequest) -> Make:
    """The embedder of each provider, connected to the loopback server."""
    make: Make = request.getfixturevalue(f"{request.param}_embedder")
    return make


# -- a tiny model with random weights

LAYERS, WIDTH, INNER, POSITIONS = 2, 96, 192, 64
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;?!'-"


def tiny_vocabulary() -> list[str]:
    """Return letters and the words of the suite; the special ids are those of BERT."""
    special = [*(f"[unused{number}]" for number in range(100)), "[UNK]", "[CLS]", "[SEP]"]
    words = split_words(" ".join((*TEXTS, *QUESTIONS, FILLER[:100], ENDING[:100])).lower())
    letters = (*LETTERS, *(f"##{each}" for each in LETTERS))
    return [*special, *letters, *sorted({word for word in words if len(word) > 1})]


def tiny_weights() -> dict[str, Floats]:
    """Return the random weights of a BERT with two layers."""
    random = np.random.default_rng(7)
    shapes = {
        f"embeddings.{each}_embeddings.weight": (size, WIDTH)
        for each, size in (
            ("word", len(tiny_vocabulary())),
            ("position", POSITIONS),
            ("token_type", 2),
        )
    }
    norms = ["embeddings"]
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention.output", f"{layer}.output"]
        for part, rows, columns in (
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ):
            shapes[f"{layer}.{part}.weight"] = (rows, columns)
            shapes[f"{layer}.{part}.bias"] = (rows,)
    weights = {name: random.normal(0, 0.03, shape) for name, shape in shapes.items()}
    weights["embeddings.word_embeddings.weight"] *= 30  # so that words matter most
    for name in norms:
        weights[f"{name}.LayerNorm.weight"] = 1 + random.normal(0, 0.1, WIDTH)
        weights[f"{name}.LayerNorm.bias"] = random.normal(0, 0.03, WIDTH)
    return {name: value.astype("<f4") for name, value in weights.items()}


def to_safetensors(weights: Mapping[str, Floats]) -> bytes:
    """Return the arrays in the format of safetensors."""
    index, body = {}, b""
    for name, value in weights.items():
        end = len(body) + value.nbytes
        index[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [len(body), end]}
        body += value.tobytes()
    head = json.dumps(index).encode()
    return len(head).to_bytes(8, "little") + head + body


def official_file(folder: Path, path: str, content: bytes) -> OfficialFile:
    """Write a file and return its description."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    sha256 = hashlib.sha256(content).hexdigest()
    return OfficialFile(path=path, sha256=sha256, size=len(content))


def no_package(_package: str, _folder: Path) -> Path:
    raise AssertionError("no package is expected")


def tiny_model(folder: Path, **changes: Any) -> tuple[LocalModel, list[Path]]:
    """Write the official files of the tiny model; return the model and their paths."""
    weights = official_file(folder, "onnx/tiny.safetensors", to_safetensors(tiny_weights()))
    vocabulary = official_file(folder, "vocab.txt", "\n".join(tiny_vocabulary()).encode())
    fields: dict[str, Any] = {
        "name": "tiny",
        "profile": EmbeddingProfile(
            provider="local", model="tiny", dimension=WIDTH, revision="1;cosine=0.1..1"
        ),
        "layers": LAYERS,
        "heads": 4,
        "window_pieces": POSITIONS - 2,
        "weights": weights,
        "vocabulary": vocabulary,
        "repository": "someone/tiny",
        "package": "tiny-model==1.0",
        "download_package": no_package,
        "license": "MIT",
        **changes,
    }
    return LocalModel(**fields), [folder / weights.path, folder / vocabulary.path]


@pytest.fixture(scope="session")
def pulled_tiny(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    """Pull the tiny model from its official files and load it."""
    folder = tmp_path_factory.mktemp("models")
    model, files = tiny_model(folder / "official")
    pull_model(model, folder, places=files)
    return OnnxEmbedder(model, folder)
