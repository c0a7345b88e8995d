"""Pictures that hold hardly a word, and what a vision model says of them."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image, ImageDraw

from extract.chat.cache import AnswerCache
from extract.chat.client import ChatClient
from extract.extractive import ExtractiveExtractor
from extract.segments import split_segments
from extract.vision import Viewer
from ingest.anchors import PageAnchor
from ingest.artifacts import artifact_dir, read_jsonl, write_jsonl
from ingest.limits import ParseLimits
from ingest.model import Element, ElementKind, View
from ingest.outcome import ParseOutcome
from ingest.parse import parse_file
from tests.fault_server import Fault, FaultServer, serving
from tests.workers.parts import ANNA, drain
from workers.model import DocumentRecord, State, Upload
from workers.services import Services
from workers.settings import Settings, SettingsError
from workers.writer import make_viewer

DESCRIPTION = "A photo of a red lighthouse on a cliff above a calm sea at dusk."


def look(body: dict[str, Any]) -> str:
    """Say what is on the picture, after making sure that it is one."""
    (url,) = (part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] != "text")
    picture = Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/jpeg;base64,"))))
    assert max(picture.size) <= 1568
    return json.dumps({"description": DESCRIPTION, "text": "Exit 7"})


def photo(width: int = 2000, height: int = 900) -> bytes:
    """A picture without letters."""
    picture = Image.new("RGB", (width, height), (90, 120, 200))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((width // 3, height // 4, width // 2, height // 2), fill=(220, 30, 30))
    data = io.BytesIO()
    picture.save(data, "PNG")
    return data.getvalue()


def report_with_photo() -> bytes:
    """Three pages: text, a photo alone, text."""
    with pymupdf.open() as pdf:
        for words in (
            "The harbour report names the lighthouse keeper and every visit.",
            "",
            "The end of it.",
        ):
            page = pdf.new_page()
            if words:
                page.insert_text((72, 100), words)
            else:
                page.insert_image(pymupdf.Rect(50, 100, 500, 400), stream=photo(800, 500))
        data: bytes = pdf.tobytes()
    return data


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(look) as running:
        yield running


@pytest.fixture
def seeing(services: Services, server: FaultServer, tmp_path: Path) -> Iterator[Services]:
    told = {"base_url": server.url, "tries": 1}
    settings = Settings.model_validate(
        {"strata_home": tmp_path, "vision_model": "eye", "extractor": "extractive", "llm": told}
    )
    chat = ChatClient(settings.llm.model_copy(update={"model": settings.vision_model}))
    yield replace(
        services, settings=settings, viewer=Viewer(chat, AnswerCache(settings.answers), 500),
        parse=parse_pictures, split=split_segments, extractor=ExtractiveExtractor(),
    )  # fmt: skip
    chat.close()


def hand_in_bytes(services: Services, data: bytes, name: str) -> str:
    blob = services.blobs.put(io.BytesIO(data), 10**8)
    upload = {
        "owner": ANNA, "name": name, "sha256": blob.sha256, "size_bytes": blob.size_bytes,
        "stored_at": services.ledger.database.now(),
    }  # fmt: skip
    return services.ledger.documents.accept(Upload.model_validate(upload)).document.id


def parse_pictures(path: Path, name: str, limits: ParseLimits, out_dir: Path) -> ParseOutcome:
    """Read nothing in a picture, and one line on each side of the picture in a report."""
    (out_dir / "children").mkdir(parents=True)
    (out_dir / "views").mkdir()
    pages = (1, 3) if name.endswith(".pdf") else ()
    read = [
        Element(
            position=at, kind=ElementKind.PARAGRAPH, anchor=PageAnchor(page=page),
            text=f"Part {page} of the harbour report names the keeper.",
        )
        for at, page in enumerate(pages)
    ]  # fmt: skip
    if read:
        write_jsonl(out_dir / "elements.jsonl", read)
    Image.open(io.BytesIO(photo(300, 200))).save(out_dir / "views" / "00000.jpg")
    views = (View(page=2 if read else 1, stored_as="00000.jpg"),) if limits.max_views else ()
    return ParseOutcome(media_type="image/png", element_count=len(read), views=views)


def record(services: Services, identity: str) -> DocumentRecord:
    return services.ledger.documents.get("acme", identity)


def elements(services: Services, identity: str) -> list[Element]:
    return list(read_jsonl(artifact_dir(services.artifacts, identity) / "elements.jsonl", Element))


def test_a_picture_without_words_becomes_what_it_shows(seeing: Services, server: FaultServer) -> None:
    seeing = replace(seeing, parse=parse_file)
    identity = hand_in_bytes(seeing, photo(640, 400), "cliff.png")
    drain(seeing)
    document = record(seeing, identity)
    assert document.state is State.READY, document.error
    shown = elements(seeing, identity)
    assert [one.text for one in shown] == [DESCRIPTION, "Exit 7"]
    assert {one.metadata["described_by"] for one in shown} == {"eye"}
    assert {one.anchor for one in shown} == {PageAnchor(page=1)}
    assert "described_by_model" in {warning.code for warning in document.warnings}
    assert document.counts.facts >= 1
    assert server.calls[0]["model"] == "eye"


def test_what_a_page_shows_stands_between_its_neighbours(seeing: Services, server: FaultServer) -> None:
    seeing = replace(seeing, parse=parse_file)
    identity = hand_in_bytes(seeing, report_with_photo(), "report.pdf")
    drain(seeing)
    shown = elements(seeing, identity)
    assert [one.position for one in shown] == list(range(len(shown)))
    assert [one.anchor.page for one in shown] == sorted(one.anchor.page for one in shown)  # type: ignore[union-attr]
    assert [one.text for one in shown if "described_by" in one.metadata] == [DESCRIPTION, "Exit 7"]
    assert len(server.calls) == 1


def test_the_same_picture_is_asked_about_once_and_forgotten_with_its_document(
    seeing: Services, server: FaultServer
) -> None:
    first = hand_in_bytes(seeing, photo(), "cliff.png")
    drain(seeing)
    hand_in_bytes(seeing, photo() + b"\0", "again.png")
    drain(seeing)
    assert len(server.calls) == 1
    seeing.ledger.documents.mark_deleting("acme", first)
    drain(seeing)
    assert [path for path in seeing.settings.answers.rglob("*") if path.is_file()] == []


def test_a_picture_nobody_can_describe_is_told(seeing: Services, server: FaultServer) -> None:
    server.script = [Fault(finish="content_filter")]
    identity = hand_in_bytes(seeing, report_with_photo(), "report.pdf")
    drain(seeing)
    document = record(seeing, identity)
    assert document.state is State.READY
    assert "picture_not_described" in {warning.code for warning in document.warnings}


def test_a_picture_with_neither_words_nor_description_fails(seeing: Services, server: FaultServer) -> None:
    server.script = [Fault(wrap=lambda text: "No."), Fault(wrap=lambda text: "No.")]
    identity = hand_in_bytes(seeing, photo(), "cliff.png")
    drain(seeing)
    document = record(seeing, identity)
    assert document.state is State.FAILED
    assert document.error is not None
    assert document.error.code == "no_text"


def test_an_endpoint_that_is_away_is_waited_for(seeing: Services, server: FaultServer) -> None:
    server.script = [Fault(503, {"message": "overloaded"})]
    identity = hand_in_bytes(seeing, photo(), "cliff.png")
    drain(seeing)
    document = record(seeing, identity)
    assert document.error is not None
    assert (document.state, document.error.code) == (State.QUEUED, "llm_unavailable")


def test_without_a_vision_model_nothing_is_kept_to_be_looked_at(
    seeing: Services, server: FaultServer
) -> None:
    identity = hand_in_bytes(seeing, report_with_photo(), "report.pdf")
    drain(replace(seeing, viewer=None))
    assert record(seeing, identity).state is State.READY
    assert all("described_by" not in one.metadata for one in elements(seeing, identity))
    assert server.calls == []


def test_a_vision_model_needs_an_endpoint() -> None:
    with pytest.raises(SettingsError, match="LLM_BASE_URL"):
        Settings.from_env({"VISION_MODEL": "eye"})
    assert make_viewer(Settings()) is None
