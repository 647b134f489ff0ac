"""A job is measured on held-out problems: new problems of a toy, or reserved problems of a dataset."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.recipes.mathematics.rows import Row
from tests.training.factory import end_of, job, lines, row, rows
from workers.training.measuring.held_out import HeldOutRows, score_metrics, split_problems
from workers.training.problems import BadConfig
from workers.training.rows.sources import StoredRows

NAMES = ("held_out/score", "held_out/low", "held_out/high")


def problems(count: int = 4) -> list[Row]:
    """Four rows of each of `count` problems, all with the same answer."""
    return [replace(row(f"{place}=", "7"), problem_id=f"p{number}") for number in range(count) for place in range(4)]


def scores(folder: Path) -> list[tuple[int, tuple[float, ...]]]:
    found = lines(folder / "metrics.jsonl")
    return [(line["step"], tuple(line[name] for name in NAMES)) for line in found if NAMES[0] in line]


def test_texts_of_held_out_problems_become_more_probable(tmp_path: Path) -> None:
    """The score is in nats per token: about −ln 48 for an untrained model, 0 for a certain one."""
    given = problems()
    folder = job(tmp_path, given, recipe="turn_sft", steps=30, warmup_steps=0, held_out={"every": 10, "share": 0.25})
    end_of(folder)
    found = scores(folder)
    assert [step for step, _ in found] == [1, 10, 20, 30]
    first, last = found[0][1], found[-1][1]
    assert -math.log(48) - 1 < first[0] < -math.log(48) + 2
    assert last[0] > first[0] + 1
    assert all(low <= score <= high <= 0 for score, low, high in (first, last))


def test_whole_problems_are_held_out_and_never_all_of_them() -> None:
    names = [f"p{number}" for number in range(10) for _ in range(3)]
    trained, kept = split_problems(names, 0.2)
    assert {names[place] for place in kept} & {names[place] for place in trained} == set()
    assert (len(kept), len(trained)) == (6, 24)
    assert split_problems(names, 0.2) == split_problems(names, 0.2)
    assert [len(part) for part in split_problems(["a", "b"], 0.01)] == [1, 1]
    with pytest.raises(BadConfig, match="one problem"):
        split_problems(["a", "a"], 0.1)


def test_held_out_rows_are_not_trained_on(tmp_path: Path) -> None:
    held = {problems()[place].problem_id for place in split_problems([one.problem_id for one in problems()], 0.25)[1]}
    folder = job(tmp_path, problems(), recipe="turn_sft", held_out={"every": 1, "share": 0.25}, samples=8)
    end_of(folder)
    seen = {line["problem_id"] for line in lines(folder / "samples.jsonl")}
    assert seen
    assert not seen & held


def test_time_of_measuring_is_separate_from_time_of_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = job(tmp_path, problems(), recipe="turn_sft", held_out={"every": 2, "share": 0.25})
    states: list[str] = []
    scored: Callable[[HeldOutRows, Any], list[float]] = HeldOutRows.scores

    def watched(held_out: HeldOutRows, trainer: Any) -> list[float]:
        states.append(json.loads((folder / "state.json").read_text())["state"])
        return scored(held_out, trainer)

    monkeypatch.setattr(HeldOutRows, "scores", watched)
    end_of(folder)
    assert set(states) == {"measuring"}
    for line in lines(folder / "metrics.jsonl"):
        assert line["time/held_out"] + line["time/train"] == pytest.approx(1)
        assert (line["time/held_out"] > 0) == (NAMES[0] in line)


def test_a_random_choice_of_many_held_out_rows_is_measured() -> None:
    given = problems(3)
    source = StoredRows(given, 4, seed=1, places=range(2))
    assert source.held_out(20) == given[2:]
    assert source.held_out(3) == source.held_out(3)
    assert len(source.held_out(3)) == 3


def test_a_toys_held_out_problems_are_always_the_same_and_do_not_change_training(tmp_path: Path) -> None:
    more: dict[str, Any] = {"source": {"kind": "toy", "toy": "copy"}, "steps": 4, "rows_per_step": 16}
    measured_job = job(tmp_path / "a", [], **more, held_out={"every": 2})
    plain = job(tmp_path / "b", [], **more)
    again = job(tmp_path / "c", [], **more, held_out={"every": 2})
    for folder in (measured_job, plain, again):
        end_of(folder)
    assert [step for step, _ in scores(measured_job)] == [1, 2, 4]
    assert scores(measured_job) == scores(again)
    losses = [[line["loss"] for line in lines(folder / "metrics.jsonl")] for folder in (measured_job, plain)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"held_out": {"every": 0}}, "held_out.every"),
        ({"held_out": {"share": 0.1}}, "incomplete"),
        ({"held_out": {"every": 5, "share": 0.9}}, "at most 0.5"),
        ({"held_out": {"every": 5, "of": 2}}, "not a key"),
        ({"recipe": "turn_grpo", "held_out": {"every": 5}}, "comparison with its parent"),
    ],
)
def test_invalid_settings_of_held_out_are_rejected(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    found = end_of(job(tmp_path, **({"recipe": "turn_sft"} | more)))
    assert (found["reason"], words in found["message"]) == ("bad_config", True), found["message"]


def test_a_dataset_of_one_problem_cannot_hold_out_any(tmp_path: Path) -> None:
    found = end_of(job(tmp_path, rows(8), recipe="turn_sft", held_out={"every": 1}))
    assert (found["state"], found["reason"]) == ("failed", "bad_config")
    assert "all rows are of one problem" in found["message"]


def test_the_interval_contains_the_mean_and_is_a_point_for_equal_scores() -> None:
    found = score_metrics([0.2, 0.4, 0.9, 0.1])
    assert found["held_out/score"] == pytest.approx(0.4)
    assert found["held_out/low"] < found["held_out/score"] < found["held_out/high"]
    assert set(score_metrics([0.5, 0.5]).values()) == {0.5}
