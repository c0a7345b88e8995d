"""All settings in one place. Only the entry points call ``Settings.from_env``; all others are handed values.

A field ``database_url`` is read from ``DATABASE_URL``; those of a group like ``parse`` from ``PARSE_*``.
``deploy/env.example`` lists every one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator

from extract.knobs import LlmKnobs
from ingest.anchors import Frozen
from ingest.errors import StrataError
from ingest.limits import ParseLimits
from retrieval.extra_knobs import AgenticKnobs, RerankKnobs
from retrieval.knobs import EmbedKnobs, IndexKnobs, MragKnobs
from workers.conversation import ConversationKnobs
from workers.knobs import BudgetKnobs

# What a stage needs around the parse itself: fetching the bytes, keeping the elements and inner files.
_PARSE_SLACK_S = 120


class SettingsError(StrataError):
    """A setting has a value that cannot be used."""

    code = "settings"
    advice = "Correct the named environment variable; deploy/env.example lists all of them."


class Settings(Frozen):
    """Everything that can be configured, with the defaults of the embedded topology.

    A URL left empty means: the embedded part under ``strata_home``.

    Attributes:
        extractor: "auto" is "llm" where LLM_BASE_URL or LLM_API_KEY is set, else "extractive".
        vision_model: at LLM_BASE_URL; describes pictures and pages that hold hardly a word. Empty: none does.
        queue_prefix: put before the names of the queues, where several installations share a broker.
        artifacts_dir: folder of what the stages hand to each other; several hosts have to share it.
        worker_lease_s: a worker not heard of for this long has lost its stage.
        worker_slice_s: a stage that can go on later makes room for others after this long.
        worker_soft_limit_s, worker_hard_limit_s: a stage is interrupted, then its process ended.
        worker_visibility_s: when Redis gives an unacknowledged message to another worker.
        worker_max_attempts: starts of a stage before a transient error becomes final.
        worker_max_deaths: worker processes a document may end before it is set aside.
        worker_queue_window: messages in each queue; at least twice the worker processes of all hosts. Which
            come next is decided in the ledger, fairly by owner.
        worker_tasks_per_child: stages after which a worker process is replaced.
        reconcile_every_s: pause between two looks for what was lost.
        resend_after_s: age from which a message that is in no queue counts as lost.
    """

    strata_home: Path = Path.home() / ".strata"
    strata_host: str = "127.0.0.1"
    strata_port: int = Field(default=8321, ge=0, le=65535)
    strata_auth: Literal["keys", "open"] = "keys"
    strata_log_level: Literal["debug", "info", "warning", "error"] = "info"

    database_url: str = ""
    celery_broker_url: str = ""
    queue_prefix: str = Field(default="", pattern=r"^[A-Za-z0-9_.-]*$", max_length=64)
    qdrant_url: str = ""
    qdrant_api_key: SecretStr = SecretStr("")
    blob_url: str = ""

    artifacts_dir: Path | None = None

    worker_concurrency: int = Field(default=2, ge=1, le=256)
    worker_lease_s: float = Field(default=60.0, ge=1)
    worker_slice_s: float = Field(default=300.0, ge=1)
    worker_soft_limit_s: int = Field(default=1500, ge=10)
    worker_hard_limit_s: int = Field(default=1600, ge=10)
    worker_visibility_s: int = Field(default=1800, ge=10)
    worker_max_attempts: int = Field(default=10, ge=1)
    worker_max_deaths: int = Field(default=2, ge=1)
    worker_queue_window: int = Field(default=32, ge=1)
    worker_tasks_per_child: int = Field(default=500, ge=1)
    reconcile_every_s: float = Field(default=2.0, gt=0)
    resend_after_s: float = Field(default=10.0, gt=0)

    max_upload_bytes: int = Field(default=512 * 2**20, gt=0)
    max_files_per_upload: int = Field(default=1000, gt=0)

    extractor: Literal["auto", "extractive", "llm"] = "auto"
    vision_model: str = ""
    embedder: Literal["e5", "openai", "fastembed"] = "e5"

    parse: ParseLimits = ParseLimits()
    embed: EmbedKnobs = EmbedKnobs()
    index: IndexKnobs = IndexKnobs()
    mrag: MragKnobs = MragKnobs()
    rerank: RerankKnobs = RerankKnobs()
    agentic: AgenticKnobs = AgenticKnobs()
    conversation: ConversationKnobs = ConversationKnobs()
    llm: LlmKnobs = LlmKnobs()
    budget: BudgetKnobs = BudgetKnobs()

    @model_validator(mode="after")
    def _vision_has_an_endpoint(self) -> Settings:
        if self.vision_model and not (self.llm.wanted or self.extractor == "llm"):
            raise ValueError("VISION_MODEL needs LLM_BASE_URL or LLM_API_KEY")
        return self

    @model_validator(mode="after")
    def _model_named(self) -> Settings:
        if self.model_writes and not self.llm.model:
            raise ValueError("LLM_MODEL has to name the model at LLM_BASE_URL")
        return self

    @model_validator(mode="after")
    def _ordered_limits(self) -> Settings:
        if not self.worker_soft_limit_s < self.worker_hard_limit_s < self.worker_visibility_s:
            raise ValueError("WORKER_SOFT_LIMIT_S < WORKER_HARD_LIMIT_S < WORKER_VISIBILITY_S has to hold")
        # Else a file at its limit would end as a stage that timed out, and be tried again for nothing.
        if self.parse.wall_s + self.parse.ocr_s + _PARSE_SLACK_S > self.worker_soft_limit_s:
            raise ValueError(
                f"PARSE_WALL_S + PARSE_OCR_S + {_PARSE_SLACK_S} <= WORKER_SOFT_LIMIT_S has to hold"
            )
        return self

    @property
    def _home(self) -> Path:
        return self.strata_home.expanduser().absolute()

    @property
    def ledger_url(self) -> str:
        """Where the ledger is."""
        return self.database_url or f"sqlite:///{self._home / 'ledger.db'}"

    @property
    def blobs_url(self) -> str:
        """Where uploaded bytes are kept."""
        return self.blob_url or f"file://{(self._home / 'blobs')}"

    @property
    def artifacts(self) -> Path:
        """The folder of what the stages hand to each other."""
        return self.artifacts_dir or self._home / "artifacts"

    @property
    def vector_cache(self) -> Path:
        """The file that remembers vectors of stored texts."""
        return self._home / "cache" / "vectors.db"

    @property
    def model_writes(self) -> bool:
        """Tell whether a language model writes episodes and facts; "auto" asks one that is configured."""
        return self.extractor == "llm" or (self.extractor == "auto" and self.llm.wanted)

    @property
    def model_folder(self) -> Path:
        """The folder of validated answers, and of what endpoints have shown that they take."""
        return self._home / "cache" / "model"

    @property
    def answers(self) -> Path:
        """The folder of a language model's validated answers."""
        return self.model_folder / "answers"

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings from an environment; unset or empty variables keep their defaults.

        Raises:
            SettingsError: a value is out of range or of the wrong type; names the variable.
        """
        values: dict[str, Any] = {}
        for name, field in cls.model_fields.items():
            group = field.annotation
            if isinstance(group, type) and issubclass(group, BaseModel):
                values[name] = {
                    key: environ[variable]
                    for key in group.model_fields
                    if environ.get(variable := f"{name}_{key}".upper())
                }
            elif environ.get(name.upper()):
                values[name] = environ[name.upper()]
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            variable = "_".join(str(part) for part in first["loc"]).upper()
            raise SettingsError(f"{variable}: {first['msg']}." if variable else first["msg"]) from error
