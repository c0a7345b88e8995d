"""Catalog and payload indexes: Qdrant's JSON in the engine's types, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from retrieval.edge.fields import Fields, Refusal, choice

_DISTANCES = {
    "cosine": edge.Distance.Cosine,
    "euclid": edge.Distance.Euclid,
    "dot": edge.Distance.Dot,
    "manhattan": edge.Distance.Manhattan,
}
_DATATYPES = {
    "float32": edge.VectorStorageDatatype.Float32,
    "float16": edge.VectorStorageDatatype.Float16,
    "uint8": edge.VectorStorageDatatype.Uint8,
}
_TOKENIZERS = {
    "word": edge.TokenizerType.Word,
    "whitespace": edge.TokenizerType.Whitespace,
    "prefix": edge.TokenizerType.Prefix,
    "multilingual": edge.TokenizerType.Multilingual,
}
_PLAIN_INDEXES = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "bool": edge.PayloadSchemaType.Bool,
    "datetime": edge.PayloadSchemaType.Datetime,
    "uuid": edge.PayloadSchemaType.Uuid,
    "text": edge.PayloadSchemaType.Text,
}


def read_collection(body: Any) -> edge.EdgeConfig:  # noqa: ANN401  any JSON
    """Return the engine's configuration for the body of ``PUT /collections/{name}``.

    Raises:
        Refusal: it asks for something that is not served here.
    """
    with Fields(body, "body") as fields:
        vectors, sparse = fields.take("vectors"), fields.take("sparse_vectors")
        config = edge.EdgeConfig(
            vectors=None if vectors is None else _vectors(vectors),
            sparse_vectors=None if sparse is None else {name: _sparse(sparse[name], name) for name in sparse},
            on_disk_payload=fields.take("on_disk_payload"),
            # Without the log, points that were answered for are lost when the process is killed.
            wal_enabled=True,
        )
    return config


def read_index(body: Any) -> tuple[str, edge.UpdateOperation]:  # noqa: ANN401  any JSON
    """Return field and operation of ``PUT /collections/{name}/index``."""
    with Fields(body, "body") as fields:
        name, schema = fields.need("field_name"), fields.need("field_schema")
    if isinstance(schema, str):
        return name, edge.UpdateOperation.create_field_index(
            name, choice(_PLAIN_INDEXES, schema, "field_schema")
        )
    with Fields(schema, "field_schema") as fields:
        read: Callable[[Fields], edge.PayloadSchemaParams] = choice(
            _INDEX_PARAMS, fields.need("type"), fields.where
        )
        return name, edge.UpdateOperation.create_field_index(name, read(fields))


def write_info(body: dict[str, Any], info: edge.ShardInfo) -> dict[str, Any]:
    """Return the answer of ``GET /collections/{name}``.

    Args:
        body: what the collection was created with.
        info: what the engine says of it now.
    """
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "segments_count": info.segments_count,
        "config": {
            "params": {**body, "shard_number": 1, "replication_factor": 1, "write_consistency_factor": 1},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
            "optimizer_config": {"default_segment_number": 1, "flush_interval_sec": 5},
        },
        "payload_schema": {
            field: {"data_type": _type_name(index.data_type), "points": index.points}
            for field, index in info.payload_schema.items()
        },
    }


def _type_name(kind: edge.PayloadSchemaType) -> str:
    return next(name for name, known in _PLAIN_INDEXES.items() if known == kind)


def _vectors(value: Any) -> edge.EdgeVectorParams | dict[str, edge.EdgeVectorParams]:  # noqa: ANN401  any JSON
    if isinstance(value, dict) and not isinstance(value.get("size"), int):
        return {name: _dense(params, f"vectors.{name}") for name, params in value.items()}
    return _dense(value, "vectors")


def _dense(value: Any, where: str) -> edge.EdgeVectorParams:  # noqa: ANN401  any JSON
    with Fields(value, where) as fields:
        datatype = fields.take("datatype")
        return edge.EdgeVectorParams(
            size=fields.need("size"),
            distance=choice(_DISTANCES, fields.need("distance"), f"{where}.distance"),
            on_disk=fields.take("on_disk"),
            datatype=None if datatype is None else choice(_DATATYPES, datatype, f"{where}.datatype"),
        )


def _sparse(value: Any, name: str) -> edge.EdgeSparseVectorParams:  # noqa: ANN401  any JSON
    where = f"sparse_vectors.{name}"
    with Fields(value, where) as fields:
        modifier = fields.take("modifier", "none")
        known = choice({"none": None, "idf": edge.Modifier.Idf}, modifier, f"{where}.modifier")
        with Fields(fields.take("index", {}), f"{where}.index") as index:
            return edge.EdgeSparseVectorParams(
                full_scan_threshold=index.take("full_scan_threshold"),
                on_disk=index.take("on_disk"),
                modifier=known,
            )


def _keyword(fields: Fields) -> edge.PayloadSchemaParams:
    return edge.KeywordIndexParams(
        is_tenant=fields.take("is_tenant"),
        on_disk=fields.take("on_disk"),
        enable_hnsw=fields.take("enable_hnsw"),
        prefix=fields.take("prefix"),
    )


def _text(fields: Fields) -> edge.PayloadSchemaParams:
    return edge.TextIndexParams(
        tokenizer=choice(_TOKENIZERS, fields.take("tokenizer", "word"), fields.where),
        min_token_len=fields.take("min_token_len"),
        max_token_len=fields.take("max_token_len"),
        lowercase=fields.take("lowercase"),
        phrase_matching=fields.take("phrase_matching"),
        on_disk=fields.take("on_disk"),
    )


def _datetime(fields: Fields) -> edge.PayloadSchemaParams:
    return edge.DatetimeIndexParams(
        is_principal=fields.take("is_principal"),
        on_disk=fields.take("on_disk"),
        enable_hnsw=fields.take("enable_hnsw"),
    )


def _unsupported(fields: Fields) -> edge.PayloadSchemaParams:
    raise Refusal(400, f"{fields.where}: give the type of this index as a word, without parameters")


_INDEX_PARAMS: dict[str, Callable[[Fields], edge.PayloadSchemaParams]] = {
    **dict.fromkeys(_PLAIN_INDEXES, _unsupported),
    "keyword": _keyword,
    "text": _text,
    "datetime": _datetime,
}
