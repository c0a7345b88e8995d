"""What can go wrong in an evaluation.

StrataError
└── EvaluationError
    ├── SetInvalid          question_set_invalid
    ├── IngestFailed        evaluation_ingest_failed
    ├── NothingToReuse      nothing_to_reuse
    └── Unavailable         evaluation_unavailable
"""

from __future__ import annotations

from ingest.errors import StrataError


class EvaluationError(StrataError):
    """The evaluation cannot be carried out."""

    code = "evaluation"


class SetInvalid(EvaluationError):
    """A question set is not in the expected layout."""

    code = "question_set_invalid"
    advice = "A set is a folder with docs.jsonl, queries.jsonl and qrels.jsonl; see docs/evaluation.md."


class IngestFailed(EvaluationError):
    """A part of the question set could not be taken into memory."""

    code = "evaluation_ingest_failed"
    advice = "Look at the named document's error; nothing was measured."


class NothingToReuse(EvaluationError):
    """This set has not been ingested here."""

    code = "nothing_to_reuse"
    advice = "Run once without --reuse, with the same --workdir or --url."


class Unavailable(EvaluationError):
    """What was asked for cannot be had with these settings."""

    code = "evaluation_unavailable"
    advice = "See `strata eval --help` for the configurations and what they need."
