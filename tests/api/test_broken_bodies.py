from __future__ import annotations

from apiflask import APIFlask
from gunicorn.http.errors import InvalidChunkSize

from api import errors


def test_a_body_that_is_chunked_wrongly_is_the_callers_fault() -> None:
    app = APIFlask("test")
    errors.register(app)

    @app.post("/read")
    def read() -> str:
        raise InvalidChunkSize(b"zz")

    answer = app.test_client().post("/read")
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert answer.json is not None
    assert answer.json["code"] == "bad_request"
