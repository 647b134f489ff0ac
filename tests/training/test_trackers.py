"""Trackers get the metrics of a job. One that is missing, fails or hangs never stops training, and is reported."""

import importlib.util
import json
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from apps.recipes.mathematics.rows import Row
from workers.training import trackers
from workers.training.config import config_of
from workers.training.measuring.watching import chosen_rows
from workers.training.problems import BadConfig
from workers.training.trackers import Tracked, Trackers, chosen

VALUES = {"loss": 0.5, "role/solver/reward": 1.0}


class Fake:
    """Keeps what it gets; fails from the step `fails_from` on."""

    def __init__(self, fails_from: float = float("inf")) -> None:
        self.seen: list[tuple[int, Mapping[str, float]]] = []
        self.fails_from, self.has_ended = fails_from, False

    def log(self, step: int, values: Mapping[str, float]) -> None:
        if step >= self.fails_from:
            raise OSError("it is down")
        self.seen.append((step, values))

    def end(self) -> None:
        self.has_ended = True


def a_job(folder: Path) -> Tracked:
    return Tracked(folder, 1, {"recipe": "turn_grpo", "steps": 2, "loss": {"beta": 0.1}})


def reported(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "trackers.json").read_text())
    return found


def test_a_tracker_that_is_down_or_missing_is_counted_and_the_others_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, down = Fake(), Fake(fails_from=2)

    def absent(_job: Tracked) -> Fake:
        raise ModuleNotFoundError("No module named 'wandb'")

    monkeypatch.setattr(trackers, "KNOWN", {"mlflow": lambda _: down, "wandb": absent, "tensorboard": lambda _: good})
    made = Trackers(["mlflow", "wandb", "tensorboard", "moon"], a_job(tmp_path))
    for step in (1, 2, 3):
        made.log(step, VALUES)
    made.end()
    assert [step for step, _ in good.seen] == [1, 2, 3]
    assert (good.has_ended, down.has_ended) == (True, True)
    found = reported(tmp_path)
    assert {name: (one["state"], one["errors"]) for name, one in found.items()} == {
        "mlflow": ("open", 2),
        "wandb": ("missing", 0),
        "tensorboard": ("open", 0),
        "moon": ("unknown", 0),
    }
    assert "pip install wandb" in found["wandb"]["last"]
    assert found["mlflow"]["last"] == "OSError: it is down"
    printed = capsys.readouterr().out
    assert "tracker wandb: missing." in printed
    assert printed.count("it is down") == 1


def test_training_does_not_wait_for_a_tracker_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    class Slow(Fake):
        def log(self, step: int, values: Mapping[str, float]) -> None:
            released.wait(60)

    monkeypatch.setattr(trackers, "KNOWN", {"mlflow": lambda _: Slow()})
    monkeypatch.setattr(trackers, "WAITING", 2)
    monkeypatch.setattr(trackers, "PATIENCE_S", 0.05)
    made = Trackers(["mlflow"], a_job(tmp_path))
    for step in range(20):
        made.log(step, VALUES)
    made.end()
    assert reported(tmp_path)["mlflow"]["errors"] >= 17
    released.set()


def test_training_does_not_wait_for_a_tracker_that_never_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def never(_job: Tracked) -> Fake:
        released.wait(60)
        return Fake()

    monkeypatch.setattr(trackers, "KNOWN", {"trackio": never})
    monkeypatch.setattr(trackers, "PATIENCE_S", 0.05)
    made = Trackers(["trackio"], a_job(tmp_path))
    made.log(1, VALUES)
    made.end()
    assert made.reports["trackio"].state == "starting"
    released.set()


def test_config_json_takes_a_list_of_trackers() -> None:
    given = {"recipe": "turn_grpo", "base": "b", "source": {"kind": "rows"}, "steps": 2}
    assert config_of(given).trackers is None
    assert config_of(given | {"trackers": ["wandb"]}).trackers == ["wandb"]
    with pytest.raises(BadConfig, match="trackers"):
        config_of(given | {"trackers": "wandb"})


def test_a_jobs_own_list_goes_before_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEMMASCOPE_TRACKERS", raising=False)
    assert chosen(None) == ["tensorboard"]
    monkeypatch.setenv("LEMMASCOPE_TRACKERS", "wandb, mlflow,wandb")
    assert chosen(None) == ["wandb", "mlflow"]
    assert chosen([]) == []


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow", "trackio"])
def test_the_real_libraries_write_below_the_jobs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setenv("TRACKIO_SERVER_URL", "http://127.0.0.1:1")
    made = Trackers([name], a_job(tmp_path))
    for step in (1, 2):
        made.log(step, VALUES)
    made.end()
    assert reported(tmp_path)[name] == {"state": "open", "errors": 0, "last": ""}
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    if name == "mlflow":
        (numbers,) = [path for path in files if path.endswith("metrics/role/solver/reward")]
        lines = (tmp_path / numbers).read_text().splitlines()
        assert [line.split()[1:] for line in lines] == [["1.0", "1"], ["1.0", "2"]]
    elif name == "trackio":
        with closing(sqlite3.connect(tmp_path / "trackio" / "lemmascope.db")) as known:
            rows = known.execute("SELECT run_name, step, metrics FROM metrics ORDER BY step").fetchall()
        assert [(run, step, json.loads(values)) for run, step, values in rows] == [
            (f"{tmp_path.name}-1", step, VALUES) for step in (1, 2)
        ]
    else:
        kind = {"tensorboard": "tensorboard/events", "wandb": "wandb/offline-run"}[name]
        assert any(path.startswith(kind) for path in files), files


def a_row(reward: float | None) -> Row:
    return Row(
        run_id="r",
        problem_id="p",
        group_id="g",
        trajectory_id=str(reward),
        prompt_ids=(1,),
        completion_ids=(2,),
        loss_mask=(1,),
        reward=reward,
    )


@pytest.mark.parametrize(
    ("rewards", "count", "found"),
    [
        ((0.5, 0.1, 0.9, 0.7, 0.3), 3, [("highest reward", 0.9), ("median reward", 0.5), ("lowest reward", 0.1)]),
        ((0.5, 0.1, 0.9), 2, [("highest reward", 0.9), ("lowest reward", 0.1)]),
        ((0.5, 0.1), 3, [("highest reward", 0.5), ("lowest reward", 0.1)]),
        ((None, None, None), 2, [("", None), ("", None)]),
        ((), 3, []),
    ],
)
def test_rows_as_text_have_the_highest_median_and_lowest_reward(
    rewards: tuple[float | None, ...], count: int, found: list[tuple[str, float | None]]
) -> None:
    assert [(why, row.reward) for why, row in chosen_rows([a_row(reward) for reward in rewards], count)] == found
