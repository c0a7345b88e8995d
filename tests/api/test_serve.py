"""What is checked before an instance starts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from api.launcher.home import AlreadyRunning, Home
from api.launcher.serve import StartFailed, check_exposure, check_port
from workers.settings import Settings, SettingsError


def test_without_keys_only_this_machine_is_served() -> None:
    check_exposure(Settings(strata_auth="open"))
    check_exposure(Settings(strata_host="0.0.0.0"))
    with pytest.raises(SettingsError):
        check_exposure(Settings(strata_auth="open", strata_host="0.0.0.0"))


def test_a_taken_port_is_told_at_once() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(StartFailed, match=str(port)) as caught:
            check_port(Settings(strata_port=port))
    assert "STRATA_PORT" in caught.value.next_step
    check_port(Settings(strata_port=0))


def test_a_folder_has_one_launcher_and_private_secrets(tmp_path: Path) -> None:
    home = Home(Settings(strata_home=tmp_path / "home"))
    home.prepare()
    made = home.secrets()
    assert home.secrets() == made
    assert (home.root / "secrets.json").stat().st_mode & 0o077 == 0
    assert home.root.stat().st_mode & 0o077 == 0
    with home.lock(), pytest.raises(AlreadyRunning), home.lock():
        pass
