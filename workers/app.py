"""The worker's entry: ``celery -A workers.app worker``. It reads the environment.

Each worker starts a reconciler beside itself, so that what is lost is found without another service.
"""

from __future__ import annotations

import logging
import os

from workers.companion import start_companion
from workers.lifetime import follow_lifetime
from workers.queue import make_celery
from workers.receipts import watch_receipts
from workers.services import build_services, preload
from workers.settings import Settings
from workers.tasks import register_tasks

settings = Settings.from_env(os.environ)  # noqa: TID251  the entry point
# A line for every request to the store would drown the rest.
logging.getLogger("httpx").setLevel(logging.WARNING)
app = make_celery(settings)
register_tasks(app, settings, build_services)
start_companion(app, "workers.reconcile", settings.reconcile_every_s)
watch_receipts(app)
follow_lifetime(lambda: preload(settings))
