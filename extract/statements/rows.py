"""Statements of tables: one per row, each value beside its column's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from extract.names import row_number
from extract.phrases import phrase
from extract.scripts import estimate_tokens, has_content, one_line, shorten
from extract.statements.draft import Draft, Scene
from ingest.model import Cell, Element

_ERROR = re.compile(r"#(?:DIV/0!|N/A|NAME\?|VALUE!|REF!|NUM!|NULL!|#*)$")
_MAX_ROW_TOKENS = 220
_NAME_WIDTH = 60


def row_drafts(scene: Scene, elements: Sequence[Element], above: str, topic: str | None) -> Iterator[Draft]:
    """Yield the statements of table rows.

    Args:
        scene: what surrounds them.
        elements: consecutive rows of one segment.
        above: label of the sheet or section the table stands in.
        topic: name of the table or of the section it stands in.
    """
    for element in elements:
        if is_header(element) or not _has_values(element):
            continue
        label = _label(scene, element, above)
        for cells in _portions(element):
            said = render_cells(cells, scene.language) if cells else one_line(element.text)
            yield Draft(
                said=said,
                quote=_quote(element, cells),
                elements=(element,),
                label=label,
                topic=topic,
                at=scene.time_of(element),
                supported=True,
            )


def _has_values(element: Element) -> bool:
    values = [cell.value.strip() for cell in element.cells if cell.value.strip()] or [element.text.strip()]
    return has_content(element.text) and not all(_ERROR.match(value) for value in values)


def is_header(element: Element) -> bool:
    """Say whether a row only names the columns."""
    if element.metadata.get("header") is True:
        return True
    cells = element.cells
    return bool(cells) and all(cell.value.strip() == cell.name.strip() for cell in cells)


def is_named(cells: Sequence[Cell]) -> bool:
    """Say whether the columns have names of their own, not just their letters or numbers."""
    return any(not _is_bare(cell) for cell in cells)


def _is_bare(cell: Cell) -> bool:
    name = cell.name.strip()
    return not name or name.isdecimal() or (cell.ref is not None and cell.ref.rstrip("0123456789") == name)


def render_cells(cells: Sequence[Cell], language: str) -> str:
    """Return "Item = Rent; Cost = 1,200"; without column names "Rent: 1,200" or the values in order."""
    filled = [cell for cell in cells if has_content(cell.value) or cell.value.strip()]
    if not is_named(filled):
        values = [one_line(cell.value) for cell in filled]
        if len(values) == 2:
            return values[0].rstrip(":： ") + phrase(language, "colon") + values[1]
        return phrase(language, "semicolon").join(values)
    return phrase(language, "semicolon").join(_pair(cell, language) for cell in filled)


def _pair(cell: Cell, language: str) -> str:
    name = "" if _is_bare(cell) else shorten(cell.name, _NAME_WIDTH).rstrip(":： ")
    return f"{name}{phrase(language, 'equals')}{one_line(cell.value)}" if name else one_line(cell.value)


def _label(scene: Scene, element: Element, above: str) -> str:
    row = row_number(element)
    return phrase(scene.language, "table_row", above, row) if row else above


def _portions(element: Element) -> Iterator[tuple[Cell, ...]]:
    """Cut a very wide row into portions that fit the encoder; its first value rides along in each."""
    cells = tuple(cell for cell in element.cells if cell.value.strip())
    if not cells:
        yield ()
        return
    head, portion, size = cells[0], [cells[0]], 0
    for cell in cells[1:]:
        cost = estimate_tokens(cell.name[:_NAME_WIDTH] + cell.value) + 2
        if size + cost > _MAX_ROW_TOKENS and len(portion) > 1:
            yield tuple(portion)
            portion, size = [head], 0
        portion.append(cell)
        size += cost
    yield tuple(portion)


def _quote(element: Element, cells: tuple[Cell, ...]) -> str:
    """Return the element's own words from the first to the last of these cells."""
    if not cells or len(cells) == sum(bool(cell.value.strip()) for cell in element.cells):
        return element.text.strip()
    start = element.text.find(cells[1].value) if len(cells) > 1 else 0
    end = element.text.rfind(cells[-1].value)
    if start < 0 or end < start:
        return element.text.strip()
    return element.text[start : end + len(cells[-1].value)]
