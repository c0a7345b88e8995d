"""Trace, evidence and rounds over HTTP."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.api.conftest import KeyMaker
from tests.api.test_api import ask, upload
from tests.workers.parts import drain
from workers.services import Services

TEXT = "Before it all.\n\nRent is 900 euros.\n\nAfter it all.\n\nThe garden needs water."


def test_the_trace_tells_why_and_how(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    upload(client, headers, text=TEXT)
    drain(services)
    answer = ask(client, headers, query="How much is the rent?", include=["trace"]).json
    fact = next(one for one in answer["facts"] if "Rent" in one["quote"])
    assert fact["trace"]["sparse_rank"] == 1
    assert fact["trace"]["replaced_parent"] == fact["parent_episode_id"]
    assert 0 <= fact["trace"]["fused_score"] <= 1
    trace = answer["trace"]
    assert trace["round_trips"] <= 4
    assert {lane["signal"] for lane in trace["lanes"]} >= {"dense", "sparse", "context_sparse"}
    assert all(lane["collection"] in ("episodes", "facts") for lane in trace["lanes"])
    plain = ask(client, headers, query="How much is the rent?").json
    assert "trace" not in plain
    assert all("trace" not in one and "evidence" not in one for one in plain["facts"])


def test_evidence_is_the_source_around_a_hit(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    upload(client, headers, text=TEXT)
    drain(services)
    answer = ask(client, headers, query="How much is the rent?", include=["evidence"]).json
    fact = next(one for one in answer["facts"] if "Rent" in one["quote"])
    shown = [(piece["text"], piece["of_hit"]) for piece in fact["evidence"]]
    assert shown == [("Before it all.", False), ("Rent is 900 euros.", True), ("After it all.", False)]
    assert all(piece["anchor"]["label"] for piece in fact["evidence"])


def test_agentic_answers_over_http(client: FlaskClient, key: KeyMaker, services: Services) -> None:
    headers = key()
    upload(client, headers, text="The film Maximum Overdrive was shot in Leland.")
    upload(client, headers, text="Maximum Overdrive was directed by Stephen King.")
    drain(services)
    question = "Who directed the film shot in Leland?"
    answer = ask(client, headers, query=question, method="agentic", include=["trace"]).json
    assert any("Stephen King" in fact["quote"] for fact in answer["facts"])
    assert answer["trace"]["agentic"][0]["questions"] == [question]
    assert answer["trace"]["stopped"]
    assert answer["query"]["method"] == "agentic"
    elsewhere = ask(client, key(tenant="other"), query=question, method="agentic").json
    assert elsewhere["facts"] == elsewhere["episodes"] == []


def test_the_interface_names_every_field(client: FlaskClient) -> None:
    schemas = client.get("/openapi.json").json["components"]["schemas"]
    assert {"rerank_change", "dense_rank", "replaced_parent"} <= schemas["SearchResponse.HitTrace"][
        "properties"
    ].keys()
    assert {"lanes", "agentic", "round_trips"} <= schemas["SearchResponse.SearchTrace"]["properties"].keys()
    assert "of_hit" in schemas["SearchResponse.EvidenceOut"]["properties"]
