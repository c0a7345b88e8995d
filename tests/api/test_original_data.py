"""The words of the source beside each hit, when they are asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from api.app import create_app
from api.wiring import authenticator
from extract.extractive import ExtractiveExtractor
from extract.segments import split_segments
from tests.api.conftest import KeyMaker
from tests.api.test_api import ask, upload
from tests.api.test_memories import ask as ask_memory
from tests.api.test_memories import flush, message, remember
from tests.workers.parts import drain
from workers.services import Services

TEXT = "\n".join(f"Paragraph {at}: the rent of flat {at} is {900 + at} euros a month." for at in range(30))


@pytest.fixture
def services(services: Services, tmp_path: Path) -> Services:
    return replace(services, extractor=ExtractiveExtractor(), split=split_segments)


@pytest.fixture
def client(services: Services) -> FlaskClient:
    return create_app(services, services.settings, authenticator(services.ledger)).test_client()


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid"])
def test_each_hit_shows_its_own_words(
    client: FlaskClient, key: KeyMaker, services: Services, method: str
) -> None:
    headers = key()
    upload(client, headers, TEXT)
    drain(services)
    plain = ask(client, headers, query="rent of flat 17", method=method).json
    answer = ask(client, headers, query="rent of flat 17", method=method, include_original_data=True).json
    assert answer["episodes"] or answer["facts"]
    for hit in (*plain["episodes"], *plain["facts"]):
        assert "original_data" not in hit
    for fact in answer["facts"]:
        (piece,) = fact["original_data"]
        assert fact["quote"] in piece["text"]
        assert piece["anchor"] == fact["anchors"][0]
    for episode in answer["episodes"]:
        places = [piece["position"] for piece in episode["original_data"]]
        assert places == list(range(places[0], places[-1] + 1))
        assert all(piece["text"] in episode["episode"] for piece in episode["original_data"])


def test_the_words_of_a_conversation_are_its_messages(
    client: FlaskClient, key: KeyMaker, services: Services
) -> None:
    headers = key()
    remember(client, headers, message("The flat at the lake costs 900 euros.", message_id="m1"))
    flush(client, headers, services)
    answer = ask_memory(client, headers, "What does the flat cost?", include_original_data=True)
    pieces = [piece for hit in (*answer["facts"], *answer["episodes"]) for piece in hit["original_data"]]
    assert {(piece["text"], piece["anchor"]["message_id"]) for piece in pieces} == {
        ("The flat at the lake costs 900 euros.", "m1")
    }
