from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.context import ParseContext, Piece
from ingest.errors import CorruptFile, MaliciousFile
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.parsers.outlook import parse

Storage = dict[str, "bytes | Storage"]
NONE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(root: Storage) -> bytes:
    """Write an OLE file with folders ([MS-CFB]); streams are padded to 4,096 bytes, siblings make a list."""
    sectors: list[bytes] = []
    fat: list[int] = []
    entries: list[list[object]] = [["Root Entry", 5, NONE, NONE, END, 0]]

    def store(data: bytes) -> int:
        first, count = len(fat), -(-len(data) // 512)
        sectors.append(data.ljust(count * 512, b"\0"))
        fat.extend([*range(first + 1, first + count), END])
        return first

    def add(folder: Storage, parent: int) -> None:
        previous = None
        for name, content in folder.items():
            index = len(entries)
            if isinstance(content, dict):
                entries.append([name, 1, NONE, NONE, 0, 0])
            else:
                padded = content.ljust(4096, b"\0")
                entries.append([name, 2, NONE, NONE, store(padded), len(padded)])
            entries[parent if previous is None else previous][3 if previous is None else 2] = index
            previous = index
            if isinstance(content, dict):
                add(content, index)

    add(root, 0)
    directory = store(
        b"".join(
            struct.pack(
                "<64sHBBIII", name.encode("utf-16-le"), 2 * len(name) + 2, kind, 1, NONE, right, child
            )
            + struct.pack("<16x4x8x8xIQ", first, size)
            for name, kind, right, child, first, size in entries
        )
    )
    count = -(-len(fat) // 127)
    first = len(fat)
    fat.extend([FAT] * count)
    head = struct.pack(
        "<8s16xHHHHH6xII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, count
    )
    head += struct.pack("<7I", directory, 0, 4096, END, 0, END, 0) + struct.pack(
        f"<{count}I", *range(first, first + count)
    )
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(count * 512, b"\xff")
    return head.ljust(512, b"\xff") + b"".join(sectors) + table


def text(name: int, value: str) -> Storage:
    return {f"__substg1.0_{name:04X}001F": value.encode("utf-16-le")}


def fixed(name: int, kind: int, value: bytes, header: int) -> Storage:
    entry = struct.pack("<HHI", kind, name, 6) + value.ljust(8, b"\0")
    return {"__properties_version1.0": b"\0" * header + entry}


def recipient(name: str, address: str, kind: int) -> Storage:
    return {**text(0x3001, name), **text(0x39FE, address), **fixed(0x0C15, 3, struct.pack("<I", kind), 8)}


SENT = (
    int((datetime(2024, 1, 31, 12, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds())
    * 10_000_000
)


def message(subject: str = "Moss count", **more: bytes | Storage) -> Storage:
    return {
        **text(0x0037, subject),
        **text(0x0C1A, "Ada"),
        **text(0x5D01, "ada@moss.test"),
        **text(0x1000, "We counted 12 patches.\r\n\r\nMore tomorrow."),
        **fixed(0x0039, 0x40, struct.pack("<Q", SENT), 32),
        "__recip_version1.0_#00000000": recipient("Bo", "bo@moss.test", 1),
        "__recip_version1.0_#00000001": recipient("Cy", "cy@moss.test", 2),
        **more,
    }


def read(folder: Path, root: Storage, **limits: int) -> tuple[list[Piece], ParseContext]:
    path = folder / "m.msg"
    path.write_bytes(compound(root))
    context = ParseContext(path, path.name, "application/vnd.ms-outlook", ParseLimits(**limits), folder)
    return list(parse(context)), context


def test_message_reads_like_a_mail(tmp_path: Path) -> None:
    pieces, context = read(tmp_path, message())
    fields = [piece.text for piece in pieces if piece.kind is ElementKind.FIELD]
    assert fields[:4] == [
        "Subject: Moss count",
        "From: Ada <ada@moss.test>",
        "To: Bo <bo@moss.test>",
        "Cc: Cy <cy@moss.test>",
    ]
    assert [piece.text for piece in pieces if piece.kind is ElementKind.PARAGRAPH] == [
        "We counted 12 patches.",
        "More tomorrow.",
    ]
    assert context.metadata.title == "Moss count"
    assert context.metadata.occurred_at == datetime(2024, 1, 31, 12, tzinfo=UTC)


def test_attached_files_and_messages_become_children(tmp_path: Path) -> None:
    file: Storage = {**text(0x3707, "plan.txt"), "__substg1.0_37010102": b"Count the north wall."}
    inner: Storage = {"__substg1.0_3701000D": message("An older count")}
    root = message(**{"__attach_version1.0_#00000000": file, "__attach_version1.0_#00000001": inner})
    _, context = read(tmp_path, root)
    assert [child.name for child in context.children] == ["plan.txt", "An older count.eml"]
    stored = [(tmp_path / child.stored_as).read_bytes() for child in context.children]
    assert stored[0].startswith(b"Count the north wall.")
    assert b"Subject: An older count" in stored[1]


def test_bottomless_nesting_is_refused(tmp_path: Path) -> None:
    root = message()
    for _ in range(4):
        root = message(**{"__attach_version1.0_#00000000": {"__substg1.0_3701000D": root}})
    with pytest.raises(MaliciousFile):
        read(tmp_path, root, max_depth=3)


def test_cut_off_file_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "c.msg"
    path.write_bytes(compound(message())[:700])
    with pytest.raises(CorruptFile):
        list(parse(ParseContext(path, path.name, "", ParseLimits(), tmp_path)))
