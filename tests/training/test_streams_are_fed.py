"""The producer of a stream together with the real trainer: groups arrive while it trains, and it ends with the stream."""

import threading
from dataclasses import replace
from pathlib import Path

from apps.recipes.rows.stream_order import order_of
from apps.recipes.rows.streaming import Producer, policy_version
from apps.recipes.trajectory import Trajectory, Turn
from tests.training.factory import end_of, job, lines, row
from workers.training.models import tokenizer_hash
from workers.training.tiny import tiny_tokenizer


def attempts(problem: str, version: int) -> list[Trajectory]:
    """A right and a wrong copy, two turns each."""
    found = []
    for name, text, reward in (("right", "3", 1.0), ("wrong", "4", 0.0)):
        one = row("3=", text)
        turn = Turn(one.prompt_ids, one.completion_ids, logprobs=one.logprobs, policy_version=version)
        found.append(Trajectory(f"{problem}-{name}", problem, [turn, turn], reward))
    return found


def test_groups_are_trained_on_while_others_are_still_being_written(tmp_path: Path) -> None:
    """One attempt at the second problem is from policy 0, the other from policy 1."""
    folder = job(tmp_path, [], source={"kind": "stream", "wait": 100}, steps=50, rows_per_step=4, most_lag=1)
    (folder / "rows" / "000.parquet").unlink()
    counts = []

    def rollouts() -> None:
        with Producer(folder, order_of(folder, sizes={"": 2})) as producer:
            for one in attempts("p", 0):
                producer.take(one)
            early, late = attempts("q", 0)
            producer.take(early)
            while policy_version(folder) < 1:
                threading.Event().wait(0.05)
            producer.take(replace(late, turns=[replace(turn, policy_version=1) for turn in late.turns]))
            producer.end()
            counts.append(producer.counts)

    threading.Thread(target=rollouts).start()
    found = end_of(folder)
    assert (found["state"], found["step"]) == ("finished", 2)
    assert [(line["rows"], line["lag"]) for line in lines(folder / "metrics.jsonl")] == [(4, 0), (4, 0.5)]
    assert [(one.complete, one.rows, one.dropped) for one in counts] == [(2, 8, 0)]


def agents(name: str, *turns: tuple[str, float, bool | None]) -> Trajectory:
    """Turns of the given roles, each in a group of its role."""
    one = row("3=", "3")
    made = [
        Turn(one.prompt_ids, one.completion_ids, logprobs=one.logprobs, role=role, group=role, reward=reward, passed=passed)
        for role, reward, passed in turns
    ]
    return Trajectory(name, "p", made)


def test_metrics_include_the_rates_of_a_verifier_with_silent_groups(tmp_path: Path) -> None:
    """It flags a wrong solution twice, so the group is silent and none of its rows reaches the trainer."""
    folder = job(tmp_path, [], recipe="marsrl", source={"kind": "stream", "wait": 100}, steps=50, rows_per_step=2)
    (folder / "rows" / "000.parquet").unlink()
    with Producer(folder, order_of(folder, sizes={"": 2})) as producer:
        producer.take(agents("a", ("verifier", 1.0, False), ("verifier", 1.0, False)))
        producer.take(agents("b", ("solver", 1.0, None), ("solver", 0.0, None)))
        producer.end()
    assert end_of(folder)["state"] == "finished"
    (line,) = lines(folder / "metrics.jsonl")
    assert (line["role/verifier/found"], line["role/verifier/silent"], line["role/solver/silent"]) == (1, 1, 0)
    assert "role/verifier/spared" not in line, "there was no right solution"
    assert line["silent"] == 0.5


def test_rows_of_another_tokenizer_are_rejected_and_both_are_named(tmp_path: Path) -> None:
    """A job that makes its own runs has no dataset whose tokenizer could be checked at its start."""
    folder = job(tmp_path, [], source={"kind": "stream", "wait": 100}, rows_per_step=4)
    (folder / "rows" / "000.parquet").unlink()
    with Producer(folder, order_of(folder, sizes={"": 2})) as producer:
        for one in attempts("p", 0):
            producer.take(one, tokenizer="f" * 64)
        producer.end()
    found = end_of(folder)
    assert found["reason"] == "other_tokenizer"
    assert "ffffffffffff…" in found["message"]
    assert not list((folder / "checkpoints").glob("checkpoint-*"))


def test_rows_of_the_bases_own_tokenizer_are_accepted(tmp_path: Path) -> None:
    folder = job(tmp_path, [], source={"kind": "stream", "wait": 100}, rows_per_step=4)
    (folder / "rows" / "000.parquet").unlink()
    with Producer(folder, order_of(folder, sizes={"": 2})) as producer:
        for one in attempts("p", 0):
            producer.take(one, tokenizer=tokenizer_hash(tiny_tokenizer()))
        producer.end()
    assert end_of(folder)["step"] == 1


def test_a_stream_of_silent_groups_ends_with_that_reason(tmp_path: Path) -> None:
    folder = job(tmp_path, [], source={"kind": "stream", "wait": 100}, rows_per_step=4)
    (folder / "rows" / "000.parquet").unlink()
    with Producer(folder, order_of(folder, sizes={"": 2})) as producer:
        for name in ("a", "b"):
            producer.take(replace(attempts("p", 0)[0], id=name))
        producer.end()
    found = end_of(folder)
    assert found["reason"] == "nothing_to_learn"
    assert "Complete groups: 1; in each, all answers earned the same" in found["message"]
