"""Seconds a page of pixels takes: in a child of a cold server, of one with the models loaded, by tesseract.

    python -m tests.bench.bench_ocr [--pages 4] [--most 25]

Draws pages of 1240 x 1754 pixels (A4 at 150 dpi) and, where CORPUS_DIR is set, takes the pictures marked
``needs_ocr`` of its manifest too. Pages are read through the fork server as in production. Tesseract is run
where it is installed. *Found* is the share of the expected words, or strings of the corpus, that come out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw

from ingest.artifacts import read_jsonl
from ingest.jobs import Job
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.ocr import warm_up
from ingest.parsers.page_lines import fold
from tests.bench.bench_pdf import words

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")


class Page(NamedTuple):
    """A picture and strings that a reader should find in it."""

    path: Path
    expected: tuple[str, ...]


class Cost(NamedTuple):
    """Seconds for some pages by the clock and of processor, and the share of expected strings found."""

    waited: float
    used: float
    found: float


def drawn_pages(folder: Path, count: int) -> Iterator[Page]:
    """Draw pages of made-up words in type of three sizes; the same for the same count."""
    chance = random.Random(3)
    for number in range(count):
        picture = Image.new("RGB", (1240, 1754), "white")
        pen = ImageDraw.Draw(picture)
        said: list[str] = []
        y = 90
        while y < 1650:
            size = chance.choice((20, 22, 26))
            text = words(chance, 9)
            pen.text((100, y), text, fill=(20, 20, 20), font_size=size)
            said += text.split()
            y += int(1.5 * size)
        path = folder / f"page-{number}.png"
        picture.save(path)
        yield Page(path, tuple(said))


def corpus_pages(corpus: Path) -> Iterator[Page]:
    """Yield the pictures of the corpus that need OCR."""
    for line in (corpus / "manifest.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        path = corpus / entry["file"]
        if entry["needs_ocr"] and path.suffix.lower() in _PICTURES:
            yield Page(path, tuple(entry["must_contain"]))


def cost_of(pages: list[Page], read: Callable[[Page], str]) -> Cost:
    """Read pages one after the other."""
    waited, used, found, expected = 0.0, 0.0, 0, 0
    for page in pages:
        started, before = time.monotonic(), _used()
        text = fold(read(page))
        waited, used = waited + time.monotonic() - started, used + _used() - before
        found += sum(fold(word) in text for word in page.expected)
        expected += len(page.expected)
    return Cost(waited / len(pages), used / len(pages), found / max(expected, 1))


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def by_child(folder: Path) -> Callable[[Page], str]:
    """Return a reader that forks a confined child of this process, as the fork server does."""
    from ingest.forkserver import serve

    def read(page: Page) -> str:
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        answer = serve(
            Job(path=page.path, name=page.path.name, limits=ParseLimits(wall_s=1800, cpu_s=600), out_dir=out)
        )
        if answer.report is None:
            raise SystemExit(f"{page.path.name}: {answer}")
        elements = out / "elements.jsonl"
        return "\n".join(e.text for e in read_jsonl(elements, Element)) if elements.exists() else ""

    return read


def by_tesseract(page: Page) -> str:
    """Read a picture with tesseract in English and, where installed, simplified Chinese."""
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=True).stdout
    languages = "+".join(pack for pack in ("eng", "chi_sim") if pack in listed.split())
    command = ["tesseract", str(page.path), "stdout", "-l", languages]
    limited = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=limited)
    return done.stdout


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=4)
    options.add_argument("--most", type=int, default=25, help="pictures of the corpus")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = {"drawn pages": list(drawn_pages(Path(folder), chosen.pages))}
        if "CORPUS_DIR" in os.environ:
            sets["pictures of the corpus"] = list(corpus_pages(Path(os.environ["CORPUS_DIR"])))[: chosen.most]
        readers = [("child, cold", by_child(Path(folder))), ("child, warm", by_child(Path(folder)))]
        if shutil.which("tesseract"):
            readers.append(("tesseract", by_tesseract))
        for label, read in readers:
            if label == "child, warm":
                warm_up()
            for name, pages in sets.items():
                cost = cost_of(pages, read)
                print(
                    f"{label:12} {name} ({len(pages)}): {cost.waited:.2f} s/page,"
                    f" processor {cost.used:.2f} s/page, found {cost.found:.1%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
