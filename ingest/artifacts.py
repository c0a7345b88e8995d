"""Files that hand one stage's result to the next: JSON lines and JSON, written whole or not at all.

A reader never sees half a file: everything is written under a temporary name beside its target, synced
and then renamed (POSIX ``rename`` replaces in one step).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

M = TypeVar("M", bound=BaseModel)

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SAFE_ID = re.compile(r"[0-9a-zA-Z][0-9a-zA-Z-]{7,63}")


def artifact_dir(root: Path, document_id: str) -> Path:
    """Return the folder of a document's artifacts, two levels deep so that no folder grows huge.

    The folder is not made. Equal ids give equal folders.

    Raises:
        ValueError: the id has other characters than letters, digits and "-", or not 8 to 64 of them.
    """
    if not _SAFE_ID.fullmatch(document_id):
        raise ValueError("a document id holds 8 to 64 letters, digits and hyphens")
    return root / document_id[:2] / document_id[2:4] / document_id


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of ``path`` when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield cast(BinaryIO, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_jsonl(path: Path, models: Iterable[BaseModel]) -> int:
    """Write one JSON object a line and return how many; the models are consumed as a stream.

    Fields that are None are left out: rows of tables are half the size, and read back the same.
    """
    count = 0
    with replacing(path) as stream:
        for model in models:
            stream.write(to_json(model).encode() + b"\n")
            count += 1
    return count


def read_jsonl(path: Path, model: type[M]) -> Iterator[M]:
    """Yield the objects of a file of JSON lines, one at a time; a missing file is an OSError."""
    with path.open("rb") as stream:
        for line in stream:
            yield model.model_validate_json(line)


def write_json(path: Path, model: BaseModel) -> None:
    """Write one object as a JSON file."""
    with replacing(path) as stream:
        stream.write(to_json(model).encode())


def read_json(path: Path, model: type[M]) -> M:
    """Read one object from a JSON file."""
    return model.model_validate_json(path.read_bytes())


def to_json(model: BaseModel) -> str:
    """Return a model as JSON; NUL and half surrogates, which no database takes, become U+FFFD."""
    try:
        text = model.model_dump_json(exclude_none=True)
    except PydanticSerializationError:
        text = "\\u0000"
    if "\\u0000" in text:
        text = type(model).model_validate(_storable(model.model_dump())).model_dump_json(exclude_none=True)
    return text


def _storable(value: Any) -> Any:  # noqa: ANN401  any value of JSON
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list | tuple) else value
