import codecs
from pathlib import Path

import pytest

from ingest.encoding import decode_text, find_file_encoding, known_label, open_text

GERMAN = "Die Straße führt über die Brücke, und dahinter grüßt schon das alte Stadttor."
FRENCH = "Le café près de la forêt est fermé depuis l'été dernier, où êtes-vous allés ?"
POLISH = "Każdy człowiek ma swoją własną drogę, choć nie zawsze ją widzi; źle się dzieje."
TURKISH = "Işıklar söndüğünde şehir bambaşka görünüyordu; çocuklar sessizce eve döndü."
RUSSIAN = "Поезд пришёл вовремя, и мы успели выпить чаю до начала собрания."
GREEK = "Το τρένο έφτασε στην ώρα του και προλάβαμε να πιούμε καφέ."
HEBREW = "הרכבת הגיעה בזמן והספקנו לשתות קפה לפני הישיבה."
ARABIC = "وصل القطار في موعده وشربنا القهوة قبل بداية الاجتماع."
THAI = "รถไฟมาตรงเวลาและเราได้ดื่มกาแฟก่อนการประชุม"
CHINESE = "火车准时到了,我们在会议开始之前还有时间喝一杯咖啡。"
TRADITIONAL = "火車準時到了,我們在會議開始之前還有時間喝一杯咖啡。"
JAPANESE = "電車は時間どおりに着いたので、会議の前にコーヒーを飲むことができました。"
KOREAN = "기차가 제시간에 도착해서 회의가 시작되기 전에 커피를 마실 수 있었다."

LEGACY = [
    (GERMAN, "windows-1252"), (FRENCH, "windows-1252"), (FRENCH, "mac_roman"), (POLISH, "windows-1250"),
    (POLISH, "iso-8859-2"), (TURKISH, "windows-1254"), (RUSSIAN, "windows-1251"), (RUSSIAN, "koi8-r"),
    (RUSSIAN, "iso-8859-5"), (RUSSIAN, "cp866"), (GREEK, "windows-1253"), (HEBREW, "windows-1255"),
    (ARABIC, "windows-1256"), (THAI, "cp874"), (CHINESE, "gb18030"), (TRADITIONAL, "big5"),
    (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp"), (JAPANESE, "iso-2022-jp"), (KOREAN, "euc-kr"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "encoding"), LEGACY, ids=[f"{e}-{t[:6]}" for t, e in LEGACY])
def test_legacy_code_pages_are_found(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding))[0] == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN + "\n", CHINESE + "\nok 1\n"])
def test_unicode_without_a_mark(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_is_removed(encoding: str) -> None:
    assert decode_text(GERMAN.encode(encoding)) == (GERMAN, encoding)


def test_a_declared_encoding_is_believed_when_the_bytes_agree() -> None:
    assert decode_text("联通".encode("gbk"), "GB2312") == ("联通", "gb18030")
    assert decode_text(b"\x93quoted\x94", "ISO-8859-1") == ("“quoted”", "windows-1252")


@pytest.mark.parametrize("declared", ["iso-8859-1", "x-unknown", "utf-16", "utf-7", "base64", "", None])
def test_a_wrong_label_does_not_harm_utf8(declared: str | None) -> None:
    assert decode_text(GERMAN.encode(), declared) == (GERMAN, "utf-8")


def test_one_sign_alone_is_read_as_the_commonest_code_page() -> None:
    assert decode_text(b"2,\xa9\n") == ("2,©\n", "windows-1252")
    assert decode_text(b"caf\xe9") == ("café", "windows-1252")


def test_labels_of_no_text_are_unknown() -> None:
    assert known_label("hex") is None
    assert known_label("a\0b") is None
    assert known_label(" 'UTF8' ") == "utf-8"


def test_stray_bytes_in_utf8_are_read_as_windows_1252() -> None:
    data = (RUSSIAN * 3).encode() + b" caf\xe9 " + (RUSSIAN * 3).encode()
    text, encoding = decode_text(data)
    assert encoding == "utf-8"
    assert " café " in text


def test_utf8_cut_in_the_middle_of_a_character_stays_utf8() -> None:
    assert decode_text(JAPANESE.encode()[:-1])[1] == "utf-8"


def test_empty_and_ascii_are_utf8() -> None:
    assert decode_text(b"") == ("", "utf-8")
    assert decode_text(b"plain") == ("plain", "utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_a_large_file_is_read_in_windows(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "large"
    line = (RUSSIAN + "\r\n").encode(encoding.replace("utf-16", "utf-16-le"))
    with path.open("wb") as stream:
        stream.write(codecs.BOM_UTF16_LE if encoding == "utf-16" else b"")
        for _ in range(9 * 2**20 // len(line) // 100 + 1):
            stream.write(line * 100)
    assert find_file_encoding(path) == encoding
    with open_text(path, encoding) as text:
        assert text.readline() == RUSSIAN + "\n"
