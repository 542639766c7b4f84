"""A BERT encoder's weights as an int8 ONNX model that turns one text into one vector.

Made for one text per run: there is no padding, so no mask, and the scale of the activations
is that of this text alone. In a batch it would be the neighbours' too, and a text's vector
would depend on its company (cosine .98). Weights stay within ±63, because CPUs without VNNI
saturate beyond; Add and LayerNormalization stay apart, because fused they are slower. Where
the outliers are, in the first layer and behind the next three, weights stay floats: cosine to
the original at least .99 instead of .98, for a quarter more time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import MissingExtra
from ..core.protocols import Floats

IR_VERSION = 8  # older than any onnxruntime we allow
OPSETS = {"": 17, "com.microsoft": 1}
MICROSOFT = "com.microsoft"
EPSILON = 1e-12  # from the model's config
FLOAT, INT64 = 1, 7  # ONNX's numbers for the types
FLOATS = ("encoder.layer.0.", *(f"encoder.layer.{number}.output." for number in (1, 2, 3)))
WEIGHT_STEPS = 63
TABLE_STEPS = 127  # the words' rows are looked up and not multiplied


def build(weights: Mapping[str, Floats], *, layers: int, heads: int) -> bytes:
    """`ids` [1, n] in, `vector` [1, dimension] out: the mean over all pieces, any length."""
    graph = _Graph(weights)
    hidden = _embeddings(graph)
    for number in range(layers):
        hidden = _layer(graph, hidden, f"encoder.layer.{number}.", heads)
    graph.add("ReduceMean", hidden, output="vector", axes=[1], keepdims=0)
    return graph.serialised(dimension=len(weights["embeddings.LayerNorm.bias"]))


class _Graph:
    """Nodes and constants, in the order they are added."""

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        try:
            import onnx  # noqa: PLC0415 - only for this, and only with the extra
        except ImportError as error:
            raise MissingExtra("Converting a model", "local") from error
        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self.weights = weights

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Append a node of the standard set; returns the name of what it makes."""
        return self._add(operator, inputs, output, attributes)

    def add_microsoft(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append one of onnxruntime's own operators."""
        return self._add(operator, inputs, None, {"domain": MICROSOFT, **attributes})

    def _add(
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

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self._constants)}"
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
        self._constants.append(tensor)
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.weights[name])

    def serialised(self, *, dimension: int) -> bytes:
        make = self._onnx.helper
        ids = make.make_tensor_value_info("ids", INT64, [1, "pieces"])
        vector = make.make_tensor_value_info("vector", FLOAT, [1, dimension])
        graph = make.make_graph(self._nodes, "bert", [ids], [vector], self._constants)
        opsets = [make.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = make.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _embeddings(graph: _Graph) -> str:
    table, scales = _quantise(graph.weights["embeddings.word_embeddings.weight"], TABLE_STEPS)
    rows = graph.add("Gather", graph.constant(table), "ids")
    scale = graph.add("Gather", graph.constant(scales[:, None]), "ids")
    words = graph.add("Mul", graph.add("Cast", rows, to=FLOAT), scale)
    hidden = graph.add("Add", words, _positions(graph))
    return _normalise(graph, hidden, "embeddings.")


def _positions(graph: _Graph) -> str:
    """The first n rows of the table of positions, the (single) token type added beforehand."""
    kind = graph.weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant(graph.weights["embeddings.position_embeddings.weight"] + kind)
    zero, one, two = (graph.constant(np.array([number])) for number in (0, 1, 2))
    length = graph.add("Slice", graph.add("Shape", "ids"), one, two)
    return graph.add("Slice", table, zero, length)


def _layer(graph: _Graph, hidden: str, name: str, heads: int) -> str:
    attention = f"{name}attention."
    query, key, value = (
        _dense(graph, hidden, f"{attention}self.{part}.") for part in ("query", "key", "value")
    )
    mixed = graph.add_microsoft("MultiHeadAttention", query, key, value, num_heads=heads)
    mixed = _dense(graph, mixed, f"{attention}output.dense.")
    hidden = _normalise(graph, graph.add("Add", hidden, mixed), f"{attention}output.")

    wide = _dense(graph, hidden, f"{name}intermediate.dense.")
    narrow = _dense(graph, graph.add_microsoft("Gelu", wide), f"{name}output.dense.")
    return _normalise(graph, graph.add("Add", hidden, narrow), f"{name}output.")


def _dense(graph: _Graph, hidden: str, name: str) -> str:
    if name.startswith(FLOATS):
        product = graph.add("MatMul", hidden, graph.constant(graph.weights[f"{name}weight"].T))
        return graph.add("Add", product, graph.weight(f"{name}bias"))
    matrix, scales = _quantise(graph.weights[f"{name}weight"], WEIGHT_STEPS)
    return graph.add_microsoft(
        "DynamicQuantizeMatMul",
        hidden,
        graph.constant(matrix.T),
        graph.constant(scales),
        "",  # no zero point: symmetric
        graph.weight(f"{name}bias"),
    )


def _normalise(graph: _Graph, hidden: str, name: str) -> str:
    scale, bias = (graph.weight(f"{name}LayerNorm.{part}") for part in ("weight", "bias"))
    return graph.add("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=EPSILON)


def _quantise(matrix: Floats, steps: int) -> tuple[NDArray[np.int8], Floats]:
    """Whole numbers from -steps to steps, and the scale of each row."""
    largest = np.abs(matrix).max(axis=1)
    scales = np.where(largest > 0, largest / steps, 1).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
