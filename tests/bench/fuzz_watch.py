"""A fork server under watch: what its children reach for is noted, by Python and by the kernel.

Python's own events are written by an audit hook, before the hook of the sandbox refuses them. Where
``strace`` is installed the kernel's calls are written too, so native code is seen as well.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest import forkserver
from ingest.confine import HELPERS

_ROOT = Path(__file__).parents[2]
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tests.bench.fuzz_watch import main; main(sys.argv[2:])"
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    ("os.remove", "os.rmdir", "os.mkdir", "os.rename", "os.symlink", "os.link", "os.chmod", "os.truncate")
)
_TRACED = (
    "trace=%network,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat"
)
_CALL = re.compile(r"(\w+)\((.*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_READS_ONLY = re.compile(r"O_RDONLY(?!.*O_CREAT)|O_PATH")


def command(log: Path, inside: Path, cold: list[str]) -> list[str]:
    """Return the command line of a watched server.

    Args:
        log: file for what its children reach for; "{log}.kernel" for what the kernel saw.
        inside: the only folder they may write to.
        cold: as for ``forkserver.command``.
    """
    own = [sys.executable, "-I", "-c", _START, str(_ROOT), str(log), str(inside), *cold]
    strace = shutil.which("strace")
    if strace is None or cold:
        return own  # a server that starts itself anew is traced already
    return [
        strace,
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-e",
        _TRACED,
        "-e",
        "signal=none",
        "-o",
        f"{log}.kernel",
        *own,
    ]


def main(arguments: list[str]) -> None:
    """Run the server; the first arguments are the log and the folder, the rest its own."""
    log, inside, *cold = arguments
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    prefix = f"{inside}{os.sep}"
    server = os.getpid()

    def note(event: str, args: tuple[Any, ...]) -> None:
        if os.getpid() == server:
            return  # it reads no file; what it writes are compiled modules
        is_program = event in ("subprocess.Popen", "os.posix_spawn")
        if event.startswith("socket.") or (is_program and Path(str(args[0])).name not in HELPERS):
            os.write(handle, f"{event} {args!r:.300}\n".encode())
        elif event in _CHANGES or (event == "open" and args[2] & _WRITING):
            path = args[0]
            known = isinstance(path, str | bytes | os.PathLike)
            text = os.path.abspath(os.fsdecode(path)) if known else ""
            if event == "os.mkdir" and os.path.isdir(text):
                return  # asked for again, as libraries do at their start
            if known and text not in (os.devnull, inside) and not text.startswith(prefix):
                os.write(handle, f"{event} {text}\n".encode())

    forkserver.command = lambda cold: command(Path(log), Path(inside), cold)  # when it starts itself anew
    sys.addaudithook(note)
    forkserver.main(cold)


def seen(log: Path, inside: Path) -> Iterator[str]:
    """Yield what children reached for outside their folder: sockets, programs, files to write."""
    if log.exists():
        yield from log.read_text(encoding="utf-8", errors="replace").splitlines()
    kernel = Path(f"{log}.kernel")
    if not kernel.exists():
        return
    server = ""
    with kernel.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            pid, _, rest = line.partition(" ")
            server = server or pid
            call = _CALL.match(rest.lstrip())
            if pid != server and call and _is_foreign(call[1], call[2], inside):
                yield f"kernel: {call[1]}({call[2][:200]}"


def _is_foreign(name: str, rest: str, inside: Path) -> bool:
    paths = _QUOTED.findall(rest)
    if name in ("open", "openat", "creat"):
        if name != "creat" and _READS_ONLY.search(rest):
            return False
    elif name not in (
        "mkdir",
        "mkdirat",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
    ):
        return True  # a call of the network
    return any(
        path.startswith("/") and path not in ("/dev/null", str(inside)) and not path.startswith(f"{inside}/")
        for path in paths
    )
