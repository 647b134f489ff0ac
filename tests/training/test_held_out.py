"""A job is measured on what it does not learn from: fresh problems of a toy, problems of a dataset that are kept back."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.training.factory import end_of, job, lines, row, rows
from workers.learning.rows import Row
from workers.training.held_out import measured, split_problems
from workers.training.problems import BadConfig
from workers.training.sources import StoredRows

NAMES = ("held_out/score", "held_out/low", "held_out/high")


def problems(count: int = 4) -> list[Row]:
    """Four rows of each of so many problems, which all ask for the same."""
    return [replace(row(f"{place}=", "7"), problem_id=f"p{number}") for number in range(count) for place in range(4)]


def scores(folder: Path) -> list[tuple[int, tuple[float, ...]]]:
    found = lines(folder / "metrics.jsonl")
    return [(line["step"], tuple(line[name] for name in NAMES)) for line in found if NAMES[0] in line]


def test_texts_of_problems_that_were_kept_back_become_likelier(tmp_path: Path) -> None:
    """A likelihood is measured in nats a token: a model that knows nothing has about −ln 48, one that is sure 0."""
    given = problems()
    folder = job(tmp_path, given, recipe="turn_sft", steps=30, warmup_steps=0, held_out={"every": 10, "share": 0.25})
    end_of(folder)
    found = scores(folder)
    assert [step for step, _ in found] == [1, 10, 20, 30]
    first, last = found[0][1], found[-1][1]
    assert -math.log(48) - 1 < first[0] < -math.log(48) + 2
    assert last[0] > first[0] + 1
    assert all(low <= score <= high <= 0 for score, low, high in (first, last))


def test_kept_back_are_whole_problems_and_never_all_of_them() -> None:
    names = [f"p{number}" for number in range(10) for _ in range(3)]
    learned, kept = split_problems(names, 0.2)
    assert {names[place] for place in kept} & {names[place] for place in learned} == set()
    assert (len(kept), len(learned)) == (6, 24)
    assert split_problems(names, 0.2) == split_problems(names, 0.2)
    assert [len(part) for part in split_problems(["a", "b"], 0.01)] == [1, 1]
    with pytest.raises(BadConfig, match="one problem"):
        split_problems(["a", "a"], 0.1)


def test_what_is_kept_back_is_not_learned_from(tmp_path: Path) -> None:
    held = {problems()[place].problem_id for place in split_problems([one.problem_id for one in problems()], 0.25)[1]}
    folder = job(tmp_path, problems(), recipe="turn_sft", held_out={"every": 1, "share": 0.25}, samples=8)
    end_of(folder)
    seen = {line["problem_id"] for line in lines(folder / "samples.jsonl")}
    assert seen
    assert not seen & held


def test_what_measuring_takes_is_no_time_of_learning(tmp_path: Path) -> None:
    folder = job(tmp_path, problems(), recipe="turn_sft", held_out={"every": 2, "share": 0.25})
    end_of(folder)
    for line in lines(folder / "metrics.jsonl"):
        assert line["time/held_out"] + line["time/train"] == pytest.approx(1)
        assert (line["time/held_out"] > 0) == (NAMES[0] in line)


def test_of_many_rows_some_are_measured() -> None:
    given = problems(3)
    source = StoredRows(given, 4, seed=1, places=range(2))
    assert source.kept_back(20) == given[2:]
    assert source.kept_back(3) == source.kept_back(3)
    assert len(source.kept_back(3)) == 3


def test_a_toy_is_played_on_the_same_fresh_problems_every_time_and_learning_is_not_disturbed(tmp_path: Path) -> None:
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
        ({"held_out": {"share": 0.1}}, "not whole"),
        ({"held_out": {"every": 5, "share": 0.9}}, "at most 0.5"),
        ({"held_out": {"every": 5, "of": 2}}, "not a key"),
        ({"recipe": "turn_grpo", "held_out": {"every": 5}}, "comparison with its parent"),
    ],
)
def test_what_cannot_be_held_out_is_said(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    found = end_of(job(tmp_path, **({"recipe": "turn_sft"} | more)))
    assert (found["reason"], words in found["message"]) == ("bad_config", True), found["message"]


def test_a_dataset_of_one_problem_has_nothing_to_hold_out(tmp_path: Path) -> None:
    found = end_of(job(tmp_path, rows(8), recipe="turn_sft", held_out={"every": 1}))
    assert (found["state"], found["reason"]) == ("failed", "bad_config")
    assert "all rows are of one problem" in found["message"]


def test_an_interval_holds_the_mean_and_is_a_point_where_all_scores_are_alike() -> None:
    found = measured([0.2, 0.4, 0.9, 0.1])
    assert found["held_out/score"] == pytest.approx(0.4)
    assert found["held_out/low"] < found["held_out/score"] < found["held_out/high"]
    assert set(measured([0.5, 0.5]).values()) == {0.5}
