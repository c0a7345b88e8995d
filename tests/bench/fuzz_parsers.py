"""Feed damaged files to ``parse_file`` and see that every one ends well.

    python tests/bench/fuzz_parsers.py [--seed 1] [--each 30] [--seconds 300] [--only docx,pdf]

Small files of many types are made here and then damaged: bytes flipped, ends cut off, stretches repeated,
members of archives swapped, emptied or filled with noise. A run ends well when each file gives an outcome or
a typed error within its limits and nothing is written outside the output folder. The same seed gives the same
files.
"""

from __future__ import annotations

import argparse
import io
import random
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from ingest.errors import IngestError, ParserCrashed, UnsupportedFile
from ingest.limits import ParseLimits
from ingest.parse import parse_file

LIMITS = ParseLimits(wall_s=20, cpu_s=15, ocr_s=20, memory_mb=1024, max_output_bytes=64 * 2**20)
SLACK_S = 20


def make_docx() -> bytes:
    """Make a document with a heading, a list, a table and a header."""
    import docx

    document = docx.Document()
    document.add_heading("The garden", 1)
    document.add_paragraph("Sow beans in May.", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("Plant", "Rows", "Bean", "3"), strict=True):
        cell.text = text
    document.sections[0].header.paragraphs[0].text = "Garden book"
    return _saved(document.save)


def make_xlsx() -> bytes:
    """Make a workbook with two sheets, a merged cell, a comment and a formula."""
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("Item", "Cost"), ("Rent", 1200), ("Food", 300), ("Sum", "=B2+B3")):
        sheet.append(row)
    sheet["A2"].comment = Comment("monthly", "Ann")
    sheet.merge_cells("A6:B6")
    book.create_sheet("Second").append(["words", 3.5])
    return _saved(book.save)


def make_pptx() -> bytes:
    """Make a slide with a title, a text box and notes."""
    import pptx

    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Beans"
    slide.placeholders[1].text = "Sow in May"
    slide.notes_slide.notes_text_frame.text = "Say why"
    return _saved(show.save)


def make_pdf() -> bytes:
    """Make two pages of text with a link."""
    import pymupdf

    document = pymupdf.open()
    for number in (1, 2):
        document.new_page().insert_text((72, 72), f"Page {number} of the garden book. Sow beans in May.")
    return bytes(document.tobytes())


def make_picture(kind: str) -> Callable[[], bytes]:
    """Return a maker of a small picture."""

    def make() -> bytes:
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (160, 40), "white")
        ImageDraw.Draw(picture).text((8, 12), "BEANS IN MAY", fill="black")
        return _saved(lambda stream: picture.save(stream, kind))

    return make


MAIL = b"""\
Received: by host; Wed, 1 May 2024 10:00:00 +0200
From: =?utf-8?q?J=C3=B6rg?= <j@example.org>
To: ann@example.org
Subject: Beans
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/plain; charset=utf-8

Sow them in May.
> When?
--B
Content-Type: text/csv; name="rows.csv"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="rows.csv"

UGxhbnQsUm93cwpCZWFuLDMK
--B--
"""
SEEDS: dict[str, Callable[[], bytes]] = {
    "docx": make_docx,
    "xlsx": make_xlsx,
    "pptx": make_pptx,
    "pdf": make_pdf,
    "png": make_picture("PNG"),
    "jpg": make_picture("JPEG"),
    "webp": make_picture("WEBP"),
    "tiff": make_picture("TIFF"),
    "bmp": make_picture("BMP"),
    "eml": lambda: MAIL,
    "txt": lambda: "Grüße aus dem Garten.\n\nDie Bohnen kommen im Mai.\n".encode() * 5,
    "csv": lambda: b'id,plant,"row, number"\n1,"Bean ""May""",3\n2,Pea,4\n' * 5,
    "tsv": lambda: b"id\tplant\n1\tBean\n",
    "md": lambda: b"---\ntitle: T\n---\n# Beans\n\n- [May](x)\n\n|a|b|\n|-|-|\n|1|2|\n\n```\ncode\n```\n",
    "html": lambda: b"<!DOCTYPE html><meta charset=utf-8><h1>Beans</h1><table><tr><td>May<ul><li>x</table>",
    "vtt": lambda: b"WEBVTT\n\nNOTE x\n\n1\n00:01.000 --> 00:02.000 align:start\n<v Ann>Sow <b>beans</b>\n",
    "svg": lambda: (
        b'<svg xmlns="http://www.w3.org/2000/svg"><text x="1">Beans</text><g><use href="#a"/></g></svg>'
    ),
}


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def damage(data: bytes, chance: random.Random) -> bytes:
    """Return a damaged copy."""
    hurt = bytearray(data)
    way = chance.randrange(6)
    if way == 0:
        return bytes(hurt[: chance.randrange(len(hurt))])
    if way == 1:
        place = chance.randrange(len(hurt))
        hurt[place:place] = hurt[place : place + 200] * chance.randrange(1, 50)
    elif way == 2:
        place = chance.randrange(len(hurt))
        hurt[place : place + 8] = chance.choice(
            (b"\0" * 8, b"\xff" * 8, b"99999999", b"<" * 8, b"\x7f\xff\xff\xff" * 2)
        )
    elif way == 3 and zipfile.is_zipfile(io.BytesIO(data)):
        return damage_members(data, chance)
    else:
        for _ in range(chance.randrange(1, 40)):
            hurt[chance.randrange(len(hurt))] ^= 1 << chance.randrange(8)
    return bytes(hurt)


def damage_members(data: bytes, chance: random.Random) -> bytes:
    """Return an intact archive whose members are swapped, emptied, damaged or repeated."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        members = {name: package.read(name) for name in package.namelist()}
    names = sorted(members)
    for _ in range(chance.randrange(1, 4)):
        one, other = chance.choice(names), chance.choice(names)
        way = chance.randrange(5)
        if way == 0:
            members[one], members[other] = members[other], members[one]
        elif way == 1:
            members[one] = b""
        elif way == 2:
            members.pop(one, None)
            names = sorted(members) or names
        elif members.get(one):
            members[one] = damage(members[one], chance) if way == 3 else _without_a_tag(members[one], chance)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, member in members.items():
            package.writestr(name, member)
    return stream.getvalue()


def _without_a_tag(member: bytes, chance: random.Random) -> bytes:
    start = member.find(b"<", chance.randrange(len(member)))
    end = member.find(b">", start)
    return member[:start] + member[end + 1 :] if 0 <= start < end else member


def cases(seed: int, each: int, only: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (extension, damaged bytes), the types in turn."""
    chance = random.Random(seed)
    originals = {kind: make() for kind, make in SEEDS.items() if not only or kind in only}
    for _ in range(each):
        for kind, data in originals.items():
            yield kind, damage(data, chance)


def judge(kind: str, data: bytes, folder: Path) -> tuple[str, str]:
    """Read one damaged file; return how it ended and, in words, what was wrong with that ("" for nothing)."""
    source = folder / "blob"
    source.write_bytes(data)
    started = time.monotonic()
    complaint = ""
    try:
        parse_file(source, f"fuzz.{kind}", LIMITS, folder / "out")
        ending = "ok"
    except IngestError as error:
        ending = error.code
        if isinstance(error, ParserCrashed):
            complaint = f"crashed: {error.detail}"
        if isinstance(error, UnsupportedFile) and "not installed" in error.detail:
            ending = "no parser"
    seconds = time.monotonic() - started
    if seconds > LIMITS.wall_s + LIMITS.ocr_s + SLACK_S:
        complaint = f"took {seconds:.0f} s"
    strangers = {entry.name for entry in folder.iterdir()} - {"blob", "out"}
    strangers |= {entry.name for entry in (folder / "out").iterdir()} - {"elements.jsonl", "children"}
    return ending, complaint or (f"wrote {strangers}" if strangers else "")


def main() -> int:
    """Run the command line; 1 when a file ended badly."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--each", type=int, default=30, help="damaged files of each type")
    options.add_argument("--seconds", type=float, default=300)
    options.add_argument("--only", default="")
    options.add_argument("--keep", type=Path, help="folder for the files that ended badly")
    chosen = options.parse_args()
    only = set(filter(None, chosen.only.split(",")))
    endings: dict[str, Counter[str]] = {}
    bad = 0
    deadline = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory() as name:
        for number, (kind, data) in enumerate(cases(chosen.seed, chosen.each, only)):
            if time.monotonic() > deadline:
                print(f"out of time after {number} files")
                break
            ending, complaint = judge(kind, data, Path(name))
            endings.setdefault(kind, Counter())[ending] += 1
            if complaint:
                bad += 1
                print(f"BAD {kind} #{number}: {complaint}")
                if chosen.keep:
                    chosen.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(Path(name) / "blob", chosen.keep / f"{number:06d}.{kind}")
    for kind, counts in endings.items():
        print(f"{kind:6}", "  ".join(f"{ending} {count}" for ending, count in counts.most_common()))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
