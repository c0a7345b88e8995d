from ingest.anchors import CueAnchor, MessageAnchor, SectionAnchor
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
