from ingest.anchors import CueAnchor, MessageAnchor, SectionAnchor
from ingest.model import Cell, Element, ElementKind
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


def test_speakers_and_senders_are_named() -> None:
    cue = CueAnchor(start_s=1, end_s=2, speaker="Ann")
    message = MessageAnchor(message_id="1", sender="Bob")
    elements = [
        Element(position=0, kind=ElementKind.CUE, text="Hello", anchor=cue),
        Element(
            position=1, kind=ElementKind.CUE, text="(music)", anchor=cue.model_copy(update={"speaker": None})
        ),
        Element(position=2, kind=ElementKind.MESSAGE, text="Hi", anchor=message),
    ]
    assert "".join(as_text(elements)) == "Ann: Hello\n(music)\n\nBob: Hi\n"


def test_values_as_stored_stand_beside_those_that_do_not_show_them() -> None:
    cells = (
        Cell(name="Item", value="Rent"),
        Cell(name="Cost", value="$1,414", stored="1414"),
        Cell(name="Share", value="62%", stored="0.62"),
        Cell(name="Change", value="(12.00)", stored="-12"),
    )
    text = "Rent | $1,414 | 62% | (12.00)"
    row = Element(position=0, kind=ElementKind.TABLE_ROW, text=text, anchor=SectionAnchor(), cells=cells)
    assert "".join(as_text([row])) == "Rent | $1,414 (1414) | 62% (0.62) | (12.00)\n"
    other = row.model_copy(update={"text": "Rent, $1,414"})
    assert "".join(as_text([other])) == "Rent, $1,414\n"
