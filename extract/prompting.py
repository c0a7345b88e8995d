"""The words a language model is asked with. The prompts are files; their content makes the version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from string import Template

from extract.chat.model import ChatMessage
from extract.model import SegmentKind
from extract.names import display_name
from extract.render import render
from extract.statements.draft import Scene
from ingest.model import Element

_NAMES = {
    "en": "English", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "de": "German", "fr": "French",
    "es": "Spanish", "pt": "Portuguese", "it": "Italian", "nl": "Dutch", "ru": "Russian", "uk": "Ukrainian",
    "pl": "Polish", "cs": "Czech", "sv": "Swedish", "da": "Danish", "no": "Norwegian", "fi": "Finnish",
    "tr": "Turkish", "ar": "Arabic", "fa": "Persian", "he": "Hebrew", "hi": "Hindi", "vi": "Vietnamese",
    "id": "Indonesian", "th": "Thai", "el": "Greek", "hu": "Hungarian", "ro": "Romanian", "bg": "Bulgarian",
}  # fmt: skip
_FILES = ("system", "repair", *(kind.value for kind in SegmentKind))
_OPEN, _CLOSE = "<<<SOURCE", "SOURCE>>>"
_LABELS = {
    SegmentKind.PROSE: "document",
    SegmentKind.TABLE: "table",
    SegmentKind.SLIDE: "presentation",
    SegmentKind.MAIL: "mail",
    SegmentKind.TRANSCRIPT: "transcript",
    SegmentKind.CONVERSATION: "conversation",
}


@lru_cache(maxsize=16)
def prompt(name: str) -> str:
    """Return the text of a prompt file."""
    return (files("extract.prompts") / f"{name}.txt").read_text(encoding="utf-8").strip()


@lru_cache(maxsize=1)
def prompts_version() -> str:
    """Return a mark that changes with any word of any prompt."""
    return hashlib.sha256("\x00".join(map(prompt, _FILES)).encode()).hexdigest()[:8]


def language_name(code: str) -> str:
    """Return what a model is told to write in."""
    return _NAMES.get(code, "the language of the source")


def extraction_messages(scene: Scene, elements: Sequence[Element]) -> tuple[ChatMessage, ...]:
    """Return the request for an episode and its facts."""
    kind = scene.segment.kind
    system = Template(prompt("system")).substitute(
        language=language_name(scene.language), guidance=prompt(kind.value)
    )
    source = render(elements, scene.language).replace(_CLOSE, "SOURCE> >>")
    user = "\n".join([*_circumstances(scene), "", _OPEN, source, _CLOSE])
    return (ChatMessage(role="system", content=system), ChatMessage(role="user", content=user))


def repair_message(problem: str) -> ChatMessage:
    """Return the request to correct an answer."""
    return ChatMessage(role="user", content=Template(prompt("repair")).substitute(problem=problem))


def _circumstances(scene: Scene) -> list[str]:
    segment, meta = scene.segment, scene.document.metadata
    lines = [f"Kind: {_LABELS[segment.kind]}", f"Title: {scene.title}"]
    if segment.heading_path:
        lines.append(f"Section: {' > '.join(segment.heading_path)}")
    if segment.occurred_at:
        lines.append(f"Date: {segment.occurred_at:%A, %d %B %Y, %H:%M}")
    people = segment.participants or tuple(display_name(name) for name in meta.authors)
    if people:
        lines.append(f"People: {', '.join(people[:20])}")
    return lines
