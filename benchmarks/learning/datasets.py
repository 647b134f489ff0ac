"""The export of rows: 10,000 and 100,000 of 500 tokens each, from shards to an immutable folder. Measures time and memory.

It measures the program `python -m apps.recipes.rows`, including the hashes of all files. The lines of problems, which the
application writes first in one pass over the runs, already exist. There are 16 attempts a problem and 256 calls a shard.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure

FEW, MANY, QUICK = 10_000, 100_000, 20_000
GROUP, A_SHARD = 16, 256
PROMPT, COMPLETION = 200, 300
WITHIN_S, RATIO = 60.0, 1.25
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class _Took:
    """Seconds, CPU seconds and peak memory of the program, and size of its output."""

    seconds: float
    cpu: float
    peak_mb: float
    made_mb: float


def figures(quick: bool) -> list[Figure]:
    """Time for many rows, and the ratio of memory for many and few rows."""
    many = QUICK if quick else MANY
    small, large = _measured(FEW if not quick else FEW // 5), _measured(many)
    ratio = large.peak_mb / small.peak_mb
    return [
        Figure(f"export of {many:,} rows", large.seconds, "s", target=WITHIN_S),
        Figure("of that CPU", large.cpu, "s"),
        Figure("peak memory of the program", large.peak_mb, "MB"),
        Figure("peak memory, many rows by few", ratio, "times", target=RATIO),
        Figure("size of the version", large.made_mb, "MB"),
    ]


def _measured(rows: int) -> _Took:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _given(folder, rows)
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "apps.recipes.rows", str(folder)], cwd=ROOT)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        summary = json.loads((folder / "summary.json").read_text())
        if summary["counts"]["rows"] != rows:
            raise RuntimeError(f"only {summary['counts']['rows']} of {rows} rows were exported")
        made = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
        return _Took(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, made / 1e6)


def _given(folder: Path, rows: int) -> None:
    """Write shards and the lines of problems."""
    random = np.random.default_rng(0)
    (folder / "tokens").mkdir()
    shards = [_shard(folder / "tokens" / f"{number}.parquet", random) for number in range(-(-rows // A_SHARD))]
    with (folder / "problems.jsonl").open("w", encoding="utf-8") as file:
        for first in range(0, rows, GROUP):
            file.write(json.dumps(_line(first, shards)) + "\n")
    order = {"recipe": "grpo_rubric", "options": {}, "tokens": str(folder / "tokens"), "benchmarks": []}
    (folder / "order.json").write_text(json.dumps(order | {"problems_count": rows // GROUP}))


def _shard(path: Path, random: np.random.Generator) -> tuple[str, str]:
    def lists(size: int, values: Any, kind: Any) -> Any:
        return pa.ListArray.from_arrays(np.arange(A_SHARD + 1, dtype=np.int32) * size, pa.array(values, kind))

    size = A_SHARD * COMPLETION
    columns = {
        "prompt_ids": lists(PROMPT, random.integers(0, 32_000, A_SHARD * PROMPT), pa.int32()),
        "completion_ids": lists(COMPLETION, random.integers(0, 32_000, size), pa.int32()),
        "loss_mask": lists(COMPLETION, np.ones(size), pa.int8()),
        "logprobs": lists(COMPLETION, -random.random(size), pa.float32()),
    }
    pq.write_table(pa.table(columns), path, compression="zstd")
    return path.name, hashlib.sha256(path.read_bytes()).hexdigest()


def _line(first: int, shards: list[tuple[str, str]]) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Prove it. " * 40}, {"role": "user", "content": "Show that it holds. " * 30}]
    found = []
    for number in range(first, first + GROUP):
        uri, sha256 = shards[number // A_SHARD]
        turn: dict[str, Any] = {
            "call": "solve",
            "role": "solver",
            "finish_reason": "stop",
            "reward": None,
            "shard": uri,
            "sha256": sha256,
        }
        turn |= {"row": number % A_SHARD, "messages": messages, "text": "So the claim holds. " * 60, "reasoning": ""}
        found.append({"id": f"run-{number}", "run_id": f"run-{number}", "turns": [turn], "reward": number % 8, "votes": None})
    stated = {
        "problem_id": f"p{first}@1",
        "title": f"Problem {first}",
        "statement": "Show it.",
        "answer": "",
        "content_hash": "h",
    }
    return stated | {"split": "train", "licence": "none", "trajectories": found}
