"""What the application is built with, as its routes find it again."""

from __future__ import annotations

from dataclasses import dataclass

from workers.services import Services
from workers.settings import Settings


@dataclass(frozen=True)
class ApiState:
    """The concrete parts and the settings."""

    services: Services
    settings: Settings
