"""PyMuPDF, loaded without the layout models it would pull in.

``import pymupdf`` tries ``pymupdf.layout`` and ``pymupdf4llm``, which load numpy, onnxruntime and neural
networks we never call: leaving them out halves the import time and saves 75 MiB in every parse child.
PyMuPDF is AGPL-3.0 or commercial; nothing outside this module imports it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias


@contextmanager
def _absent(*names: str) -> Iterator[None]:
    # None in sys.modules is Python's own way of saying "this import fails".
    hidden = {name: sys.modules.get(name) for name in names}
    sys.modules.update(dict.fromkeys(names))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name, module in hidden.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


with _absent("pymupdf.layout", "pymupdf4llm"):
    pymupdf: Any = importlib.import_module("pymupdf")

# PyMuPDF's own type hints cover part of it only, which strict checking cannot use; the names stay.
PdfDocument: TypeAlias = Any
PdfPage: TypeAlias = Any

# What a damaged file may raise: PyMuPDF's own errors, MuPDF's errors, and errors of the glue between them.
MUPDF_ERRORS: tuple[type[Exception], ...] = (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase)

# MuPDF reports every oddity of a damaged file on stderr; what matters comes as an exception or a warning.
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)
