"""A parser that does what the file tells it, to see what the sandbox lets it do."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ingest.anchors import RowAnchor
from ingest.context import ParseContext, Piece
from ingest.model import ChildFile, ElementKind


def parse(context: ParseContext) -> Iterator[Piece]:
    order, _, target = context.path.read_text().strip().partition(" ")
    said = ORDERS[order](target, context)
    yield Piece(ElementKind.PARAGRAPH, said or "done", RowAnchor(row=1))
    if order == "yield_and_sleep":
        time.sleep(600)


def segv(target: str, context: ParseContext) -> None:
    ctypes.string_at(0)


def die(target: str, context: ParseContext) -> None:
    os._exit(int(target))


def kill(target: str, context: ParseContext) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def spin(target: str, context: ParseContext) -> None:
    while True:
        pass


def sleep(target: str, context: ParseContext) -> None:
    time.sleep(600)


def yield_and_sleep(target: str, context: ParseContext) -> None:
    """Nothing before the first element; the parser sleeps after it."""


def eat(target: str, context: ParseContext) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(2**24))


def recurse(target: str, context: ParseContext) -> None:
    recurse(target, context)


def fail(target: str, context: ParseContext) -> None:
    raise KeyError(target)


def write_much(target: str, context: ParseContext) -> None:
    (context.child_dir / "big").write_bytes(b"x" * int(target))


def write_outside(target: str, context: ParseContext) -> None:
    Path(target).write_text("gotcha")


def native_write(target: str, context: ParseContext) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.open(target.encode(), os.O_CREAT | os.O_WRONLY, 0o600)
    return f"{'opened' if handle >= 0 else 'refused'}"


def read_other(target: str, context: ParseContext) -> str:
    return Path(target).read_text()


def environment(target: str, context: ParseContext) -> str:
    return repr(dict(os.environ))


def connect(target: str, context: ParseContext) -> None:
    socket.create_connection(("127.0.0.1", int(target)), timeout=2)


def native_connect(target: str, context: ParseContext) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    port = int(target).to_bytes(2, "big")
    address = socket.AF_INET.to_bytes(2, sys.byteorder) + port + bytes([127, 0, 0, 1]) + bytes(8)
    return "refused" if libc.connect(handle, address, 16) else "connected"


def run_program(target: str, context: ParseContext) -> None:
    subprocess.run(target.split(), check=False)


def leave_behind(target: str, context: ParseContext) -> None:
    """Start a process that leaves the group, as a daemon does, and come to no end."""
    libc = ctypes.CDLL(None)
    if libc.fork() == 0:
        libc.setsid()
        context.child_dir.joinpath("daemon.pid").write_text(str(os.getpid()))
        while True:
            time.sleep(1)
    while not context.child_dir.joinpath("daemon.pid").exists():
        time.sleep(0.01)


def link_child(target: str, context: ParseContext) -> None:
    """As native code that has taken over would do it, past the audit hook."""
    ctypes.CDLL(None).symlink(target.encode(), str(context.child_dir / "00000.bin").encode())
    context.children.append(child("00000.bin"))


def fifo_child(target: str, context: ParseContext) -> None:
    ctypes.CDLL(None).mkfifo(str(context.child_dir / "00000.bin").encode(), 0o600)
    context.children.append(child("00000.bin"))


def link_elements(target: str, context: ParseContext) -> None:
    """Replace the elements once they are in place."""
    elements = str(context.child_dir.parent / "elements.jsonl").encode()
    libc = ctypes.CDLL(None)

    def replace_later() -> None:
        while not os.path.exists(elements):
            time.sleep(0.001)
        libc.unlink(elements)
        libc.symlink(target.encode(), elements)

    thread = threading.Thread(target=replace_later)
    thread.start()
    context.children = Joining(thread)


class Joining(list[ChildFile]):
    """A list that waits for a thread when it is read."""

    def __init__(self, thread: threading.Thread) -> None:
        super().__init__()
        self.thread = thread

    def __iter__(self) -> Iterator[ChildFile]:
        self.thread.join(5)
        return super().__iter__()


def name_elsewhere(target: str, context: ParseContext) -> None:
    context.children.append(child(target))


def child(stored_as: str) -> ChildFile:
    return ChildFile(name="x", media_type="text/plain", part="1", stored_as=stored_as, size_bytes=3)


ORDERS = {
    function.__name__: function
    for function in (
        segv, die, kill, spin, sleep, yield_and_sleep, eat, recurse, fail,
        write_much, write_outside, native_write, read_other,
        environment, connect, native_connect, run_program, leave_behind,
        link_child, fifo_child, link_elements, name_elsewhere,
    )
}  # fmt: skip
