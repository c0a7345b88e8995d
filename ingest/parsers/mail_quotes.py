"""What of a mail its sender wrote, and what is quoted, forwarded or a signature."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.model import ElementKind


def _any(*phrases: str) -> str:
    return f"(?:{'|'.join(phrases)})"


_ORIGINAL_WORDS = _any(
    "original message", "original appointment", "ursprüngliche nachricht", "message d'origine",
    "mensaje original", "messaggio originale", "mensagem original", "oprindelig meddelelse",
    "исходное сообщение", "原始邮件", "原邮件",
)  # fmt: skip
_FORWARD_WORDS = _any(
    "forwarded message", "weitergeleitete nachricht", "message transféré", "mensaje reenviado",
    "messaggio inoltrato", "转发邮件", "轉寄郵件",
)  # fmt: skip
_WROTE_WORDS = _any(
    "wrote", "writes", "schrieb", "a écrit", "escribió", "ha scritto", "escreveu", "skrev", "schreef",
    "napisał", "пишет", "написал", "写道", "寫道",
)  # fmt: skip
_ORIGINAL = re.compile(rf"\s*[-_*]{{2,}}\s*{_ORIGINAL_WORDS}\s*[-_*]{{2,}}\s*", re.IGNORECASE)
_FORWARDED = re.compile(
    rf"\s*(?:[-_*]{{2,}}\s*)?(?:begin )?{_FORWARD_WORDS}(?:\s*[-_*]{{2,}}|\s*:)\s*", re.IGNORECASE
)
_FORWARD_SUBJECT = re.compile(
    rf"\s*{_any('fwd?', 'wg', 'tr', 'rv', 'i', 'enc', 'vs', '转发', '轉寄')}\s*[:：]", re.I
)
_WROTE = re.compile(rf"(?<!\w){_WROTE_WORDS}[^\n:：]{{0,40}}[:：]\s*$", re.IGNORECASE)
_ATTRIBUTION = re.compile(
    r"\s*(?:On|Am|Le|El|Il|Em|Op|Den|Dne|Dnia|W dniu|在|于)\s.*\d|.*<[^<>\s]+@[^<>\s]+>"
)
# The headers Outlook puts above the mail it answers, in the languages it comes in most.
_FROM = _any("from", "von", "de", "da", "van", "från", "fra", "от", "发件人", "寄件者")
_OTHERS = _any(
    "sent", "date", "gesendet", "datum", "envoyé", "enviado", "enviado el", "inviato", "data", "verzonden",
    "skickat", "sendt", "отправлено", "дата", "发送时间", "寄件日期", "to", "an", "à", "para", "a", "aan",
    "till", "til", "кому", "收件人", "收件者", "subject", "betreff", "objet", "asunto", "oggetto", "assunto",
    "onderwerp", "ämne", "emne", "тема", "主题", "主旨", "cc", "kopie",
)  # fmt: skip
_HEADER = re.compile(rf"\s*\*?(?:({_FROM})|{_OTHERS})\s*\*?\s*[:：]", re.IGNORECASE)
_QUOTE_MARKS = re.compile(r"(?:>[ \t]?)+")
_LONGEST_ATTRIBUTION = 400  # characters


class Replies:
    """Follows a mail from top to bottom and says what each block of text is.

    Args:
        subject: of the mail; it tells a forwarded mail, which is content, from an answered one.
    """

    def __init__(self, subject: str) -> None:
        self._is_forward = _FORWARD_SUBJECT.match(subject) is not None
        self._in_answered = False
        self._in_signature = False

    def begin_part(self) -> None:
        """Start with the next part of the mail: it has its own signature and its own answered mail."""
        self._in_answered = self._in_signature = False

    def kind(self, text: str, kind: ElementKind, is_marked: bool) -> ElementKind:
        """Return what a block is.

        Args:
            text: of the block, without quote marks.
            kind: what it is by its own looks.
            is_marked: quote marks or a quoting element say that it is quoted.
        """
        first = text.partition("\n")[0]
        if _FORWARDED.fullmatch(first):
            self._in_signature = False
            self._is_forward = True
        elif _ORIGINAL.fullmatch(first) or _looks_answered(text):
            self._in_answered = not self._is_forward
            self._in_signature = False
        elif is_signature(first) and not is_marked:
            self._in_signature = True
        if self._in_answered or is_marked or (len(text) < _LONGEST_ATTRIBUTION and _WROTE.search(text)):
            return ElementKind.QUOTE
        return ElementKind.FOOTER if self._in_signature else kind


def strip_marks(line: str) -> tuple[int, str]:
    """Return how deep a line of plain text is quoted, and the line without its marks."""
    match = _QUOTE_MARKS.match(line)
    return (match.group().count(">"), line[match.end() :]) if match else (0, line)


def is_signature(line: str) -> bool:
    """Whether a line divides the text of a mail from its signature."""
    return line.rstrip() == "--"


def attribution_length(lines: Iterable[str]) -> int:
    """Return how many of a few lines say who wrote the quoted text below, 0 when none do."""
    gathered = ""
    for count, line in enumerate(lines, start=1):
        if not line.strip():
            return 0
        gathered = f"{gathered}\n{line}" if gathered else line
        if len(gathered) < _LONGEST_ATTRIBUTION and _WROTE.search(gathered):
            return count if _ATTRIBUTION.match(gathered) else 0
    return 0


def _looks_answered(text: str) -> bool:
    """Whether a block is the header lines a mail program puts above the mail it answers."""
    matches = [match for match in map(_HEADER.match, text.split("\n", 8)[:8]) if match]
    return len(matches) >= 3 and bool(matches[0].group(1))
