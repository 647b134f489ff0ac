"""The producer of a stream beside the real trainer: groups reach it while it trains, and it ends when they end."""

import threading
from dataclasses import replace
from pathlib import Path

from tests.training.factory import end_of, job, lines, row
from workers.datasets.stream_order import order_of
from workers.datasets.streaming import Producer, policy_version
from workers.recipes.trajectory import Trajectory, Turn


def attempts(problem: str, version: int) -> list[Trajectory]:
    """A right and a wrong copy, two turns each."""
    found = []
    for name, text, reward in (("right", "3", 1.0), ("wrong", "4", 0.0)):
        one = row("3=", text)
        turn = Turn(one.prompt_ids, one.completion_ids, logprobs=one.logprobs, policy_version=version)
        found.append(Trajectory(f"{problem}-{name}", problem, [turn, turn], reward))
    return found


def test_groups_are_learned_from_while_others_are_still_being_written(tmp_path: Path) -> None:
    """Of the second problem one attempt came from policy 0, one from policy 1."""
    folder = job(tmp_path, [], source={"kind": "stream", "wait": 100}, steps=50, rows_per_step=4, most_lag=1)
    (folder / "rows" / "000.parquet").unlink()
    said = []

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
            said.append(producer.counts)

    threading.Thread(target=rollouts).start()
    found = end_of(folder)
    assert (found["state"], found["step"]) == ("finished", 2)
    assert [(line["rows"], line["lag"]) for line in lines(folder / "metrics.jsonl")] == [(4, 0), (4, 0.5)]
    assert [(one.complete, one.rows, one.dropped) for one in said] == [(2, 8, 0)]
