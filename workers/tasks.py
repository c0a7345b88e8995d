"""The tasks: thin shells that hand an id from the queue to a stage."""

from __future__ import annotations

import os
from collections.abc import Callable

from celery import Celery

from workers.model import Stage
from workers.queue import task_name
from workers.run import run_stage
from workers.services import Services
from workers.settings import Settings
from workers.stopping import ending_politely


def register_tasks(app: Celery, settings: Settings, build: Callable[[Settings], Services]) -> None:
    """Give an app one task for each stage. The parts are built in the process that runs the first one."""
    built: dict[int, Services] = {}

    def services() -> Services:
        # By process id: what was built before a fork must not be used after it.
        if os.getpid() not in built:
            built[os.getpid()] = build(settings)
        return built[os.getpid()]

    def register(stage: Stage) -> None:
        def body(document_id: str) -> None:
            with ending_politely():
                run_stage(services(), stage, document_id)

        app.task(name=task_name(stage))(body)

    for stage in Stage:
        register(stage)
