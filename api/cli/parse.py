"""`strata parse`: what is read in a file, without a server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from api.cli.console import out, print_json
from api.cli.state import Context
from ingest.artifacts import read_jsonl
from ingest.errors import IngestError
from ingest.formats import extension_of
from ingest.limits import ParseLimits
from ingest.model import Element
from ingest.parse import ParseOutcome, parse_file
from ingest.render import as_text


class Parsed:
    """A file that was read, its elements and the files found inside it."""

    def __init__(self, name: str, outcome: ParseOutcome, folder: Path) -> None:
        self.name = name
        self.outcome = outcome
        self.folder = folder
        self.children: list[Parsed] = []

    def elements(self) -> Iterator[Element]:
        """Yield the elements in order."""
        return read_jsonl(self.folder / "elements.jsonl", Element)


class _Family:
    """Reads a file and the files inside it; ``left`` bounds how many documents may come of it."""

    def __init__(self, limits: ParseLimits, left: int) -> None:
        self._limits, self._left = limits, left

    def read(self, path: Path, name: str, limits: ParseLimits, folder: Path, depth: int = 0) -> Parsed:
        self._left -= 1
        parsed = Parsed(name, parse_file(path, name, limits, folder), folder)
        first: IngestError | None = None
        inside = parsed.outcome.children
        if depth >= limits.max_depth and inside:
            _tell(
                name,
                "too_deep",
                f"{len(inside)} files inside not read, PARSE_MAX_DEPTH is {limits.max_depth}",
            )
            inside = ()
        for index, child in enumerate(inside):
            if self._left <= 0:
                _tell(child.name, "too_many", f"not read, PARSE_MAX_FAMILY is {limits.max_family}")
                continue
            stored, inner = folder / "children" / child.stored_as, folder / f"inner-{index:05d}"
            try:
                parsed.children.append(self.read(stored, child.name, self._limits, inner, depth + 1))
            except IngestError as error:
                first = first or error
                _tell(child.name, error.code, error.detail)
        if first and not parsed.outcome.element_count and not parsed.children:
            raise first
        return parsed


def parse_deep(path: Path, name: str, limits: ParseLimits, folder: Path) -> Parsed:
    """Read a file and the files inside it; an inner file that cannot be read becomes a warning on stderr.

    Raises:
        IngestError: the outer file cannot be read, or it holds only files and none of them can.
    """
    if extension_of(name) != "zip":
        return _Family(limits, limits.max_family).read(path, name, limits, folder)
    # The service unpacks an archive at its door, and takes more files there than a file may have inside.
    outer = limits.model_copy(update={"max_attachments": limits.max_members})
    return _Family(limits, limits.max_members).read(path, name, outer, folder)


def _tell(name: str, code: str, detail: str) -> None:
    click.echo(f"{name}: {code}: {detail}", err=True)


def _print_text(parsed: Parsed) -> None:
    for part in as_text(parsed.elements()):
        click.echo(part, nl=False)
    for child in parsed.children:
        click.echo(f"\n{child.name}\n")
        _print_text(child)


def _as_dict(parsed: Parsed) -> dict[str, object]:
    elements = [
        {**element.model_dump(mode="json"), "place": element.anchor.label()} for element in parsed.elements()
    ]
    return {
        "name": parsed.name,
        **parsed.outcome.model_dump(mode="json"),
        "elements": elements,
        "inner": [_as_dict(child) for child in parsed.children],
    }


def _print_places(parsed: Parsed) -> None:
    for element in parsed.elements():
        out.print(f"[dim]{element.kind:<10}[/] ", end="")
        out.print(f"{element.anchor.label()}: {element.text}", markup=False)
    for warning in parsed.outcome.warnings:
        out.print(f"warning {warning.code}: {warning.detail}", style="yellow", markup=False)
    for child in parsed.children:
        out.print(f"\n{child.name}", style="bold", markup=False)
        _print_places(child)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--text", "as_plain", is_flag=True, help="Print the whole text only.")
@click.option("--json", "as_json", is_flag=True, help="Print elements with their anchors as JSON.")
@click.pass_obj
def parse(context: Context, file: Path, as_plain: bool, as_json: bool) -> None:
    """Show what is read in FILE, and in the files inside it, and where each piece stands.

    An error exits 1; the last line on standard error is then JSON with `code` and `detail`.
    """
    with tempfile.TemporaryDirectory(prefix="strata-parse-") as folder:
        parsed = parse_deep(file, file.name, context.settings.parse, Path(folder) / "0")
        if as_json:
            print_json(_as_dict(parsed))
        elif as_plain:
            _print_text(parsed)
        else:
            _print_places(parsed)
