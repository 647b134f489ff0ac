"""Where rows come from: stored ones in an order of the seed, shards as they arrive, toys that are drawn again."""

import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from tests.training.factory import a_policy, end_of, job, lines, row, rows
from workers.learning.arrays import NothingToLearn, NotLearnable
from workers.learning.rows import Row
from workers.recipes.trajectory import Trajectory, Turn
from workers.training.problems import NoRows
from workers.training.sources import EndOfRows, StoredRows, StreamedRows, ToyRows
from workers.training.tables import write_rows
from workers.training.watching import StopAsked


def numbered(count: int, **more: Any) -> list[Row]:
    return [row(group_id=str(number), **more) for number in range(count)]


def test_every_row_is_used_before_any_is_used_again_in_another_order() -> None:
    source = StoredRows(numbered(6), 4, seed=1)
    used = [one.group_id for step in range(3) for one in source.rows(step, a_policy())]
    assert sorted(used[:6]) == sorted(used[6:]) == list("012345")
    assert used[:6] != used[6:]
    assert used[4:8] == [one.group_id for one in StoredRows(numbered(6), 4, seed=1).rows(1, a_policy())], "of the step alone"
    with pytest.raises(NotLearnable, match="no row"):
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


def test_a_stream_goes_on_where_its_checkpoint_stood(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", numbered(7, policy_version=3))
    (tmp_path / "END").touch()
    first = streamed(tmp_path)
    first.rows(0, a_policy())
    again = streamed(tmp_path)
    again.place = dict(first.place)
    assert [one.group_id for one in again.rows(1, a_policy())] == ["4", "5", "6"]


def test_rows_of_a_policy_too_far_behind_are_dropped_and_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", [*numbered(3, policy_version=1), *numbered(4, policy_version=2)])
    source = streamed(tmp_path)
    assert len(source.rows(0, a_policy())) == 4
    assert source.measures() == {"dropped": 3.0}


def test_a_stream_that_is_asked_to_stop_while_it_waits_gives_back_what_it_had_of_the_step(tmp_path: Path) -> None:
    write_rows(tmp_path / "0.parquet", numbered(6, policy_version=3))
    source = streamed(tmp_path, wait=100, asked=lambda: True)
    assert len(source.rows(0, a_policy())) == 4, "what is there is no waiting"
    with pytest.raises(EndOfRows):
        source.rows(1, a_policy())
    write_rows(tmp_path / "1.parquet", numbered(2, policy_version=3))
    again = streamed(tmp_path)
    again.place = dict(source.place)
    assert [one.group_id for one in again.rows(1, a_policy())] == ["4", "5", "0", "1"]


def test_a_job_that_waits_for_its_first_rows_stops_when_it_is_asked(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 100})
    for shard in (folder / "rows").glob("*.parquet"):
        shard.unlink()
    stop = StopAsked()
    stop.ask()
    assert end_of(folder, stop=stop)["state"] == "stopped"


def test_a_shard_of_a_stream_that_is_cut_off_is_named(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 100})
    shard = folder / "rows" / "000.parquet"
    shard.write_bytes(shard.read_bytes()[:-40])
    found = end_of(folder)
    assert found["reason"] == "bad_rows"
    assert "000.parquet is not a whole Parquet file" in found["message"]


def test_whoever_makes_the_rows_is_told_what_was_read_and_what_is_held(tmp_path: Path) -> None:
    """Two of three rows are too old for policy 3; the one that is left waits for a step of four."""
    told: list[tuple[str, int]] = []
    source = streamed(tmp_path, tell=lambda shard, held: told.append((shard, held)))
    write_rows(tmp_path / "0.parquet", [*numbered(2, policy_version=0), *numbered(1, policy_version=3)])
    with pytest.raises(NoRows):
        source.rows(0, a_policy())
    assert told == [("0.parquet", 1)]
    write_rows(tmp_path / "1.parquet", numbered(4, policy_version=3))
    assert len(source.rows(0, a_policy())) == 4
    assert told[-1] == ("1.parquet", 0)


def test_a_stream_that_dries_up_ends_the_job_with_a_reason(tmp_path: Path) -> None:
    folder = job(tmp_path, rows(8), source={"kind": "stream", "wait": 0.5})
    assert end_of(folder)["reason"] == "no_rows"


def test_a_stream_hands_each_policy_to_the_engine_and_finishes(tmp_path: Path) -> None:
    """Eight rows for step 1 are there; those of step 2 come when policy 1 does, as an engine would make them."""
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


def test_a_stream_that_was_killed_goes_on_and_the_engine_unlearns_what_was_lost(tmp_path: Path) -> None:
    """It died in step 4 with a checkpoint of step 1; the engine has versions 2 and 3, and half of version 4."""
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


def test_a_stream_tells_what_share_of_all_groups_taught_nothing(tmp_path: Path) -> None:
    source = streamed(tmp_path / "rows")
    assert source.measures() == {"dropped": 0}
    (tmp_path / "stream.json").write_text('{"silent": 3, "complete": 9}')
    assert source.measures()["silent"] == 0.25


def test_what_groups_tell_beside_rewards_is_of_those_that_came_since(tmp_path: Path) -> None:
    source = streamed(tmp_path / "rows")
    (tmp_path / "stream.json").write_text('{"told": {"role/verifier/found": [1, 4], "masked_rounds": [2, 2]}}')
    assert source.measures() == {"dropped": 0, "role/verifier/found": 0.25, "masked_rounds": 1.0}
    (tmp_path / "stream.json").write_text('{"told": {"role/verifier/found": [4, 8], "masked_rounds": [2, 2]}}')
    assert source.measures() == {"dropped": 0, "role/verifier/found": 0.75}, "no round came since"


class Dull:
    """A toy whose first rollouts teach nothing."""

    def __init__(self, dull: int) -> None:
        self.left = dull

    def rollouts(self, policy: Any, random: Any, count: int) -> list[Trajectory]:
        self.left -= 1
        return []

    demonstrations = rollouts

    def measures(self) -> dict[str, float]:
        return {"left": self.left}


def test_rollouts_that_teach_nothing_are_drawn_again_ten_times_at_most() -> None:
    toy = Dull(3)

    def recipe(_: Any) -> list[Row]:
        if toy.left > 0:
            raise NothingToLearn("alike")
        return rows(2)

    assert len(ToyRows(toy, recipe, 8).rows(0, a_policy())) == 2
    toy.left = 30
    with pytest.raises(NothingToLearn, match="alike"):
        ToyRows(toy, recipe, 8).rows(1, a_policy())
    assert toy.left == 20


def test_a_step_of_dapo_plays_until_it_is_full_ten_batches_at_most() -> None:
    toy = Dull(30)

    def every_second(_: Any) -> list[Row]:
        if toy.left % 2:
            raise NothingToLearn("alike")
        return rows(3)

    assert len(ToyRows(toy, every_second, 8, refills=True).rows(0, a_policy())) == 9
    assert toy.left == 24, "three batches of three rows, and as many that taught nothing"
    assert len(ToyRows(toy, every_second, 800, refills=True).rows(1, a_policy())) == 15
    assert toy.left == 14


def test_rollouts_that_a_recipe_cannot_read_are_not_drawn_again() -> None:
    toy = Dull(30)

    def recipe(_: Any) -> list[Row]:
        raise NotLearnable("it needs a reward and its group")

    with pytest.raises(NotLearnable, match="its group"):
        ToyRows(toy, recipe, 8).rows(0, a_policy())
    assert toy.left == 29


class Learned(Dull):
    """A toy whose every answer is worth `reward`."""

    def __init__(self, reward: float) -> None:
        super().__init__(0)
        self.reward = reward

    def rollouts(self, policy: Any, random: Any, count: int) -> list[Trajectory]:
        return [Trajectory(str(number), "p", [Turn((1,), (2,))], reward=self.reward) for number in range(count)]


def alike(_: Any) -> list[Row]:
    raise NothingToLearn("alike")


def test_a_toy_that_is_learned_ends_its_rows_and_says_so() -> None:
    with pytest.raises(EndOfRows, match="The toy is learned"):
        ToyRows(Learned(1.0), alike, 8).rows(5, a_policy())
    with pytest.raises(NothingToLearn):
        ToyRows(Learned(0.1), alike, 8).rows(5, a_policy())


def test_a_job_whose_base_has_learned_its_toy_already_has_nothing_to_learn() -> None:
    with pytest.raises(NothingToLearn):
        ToyRows(Learned(1.0), alike, 8).rows(0, a_policy())


def test_an_agent_that_was_wrong_once_has_not_learned_its_toy() -> None:
    turns = [Turn((1,), (2,), role="solver", group="g", reward=reward) for reward in (1.0, 0.0)]
    toy = Learned(0.0)
    toy.rollouts = lambda *_: [Trajectory("t", "p", turns)]  # type: ignore[method-assign]
    with pytest.raises(NothingToLearn):
        ToyRows(toy, alike, 8).rows(5, a_policy())
    toy.rollouts = lambda *_: [Trajectory("t", "p", turns[:1])]  # type: ignore[method-assign]
    with pytest.raises(EndOfRows):
        ToyRows(toy, alike, 8).rows(5, a_policy())
