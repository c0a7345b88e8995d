from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingest.context import ParseContext
from ingest.errors import CorruptFile, FileTooLarge
from ingest.limits import ParseLimits
from ingest.model import ElementKind
from ingest.ocr import OcrLine
from ingest.ocr_picture import PictureText
from ingest.parsers import ocr_budget
from ingest.parsers.image import parse
from ingest.parsers.ocr_pieces import picture_pieces
from ingest.parsers.pixels import to_rgb


def context_for(path: Path, **limits: int) -> ParseContext:
    return ParseContext(path, path.name, "image/png", ParseLimits(**limits), path.parent)


def written(
    text: str, size: tuple[int, int] = (420, 80), ink: str = "black", paper: str = "white"
) -> Image.Image:
    picture = Image.new("RGB", size, paper)
    ImageDraw.Draw(picture).text((20, 20), text, font=ImageFont.load_default(28), fill=ink)
    return picture


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Image.Image]:
    """Replace the reading by one that answers with the size of each picture shown."""
    seen: list[Image.Image] = []

    def read(picture: Image.Image) -> PictureText:
        seen.append(picture)
        box = ((0.0, 0.0), (9.0, 0.0), (9.0, 5.0), (0.0, 5.0))
        return PictureText([OcrLine(f"{picture.width} by {picture.height}", 0.99, box)], 0, 0.0, 0)

    monkeypatch.setattr(ocr_budget, "read_picture", read)
    return seen


def test_reads_letters_with_the_bundled_models(tmp_path: Path) -> None:
    written("Moss grows slowly 1,250").save(tmp_path / "a.png")
    (piece,) = parse(context_for(tmp_path / "a.png"))
    assert piece.kind is ElementKind.IMAGE_TEXT
    assert piece.text == "Moss grows slowly 1,250"
    x0, y0, x1, y1 = piece.anchor.bbox
    assert 5 < x0 < 30 < y1 < 65 < 300 < x1 < 400
    assert 5 < y0 < 32


def test_blank_picture_warns(tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), "white").save(tmp_path / "b.png")
    context = context_for(tmp_path / "b.png")
    assert list(parse(context)) == []
    assert [warning.code for warning in context.warnings] == ["no_text"]


def test_every_tiff_frame_is_a_page(tmp_path: Path, shown: list[Image.Image]) -> None:
    frames = [Image.new("1", (100 + n, 50)) for n in range(3)]
    frames[0].save(tmp_path / "m.tiff", save_all=True, append_images=frames[1:])
    context = context_for(tmp_path / "m.tiff")
    assert [(piece.anchor.page, piece.text) for piece in parse(context)] == [
        (1, "100 by 50"),
        (2, "101 by 50"),
        (3, "102 by 50"),
    ]
    assert context.metadata.page_count == 3


def test_exif_turn_and_date(tmp_path: Path, shown: list[Image.Image]) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x0132], exif[0x013B] = 6, "2024:01:31 12:00:00", "Ada"
    Image.new("RGB", (120, 60)).save(tmp_path / "e.jpg", exif=exif)
    context = context_for(tmp_path / "e.jpg")
    assert [piece.text for piece in parse(context)] == ["60 by 120"]
    assert context.metadata.occurred_at == datetime(2024, 1, 31, 12, tzinfo=UTC)
    assert context.metadata.authors == ("Ada",)


def test_pixel_limit_is_checked_before_decoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("L", (300, 200)).save(tmp_path / "l.png")
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("decoded"))
    with pytest.raises(FileTooLarge, match="PARSE_MAX_PIXELS"):
        list(parse(context_for(tmp_path / "l.png", max_pixels=59_999)))


@pytest.mark.parametrize("share", [0.02, 0.4])
def test_cut_off_picture_is_corrupt(tmp_path: Path, share: float) -> None:
    path = tmp_path / "c.png"
    Image.effect_noise((300, 300), 80).save(path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(CorruptFile):
        list(parse(context_for(path)))


def test_rubbish_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"no picture at all")
    with pytest.raises(CorruptFile):
        list(parse(context_for(tmp_path / "x.png")))


@pytest.mark.parametrize("mode", ["1", "L", "P", "CMYK", "YCbCr", "I", "I;16", "F", "LA", "RGBA"])
def test_any_mode_becomes_rgb(mode: str) -> None:
    assert to_rgb(Image.new(mode, (8, 8))).mode == "RGB"


def test_deep_tones_are_spread() -> None:
    deep = Image.new("I;16", (2, 1))
    deep.putpixel((1, 0), 4000)
    assert [to_rgb(deep).getpixel((x, 0))[0] for x in (0, 1)] == [0, 255]


@pytest.mark.parametrize(("ink", "paper"), [((250, 250, 250, 255), 0), ((10, 10, 10, 255), 255)])
def test_transparency_gets_a_background_its_ink_stands_out_from(ink: tuple[int, ...], paper: int) -> None:
    picture = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    picture.paste(ink, (2, 2, 5, 5))
    assert to_rgb(picture).getpixel((9, 9)) == (paper, paper, paper)


def box_line(text: str, x: float, y: float, width: float, height: float = 20) -> OcrLine:
    return OcrLine(text, 0.99, ((x, y), (x + width, y), (x + width, y + height), (x, y + height)))


def test_rows_of_a_table_are_read_across() -> None:
    lines = [
        box_line(text, 20 + 150 * column, 20 + 40 * row, 60)
        for row, texts in enumerate([("Item", "Cost"), ("Rent", "1,200"), ("Heat", "85")])
        for column, text in enumerate(texts)
    ]
    pieces = list(picture_pieces(PictureText(lines, 0, 0.0, 0), page=1))
    assert [piece.text for piece in pieces] == ["Item | Cost", "Rent | 1,200", "Heat | 85"]
    assert [cell.value for cell in pieces[1].cells] == ["Rent", "1,200"]


def test_vertical_writing_is_read_from_the_right() -> None:
    lines = [
        box_line("二行目は左にあります。", 20, 10, 20, 300),
        box_line("一行目は右にあります", 60, 10, 20, 300),
    ]
    (piece,) = picture_pieces(PictureText(lines, 0, 0.0, 0), page=1)
    assert piece.text == "一行目は右にあります二行目は左にあります。"


def test_skewed_lines_keep_their_order() -> None:
    lines = [
        OcrLine(
            f"line number {n} of a skewed page",
            0.99,
            ((0, 30 * n), (400, 30 * n + 70), (397, 30 * n + 90), (-3, 30 * n + 20)),
        )
        for n in range(5)
    ]
    (piece,) = picture_pieces(PictureText(lines[::-1], 0, 9.93, 0), page=1)
    assert piece.text == " ".join(f"line number {n} of a skewed page" for n in range(5))
