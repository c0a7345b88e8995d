"""What the running application was built with."""

from __future__ import annotations

from flask import current_app

from api.parts import ApiState
from workers.services import Services
from workers.settings import Settings


def services() -> Services:
    """Return the concrete parts of the application that serves this request."""
    state = current_app.extensions["strata"]
    assert isinstance(state, ApiState)
    return state.services


def settings() -> Settings:
    """Return the settings of the application that serves this request."""
    state = current_app.extensions["strata"]
    assert isinstance(state, ApiState)
    return state.settings
