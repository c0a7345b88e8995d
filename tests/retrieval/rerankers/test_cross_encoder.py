"""Runs where fastembed is installed, with a model of a few words made on the spot: no network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastembed", reason="the extra fastembed is not installed")

from retrieval.errors import RerankerRefused
from retrieval.extra_knobs import RerankKnobs
from retrieval.rerankers.cross_encoder import CrossEncoder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "tax"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model whose logit is the sum of its words' worth: "cat" 2, "tax" -3, all others 0."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    worth = np.zeros((len(WORDS), 1), dtype=np.float32)
    worth[WORDS.index("cat")], worth[WORDS.index("tax")] = 2, -3
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "words"])
        for name in ("input_ids", "attention_mask")
    ]
    output = onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", 1])
    nodes = [
        onnx.helper.make_node("Gather", ["worth", "input_ids"], ["each"]),
        onnx.helper.make_node("ReduceSum", ["each", "axis"], ["logits"], keepdims=0),
    ]
    constants = [
        onnx.numpy_helper.from_array(worth, "worth"),
        onnx.numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
    ]
    graph = onnx.helper.make_graph(nodes, "worth", inputs, [output], constants)
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), tmp_path / "model.onnx")
    vocabulary = {word: at for at, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    for name, body in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {**special, "model_max_length": 16},
        "special_tokens_map.json": special,
    }.items():
        (tmp_path / name).write_text(json.dumps(body))
    return tmp_path


def test_a_model_in_a_folder_scores_question_and_text_together(folder: Path) -> None:
    reranker = CrossEncoder(RerankKnobs(by="fastembed", model_dir=folder))
    assert reranker.scores("dog", ["cat", "tax", "dog"]) == pytest.approx([2.0, -3.0, 0.0])
    assert reranker.scores("cat", ["cat"]) == pytest.approx([4.0])
    assert reranker.name == f"local/{folder.name}"


def test_settings_that_name_no_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RerankerRefused, match="RERANK_MODEL"):
        CrossEncoder(RerankKnobs(by="fastembed"))
    with pytest.raises(RerankerRefused, match=r"model\.onnx"):
        CrossEncoder(RerankKnobs(by="fastembed", model_dir=tmp_path))
