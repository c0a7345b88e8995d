"""Tesseract, where it is installed, for scripts that the default engine does not know.

It is never required: without the program, or without a language pack for such a script, nothing is read.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from functools import cache

from PIL import Image

from ingest.ocr import OcrLine, Quad

# Language packs for scripts outside Latin, Greek, Chinese and Japanese, more widely used ones first.
_OTHER_SCRIPTS = (
    "rus", "ara", "kor", "hin", "tha", "heb", "ukr", "fas", "bul", "srp", "bel", "mkd", "urd", "ben", "tam",
    "tel", "mar", "guj", "pan", "kan", "mal", "nep", "sin", "mya", "khm", "lao", "kat", "hye", "amh",
)  # fmt: skip
_MAX_PACKS = 6
_TORN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7af]"
)  # Thai, Lao, Burmese, Khmer, Hangul
_TIMEOUT_S = 60.0


class Tesseract:
    """An ``OcrEngine`` that runs the ``tesseract`` program, one process a picture."""

    def __init__(self, program: str, languages: tuple[str, ...]) -> None:
        self._command = [program, "stdin", "stdout", "-l", "+".join(languages), "--psm", "3", "tsv"]

    def read(self, picture: Image.Image) -> list[OcrLine]:
        """Return the lines of an upright RGB picture; none when the program fails or takes over a minute."""
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", compress_level=1)
        try:
            done = subprocess.run(
                self._command, input=buffer.getvalue(), capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return []  # the lines of the first engine stand
        return _lines(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else []


def _lines(table: str) -> list[OcrLine]:
    words: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and row["text"].strip():
            words.setdefault((row["block_num"], row["par_num"], row["line_num"]), []).append(row)
    return [_line(row) for row in words.values()]


def _line(words: list[dict[str, str]]) -> OcrLine:
    x0 = min(float(word["left"]) for word in words)
    y0 = min(float(word["top"]) for word in words)
    x1 = max(float(word["left"]) + float(word["width"]) for word in words)
    y1 = max(float(word["top"]) + float(word["height"]) for word in words)
    quad: Quad = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    score = sum(float(word["conf"]) for word in words) / len(words) / 100
    return OcrLine(_joined(words), score, quad)


def _joined(words: list[dict[str, str]]) -> str:
    """Join words with blanks, except where a script's words were torn apart.

    Syllables of Korean, and letters of scripts without blanks, come as words of their own; what stands
    closer than a fifth of its height was one word.
    """
    text, reach = "", float("-inf")
    for word in words:
        left, width, height = (float(word[key]) for key in ("left", "width", "height"))
        torn = bool(_TORN.match(text[-1:]) and _TORN.match(word["text"])) and left - reach < 0.2 * height
        text += word["text"] if torn or not text else f" {word['text']}"
        reach = left + width
    return text


@cache
def other_scripts_engine() -> Tesseract | None:
    """Return an engine for the other scripts that are installed here, None if there are none."""
    program = shutil.which("tesseract")
    if program is None:
        return None
    try:
        listed = subprocess.run(
            [program, "--list-langs"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    installed = set(listed.stdout.split())
    packs = tuple(language for language in _OTHER_SCRIPTS if language in installed)[:_MAX_PACKS]
    return Tesseract(program, (*packs, "eng") if "eng" in installed else packs) if packs else None
