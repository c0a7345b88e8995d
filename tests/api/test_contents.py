"""What is listed of a document."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from extract.model import Extraction, Segment
from ingest.ids import fact_id
from ingest.model import Document
from tests.api.conftest import KeyMaker
from tests.workers.parts import drain, hand_in
from tests.workers.stand_ins import LineExtractor
from workers.services import Services


class Inventing(LineExtractor):
    """Adds to each fact one that rests on words nobody wrote."""

    def extract(self, document: Document, segment: Segment) -> Extraction:
        made = super().extract(document, segment)
        (fact,) = made.facts
        invented = fact.model_copy(
            update={"id": fact_id(made.episode.id, 1), "position": 1, "quote": "x", "grounded": False}
        )
        return made.model_copy(update={"facts": (fact, invented)})


def test_facts_that_rest_on_nothing_are_listed_apart(
    services: Services, client: FlaskClient, key: KeyMaker
) -> None:
    headers = key()
    given = hand_in(services, "Rent is 900 euros.")
    drain(replace(services, extractor=Inventing()))
    base = f"/api/v1/documents/{given.document.id}"
    document = client.get(base, headers=headers).json
    assert (document["facts"], document["ungrounded_facts"]) == (1, 1)

    def listed(query: str) -> list[bool]:
        return [
            fact["grounded"] for fact in client.get(f"{base}/facts{query}", headers=headers).json["items"]
        ]

    assert listed("") == [True, False]
    assert listed("?grounded=true") == [True]
    assert listed("?grounded=false") == [False]
    assert client.get(f"{base}/facts?grounded=maybe", headers=headers).status_code == 422


@pytest.mark.parametrize("cursor", ["-1", "9" * 24, "x"])
@pytest.mark.parametrize("part", ["facts", "elements", "episodes"])
def test_a_cursor_no_list_gave_out_is_refused(
    services: Services, client: FlaskClient, key: KeyMaker, part: str, cursor: str
) -> None:
    given = hand_in(services, "Rent is 900 euros.")
    drain(services)
    path = f"/api/v1/documents/{given.document.id}/{part}"
    answer = client.get(path, query_string={"cursor": cursor}, headers=key())
    assert answer.status_code == 422
    assert answer.json["code"] == "bad_cursor"
