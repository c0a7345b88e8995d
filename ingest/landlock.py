"""Landlock, the Linux way for a process to give up files and ports for good (kernel 5.13 and later).

See ``man 7 landlock``. Numbers and structures are those of ``linux/landlock.h``; no library of
Python's own offers these three system calls.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_AND_MAKE = ((1 << 13) - 1) & ~((1 << 4) - 1)
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_MAKE_DEVICES_FIFOS_LINKS = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 12
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NET_BIND_AND_CONNECT = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def supported_version() -> int:
    """Return the version of Landlock the kernel has, 0 for none."""
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Give up every file, folder and TCP port but these, for this process and all it starts.

    Args:
        readable: may be read and run; a folder with all below it. Missing ones are passed over.
        writable: plain files, folders and sockets may be read, written, made and removed.

    Returns:
        Whether the kernel did so; False when it has no Landlock.
    """
    version = supported_version()
    if not version:
        return False
    rights = _rights(version)
    ruleset = _Ruleset(rights, _NET_BIND_AND_CONNECT if version >= 4 else 0, 0)
    if version >= 6:
        ruleset.scoped = _SCOPE_SOCKETS_AND_SIGNALS
    size = 8 if version < 4 else 16 if version < 6 else 24
    libc = _libc()
    handle = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if handle < 0:
        return False
    try:
        for path in readable:
            _allow(handle, path, _READ)
        for path in writable:
            _allow(handle, path, rights & ~_MAKE_DEVICES_FIFOS_LINKS)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(libc.syscall(_RESTRICT_SELF, handle, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(handle)


def _rights(version: int) -> int:
    rights = _READ | _WRITE_FILE | _REMOVE_AND_MAKE
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def _allow(handle: int, path: Path, rights: int) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not on this machine
    try:
        rule = _Beneath(rights if path.is_dir() else rights & _ON_FILES, folder)
        _libc().syscall(_ADD_RULE, handle, ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(folder)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
