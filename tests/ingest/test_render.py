from ingest.anchors import SectionAnchor
from ingest.model import Element, ElementKind
from ingest.render import as_text


def test_text_is_laid_out_and_marked() -> None:
    rows = [
        (ElementKind.HEADING, "Plan", 1, {}),
        (ElementKind.LIST_ITEM, "dig", 1, {}),
        (ElementKind.LIST_ITEM, "deep", 2, {}),
        (ElementKind.TABLE_ROW, "a | b", 0, {}),
        (ElementKind.TABLE_ROW, "1 | 2", 0, {}),
        (ElementKind.COMMENT, "why?", 0, {"author": "Ann"}),
        (ElementKind.FOOTER, "page", 0, {}),
    ]
    elements = [
        Element(position=at, kind=kind, text=text, level=level, metadata=metadata, anchor=SectionAnchor())
        for at, (kind, text, level, metadata) in enumerate(rows)
    ]
    assert "".join(as_text(elements)) == (
        "Plan\n\n- dig\n  - deep\n\na | b\n1 | 2\n\n[Comment, Ann] why?\n\n[Footer] page\n"
    )
    assert "".join(as_text([])) == ""
