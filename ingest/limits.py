"""Bounds on what one file may cost, each a setting ``PARSE_<NAME>``."""

from __future__ import annotations

from pydantic import Field

from ingest.anchors import Frozen


class ParseLimits(Frozen):
    """Limits of one parse, in bytes, seconds and counts; a file beyond a limit ends in a typed error.

    What a file may cost is counted in seconds of processor time, which other work on the machine hardly
    changes: ``cpu_s``, and ``cpu_s_per_mb`` more for each MiB of it, because honest large tables take minutes
    and a hostile small file must not. ``wall_s`` only ends what waits for ever. ``ocr_s`` seconds come on top
    of both for files of pixels (PDF and pictures); ``pictures_s`` are within them, for reading the
    ``max_pictures`` pictures inside other documents. ``max_attachments`` bounds the files right inside one,
    ``max_family`` all documents that come of one handed-in file, however deep they lie. Of the
    pictures that hold hardly a word ``max_views`` are kept to be looked at; 0 keeps none, or 20 with a vision
    model.
    """

    wall_s: float = Field(default=600.0, gt=0)
    cpu_s: int = Field(default=120, gt=0)
    cpu_s_per_mb: float = Field(default=2.0, ge=0)
    ocr_s: float = Field(default=600.0, ge=0)
    pictures_s: float = Field(default=60.0, ge=0)
    max_pictures: int = Field(default=100, ge=0)
    memory_mb: int = Field(default=1536, ge=256)
    max_file_bytes: int = Field(default=512 * 2**20, gt=0)
    max_output_bytes: int = Field(default=4 * 2**30, gt=0)
    max_unpacked_bytes: int = Field(default=1 * 2**30, gt=0)
    max_unpack_ratio: float = Field(default=200.0, gt=1)
    max_members: int = Field(default=20_000, gt=0)
    max_depth: int = Field(default=8, gt=0)
    max_pixels: int = Field(default=120_000_000, gt=0)
    max_pages: int = Field(default=20_000, gt=0)
    max_rows: int = Field(default=5_000_000, gt=0)
    max_columns: int = Field(default=16_384, gt=0)
    max_attachments: int = Field(default=200, gt=0)
    max_views: int = Field(default=0, ge=0)
    max_family: int = Field(default=2_000, gt=0)
