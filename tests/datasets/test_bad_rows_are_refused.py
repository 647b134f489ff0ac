"""The export program rejects invalid lines (leaks, NaN, incompatible groups) and leaves no partial files."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Leak
from apps.recipes.rows.making import Order, dataset_make


def shard(folder: Path, rows: int = 4, **changes: Any) -> dict[str, str]:
    """A token shard of rows of three tokens; `changes` replace columns."""
    columns = {
        "prompt_ids": pa.array([[1, 2]] * rows, pa.list_(pa.int32())),
        "completion_ids": pa.array([[3, 4, 5]] * rows, pa.list_(pa.int32())),
        "loss_mask": pa.array([[1, 0, 1]] * rows, pa.list_(pa.int8())),
        "logprobs": pa.array([[-0.5, float("nan"), -0.25]] * rows, pa.list_(pa.float32())),
    }
    kinds = {name: column.type for name, column in columns.items()}
    columns |= {name: pa.array(values, kinds[name]) for name, values in changes.items()}
    (folder / "tokens").mkdir(exist_ok=True)
    path = folder / "tokens" / "run.parquet"
    pq.write_table(pa.table(columns), path)
    return {"shard": "run.parquet", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def turn(place: dict[str, str], row: int, **more: Any) -> dict[str, Any]:
    known = {"call": f"call/{row}", "role": "solver", "finish_reason": "stop", "reward": None, "row": row}
    return known | place | {"messages": [], "text": "A text.", "reasoning": ""} | more


def trajectory(name: str, turns: list[dict[str, Any]], reward: float, **more: Any) -> dict[str, Any]:
    return {"id": name, "run_id": "run", "turns": turns, "reward": reward, "votes": None} | more


def line(*trajectories: dict[str, Any], **more: Any) -> dict[str, Any]:
    stated = {"problem_id": "p@1", "title": "Two", "statement": "Show it.", "answer": "", "content_hash": "h"}
    return stated | {"split": "train", "licence": "CC0", "trajectories": list(trajectories)} | more


def made(folder: Path, recipe: str, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    (folder / "problems.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    order = Order(recipe, folder / "problems.jsonl", folder / "tokens", **more)
    try:
        return dataset_make(order, folder)
    except NotLearnable:
        assert not (folder / "out").exists()
        assert not (folder / "out.partial").exists()
        raise


def pair(place: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    """A right and a wrong attempt."""
    return [trajectory("right", [turn(place, 0)], 7, **more), trajectory("wrong", [turn(place, 1)], 0, **more)]


def test_numbers_under_the_mask_are_arbitrary_and_kept_unchanged(tmp_path: Path) -> None:
    summary = made(tmp_path, "grpo_rubric", line(*pair(shard(tmp_path))))
    assert (summary["counts"]["rows"], summary["counts"]["tokens"], summary["counts"]["own_tokens"]) == (2, 6, 4)
    row = pq.read_table(tmp_path / "out" / "rows" / "00000.parquet").to_pylist()[0]
    assert row["completion_ids"] == [3, 4, 5]
    assert row["loss_mask"] == [1, 0, 1]
    assert row["logprobs"][1] != row["logprobs"][1], "NaN at a tool's token"


def test_a_row_of_another_split_or_of_a_benchmark_is_a_leak_that_names_its_rows(tmp_path: Path) -> None:
    place = shard(tmp_path)
    with pytest.raises(Leak, match=r"“Two” .* has the split “test”; these rows would leak: right step 0, wrong step 0"):
        made(tmp_path, "grpo_rubric", line(*pair(place)), line(*pair(place), split="test"))
    with pytest.raises(Leak, match="is in a benchmark; these rows would leak: right step 0"):
        made(tmp_path, "grpo_rubric", line(*pair(place)), benchmarks=frozenset({"h"}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"logprobs": [None] * 4}, "no log-probabilities"),
        ({"logprobs": [[float("nan"), 0.0, 0.0]] * 4}, "Log-probabilities: nan"),
        ({"logprobs": [[-0.5]] * 4}, "3 tokens, but 1 values of logprobs"),
        ({"loss_mask": [[1, 2, 1]] * 4}, "values other than 0 and 1"),
        ({"loss_mask": [[1]] * 4}, "3 tokens, but 1 values of loss_mask"),
        ({"completion_ids": [[]] * 4, "loss_mask": [[]] * 4, "logprobs": [[]] * 4}, "the completion is empty"),
    ],
    ids=["none", "NaN", "too few", "mask of 2", "short mask", "empty"],
)
def test_unusable_tokens_are_rejected_with_file_and_row(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotLearnable, match=rf"rows/00000.parquet, row 0 \(trajectory right\).*{reason}"):
        made(tmp_path, "grpo_rubric", line(*pair(shard(tmp_path, **changes))))


def test_a_reward_of_nan_names_its_problem(tmp_path: Path) -> None:
    place = shard(tmp_path)
    broken = trajectory("broken", [turn(place, 2)], float("nan"))
    with pytest.raises(NotLearnable, match=r"Two: .*nan"):
        made(tmp_path, "turn_grpo", line(*pair(place), broken))


def rounds(place: dict[str, str], row: int, votes: tuple[int, int], **more: Any) -> dict[str, Any]:
    found = turn(place, row, kind="round", lemmas=more.pop("lemmas", []))
    return trajectory(f"t{row}", [found], 0.0, votes=votes, **more)


def test_different_numbers_of_votes_in_one_group_are_rejected(tmp_path: Path) -> None:
    place = shard(tmp_path)
    with pytest.raises(NotLearnable, match=r"Two: .*4.*8|Two: .*8.*4"):
        made(tmp_path, "orealh", line(rounds(place, 0, (4, 4)), rounds(place, 1, (0, 8))))


def test_a_proof_without_votes_has_no_conjugate_reward(tmp_path: Path) -> None:
    place = shard(tmp_path)
    with pytest.raises(NotLearnable, match="Two: Trajectory t1: its final proof has no votes"):
        made(tmp_path, "orealh", line(rounds(place, 0, (4, 4)), trajectory("t1", [turn(place, 1, kind="round")], 0.0)))


def test_cyclic_lemmas_are_accepted_and_a_round_without_lemmas_gets_no_credit(tmp_path: Path) -> None:
    place = shard(tmp_path)
    cycle = rounds(place, 0, (4, 4), lemmas=["a", "b"], derived=[["a", "b"], ["b", "a"]], used=["b"])
    made(tmp_path, "orealh", line(cycle, rounds(place, 1, (0, 4))))
    rows = pq.read_table(tmp_path / "out" / "rows" / "00000.parquet").to_pylist()
    assert rows[0]["advantage"] > 0
    assert rows[1]["advantage"] == 0, "no valid lemma: the round contributes KL only"


def test_texts_and_tokens_cannot_be_mixed_and_texts_are_for_supervised_recipes(tmp_path: Path) -> None:
    place = shard(tmp_path)
    text = {"shard": "", "sha256": ""}
    with pytest.raises(NotLearnable, match="some of its turns have tokens and others have only texts"):
        made(tmp_path, "sft_proofs", line(*pair(place)), line(*pair(text)))
    with pytest.raises(NotLearnable, match="only texts were recorded"):
        made(tmp_path, "grpo_rubric", line(*pair(text)))


def test_a_shard_outside_the_folder_or_with_too_few_rows_is_rejected(tmp_path: Path) -> None:
    place = shard(tmp_path, rows=1)
    with pytest.raises(NotLearnable, match="has 1 rows; row 1 was recorded"):
        made(tmp_path, "grpo_rubric", line(*pair(place)))
    with pytest.raises(NotLearnable, match="is outside the folder"):
        made(tmp_path, "grpo_rubric", line(*pair(place | {"shard": "../problems.jsonl"})))


def test_many_rows_become_several_files_in_their_order(tmp_path: Path) -> None:
    place = shard(tmp_path, rows=10)
    lines = [
        line(
            trajectory(f"r{number}", [turn(place, number)], 7),
            trajectory(f"w{number}", [turn(place, number)], 0),
            problem_id=f"p{number}@1",
        )
        for number in range(10)
    ]
    summary = made(tmp_path, "grpo_rubric", *lines, rows_a_file=8)
    files = sorted(name for name in summary["files"] if name.startswith("rows/"))
    assert files == ["rows/00000.parquet", "rows/00001.parquet", "rows/00002.parquet"]
    names = [row["trajectory_id"] for name in files for row in pq.read_table(tmp_path / "out" / name).to_pylist()]
    assert names == [name for number in range(10) for name in (f"r{number}", f"w{number}")]
    assert summary["counts"]["pass_rates"] == {"0": 0, "0-25": 0, "25-50": 10, "50-75": 0, "75-99": 0, "1": 0}


def test_answers_without_the_policys_own_tokens_are_left_out_and_counted(tmp_path: Path) -> None:
    """A trainer would reject them; the other answers of their group are used."""
    place = shard(tmp_path, loss_mask=[[1, 0, 1], [1, 0, 1], [0, 0, 0], [1, 0, 1]])
    attempts = [trajectory(f"t{row}", [turn(place, row)], 7 * (row % 2)) for row in range(4)]
    summary = made(tmp_path, "grpo_rubric", line(*attempts))
    assert summary["counts"]["rows"] == 3
    [left] = [one for one in summary["left"] if "own" in one["reason"]]
    assert (left["count"], left["examples"]) == (1, ["Two (1)"])


def test_pass_rates_count_trajectories_once_but_agents_individually(tmp_path: Path) -> None:
    """An attempt with three turns counts once; the eight solutions of one run count as eight."""
    place = shard(tmp_path, rows=8)
    long = trajectory("long", [turn(place, 0), turn(place, 1), turn(place, 2)], 1)
    summary = made(tmp_path, "turn_grpo", line(long, trajectory("short", [turn(place, 3)], 0)))
    assert summary["counts"]["pass_rates"]["25-50"] == 1
    rewards = [1, 0, 0, 0, 0, 0, 0, 0]
    folder = tmp_path / "agents"
    folder.mkdir()
    place = shard(folder, rows=8)
    solvers = [turn(place, row, reward=reward, group="p") for row, reward in enumerate(rewards)]
    assert made(folder, "marsrl", line(trajectory("run", solvers, 0)))["counts"]["pass_rates"]["0-25"] == 1
