"""The rule of the house: rooms import only rooms to their left, and no modules form a ring."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("ingest", "extract", "retrieval", "workers", "api")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    """Names imported anywhere in a file, inside functions and under TYPE_CHECKING too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_rooms_import_only_to_their_left(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    later = set(ROOMS[ROOMS.index(room) + 1 :]) | {"tests", "deploy"}
    wrong = {name for name in imports_of(path) if name.split(".")[0] in later}
    assert not wrong


def test_no_import_rings() -> None:
    names = {module_name(path): path for path in MODULES}
    graph = {
        name: {found for found in imports_of(path) if found in names and found != name}
        for name, path in names.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name in done:
            return
        for other in graph[name]:
            visit(other, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_modules_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 260, "split the module"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long"


def test_migrations_stand_in_one_line() -> None:
    """Two branches that each add one merge without a conflict, and no ledger could be opened any more."""
    folder = ROOT / "workers" / "ledger" / "migrations" / "versions"
    marks = [
        dict(re.findall(r'^(revision|down_revision) = "(\w+)"', path.read_text("utf-8"), re.MULTILINE))
        for path in folder.glob("*_*.py")
        if path.name != "__init__.py"
    ]
    revisions = sorted(mark["revision"] for mark in marks)
    before = sorted(mark.get("down_revision", "") for mark in marks)
    assert before == ["", *revisions[:-1]]
