"""Fixtures: counters of this process at 0, a worker's heartbeat, and a client of a member of staff."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, cast

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts.models import User
from apps.processes import metrics
from apps.processes.streams import Heartbeat, heartbeat_publish


@pytest.fixture(autouse=True)
def _fresh_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_new", defaultdict(float))
    monkeypatch.setattr(metrics, "_levels", defaultdict(int))
    monkeypatch.setattr(metrics, "_pushed_at", float("-inf"))


@pytest.fixture(autouse=True)
def _no_sandbox(settings: Settings) -> None:
    """Switch the sandbox off, so that pages do not report it as missing; test_tools_on_the_page.py has one."""
    settings.SANDBOX = "off"


@pytest.fixture
def staff(dana: User, client_for: Callable[[User | None], Client]) -> Client:
    """A browser in which Dana is signed in."""
    return client_for(dana)


@pytest.fixture
def worker_beats(valkey: Any) -> Callable[..., None]:
    """Send a worker's heartbeat: its name, its active calls, and its report on `worked-example`."""

    def beat(name: str = "gpu1/7", active: list[dict[str, Any]] | None = None, **health: Any) -> None:
        said = {"state": "ready", "detail": "", "running": 0, "waiting": 0, "tokens_per_s": 0.0, **health}
        heartbeat = {"worker": name, "aliases": ["worked-example"], "active": active or [], "health": {"worked-example": said}}
        heartbeat_publish(valkey, cast("Heartbeat", heartbeat), 60_000)

    return beat
