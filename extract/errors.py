"""Errors of extraction.

StrataError
└── ExtractError            extract
"""

from __future__ import annotations

from ingest.errors import StrataError


class ExtractError(StrataError):
    """No episodes and facts could be made of the document."""

    code = "extract"
    advice = "Retry the document; if it stays, look at its elements with `strata parse`."
