"""ONNX graph: convert the official weights of a BERT model into an int8 model of onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MissingExtra
from ..core.protocols.embedder import Floats


def read_weights(path: Path) -> dict[str, Floats]:
    """Return the float32 arrays of a file by the names of BERT: safetensors or ONNX."""
    if path.suffix == ".onnx":
        return read_onnx_weights(path)
    return parse_safetensors(path.read_bytes())


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


def read_onnx_weights(path: Path) -> dict[str, Floats]:
    """Return the weights of an exported BERT.

    The export transposes the matrices and names them by a number; the name of the product that
    uses one is the name of its layer.
    """
    onnx = _import_onnx()
    graph = onnx.load(path).graph
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for node in graph.node:
        if node.op_type == "MatMul" and (matrix := weights.pop(node.input[1], None)) is not None:
            layer = node.name.removesuffix("/MatMul").strip("/").replace("/", ".")
            weights[f"{layer}.weight"] = matrix.T
    return weights


def _import_onnx() -> Any:
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise MissingExtra("Converting a model", "local") from error
    return onnx


IR_VERSION = 8  # supported by every allowed version of onnxruntime
OPSETS = {"": 17, "com.microsoft": 1}
MICROSOFT_DOMAIN = "com.microsoft"
EPSILON = 1e-12  # from the model's config
ONNX_FLOAT, ONNX_INT64 = 1, 7  # TensorProto data types
WEIGHT_STEPS = 63
TABLE_STEPS = 127  # word rows are only looked up, so int8 products cannot overflow


def build_model(
    weights: Mapping[str, Floats], *, layers: int, heads: int, float_layers: tuple[str, ...] = ()
) -> bytes:
    """Build the ONNX model: input `ids` [1, n], output `vector` [1, dimension] (mean pooling).

    Layers whose names start with one of `float_layers` are not quantized.
    """
    graph = _OnnxGraph(weights, float_layers)
    hidden = _add_embeddings(graph)
    for number in range(layers):
        hidden = _add_layer(graph, hidden, f"encoder.layer.{number}.", heads)
    graph.add("ReduceMean", hidden, output="vector", axes=[1], keepdims=0)
    return graph.serialize(dimension=len(weights["embeddings.LayerNorm.bias"]))


class _OnnxGraph:
    """Builder of an ONNX graph."""

    def __init__(self, weights: Mapping[str, Floats], float_layers: tuple[str, ...]) -> None:
        self._onnx = _import_onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self.weights = weights
        self.float_layers = float_layers

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
    if name.startswith(graph.float_layers):
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
