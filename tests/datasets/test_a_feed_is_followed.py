"""The program that turns a growing feed into a stream, and its order from the job's configuration."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.rows.following import Stop
from apps.recipes.rows.following import main as follow
from apps.recipes.rows.stream_order import StreamOrder, order_of
from tests.datasets.streams import shards, stream_state
from tests.datasets.test_bad_rows_are_refused import line, shard, trajectory, turn


def a_job(folder: Path, **changes: Any) -> Path:
    config = {"format": 1, "recipe": "grpo_rubric", "base": "b", "source": {"kind": "stream"}, "steps": 2}
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


def test_the_order_comes_from_the_job_and_sizes_from_the_paper(tmp_path: Path) -> None:
    order = order_of(a_job(tmp_path, dataset={"tokenizer": "aaaa"}))
    assert (order.size("solver"), order.most_lag, order.tokenizer) == (16, 5, "aaaa")
    assert order_of(a_job(tmp_path, most_lag=2), sizes={"solver": 4}).size("solver") == 4
    with pytest.raises(NotLearnable, match="No group size is given for the role “verifier1”"):
        StreamOrder("marsrl", {"solver": 4}).size("verifier1")
    with pytest.raises(NotLearnable, match="does not read a stream"):
        order_of(a_job(tmp_path, source={"kind": "rows"}))


def fed(folder: Path, *lines: dict[str, Any], more: str = "") -> int:
    return follow(arguments(folder, *lines, more=more), Stop())


def arguments(folder: Path, *lines: dict[str, Any], more: str = "") -> list[str]:
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (folder / "feed.jsonl").write_text(text + more)
    names = {"--job": folder, "--feed": folder / "feed.jsonl", "--tokens": folder / "tokens", "--group": 2}
    return [str(part) for pair in names.items() for part in pair]


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 3)], ids=["killed", "stopped"]
)
def test_the_program_can_be_stopped_or_killed_at_any_time(tmp_path: Path, sent: signal.Signals, status: int) -> None:
    a_job(tmp_path)
    place = shard(tmp_path)
    feed = [line(trajectory(f"{number}", [turn(place, number)], 7 * (number % 2))) for number in range(2)]
    command = [sys.executable, "-m", "apps.recipes.rows.following", *arguments(tmp_path, *feed)]
    with subprocess.Popen(command) as process:
        while not shards(tmp_path) and process.poll() is None:
            threading.Event().wait(0.05)
        process.send_signal(sent)
    assert process.returncode == status, "it was waiting for more lines"
    assert fed(tmp_path, *feed, {"end": True}) == 0
    assert [len(rows) for rows in shards(tmp_path)] == [2]


def test_the_program_follows_a_feed_and_continues_after_a_stop(tmp_path: Path) -> None:
    a_job(tmp_path)
    place = shard(tmp_path)
    feed = [line(trajectory(f"{number}", [turn(place, number)], 7 * (number % 2))) for number in range(3)]
    (tmp_path / "state.json").write_text('{"state": "failed"}')
    assert fed(tmp_path, *feed, more='{"half a li') == 3, "the trainer has ended"
    assert stream_state(tmp_path)["state"] == "stopped"
    assert fed(tmp_path, *feed, {"close": "p@1"}, {"end": True}) == 0
    (rows,) = shards(tmp_path)
    assert [(row.trajectory_id, row.advantage, row.completion_ids) for row in rows] == [
        ("0", -0.5, [3, 4, 5]),
        ("1", 0.5, [3, 4, 5]),
    ]
    assert (stream_state(tmp_path)["state"], stream_state(tmp_path)["late"]) == ("ended", 1)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["no object"], "is not a JSON object"),
        ([{"title": "Two"}], "has no"),
        ([{"benchmarks": ["h"]}, line(trajectory("a", [], 7))], "is in a benchmark"),
    ],
    ids=["no object", "no trajectory", "a benchmark"],
)
def test_an_invalid_feed_ends_the_program_with_the_reason(tmp_path: Path, lines: list[Any], reason: str) -> None:
    a_job(tmp_path)
    assert fed(tmp_path, *lines) == 1
    assert reason in stream_state(tmp_path)["message"]
    assert not (tmp_path / "rows" / "END").exists()


def test_the_program_joins_segments(tmp_path: Path) -> None:
    a_job(tmp_path)
    place = shard(tmp_path, loss_mask=[[1, 1, 1]] * 4, logprobs=[[-0.5, -0.5, -0.25]] * 4)
    parts = [{"piece": number, "finished": bool(number)} for number in range(2)]
    long = [trajectory("long", [turn(place, 0, **part)], 7) for part in parts]
    short = trajectory("short", [turn(place, 1, **parts[0] | {"finished": True})], 0)
    assert fed(tmp_path, line(long[0]), line(short), line(long[1]), {"end": True}) == 0
    rows = {row.trajectory_id: row.completion_ids for row in shards(tmp_path)[0]}
    assert rows == {"short": [3, 4, 5], "long": [3, 4, 5, 3, 4, 5]}
