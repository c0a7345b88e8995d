"""Runs where fastembed is installed, with a model of a few words made on the spot: no network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastembed", reason="the extra fastembed is not installed")

from retrieval.embedders.fastembed import FastEmbedder
from retrieval.errors import EmbedderRefused
from retrieval.knobs import EmbedKnobs

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "tax"]
DIMENSION = 8


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that looks each word up in a table, with its tokenizer."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    table = np.eye(len(WORDS), DIMENSION, dtype=np.float32)
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "words"])
        for name in ("input_ids", "attention_mask")
    ]
    output = onnx.helper.make_tensor_value_info(
        "last_hidden_state", onnx.TensorProto.FLOAT, ["batch", "words", DIMENSION]
    )
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = onnx.helper.make_graph(
        [node], "words", inputs, [output], [onnx.numpy_helper.from_array(table, "table")]
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), tmp_path / "model.onnx")
    vocabulary = {word: at for at, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (tmp_path / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(special))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **special}))
    return tmp_path


def test_a_model_in_a_folder_runs_without_a_network(folder: Path) -> None:
    embedder = FastEmbedder(EmbedKnobs(model_dir=folder, dimension=DIMENSION))
    cat, both, tax = embedder.embed_passages(["cat", "cat dog", "tax"])
    np.testing.assert_allclose(np.linalg.norm([cat, both, tax], axis=1), 1, rtol=1e-5)
    assert cat @ both > 0.6 > abs(cat @ tax)
    assert embedder.embed_query("cat") @ cat == pytest.approx(1, abs=1e-5)
    assert embedder.embed_passages([]).shape == (0, DIMENSION)
    assert embedder.fingerprint.endswith(f"-{DIMENSION}")


def test_unusable_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderRefused, match="EMBED_DIMENSION"):
        FastEmbedder(EmbedKnobs(model_dir=tmp_path))
    with pytest.raises(EmbedderRefused, match="nobody/nothing"):
        FastEmbedder(EmbedKnobs(model="nobody/nothing"))
