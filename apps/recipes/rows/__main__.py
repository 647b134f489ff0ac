"""`python -m apps.recipes.rows DIR`: make the rows ordered in `DIR/order.json` (docs/datasets.md).

Writes `progress.json` while it works, then `out/` and `summary.json`; on failure `error.json`, with exit status 1.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Leak
from apps.recipes.rows.making import Order, dataset_make
from apps.recipes.rows.tokens import BrokenShard
from apps.recipes.rows.writing import put

REPORT_EVERY_S = 0.5


def main(folder: Path) -> int:
    """Make the rows and return the exit status."""
    given = json.loads((folder / "order.json").read_text(encoding="utf-8"))
    order = Order(
        recipe=given["recipe"],
        problems=folder / "problems.jsonl",
        tokens=Path(given["tokens"]),
        options=given["options"],
        benchmarks=frozenset(given["benchmarks"]),
    )
    reported_at = 0.0

    def report(problems: int, rows: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            reported_at = time.monotonic()
            _put(folder / "progress.json", {"problems": problems, "of": given["problems_count"], "rows": rows})

    try:
        summary = dataset_make(order, folder, report)
    except NotLearnable as problem:
        reason = (
            "leak" if isinstance(problem, Leak) else "broken_shard" if isinstance(problem, BrokenShard) else "not_learnable"
        )
        _put(folder / "error.json", {"reason": reason, "message": str(problem)})
        return 1
    except OSError as error:
        _put(folder / "error.json", {"reason": "disk", "message": f"The files could not be written: {error}."})
        return 1
    _put(folder / "summary.json", summary)
    return 0


def _put(path: Path, values: dict[str, Any]) -> None:
    put(path, json.dumps(values, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
