"""A mail's envelope in words."""

from __future__ import annotations

from extract.names import display_name
from extract.phrases import phrase, say_day, say_list
from extract.statements.draft import Scene
from ingest.model import Document


def sender_of(document: Document) -> str | None:
    """Return who wrote a mail, as a name."""
    return display_name(document.metadata.authors[0]) if document.metadata.authors else None


def describe_envelope(scene: Scene) -> str:
    """Return "Mail from Alice to Bob on 12 March 2024 about “Q2 deadline”"."""
    language, sender = scene.language, sender_of(scene.document) or "?"
    names = dict.fromkeys(display_name(name) for name in scene.document.metadata.participants)
    others = tuple(name for name in names if name != sender)
    text = phrase(language, "mail", sender)
    if others:
        text = phrase(language, "mail_to", sender, say_list(others, language))
    if scene.segment.occurred_at:
        text += phrase(language, "mail_on", say_day(scene.segment.occurred_at, language))
    return text + phrase(language, "mail_about", scene.title)
