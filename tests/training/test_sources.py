"""Sources of rows: stored rows in a seeded order, arriving shards, and toys with repeated rollouts."""

import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rows import Row
from apps.recipes.tallies import TALLY_KEY
from apps.recipes.trajectory import Trajectory, Turn
from tests.training.factory import a_policy, end_of, job, lines, row, rows
from workers.training.measuring.watching import StopAsked
from workers.training.problems import NoRows
from workers.training.rows.sources import EndOfRows, StoredRows, StreamedRows, ToyRows
from workers.training.rows.tables import write_rows


def numbered(count: int, **more: Any) -> list[Row]:
    return [row(group_id=str(number), **more) for number in range(count)]


def test_every_pass_uses_all_rows_in_a_new_order() -> None:
    source = StoredRows(numbered(6), 4, seed=1)
    used = [one.group_id for step in range(3) for one in source.rows(step, a_policy())]
    assert sorted(used[:6]) == sorted(used[6:]) == list("012345")
    assert used[:6] != used[6:]
    assert used[4:8] == [one.group_id for one in StoredRows(numbered(6), 4, seed=1).rows(1, a_policy())], (
        "depends on the step only"
    )
    with pytest.raises(NotLearnable, match="no rows"):
        StoredRows([], 4)


def streamed(folder: Path, **how: Any) -> StreamedRows:
    return StreamedRows(folder, 4, **({"wait": 0.5, "most_lag": 1} | how))


def test_a_stream_gives_each_row_once_and_ends(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", numbered(3, policy_version=3))
    write_rows(tmp_path / "1.parquet", numbered(7, policy_version=2))
    (tmp_path / "END").touch()
    source = streamed(tmp_path)
    given = [[one.group_id for one in source.rows(step, a_policy())] for step in range(3)]
    assert given == [["0", "1", "2", "0"], ["1", "2", "3", "4"], ["5", "6"]]
    with pytest.raises(EndOfRows):
        source.rows(3, a_policy())


def test_a_stream_continues_from_the_place_in_its_checkpoint(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", numbered(7, policy_version=3))
    (tmp_path / "END").touch()
    first = streamed(tmp_path)
    first.rows(0, a_policy())
    again = streamed(tmp_path)
    again.place = dict(first.place)
    assert [one.group_id for one in again.rows(1, a_policy())] == ["4", "5", "6"]


def test_rows_of_too_old_a_policy_are_dropped_and_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", [*numbered(3, policy_version=1), *numbered(4, policy_version=2)])
    source = streamed(tmp_path)
    assert len(source.rows(0, a_policy())) == 4
    assert source.measures() == {"dropped": 3.0}


def test_after_a_stop_while_waiting_the_rows_of_the_step_are_read_again(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", numbered(6, policy_version=3))
    source = streamed(tmp_path, wait=100, asked=lambda: True)
    assert len(source.rows(0, a_policy())) == 4, "available rows need no waiting"
    with pytest.raises(EndOfRows):
        source.rows(1, a_policy())
    write_rows(tmp_path / "1.parquet", numbered(2, policy_version=3))
    again = streamed(tmp_path)
    again.place = dict(source.place)
    assert [one.group_id for one in again.rows(1, a_policy())] == ["4", "5", "0", "1"]


def test_a_job_that_waits_for_its_first_rows_can_be_stopped(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 100})
    for shard in (folder / "rows").glob("*.parquet"):
        shard.unlink()
    stop = StopAsked()
    stop.ask()
    assert end_of(folder, stop=stop)["state"] == "stopped"


def test_a_truncated_shard_of_a_stream_is_named(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 100})
    shard = folder / "rows" / "000.parquet"
    shard.write_bytes(shard.read_bytes()[:-40])
    found = end_of(folder)
    assert found["reason"] == "bad_rows"
    assert "000.parquet is not a complete Parquet file" in found["message"]


def test_the_current_shard_and_the_held_rows_are_reported(tmp_path: Path) -> None:
    """Two of three rows are too old for policy 3; the third waits for a step of four."""
    reports: list[tuple[str, int]] = []
    source = streamed(tmp_path, report=lambda shard, held: reports.append((shard, held)))
    write_rows(tmp_path / "0.parquet", [*numbered(2, policy_version=0), *numbered(1, policy_version=3)])
    with pytest.raises(NoRows):
        source.rows(0, a_policy())
    assert reports == [("0.parquet", 1)]
    write_rows(tmp_path / "1.parquet", numbered(4, policy_version=3))
    assert len(source.rows(0, a_policy())) == 4
    assert reports[-1] == ("1.parquet", 0)


def test_a_stream_without_new_rows_ends_the_job_with_a_reason(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 0.5})
    assert end_of(folder)["reason"] == "no_rows"


def test_a_stream_publishes_each_policy_for_the_engine_and_finishes(tmp_path: Path) -> None:
    """Eight rows for step 1 are ready; those of step 2 follow policy 1, as from an engine."""
    folder = job(
        tmp_path, [replace(one, policy_version=0) for one in rows(8)], source={"kind": "stream", "wait": 100}, steps=50
    )

    def engine() -> None:
        while not (folder / "policy" / "1" / "model.safetensors").exists():
            threading.Event().wait(0.05)
        write_rows(folder / "rows" / "001.parquet", [replace(one, policy_version=1) for one in rows(8)])
        (folder / "rows" / "END").touch()

    threading.Thread(target=engine).start()
    found = end_of(folder)
    assert (found["state"], found["step"], found["checkpoint"]) == ("finished", 2, "checkpoints/checkpoint-2")
    assert [line["lag"] for line in lines(folder / "metrics.jsonl")] == [0, 0]
    assert sorted(path.name for path in (folder / "policy").iterdir()) == ["1", "2"]


def test_an_engine_that_follows_gets_all_weights_before_the_first_step(tmp_path: Path) -> None:
    """Its own may be others than the base of the job."""
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 100})
    (folder / "rows" / "END").touch()
    assert end_of(folder)["state"] == "finished"
    assert sorted(path.name for path in (folder / "policy").iterdir()) == ["0", "1"]
    assert (folder / "policy" / "0" / "model.safetensors").exists()


def test_a_killed_stream_continues_and_lost_policies_are_deleted(tmp_path: Path) -> None:
    """It was killed in step 4 with a checkpoint of step 1; versions 2 and 3 were published, and version 4 in part."""
    fresh = [replace(one, policy_version=0) for one in rows(16)]
    folder = job(tmp_path, fresh, source={"kind": "stream", "wait": 100}, steps=50, save_every=1)
    stop = StopAsked()
    stop.ask()
    assert end_of(folder, stop=stop)["step"] == 1
    shutil.rmtree(folder / "policy" / "1")
    for name in ("2", "3", ".4"):
        (folder / "policy" / name).mkdir()
        (folder / "policy" / name / "model.safetensors").write_bytes(b"lost")
    seen: list[list[str]] = []

    def engine() -> None:
        while not (folder / "policy" / "1" / "model.safetensors").exists():
            threading.Event().wait(0.02)
        seen.append(sorted(path.name for path in (folder / "policy").iterdir() if path.name.isdecimal()))
        (folder / "rows" / "END").touch()

    threading.Thread(target=engine).start()
    found = end_of(folder, resume=True)
    assert (found["state"], found["step"], found["attempt"]) == ("finished", 2, 2)
    assert "3" not in seen[0]
    assert sorted(path.name for path in (folder / "policy").iterdir()) == ["1", "2"]
    assert load_file(folder / "policy" / "2" / "model.safetensors")


def test_a_stream_reports_the_share_of_silent_groups(tmp_path: Path) -> None:
    source = streamed(tmp_path / "rows")
    assert source.measures() == {"dropped": 0}
    (tmp_path / "stream.json").write_text('{"silent": 3, "complete": 9}')
    assert source.measures()["silent"] == 0.25


def test_the_tally_of_a_stream_covers_the_groups_since_the_last_call(tmp_path: Path) -> None:
    source = streamed(tmp_path / "rows")
    (tmp_path / "stream.json").write_text(json.dumps({TALLY_KEY: {"role/verifier/found": [1, 4], "masked_rounds": [2, 2]}}))
    assert source.measures() == {"dropped": 0, "role/verifier/found": 0.25, "masked_rounds": 1.0}
    (tmp_path / "stream.json").write_text(json.dumps({TALLY_KEY: {"role/verifier/found": [4, 8], "masked_rounds": [2, 2]}}))
    assert source.measures() == {"dropped": 0, "role/verifier/found": 0.75}, "there were no new rounds"


class CountingToy:
    """A toy that counts its rollouts down."""

    def __init__(self, left: int) -> None:
        self.left = left

    def rollouts(self, policy: Any, random: Any, count: int) -> list[Trajectory]:
        self.left -= 1
        return []

    demonstrations = rollouts

    def measures(self) -> dict[str, float]:
        return {"left": self.left}


def test_silent_rollouts_are_repeated_at_most_ten_times() -> None:
    toy = CountingToy(3)

    def recipe(_: Any) -> list[Row]:
        if toy.left > 0:
            raise NothingToLearn("equal")
        return rows(2)

    assert len(ToyRows(toy, recipe, 8).rows(0, a_policy())) == 2
    toy.left = 30
    with pytest.raises(NothingToLearn, match="equal"):
        ToyRows(toy, recipe, 8).rows(1, a_policy())
    assert toy.left == 20


def test_a_step_of_dapo_plays_until_it_is_full_at_most_ten_batches() -> None:
    toy = CountingToy(30)

    def every_second(_: Any) -> list[Row]:
        if toy.left % 2:
            raise NothingToLearn("equal")
        return rows(3)

    assert len(ToyRows(toy, every_second, 8, refills=True).rows(0, a_policy())) == 9
    assert toy.left == 24, "three batches of three rows, and three silent ones"
    assert len(ToyRows(toy, every_second, 800, refills=True).rows(1, a_policy())) == 15
    assert toy.left == 14


def test_rollouts_rejected_by_a_recipe_are_not_repeated() -> None:
    toy = CountingToy(30)

    def recipe(_: Any) -> list[Row]:
        raise NotLearnable("it needs a reward and a group")

    with pytest.raises(NotLearnable, match="a group"):
        ToyRows(toy, recipe, 8).rows(0, a_policy())
    assert toy.left == 29


class ConstantToy(CountingToy):
    """A toy whose answers all earn `reward`."""

    def __init__(self, reward: float) -> None:
        super().__init__(0)
        self.reward = reward

    def rollouts(self, policy: Any, random: Any, count: int) -> list[Trajectory]:
        return [Trajectory(str(number), "p", [Turn((1,), (2,))], reward=self.reward) for number in range(count)]


def silent(_: Any) -> list[Row]:
    raise NothingToLearn("equal")


def test_a_solved_toy_ends_the_rows_with_a_message() -> None:
    with pytest.raises(EndOfRows, match="The toy is solved"):
        ToyRows(ConstantToy(1.0), silent, 8).rows(5, a_policy())
    with pytest.raises(NothingToLearn):
        ToyRows(ConstantToy(0.1), silent, 8).rows(5, a_policy())


def test_a_job_whose_base_already_solves_its_toy_has_nothing_to_learn() -> None:
    with pytest.raises(NothingToLearn):
        ToyRows(ConstantToy(1.0), silent, 8).rows(0, a_policy())


def test_an_agent_with_a_wrong_turn_has_not_solved_its_toy() -> None:
    turns = [Turn((1,), (2,), role="solver", group="g", reward=reward) for reward in (1.0, 0.0)]
    toy = ConstantToy(0.0)
    toy.rollouts = lambda *_: [Trajectory("t", "p", turns)]  # type: ignore[method-assign]
    with pytest.raises(NothingToLearn):
        ToyRows(toy, silent, 8).rows(5, a_policy())
    toy.rollouts = lambda *_: [Trajectory("t", "p", turns[:1])]  # type: ignore[method-assign]
    with pytest.raises(EndOfRows):
        ToyRows(toy, silent, 8).rows(5, a_policy())
