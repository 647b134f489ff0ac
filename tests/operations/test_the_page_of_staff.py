"""The operations page: figures and warnings; the log page and its redirect."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.operations.concerns import concerns
from apps.operations.situation import situation
from apps.processes import metrics, pulse
from apps.processes.logs import process_name
from apps.processes.streams import results_key, sync_client
from apps.runs.models import Run, RunStatus
from tests.explorations.factory import add_open_call, make_exploration


def page_of(client: Client, address: str = "/operations/", **headers: str) -> str:
    answer = client.get(address, headers=headers)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


@pytest.fixture
def run(alice: User) -> Run:
    """A run that an orchestrator of this process drives."""
    owner = f"{process_name()}/drive"
    return make_exploration(owner=alice, status=RunStatus.RUNNING, lease_owner=owner)


def test_workers_are_shown_with_their_runs(staff: Client, run: Run, worker_beats: Callable[..., None]) -> None:
    call = {"key": "s0/r1/reason", "attempt": 1, "fingerprint": "f"}
    test_prompt = {**call, "run": "test-5e1f0a3c"}
    worker_beats("gpu1/7", active=[{**call, "run": str(run.public_id)}, test_prompt], running=2, tokens_per_s=12.5)
    page = page_of(staff)
    assert "gpu1/7" in page
    assert f'href="/runs/{run.public_id}/">{run.title}</a>' in page
    assert "test prompt" in page
    assert "12.5" in page


def test_orchestrators_are_shown_with_their_runs(staff: Client, run: Run, valkey: Any) -> None:
    metrics.move("calls_outstanding", 41)
    pulse.beat(valkey, "orchestrator", 0.0)
    page = page_of(staff)
    after = page[page.index("<h2>Orchestrators</h2>") :]
    assert process_name() in after
    assert ">41<" in after
    assert run.title in after


def test_htmx_gets_only_the_figures(staff: Client, valkey: Any) -> None:
    part = page_of(staff, **{"HX-Request": "true"})
    assert "<html" not in part
    assert 'id="now"' in part


@pytest.mark.parametrize("hours", ["9" * 5000, "²", "-1", "1e3"], ids=["huge", "raised", "negative", "float"])
def test_an_invalid_period_shows_the_shortest(staff: Client, valkey: Any, hours: str) -> None:
    assert staff.get(reverse("operations:now"), {"hours": hours}).status_code == 200


def test_the_menu_links_to_operations_for_staff_only(
    staff: Client, alice: User, client_for: Callable[[User | None], Client], valkey: Any
) -> None:
    assert 'href="/operations/"' in page_of(staff, "/problems/")
    assert 'href="/operations/"' not in page_of(client_for(alice), "/problems/")


def test_a_queue_without_a_worker_is_an_error(db: None, valkey: Any, worker_beats: Callable[..., None]) -> None:
    pulse.beat(valkey, "orchestrator", 0.0)
    worker_beats("gpu1/7")
    assert concerns(situation()) == []
    valkey.lpush("inference.smollm2", "a message")
    found = concerns(situation())
    assert [concern.level for concern in found] == ["error"]
    assert found[0].text == "A message waits for smollm2, which no worker serves."


def test_missing_processes_are_errors(db: None, valkey: Any, worker_beats: Callable[..., None]) -> None:
    valkey.lpush("inference.worked-example", "a message")
    assert [concern.text for concern in concerns(situation())] == [
        "No orchestrator is running: runs do not progress.",
        "No inference worker is running: no call is answered.",
    ]
    pulse.beat(valkey, "orchestrator", 0.0)
    worker_beats()
    assert concerns(situation()) == []


def test_stalled_runs_and_late_results_are_warnings(run: Run, valkey: Any, worker_beats: Callable[..., None]) -> None:
    pulse.beat(valkey, "orchestrator", 0.0)
    worker_beats()
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    seconds, _ = valkey.time()
    valkey.xadd(results_key(str(run.public_id)), {"key": "s0"}, id=f"{(seconds - 120) * 1000}-0")
    texts = [concern.text for concern in concerns(situation())]
    assert texts[0].startswith("1 run without an owner")
    assert texts[1].startswith("A result waits for the journal, the oldest since 2 min")


def test_a_backend_that_is_down_is_shown_with_the_reason(db: None, valkey: Any, worker_beats: Callable[..., None]) -> None:
    pulse.beat(valkey, "orchestrator", 0.0)
    worker_beats(state="down", detail="Nothing listens at the address.")
    assert "Nothing listens at the address." in concerns(situation())[0].text


def test_without_redis_the_page_shows_the_error_and_the_database_figures(staff: Client, run: Run, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/at/all.sock"
    sync_client.cache_clear()
    page = page_of(staff)
    assert "Redis does not answer" in page
    assert "runs: 1 running" in page
    assert staff.get("/operations/history.json").status_code == 503


def test_log_lines_of_a_call_come_from_local_files(staff: Client, run: Run, settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "log").mkdir()
    line = f"2026-01-01 10:00:00,000 INFO    workers.worker: began {run.public_id}/s0/r1/reason#1 <script>"
    (tmp_path / "log" / "inference.log").write_text(line)
    page = page_of(staff, f"/operations/log/{run.public_id}/?step=s0/r1/reason")
    assert f"began {run.public_id}/s0/r1/reason#1 &lt;script&gt;" in page
    for nothing in ("s9", "a%0Ab", "(", "%FF"):
        assert "No log lines for this call" in page_of(staff, f"/operations/log/{run.public_id}/?step={nothing}")


def test_a_worker_without_local_log_lines_is_named(staff: Client, run: Run, settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "log").mkdir()
    step = run.steps.filter(kind="call")[0]
    run.steps.filter(pk=step.pk).update(worker="gpu1/7")
    address = f"/operations/log/{run.public_id}/?step={step.key}"
    (tmp_path / "log" / "orchestrator.log").write_text(
        f"2026-01-01 10:00:00,000 INFO    apps.runs: run {run.public_id}: call {step.key} was lost\n"
    )
    assert "There are no log lines here from" in page_of(staff, address)
    (tmp_path / "log" / "inference.log").write_text(
        f"2026-01-01 10:00:01,000 INFO    workers.results: answered {run.public_id}/{step.key}#1\n"
    )
    assert "There are no log lines here from" not in page_of(staff, address)


def test_a_running_call_links_to_its_log_lines_for_staff(
    staff: Client, run: Run, bob: User, client_for: Callable[[User | None], Client]
) -> None:
    add_open_call(run, "s9/r1/reason")
    address = f"/runs/{run.public_id}/calls/s9/r1/reason/"
    assert f"/operations/log/{run.public_id}/?step=s9/r1/reason" in page_of(staff, address)
    assert "/operations/log/" not in page_of(client_for(bob), address)


def test_the_log_page_redirects_to_an_external_log_store(staff: Client, run: Run, settings: Settings) -> None:
    settings.LOG_URL_TEMPLATE = 'https://logs.example.org/?q={"run":"{run}"}&s={step}&w={worker}'
    step = run.steps.all()[0]
    run.steps.filter(pk=step.pk).update(worker="gpu1/7")
    answer = staff.get(f"/operations/log/{run.public_id}/", {"step": step.key})
    assert answer.status_code == 302
    quoted = step.key.replace("/", "%2F")
    assert answer.headers["Location"].endswith(f"&s={quoted}&w=gpu1%2F7")
    assert str(run.public_id) in answer.headers["Location"]


def test_a_call_names_its_worker_and_links_to_its_log_lines_for_staff(
    staff: Client, run: Run, bob: User, client_for: Callable[[User | None], Client]
) -> None:
    step = run.steps.all()[0]
    run.steps.filter(pk=step.pk).update(worker="gpu1/7")
    address = f"/runs/{run.public_id}/calls/{step.key}/"
    assert f"/operations/log/{run.public_id}/?step=" in page_of(staff, address)
    others = page_of(client_for(bob), address)
    assert "gpu1/7" in others
    assert "/operations/log/" not in others
