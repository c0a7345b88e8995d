"""The two collections in Qdrant: names, vectors, payload indexes and aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from retrieval.protocols import Collection
from retrieval.qdrant.payload import WORD_FIELDS
from retrieval.qdrant.vector_names import CONTEXT_DENSE, CONTEXT_SPARSE, DENSE, SPARSE
from retrieval.tokenizer import TOKENIZER_VERSION

# Changes when points written before lack something that searches need.
_LAYOUT = "5"

_KEYWORDS = (
    "user_id", "group_id", "session_id", "document_id", "language", "participants", "topics", "source_name",
    "media_type", *(f"words.{field}" for field in WORD_FIELDS),
)  # fmt: skip
Index = models.PayloadSchemaType | models.KeywordIndexParams
_COMMON: dict[str, Index] = {
    "tenant": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    **dict.fromkeys(_KEYWORDS, models.PayloadSchemaType.KEYWORD),
    "occurred_start": models.PayloadSchemaType.DATETIME,
    "recorded_at": models.PayloadSchemaType.DATETIME,
    "superseded_by": models.PayloadSchemaType.KEYWORD,
    "valid_from": models.PayloadSchemaType.DATETIME,
    "valid_to": models.PayloadSchemaType.DATETIME,
}
# Each index costs 0.1 s once, when an embedded store is first prepared; a missing one costs every search.
INDEXES: dict[Collection, dict[str, Index]] = {
    Collection.EPISODES: _COMMON,
    Collection.FACTS: {**_COMMON, "episode_id": models.PayloadSchemaType.KEYWORD},
}


_REAL_NAME = re.compile(rf"(?:{'|'.join(Collection)})_[0-9a-f]{{12}}")


def real_name(collection: Collection, fingerprint: str, dimension: int) -> str:
    """Return the collection's own name; it differs wherever stored vectors could not be compared."""
    made_by = f"{fingerprint}|{dimension}|{TOKENIZER_VERSION}|{_LAYOUT}"
    return f"{collection}_{sha256(made_by.encode()).hexdigest()[:12]}"


def create_missing(client: QdrantClient, collection: Collection, name: str, dimension: int) -> None:
    """Create a collection and those of its payload indexes that are missing. Safe to run side by side."""
    if not client.collection_exists(name):
        try:
            client.create_collection(
                name,
                vectors_config={
                    field: models.VectorParams(size=dimension, distance=models.Distance.COSINE)
                    for field in (DENSE, CONTEXT_DENSE)
                },
                sparse_vectors_config={
                    field: models.SparseVectorParams(modifier=models.Modifier.IDF)
                    for field in (SPARSE, CONTEXT_SPARSE)
                },
            )
        except (UnexpectedResponse, ValueError):
            # Another process was faster; anything else is a real failure.
            if not client.collection_exists(name):
                raise
    if in_memory(client):
        return
    present = client.get_collection(name).payload_schema
    for field, schema in INDEXES[collection].items():
        if field not in present:
            client.create_payload_index(name, field, field_schema=schema, wait=True)


def in_memory(client: QdrantClient) -> bool:
    """Return whether the client keeps its points in this process, where payload indexes have no effect."""
    return client.init_options.get("location") == ":memory:"


def alias_targets(client: QdrantClient) -> dict[str, str]:
    """Return which collection each alias stands for."""
    return {alias.alias_name: alias.collection_name for alias in client.get_aliases().aliases}


def retired_names(client: QdrantClient, own: Iterable[str]) -> list[str]:
    """Return collections of other encoders that no alias stands for any more."""
    used = {*own, *alias_targets(client).values()}
    names = (found.name for found in client.get_collections().collections)
    return sorted(name for name in names if _REAL_NAME.fullmatch(name) and name not in used)


def point_aliases(client: QdrantClient, targets: dict[str, str]) -> None:
    """Let aliases stand for other collections, all in one step."""
    known = alias_targets(client)
    steps: list[models.AliasOperations] = [
        models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
        for alias in targets
        if alias in known
    ]
    steps += [
        models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=name, alias_name=alias))
        for alias, name in targets.items()
    ]
    client.update_collection_aliases(change_aliases_operations=steps)
