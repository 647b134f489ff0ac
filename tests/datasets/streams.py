"""Trajectories, producers and their output, for tests of streams."""

import json
from pathlib import Path
from typing import Any

from apps.recipes.mathematics.rows import Row
from apps.recipes.rows.stream_order import StreamOrder
from apps.recipes.rows.streaming import Producer
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.rows.tables import read_rows


def a_turn(reward: float | None = None, **more: Any) -> Turn:
    known: dict[str, Any] = {"prompt_ids": (1, 2), "completion_ids": (3, 4), "logprobs": (-0.5, -0.25), "reward": reward}
    return Turn(**(known | more))


def attempt(name: str, reward: float, *turns: Turn, problem: str = "p", **more: Any) -> Trajectory:
    return Trajectory(id=name, problem_id=problem, turns=turns or (a_turn(),), reward=reward, **more)


def producer(folder: Path, recipe: str = "turn_grpo", size: int = 2, **more: Any) -> Producer:
    folder.mkdir(exist_ok=True)
    return Producer(folder, StreamOrder(recipe, more.pop("sizes", {"": size}), **more))


def shards(folder: Path) -> list[list[Row]]:
    return [list(read_rows(path)) for path in sorted((folder / "rows").glob("*.parquet"))]


def stream_state(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "stream.json").read_text())
    return found
