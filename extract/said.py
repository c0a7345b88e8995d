"""What a language model says of a stretch: the form of its answer, and its schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

SCHEMA_NAME = "episode"
_MAX_TOPICS = 8
_LEAST_WORDS = 4  # characters of a fact; 会议取消 says something


class Said(BaseModel):
    """A part of an answer: frozen, unknown fields dropped, blanks around words cut."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", str_strip_whitespace=True, coerce_numbers_to_str=True
    )


class SaidFact(Said):
    """One fact as a model words it."""

    text: str = Field(
        min_length=_LEAST_WORDS, description="one complete sentence that can be understood alone"
    )
    topic: str = Field(default="", description="a short noun phrase")
    speaker: str = Field(default="", description="who says it, or empty")
    time: str = Field(default="", description="words of the source that say when, or empty")
    # Asked for, but a fact without one is only not grounded, and no reason to throw the others away.
    quote: str = Field(
        default="", description="words copied from the source", json_schema_extra={"minLength": 2}
    )

    @field_validator("topic", "speaker", "time", "quote", mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:  # noqa: ANN401  whatever the model said
        return "" if value is None else value


class SaidEpisode(Said):
    """One episode as a model words it."""

    title: str = Field(min_length=2, description="at most 12 words")
    summary: str = Field(min_length=4, description="two or three sentences, at most 60 words")
    topics: tuple[str, ...] = Field(default=(), description="one to five short noun phrases")
    participants: tuple[str, ...] = Field(default=(), description="people in it")
    facts: tuple[SaidFact, ...] = Field(description="in the order of the source")

    @field_validator("facts", mode="before")
    @classmethod
    def _short_ones_say_nothing(cls, value: Any) -> Any:  # noqa: ANN401  whatever the model said
        """Drop facts of a sign or two; they are no reason to ask again."""
        if not isinstance(value, list):
            return value
        return [one for one in value if not (isinstance(one, dict) and _is_short(one.get("text", "")))]

    def joined(self, other: SaidEpisode) -> SaidEpisode:
        """Return one answer made of the answers to two halves."""
        return SaidEpisode(
            title=self.title,
            summary=f"{self.summary} {other.summary}",
            topics=tuple(dict.fromkeys((*self.topics, *other.topics)))[:_MAX_TOPICS],
            participants=tuple(dict.fromkeys((*self.participants, *other.participants))),
            facts=(*self.facts, *other.facts),
        )


def _is_short(value: Any) -> bool:  # noqa: ANN401  whatever the model said
    return value is None or (isinstance(value, str) and len(value.strip()) < _LEAST_WORDS)


def answer_schema() -> Mapping[str, Any]:
    """Return the JSON schema of an answer about an episode."""
    return closed_schema(SaidEpisode)


@lru_cache(maxsize=16)
def closed_schema(form: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of a form, without references and with every field required."""
    schema = form.model_json_schema()
    closed: Mapping[str, Any] = _closed(schema, schema.get("$defs", {}))
    return closed


def _closed(schema: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON value
    if isinstance(schema, list):
        return [_closed(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _closed(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    closed = {
        name: _closed(value, definitions)
        for name, value in schema.items()
        if name not in ("$defs", "title", "default") or (name == "title" and isinstance(value, dict))
    }
    if closed.get("type") == "object":
        closed |= {"additionalProperties": False, "required": list(closed.get("properties", {}))}
    return closed
