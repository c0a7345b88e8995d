"""deploy/env.example lists every setting with its default, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, SecretStr

from workers.settings import Settings

EXAMPLE = Path(__file__).parent.parent.parent / "deploy" / "env.example"


def shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, Path):
        return str(value).replace(str(Path.home()), "~")
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def defaults() -> dict[str, str]:
    settings = Settings()
    found = {}
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            found |= {f"{name}_{key}".upper(): shown(getattr(value, key)) for key in type(value).model_fields}
        else:
            found[name.upper()] = shown(value)
    return found


def test_every_setting_is_listed_with_its_default() -> None:
    listed = dict(re.findall(r"^# ([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE.read_text("utf-8"), re.MULTILINE))
    assert listed == defaults()


def test_the_listed_defaults_are_accepted_again() -> None:
    listed = {name: value for name, value in defaults().items() if value}
    read = Settings.from_env(listed)
    assert read.model_copy(update={"strata_home": Settings().strata_home}) == Settings()
