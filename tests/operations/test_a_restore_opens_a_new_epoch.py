"""After a restore the broker holds no data from after the backup, and no owner from then can write."""

import json
import threading
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.operations.backups import epoch
from apps.operations.backups.databases import NotRestored
from apps.processes import pulse
from apps.processes.streams import (
    buffer_key,
    cancel_key,
    events_key,
    finished_key,
    heartbeat_publish,
    results_key,
    tokens_key,
    watch_key,
)
from apps.runs.models import Run
from apps.runs.owners.leases import lease_take, leases_renew, leases_void
from tests.runs.factory import make_run

RUN = "0b7f9a52-0000-4000-8000-000000000001"


@pytest.fixture
def outside(settings: Settings, valkey: Any) -> Any:
    """An external broker that keeps running during a restore."""
    settings.OWN_REDIS = False
    return valkey


@pytest.mark.django_db
def test_only_the_data_about_runs_is_deleted_from_the_broker(outside: Any) -> None:
    for key in (finished_key(RUN, "f"), cancel_key(RUN), watch_key(RUN), buffer_key(RUN, "call", 1, "text")):
        outside.set(key, "1")
    for key in (events_key(RUN), tokens_key(RUN), results_key(RUN)):
        outside.xadd(key, {"x": "1"})
    for queue in ("runs", "train", "inference.worked-example", "inference.worked-example\x06\x166"):
        outside.rpush(queue, json.dumps({}))
    outside.hset("unacked", "tag", "message")
    kept = {"metrics": "1", "pulse:gone": "1", "lemmascope-cache:1:x": "1", "of-another-program": "1"}
    outside.mset(kept)
    output = StringIO()
    call_command("after_restore", stdout=output)
    assert set(outside.keys()) == set(kept)
    assert "12 keys" in output.getvalue()


def test_inference_workers_keep_running_and_drop_their_calls(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    active = [{"run": RUN, "key": "call", "attempt": 1, "fingerprint": "f"}]
    beat: Any = {"worker": "far/1", "aliases": [], "active": active, "health": {}}
    heartbeat_publish(outside, beat, 60_000)
    asked = []

    def obey(seconds: float) -> None:
        asked.append(bool(outside.exists(cancel_key(RUN))))
        idle: Any = {**beat, "active": []}
        heartbeat_publish(outside, idle, 60_000)

    monkeypatch.setattr(time, "sleep", obey)
    epoch.broker_forget(lambda _: None)
    assert asked == [True]
    assert not outside.exists(cancel_key(RUN)), "the restored run was not cancelled"


@pytest.mark.parametrize("kind", ["web", "orchestrator", "trainer"])
def test_a_restore_is_rejected_while_a_process_with_a_database_runs(
    outside: Any, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    pulse.beat(outside, kind, 0.0)
    monkeypatch.setattr(epoch, "LIVES_MS", -900)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(NotRestored, match=f"These processes are still running: {kind} .* Stop them on every machine"):
        epoch.processes_stopped(lambda _: None)
    with pytest.raises(CommandError, match="still running"):
        call_command("after_restore", stdout=StringIO())
    outside.delete(pulse._key(kind))
    epoch.processes_stopped(lambda _: None)


def test_an_absent_broker_stops_the_restore_but_the_embedded_one_is_deleted_with_its_folder(
    settings: Settings, tmp_path: Path, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OWN_REDIS, settings.DATA_DIR = True, tmp_path
    with pytest.raises(NotRestored, match="still running: its broker answers"):
        epoch.processes_stopped(lambda _: None)

    def away() -> Any:
        raise ConnectionError("no such socket")

    for module in ("apps.operations.backups.epoch", "apps.processes.local"):
        monkeypatch.setattr(f"{module}.sync_client", away)
    (tmp_path / "valkey" / "appendonlydir").mkdir(parents=True)
    epoch.processes_stopped(lambda _: None)
    epoch.broker_forget(lambda _: None)
    assert not (tmp_path / "valkey").exists()
    settings.OWN_REDIS = False
    with pytest.raises(NotRestored, match=r"broker at REDIS_URL does not answer \(no such socket\). Start it"):
        epoch.processes_stopped(lambda _: None)


@pytest.mark.django_db
def test_a_restored_run_is_free_at_once_and_earlier_owners_cannot_write() -> None:
    waiting, driven = make_run(), make_run()
    owner = lease_take(driven.pk, "elsewhere/1/x")
    assert owner is not None
    assert leases_void() == 2
    fresh = Run.objects.get(pk=driven.pk)
    assert (fresh.lease_owner, fresh.lease_until) == ("", None)
    assert not any(leases_renew([driven.pk], fence) for fence in range(owner.fence, owner.fence + 50))
    again, first = lease_take(driven.pk, "here/2/y"), lease_take(waiting.pk, "here/2/z")
    assert again is not None
    assert again.fence > owner.fence + 50
    assert first is not None
    assert first.fence == 1, "a run that was never driven starts instead of resuming"


def test_a_process_that_ends_deletes_its_heartbeat(outside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "_ended", threading.Event())
    pulse.beat(outside, "web", 0.0)
    assert [one["kind"] for one in pulse.pulses(outside)] == ["web"]
    pulse._end("web")
    assert pulse.pulses(outside) == []
