"""What the process that reads a file may not do, set by itself before it looks at the first byte.

Four layers, each for what the others do not reach:

* resource limits: address space, processor seconds, size of a written file, no core dump;
* an empty network namespace, where the kernel lets us have one (made once, by the fork server);
* Landlock, where the kernel has it: only programs and libraries, the file itself and the output folder;
* a Python audit hook, everywhere: no network, writing only below the output folder, only known helpers.

The audit hook is the weakest: it stops Python code, not native code. It names what was tried.
"""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingest.landlock import restrict
from ingest.limits import ParseLimits

HELPERS = frozenset(("soffice", "soffice.bin", "libreoffice", "oosplash", "tesseract", "pandoc"))
WORK = ".work"

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _SIGKILL = 1, 36, 9
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PACKAGE = Path(__file__).parent

_PROGRAMS = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store")
_FACTS = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone",
    "/etc/fonts", "/etc/libreoffice", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/mime.types",
    "/etc/papersize", "/etc/alternatives", "/etc/gai.conf", "/proc/self",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/filesystems", "/proc/mounts", "/proc/sys", "/proc/version", "/sys/devices/system/cpu",
    "/sys/fs/cgroup", "/dev/urandom", "/dev/random", "/dev/zero", "/var/cache/fontconfig",
    "/var/lib/libreoffice", "/var/spool/libreoffice",
)  # fmt: skip

_CHANGES_FIRST = frozenset(
    ("os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "os.utime", "os.setxattr")
)
_CHANGES_BOTH = frozenset(("os.rename", "os.symlink", "os.link"))
_NETWORK = frozenset(
    ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
     "socket.gethostbyname", "socket.gethostbyaddr", "ftplib.connect", "smtplib.connect", "urllib.Request")
)  # fmt: skip
_PROCESSES = frozenset(("os.system", "os.fork", "os.forkpty", "pty.spawn", "os.exec", "os.spawn"))


class OutOfBounds(PermissionError):
    """A reader reached for the network, another program or a file outside its folder."""


def leave_network() -> bool:
    """Move this process and its children into a network namespace without any interface.

    Returns:
        Whether the kernel allowed it. Where it does not, Landlock and the audit hook remain.
    """
    socket.has_ipv6 = False  # or urllib3, which comes with the OCR library, opens a socket to find out
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "unshare"):
        return False
    user, group = os.getuid(), os.getgid()
    if user == 0 and libc.unshare(_CLONE_NEWNET) == 0:
        return True
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        try:
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
        except OSError:
            return True  # ids look foreign from inside; access is the same
    return True


def adopt_orphans() -> None:
    """Have processes whose parent has ended become children of this one, so that none is lost sight of."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def limit_resources(limits: ParseLimits) -> None:
    """Give this process its last memory, processor time and disk space.

    The memory comes on top of what is mapped already: what a warm server shares with its children would
    leave the less to a file the more types were read before it.
    """
    memory = limits.memory_mb * 2**20 + _mapped_bytes()
    for what, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 5),
        (resource.RLIMIT_FSIZE, limits.max_output_bytes, limits.max_output_bytes),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, most = resource.getrlimit(what)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(what, (soft, hard))


def _mapped_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def give_up_files(path: Path, out_dir: Path) -> bool:
    """Keep access to the file, the output folder, programs and libraries only; False without Landlock."""
    libraries = {Path(entry) for entry in sys.path if entry} - {_PACKAGE.parent}
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.exec_prefix)}
    readable = {path, _PACKAGE, *libraries, *prefixes, *map(Path, _PROGRAMS + _FACTS)}
    return restrict(readable, (out_dir, Path("/dev/null")))


def watch_events(out_dir: Path) -> None:
    """Refuse network, writing outside a folder and unknown programs from now on, by a Python audit hook."""
    sys.addaudithook(_hook(f"{out_dir}{os.sep}"))


def _hook(inside: str) -> Callable[[str, tuple[Any, ...]], None]:
    def allowed(path: object) -> bool:
        if isinstance(path, int) or path is None:
            return True
        text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)
        return text == os.devnull or os.path.abspath(text).startswith(inside)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            refused = bool(args[2] & _WRITING) and not allowed(args[0])
        elif event in _CHANGES_FIRST:
            refused = not allowed(args[0])
        elif event in _CHANGES_BOTH:
            refused = not (allowed(args[0]) and allowed(args[1]))
        elif event in ("subprocess.Popen", "os.posix_spawn"):
            refused = os.path.basename(os.fsdecode(args[0] or args[1][0])) not in HELPERS
        else:
            refused = event in _NETWORK or event in _PROCESSES
        if refused:
            raise OutOfBounds(f"{event} {args[0]!r:.200}")

    return hook
