"""`strata parse`: what it prints, and how it ends."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from werkzeug.datastructures import FileStorage

from api.cli.main import main
from api.uploads import incoming
from ingest.limits import ParseLimits


def archive(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        for name, data in members.items():
            package.writestr(name, data)
    return stream.getvalue()


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["parse", str(path), *options])


def test_text_is_the_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("One line.\n\nAnother.\n")
    result = run(path, "--text")
    assert (result.exit_code, result.stdout) == (0, "One line.\n\nAnother.\n")


def test_an_archive_is_unpacked_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    mail = (
        b"From: a@b.c\nSubject: Plans\nMIME-Version: 1.0\nContent-Type: application/zip; name=in.zip\n"
        b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(archive({"deep.txt": b"Deep inside."}))
    )
    path = tmp_path / "all.zip"
    path.write_bytes(archive({"notes/a.txt": b"Sow beans.", "b.mkv": b"film", "c.eml": mail}))
    result = run(path, "--text")
    assert result.exit_code == 0
    assert "notes/a.txt\n\nSow beans." in result.stdout
    assert "deep.txt\n\nDeep inside." in result.stdout
    assert "b.mkv: unsupported: " in result.stderr
    found = json.loads(run(path, "--json").stdout)
    assert [inner["name"] for inner in found["inner"]] == ["notes/a.txt", "c.eml"]
    assert found["inner"][0]["elements"][0]["place"] == "line 1"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.txt", b"", "empty"),
        ("a.mkv", b"film", "unsupported"),
        ("a.zip", b"PK\x03\x04 nonsense", "corrupt"),
        ("a.zip", archive({"a.mkv": b"film", "b.mkv": b"film"}), "unsupported"),
    ],
)
def test_an_error_exits_1_and_its_last_line_is_json(
    name: str, data: bytes, code: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    result = run(path, "--text")
    said = json.loads(result.stderr.splitlines()[-1])
    assert (result.exit_code, result.stdout, said["code"]) == (1, "", code)
    assert said["detail"]
    assert said["next_step"]


def test_files_that_lie_too_deep_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARSE_MAX_DEPTH", "1")
    path = tmp_path / "all.zip"
    inner = archive({"c.txt": b"Too deep.", "d.txt": b"Too deep."})
    path.write_bytes(archive({"a.txt": b"Sow beans.", "b.zip": inner}))
    result = run(path, "--text")
    assert (result.exit_code, "Sow beans." in result.stdout) == (0, True)
    assert "b.zip: too_deep: 2 files inside not read, PARSE_MAX_DEPTH is 1" in result.stderr


def test_a_locked_member_has_one_code_at_upload_and_here(tmp_path: Path) -> None:
    data = bytearray(archive({"a.txt": b"Sow beans."}))
    # The bit of encryption, in the member's header and in the directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "all.zip"
    path.write_bytes(data)
    told = json.loads(run(path).stderr.splitlines()[-1])
    (upload,) = incoming([FileStorage(io.BytesIO(data), filename="all.zip")], ParseLimits())
    assert upload.refused is not None
    assert (told["code"], upload.refused.code) == ("encrypted", "encrypted")
    assert upload.refused.next_step == told["next_step"]
