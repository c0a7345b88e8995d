"""LibreOffice inside this very process, through LibreOfficeKit, its C interface.

The program ``soffice`` insists on a socket in ``/tmp``, which a confined process has given up; the library
does not. The structures are those of ``LibreOfficeKit.h``, which only ever grows at its end.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

_LIBRARIES = ("libmergedlo.so", "libsofficeapp.so")
_This, _Text = ctypes.c_void_p, ctypes.c_char_p


class _OfficeCalls(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("destroy", ctypes.CFUNCTYPE(None, _This)),
        ("load", ctypes.CFUNCTYPE(_This, _This, _Text)),
    )


class _DocumentCalls(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("destroy", ctypes.CFUNCTYPE(None, _This)),
        ("save", ctypes.CFUNCTYPE(ctypes.c_int, _This, _Text, _Text, _Text)),
    )


class _Office(ctypes.Structure):
    _fields_ = (("calls", ctypes.POINTER(_OfficeCalls)),)


class _Document(ctypes.Structure):
    _fields_ = (("calls", ctypes.POINTER(_DocumentCalls)),)


def find_library() -> Path | None:
    """Return LibreOffice's library beside the program ``soffice``, None where it is not installed."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    folder = Path(program).resolve().parent if program else Path(os.devnull)
    return next((folder / name for name in _LIBRARIES if (folder / name).is_file()), None)


def convert(library: Path, source: Path, target: Path, profile: Path) -> bool:
    """Load a document and save it in another format.

    LibreOffice stays loaded, and threads of it stay alive: use it in a process that ends soon.

    Args:
        library: see ``find_library``.
        source: the document.
        target: where to save it; the suffix says as what.
        profile: a folder for the settings LibreOffice makes itself.

    Returns:
        Whether the document was saved.

    Raises:
        OSError: the library cannot be loaded.
    """
    start = ctypes.CDLL(str(library)).libreofficekit_hook_2
    start.restype, start.argtypes = ctypes.POINTER(_Office), (_Text, _Text)
    office = start(str(library.parent).encode(), profile.as_uri().encode())
    if not office:
        return False
    document = office.contents.calls.contents.load(ctypes.cast(office, _This), source.as_uri().encode())
    if not document:
        return False
    save = ctypes.cast(document, ctypes.POINTER(_Document)).contents.calls.contents.save
    return bool(save(document, target.as_uri().encode(), target.suffix[1:].encode(), b""))
