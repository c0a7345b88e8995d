from pathlib import Path

import pytest

from ingest.context import ParseContext
from ingest.errors import FileTooLarge
from ingest.limits import ParseLimits


def context(tmp_path: Path, **limits: int) -> ParseContext:
    return ParseContext(tmp_path, "a", "text/plain", ParseLimits().model_copy(update=limits), tmp_path)


def test_attachments_get_names_of_ours(tmp_path: Path) -> None:
    told = context(tmp_path)
    told.attach("../../evil.sh", "text/plain", b"one", "2")
    told.attach("../../evil.sh", "text/plain", b"three", "3")
    assert [child.stored_as for child in told.children] == ["00000.bin", "00001.bin"]
    assert (tmp_path / "00001.bin").read_bytes() == b"three"


def test_attachments_are_bounded_in_number_and_size(tmp_path: Path) -> None:
    told = context(tmp_path, max_attachments=1)
    told.attach("a", "text/plain", b"one", "1")
    with pytest.raises(FileTooLarge, match="PARSE_MAX_ATTACHMENTS"):
        told.attach("b", "text/plain", b"two", "2")
    told = context(tmp_path, max_unpacked_bytes=5)
    told.attach("a", "text/plain", b"one", "1")
    with pytest.raises(FileTooLarge, match="PARSE_MAX_UNPACKED_BYTES"):
        told.attach("b", "text/plain", b"two", "2")
    assert len(told.children) == 1


def test_what_a_source_says_of_itself_is_merged(tmp_path: Path) -> None:
    told = context(tmp_path)
    told.describe(title="T", extra={"a": 1})
    told.describe(title=None, language="en", extra={"b": 2})
    assert told.metadata.title == "T"
    assert told.metadata.extra == {"a": 1, "b": 2}
