"""How fast a long PDF is read in a child process, as in production, and in how much memory.

    python -m tests.bench.bench_pdf [--pages 500] [--cells] [--times 2] [--profile] [--file PDF]

Writes a report in two columns with headings, running heads and feet, ruled tables, tables without rules and
a bookmark for each chapter, and reads it through the fork server. ``--profile`` reads it in this process
instead and shows where the time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ingest.context import ParseContext
from ingest.forkserver import serve
from ingest.jobs import Job
from ingest.limits import ParseLimits
from ingest.mupdf import PdfDocument, PdfPage, pymupdf
from ingest.parsers.pdf import parse

_SYLLABLES = (
    "ba",
    "cor",
    "den",
    "fil",
    "gar",
    "hul",
    "im",
    "jo",
    "kel",
    "lor",
    "mas",
    "nim",
    "or",
    "pel",
    "qui",
)
_HEADER = ("Station", "Cover", "Growth", "Cost")
_FONTS = {name: pymupdf.Font(name) for name in ("helv", "hebo")}
_HEIGHT, _TOP, _FOOT = 842, 80, 770
_SIZE, _LEADING, _COLUMN = 9.5, 12.0, 205.0
_WIDTHS = {chr(code): _FONTS["helv"].glyph_advance(code) * _SIZE for code in range(32, 127)}


class _Sheet:
    """A page being written: a content stream of its own, which is much faster than text by text."""

    def __init__(self, document: PdfDocument) -> None:
        self.document = document
        self.page: PdfPage = document.new_page()
        for font in _FONTS:
            self.page.insert_font(font)
        self.drawn: list[str] = []

    def text(self, x: float, y: float, text: str, size: float, font: str = "helv") -> None:
        self.drawn.append(f"BT /{font} {size} Tf {x} {_HEIGHT - y} Td ({text}) Tj ET")

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.drawn.append(f"0.5 w {x0} {_HEIGHT - y0} m {x1} {_HEIGHT - y1} l S")

    def close(self) -> None:
        stream = self.document.get_new_xref()
        self.document.update_object(stream, "<<>>")
        self.document.update_stream(stream, "\n".join(self.drawn).encode("latin-1"))
        self.page.set_contents(stream)


def words(chance: random.Random, count: int) -> str:
    """Return made-up words, a third of them long."""
    made = (chance.choices(_SYLLABLES, k=chance.choice((1, 2, 2, 3, 4))) for _ in range(count))
    return " ".join(map("".join, made))


def write(path: Path, pages: int) -> None:
    """Write the report; the same for the same number of pages."""
    chance = random.Random(1)
    document = pymupdf.open()
    toc = []
    for number in range(1, pages + 1):
        sheet = _Sheet(document)
        sheet.text(72, 40, "Annual report of the moss survey", 8)
        sheet.text(290, 815, f"Page {number} of {pages}", 8)
        top, foot = _TOP, _FOOT
        if number % 10 == 1:
            title = f"{number // 10 + 1} {words(chance, 3).capitalize()}"
            sheet.text(72, top, title, 18, "hebo")
            toc.append([1, title, number])
            top += 34
        if number % 4 == 0 or number % 7 == 0:
            foot -= 190
            _table(sheet, chance, foot + 20, 10, ruled=number % 4 == 0)
        for left in (72.0, 72.0 + _COLUMN + 20):
            _column(sheet, chance, left, top, foot)
        sheet.close()
    document.set_toc(toc)
    document.save(path, deflate=True)


def _column(sheet: _Sheet, chance: random.Random, left: float, top: float, foot: float) -> None:
    y = top
    while y < foot:
        if chance.random() < 0.3 and y + 3 * _LEADING < foot:
            sheet.text(left, y + 4, words(chance, 3).capitalize(), 11, "hebo")
            y += 2 * _LEADING
        for line in _lines(words(chance, chance.randrange(40, 110)).capitalize() + "."):
            if y >= foot:
                return
            sheet.text(left, y, line, _SIZE)
            y += _LEADING
        y += 0.6 * _LEADING


def _lines(text: str) -> Iterator[str]:
    line, width = "", 0.0
    for word in text.split():
        more = sum(map(_WIDTHS.__getitem__, f" {word}"))
        if line and width + more > _COLUMN:
            yield line
            line, width = word, more
        else:
            line, width = f"{line} {word}".strip(), width + more
    yield line


def _table(sheet: _Sheet, chance: random.Random, top: float, rows: int, *, ruled: bool) -> None:
    xs = (72, 182, 292, 402, 522)
    for row in range(rows):
        values = [words(chance, 1), *(f"{chance.uniform(1, 9999):,.2f}" for _ in range(3))]
        for x, cell in zip(xs, values if row else _HEADER, strict=False):
            sheet.text(x + 3, top + 16 * row + 11, cell, 9, "helv" if row else "hebo")
    if ruled:
        for row in range(rows + 1):
            sheet.rule(xs[0], top + 16 * row, xs[-1], top + 16 * row)
        for x in xs:
            sheet.rule(x, top, x, top + 16 * rows)


def write_cells(path: Path, pages: int) -> None:
    """Write pages of 60 rows and 12 columns of numbers, a box drawn around each."""
    chance = random.Random(2)
    document = pymupdf.open()
    for _ in range(pages):
        sheet = _Sheet(document)
        for row in range(60):
            for column in range(12):
                x, y = 50 + 40 * column, 40 + 12.5 * row
                sheet.drawn.append(f"0.4 w {x} {_HEIGHT - y - 12.5} 40 12.5 re S")
                sheet.text(x + 2, y + 9, str(chance.randrange(99_999)), 7)
        sheet.close()
    document.save(path, deflate=True)


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=500)
    options.add_argument("--times", type=int, default=2)
    options.add_argument("--cells", action="store_true", help="pages full of ruled cells instead of text")
    options.add_argument("--profile", action="store_true")
    options.add_argument("--file", type=Path, help="read this PDF instead")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.file or Path(folder) / "report.pdf"
        if not chosen.file:
            (write_cells if chosen.cells else write)(path, chosen.pages)
        pages = len(pymupdf.open(path))
        if chosen.profile:
            _profile(path, Path(folder))
            return
        for time_ in range(chosen.times):
            _measure(path, pages, Path(folder) / f"out-{time_}")


def _measure(path: Path, pages: int, out: Path) -> None:
    """Read the file as the fork server does, in a child of this process."""
    out.mkdir()
    started, before = time.monotonic(), _used()
    answer = serve(Job(path=path, name="report.pdf", limits=ParseLimits(), out_dir=out))
    waited, used = time.monotonic() - started, _used() - before
    if answer.report is None or answer.report.outcome is None:
        raise SystemExit(f"not read: {answer}")
    count = answer.report.outcome.element_count
    print(
        f"{pages} pages, {count} elements: {waited:.1f} s, {pages / waited:.0f} pages/s;"
        f" processor {used:.1f} s, {pages / used:.0f} pages/s; {answer.peak_mb:.0f} MiB"
    )


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _profile(path: Path, folder: Path) -> None:
    context = ParseContext(path, path.name, "application/pdf", ParseLimits(), folder)
    profile = cProfile.Profile()
    profile.enable()
    count = sum(1 for _ in parse(context))
    profile.disable()
    print(count, "pieces")
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
