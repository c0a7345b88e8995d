from __future__ import annotations

from ingest.parsers.page_lines import Box
from ingest.parsers.ruled_tables import cell_of, ruled_tables, separators


def rules(xs: list[float], ys: list[float]) -> list[Box]:
    across = [(xs[0], y, xs[-1], y + 0.5) for y in ys]
    return across + [(x, ys[0], x + 0.5, ys[-1]) for x in xs]


def test_grid_of_rules() -> None:
    (table,) = ruled_tables(rules([0, 100, 200], [0, 20, 40, 60]))
    assert table.cells == (((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 1)))
    assert cell_of(table, 150, 30) == (1, 1)
    assert cell_of(table, 300, 30) is None
    assert [round(x) for x in separators(table, (50, 25, 150, 35))] == [100]


def test_grid_of_boxes_and_of_shaded_cells() -> None:
    boxes = [(100.0 * c, 20.0 * r, 100.0 * c + 100, 20.0 * r + 20) for r in range(3) for c in range(2)]
    (table,) = ruled_tables(boxes)
    assert (len(table.cells), len(table.cells[0])) == (3, 2)


def test_cells_without_a_rule_between_them_are_one() -> None:
    shapes = [box for box in rules([0, 100, 200], [0, 20, 40, 60]) if box[:2] != (100, 0)]
    shapes.append((100, 20, 100.5, 60))  # the first row has no rule in the middle
    (table,) = ruled_tables(shapes)
    assert table.cells[0] == ((0, 0), (0, 0))
    assert cell_of(table, 150, 10) == (0, 0)


def test_two_tables_come_from_top_to_bottom() -> None:
    lower, upper = rules([0, 50, 100], [200, 220, 240]), rules([0, 80, 160], [0, 20, 40])
    assert [round(table.box[1]) for table in ruled_tables(lower + upper)] == [0, 200]


def test_frames_underlines_and_drawings_are_no_tables() -> None:
    assert ruled_tables([(0, 0, 300, 200)]) == []
    assert ruled_tables([(0, y, 300, y + 1) for y in range(0, 200, 20)]) == []
    assert ruled_tables([]) == []
    many = [(float(x), 0.0, x + 0.5, 500.0) for x in range(0, 20_000, 8)]
    assert ruled_tables(many + [(0.0, float(y), 20_000.0, y + 0.5) for y in range(0, 20_000, 8)]) == []
