"""Bounds on what one file may cost, each a setting ``PARSE_<NAME>``."""

from __future__ import annotations

from pydantic import Field

from ingest.anchors import Frozen


class ParseLimits(Frozen):
    """Limits of one parse, in bytes, seconds and counts; a file beyond a limit ends in a typed error.

    ``ocr_s`` seconds come on top of ``wall_s`` and ``cpu_s`` for files of pixels (PDF and pictures).
    """

    wall_s: float = Field(default=180.0, gt=0)
    cpu_s: int = Field(default=170, gt=0)
    ocr_s: float = Field(default=600.0, ge=0)
    memory_mb: int = Field(default=1536, ge=256)
    max_file_bytes: int = Field(default=512 * 2**20, gt=0)
    max_output_bytes: int = Field(default=2 * 2**30, gt=0)
    max_unpacked_bytes: int = Field(default=1 * 2**30, gt=0)
    max_unpack_ratio: float = Field(default=200.0, gt=1)
    max_members: int = Field(default=20_000, gt=0)
    max_depth: int = Field(default=8, gt=0)
    max_pixels: int = Field(default=120_000_000, gt=0)
    max_pages: int = Field(default=20_000, gt=0)
    max_rows: int = Field(default=5_000_000, gt=0)
    max_columns: int = Field(default=16_384, gt=0)
    max_attachments: int = Field(default=200, gt=0)
