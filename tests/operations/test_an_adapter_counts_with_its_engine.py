"""An adapter has no engine or queue of its own: its figures are those of its engine and count once."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from apps.operations.concerns import concerns
from apps.operations.exposition import exposition
from apps.operations.situation import runs_by_worker, situation
from apps.processes import pulse
from apps.processes.streams import Heartbeat, heartbeat_publish

MODELS = """
[big]
backend = "vllm"
model = "/models/big"
concurrency = 8
[tuned]
adapter_of = "big"
adapter = "/models/tuned"
[other]
backend = "scripted"
options.script = "none"
"""


@pytest.fixture
def beating(db: None, valkey: Any, settings: Settings, tmp_path: Path) -> Any:
    """Models file with `big`, its adapter and `other`, and three messages in the queue that `big` and its adapter share."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    pulse.beat(valkey, "orchestrator", 0.0)
    valkey.lpush("inference.big", "one", "two", "three")
    return valkey


def _beat(valkey: Any, aliases: list[str], **of_engine: Any) -> None:
    said = {"state": "ready", "detail": "", "running": 5, "waiting": 2, "tokens_per_s": 40.0, **of_engine}
    idle = {"state": "ready", "detail": "", "running": 0, "waiting": 0, "tokens_per_s": 1.0}
    health = {name: idle if name == "other" else said for name in aliases}
    beat = {"worker": "gpu1/7", "aliases": aliases, "active": [], "health": health}
    heartbeat_publish(valkey, cast("Heartbeat", beat), 60_000)


def test_figures_of_an_engine_are_summed_once(beating: Any) -> None:
    _beat(beating, ["big", "other", "tuned"])
    now = situation()
    assert (now.running, now.waiting, now.queued, now.tokens_per_s) == (5, 2, 3, 41.0)
    assert [worker.tokens_per_s for worker, _ in runs_by_worker(now.workers)] == [41.0]
    assert {alias.name: alias.places for alias in now.aliases} == {"big": 8, "tuned": 0, "other": 16}


def test_sums_over_the_aliases_of_the_metrics_count_an_engine_once(beating: Any) -> None:
    _beat(beating, ["big", "other", "tuned"])
    families = {each.name: each.samples for each in text_string_to_metric_families(exposition(situation()).decode())}
    assert sum(sample.value for sample in families["lemmascope_calls_running"]) == 5
    assert sum(sample.value for sample in families["lemmascope_queue_length"]) == 3
    assert {sample.labels["alias"] for sample in families["lemmascope_places"]} == {"big", "other"}


def test_a_queue_without_a_worker_is_one_concern_under_the_name_of_the_engine(beating: Any) -> None:
    _beat(beating, ["other"])
    found = concerns(situation())
    assert [concern.text for concern in found] == ["3 messages wait for big, which no worker serves."]
    assert found[0].advice == "Start a worker for it: python -m workers.serve big"


def test_an_engine_that_is_down_is_one_concern(beating: Any) -> None:
    _beat(beating, ["big", "other", "tuned"], state="down", detail="Out of memory.")
    assert [concern.text for concern in concerns(situation())] == ["big is down: Out of memory."]


def test_the_page_names_the_engine_of_an_adapter(beating: Any, staff: Client) -> None:
    _beat(beating, ["big", "other", "tuned"])
    page = re.sub(r"<[^>]+>|\s+", " ", staff.get("/operations/").content.decode())
    assert "adapter: its calls are counted under big" in re.sub(r"\s+", " ", page)
