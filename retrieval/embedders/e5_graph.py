"""The encoder of multilingual-e5-small as an ONNX graph with 8-bit products, built in memory.

A BERT encoder (Devlin et al. 2019) as in Wang et al. 2024, "Multilingual E5 Text Embeddings". Weights are
quantised per output column to 7 bits: on processors without VNNI the 8-bit product adds two terms in 16 bits,
which full 8-bit weights can overflow. Activations are quantised per call by the operator itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from retrieval.embedders.e5_weights import Weights

_WEIGHT_RANGE = 63.0
_CONTRIB = "com.microsoft"


class _Graph:
    """Collects nodes and constants; every method returns the name of what it added."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def const(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def vector(self, name: str) -> str:
        return self.const(name, self.weights.vector(name))

    def node(self, kind: str, inputs: list[str], name: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401  ONNX attributes
        self.nodes.append(helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        return name

    def linear(self, source: str, layer: str, part: str, outputs: int) -> str:
        matrix = self.weights.matrix(f"{layer}.{part}.w", outputs)
        scale = np.maximum(np.abs(matrix).max(axis=1), 1e-12) / _WEIGHT_RANGE
        quantised = np.round(matrix / scale[:, None]).astype(np.int8)
        name = f"{layer}.{part}"
        inputs = [
            source,
            self.const(f"{name}.w", quantised.T),
            self.const(f"{name}.scale", scale.astype(np.float32)),
            self.const(f"{name}.zero", np.zeros(outputs, np.int8)),
            self.vector(f"{name}.b"),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, name, _CONTRIB)

    def norm(self, source: str, weight: str, bias: str, name: str) -> str:
        inputs = [source, self.vector(weight), self.vector(bias)]
        return self.node("LayerNormalization", inputs, name, axis=-1, epsilon=self.weights.shape.epsilon)

    def heads(self, source: str, order: list[int]) -> str:
        split = self.node("Reshape", [source, "to_heads"], f"{source}.split")
        return self.node("Transpose", [split], f"{source}.heads", perm=order)


def _attention(graph: _Graph, source: str, layer: str, hidden: int) -> str:
    query, key, value = (graph.linear(source, layer, part, hidden) for part in ("q", "k", "v"))
    scaled = graph.node("Mul", [graph.heads(query, [0, 2, 1, 3]), "head_scale"], f"{layer}.scaled")
    scores = graph.node("MatMul", [scaled, graph.heads(key, [0, 2, 3, 1])], f"{layer}.scores")
    weights = graph.node("Softmax", [scores], f"{layer}.weights", axis=-1)
    mixed = graph.node("MatMul", [weights, graph.heads(value, [0, 2, 1, 3])], f"{layer}.mixed")
    turned = graph.node("Transpose", [mixed], f"{layer}.turned", perm=[0, 2, 1, 3])
    return graph.linear(graph.node("Reshape", [turned, "from_heads"], f"{layer}.joined"), layer, "ao", hidden)


def build_encoder(weights: Weights) -> ModelProto:
    """Return the graph: input ``embedded`` (1, tokens, hidden), output ``states`` of the same shape.

    One text at a time: the activations' scale is taken over the whole input, so in a batch a text's vector
    would depend on its neighbours.
    """
    shape = weights.shape
    graph = _Graph(weights)
    width = shape.hidden // shape.heads
    graph.const("to_heads", np.array([0, 0, shape.heads, width], np.int64))
    graph.const("from_heads", np.array([0, 0, shape.hidden], np.int64))
    graph.const("head_scale", np.array(width**-0.5, np.float32))
    state = graph.norm("embedded", "emb.ln.w", "emb.ln.b", "start")
    for number in range(shape.layers):
        layer = f"l{number}"
        attended = _attention(graph, state, layer, shape.hidden)
        summed = graph.node("Add", [state, attended], f"{layer}.sum1")
        state = graph.norm(summed, f"{layer}.aln.w", f"{layer}.aln.b", f"{layer}.norm1")
        inner = graph.node("Gelu", [graph.linear(state, layer, "fi", shape.inner)], f"{layer}.gelu")
        summed = graph.node("Add", [state, graph.linear(inner, layer, "fo", shape.hidden)], f"{layer}.sum2")
        last = number == shape.layers - 1
        state = graph.norm(summed, f"{layer}.oln.w", f"{layer}.oln.b", "states" if last else f"{layer}.norm2")
    sizes: list[str | int | None] = [1, "tokens", shape.hidden]
    made = helper.make_graph(
        graph.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info("embedded", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, sizes)],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(_CONTRIB, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10)
