"""Validated answers by the content they answer: a re-run, a retry or a second copy of a text pays nothing.

Only what passed validation gets in. A lock per entry makes two workers with the same text ask once.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from extract.chat.model import ChatRequest
from ingest.artifacts import write_json

M = TypeVar("M", bound=BaseModel)


class AnswerCache:
    """A folder of validated answers.

    Args:
        folder: made when missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @staticmethod
    def key(model: str, fingerprint: str, request: ChatRequest) -> str:
        """Return the name of the answer to a request: model, prompts, schema and content make it."""
        parts = [model, fingerprint, request.model_dump(mode="json", exclude={"max_output_tokens"})]
        words = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        """Hold an entry: whoever else wants it waits, and then finds it there."""
        path = self._path(key).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def get(self, key: str, model: type[M]) -> M | None:
        """Return a cached answer, or None; one written by another version counts as missing."""
        try:
            return model.model_validate_json(self._path(key).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def put(self, key: str, answer: BaseModel) -> None:
        """Keep a validated answer."""
        write_json(self._path(key), answer)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
