import hashlib
import io
from pathlib import Path

import pytest

from ingest.blobs import BlobStore
from ingest.errors import FileTooLarge

DATA = b"bytes of a file" * 100_000
HASH = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    return BlobStore(f"file://{tmp_path}/blobs" if request.param == "file" else f"memory://{tmp_path.name}")


def test_a_blob_is_found_by_its_hash(store: BlobStore) -> None:
    stored = store.put(io.BytesIO(DATA), 2**21)
    assert (stored.sha256, stored.size_bytes) == (HASH, len(DATA))
    assert store.put(io.BytesIO(DATA), 2**21) == stored
    assert store.exists(HASH)
    with store.open(HASH) as stream:
        assert stream.read() == DATA
    with store.local(HASH) as path:
        assert path.read_bytes() == DATA


def test_deleting_tells_whether_there_was_one(store: BlobStore) -> None:
    store.put(io.BytesIO(DATA), 2**21)
    assert store.delete(HASH)
    assert not store.delete(HASH)
    assert not store.exists(HASH)
    with pytest.raises(FileNotFoundError), store.open(HASH):
        pass
    with pytest.raises(FileNotFoundError), store.local(HASH):
        pass


def test_too_much_is_refused_and_not_kept(tmp_path: Path) -> None:
    store = BlobStore(f"file://{tmp_path}")
    with pytest.raises(FileTooLarge, match="1000 bytes"):
        store.put(io.BytesIO(DATA), 1000)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "", HASH.upper(), HASH + "0"])
def test_only_hashes_are_names(store: BlobStore, name: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        store.exists(name)


def test_all_hashes_are_told(store: BlobStore) -> None:
    assert list(store.hashes()) == []
    stored = {store.put(io.BytesIO(data), 100).sha256 for data in (b"one", b"two", b"two", b"three")}
    assert sorted(store.hashes()) == sorted(stored)
