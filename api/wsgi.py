"""The web server's entry: ``gunicorn api.wsgi:app``."""

from __future__ import annotations

import os

from api.wiring import build_app
from workers.settings import Settings

app = build_app(Settings.from_env(os.environ))
