"""Reading text from pixels: the engine's contract, and the engine in the default install.

RapidOCR (Apache-2.0) runs the PP-OCRv6 models that come inside its wheel, so nothing is fetched. They know
Latin, Greek, Chinese and Japanese letters; ``ingest.ocr_tesseract`` reads other scripts where it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from PIL import Image, ImageDraw

Quad: TypeAlias = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
"""Corners of a line in pixels: top left, top right, bottom right, bottom left as the text stands."""

# Below this the engine guesses: textures of photographs, letters it was not taught.
_LEAST_SCORE = 0.5
_LEAST_SCORE_SHORT = 0.8

MAX_SIDE = 2000
"""Longest side in pixels at which a picture is read; larger ones are shrunk."""


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in a picture. ``score`` in [0, 1] is how sure the engine is of its letters."""

    text: str
    score: float
    quad: Quad


class OcrEngine(Protocol):
    """Reads pictures."""

    def read(self, picture: Image.Image) -> list[OcrLine]:
        """Return the lines of an upright RGB picture, in no particular order, doubtful ones included."""
        ...


class RapidOcr:
    """RapidOCR with its bundled models, loaded at the first picture.

    It computes in the thread that calls it and starts no others to compute: threads would not survive a
    fork, and those of several workers would wait for each other on the processor they share. So a process
    that has loaded it may fork, and its children read without loading anything.
    """

    def __init__(self) -> None:
        self._engine: Any = None
        self.is_loaded = False

    def read(self, picture: Image.Image) -> list[OcrLine]:
        """Return the lines of an upright RGB picture."""
        self.is_loaded = True
        found = self._loaded()(np.asarray(picture)[:, :, ::-1])
        if found.txts is None or found.boxes is None:
            return []
        return [
            OcrLine(text, float(score), _quad(box))
            for text, score, box in zip(found.txts, found.scores, found.boxes, strict=True)
        ]

    def _loaded(self) -> Any:  # noqa: ANN401  rapidocr has no types
        if self._engine is None:
            import cv2
            from rapidocr import RapidOCR

            cv2.setNumThreads(1)
            self._engine = RapidOCR(
                params={
                    "Global.use_cls": False,  # it turns good Latin lines upside down
                    "Global.text_score": 0.0,  # the caller judges
                    "Global.max_side_len": MAX_SIDE,
                    "Det.limit_type": "max",  # its own way is to enlarge every small picture
                    "Det.limit_side_len": MAX_SIDE,
                    "Global.log_level": "critical",
                    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        return self._engine


def _quad(box: Any) -> Quad:  # noqa: ANN401  numpy array of shape (4, 2)
    a, b, c, d = ((float(x), float(y)) for x, y in box)
    return a, b, c, d


def is_sure(line: OcrLine) -> bool:
    """Tell whether a line is text and not a guess; short ones must be surer."""
    letters = sum(char.isalnum() for char in line.text)
    return letters > 0 and line.score >= (_LEAST_SCORE if letters > 2 else _LEAST_SCORE_SHORT)


def confidence(lines: list[OcrLine]) -> float:
    """Return the mean score of all letters, 0 if there are none."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.score * len(line.text) for line in lines) / letters if letters else 0.0


_ENGINE = RapidOcr()


def default_engine() -> OcrEngine:
    """Return this process's engine."""
    return _ENGINE


def was_used() -> bool:
    """Tell whether this process, or the one it was forked from, has read a picture."""
    return _ENGINE.is_loaded


def warm_up() -> None:
    """Load all that reading pictures takes, for this process and all that are forked from it.

    The models are loaded at their first use, so a line of text is drawn and read.
    """
    picture = Image.new("RGB", (320, 96), "white")
    ImageDraw.Draw(picture).text((16, 24), "Strata 2024", fill="black", font_size=40)
    _ENGINE.read(picture)
