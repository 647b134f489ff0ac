"""The layout of the lemma graph next to plain Graphviz `dot`: crossings of lines, and titles that can be read without zooming.

`python -m benchmarks.pages.layout`. Graphs: those of `SHARED_DATA`, and seeded ones of 200 lemmas, for titles also of 60.
Redundant uses are left out, as in the drawing. The room is that of the run page at 1440×900.
"""

import json
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from benchmarks.figures import Figure, Skipped
from benchmarks.reading.shared import FOLDER

ROOM = (860, 690)
#: The size of a title on the screen, in pixels, from which it counts as readable.
READABLE = 8.0
SYNTHETIC = ((60, 3), (200, 3))
ROUNDS = 8


def figures(quick: bool = False) -> list[Figure]:
    """Raises `Skipped` without Node. `quick` changes nothing."""
    rows = measured()
    ratios = [row["ours"] / max(1, row["dot"]) for row in rows if row["size"] != 60]
    titled = [row["titled"] / row["size"] if row["pixels"] >= READABLE else 0.0 for row in rows if row["size"] <= 70]
    return [
        Figure("crossings, ours ÷ dot, median", statistics.median(ratios), "", 1.1),
        Figure("… worst", max(ratios)),
        Figure("titles readable without zooming, up to 70 nodes, least share", 100 * min(titled), "%", 80, "at least"),
        Figure("… median share", 100 * statistics.median(titled), "%"),
        Figure("layout of the slowest graph up to 70 nodes", max(row["ms"] for row in rows if row["size"] <= 70), "ms"),
    ]


def measured() -> list[dict[str, Any]]:
    """One row for each graph: crossings `ours` and of `dot`, `zoom`, title size in `pixels`, nodes `titled`, `ms`."""
    from tests.node import facts

    graphs = [*_shared(), *(_synthetic(size, seed) for size, count in SYNTHETIC for seed in range(count))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graphs.json"
        path.write_text(json.dumps(graphs))
        try:
            found: list[dict[str, Any]] = facts("measure_layout.mjs", str(path), *(str(length) for length in ROOM))
        except (OSError, pytest.skip.Exception) as error:
            raise Skipped(f"Node is missing ({error}).") from error
    return found


def _shared() -> list[dict[str, Any]]:
    graphs = []
    for path in sorted((FOLDER / "lemma-graphs").glob("*.json")):
        data = json.loads(path.read_text())
        nodes = data["graph"]["nodes"] if "graph" in data else data["nodes"]
        rows = nodes if isinstance(nodes, list) else list(nodes.values())
        known = {row["id"]: row for row in rows}
        uses = [(used, row["id"]) for row in rows for used in row.get("dependencies", []) if used in known]
        graphs.append(_graph(path.stem, [(row["id"], row.get("depth", 0), row["statement"]) for row in rows], uses))
    return graphs


def _synthetic(size: int, seed: int) -> dict[str, Any]:
    """Rounds of equal size; a lemma uses some earlier ones, more often recent ones."""
    chance = random.Random(seed)
    uses = {(chance.randrange(max(0, at - 40), at), at) for at in range(1, size) for _ in range(3) if chance.random() < 0.55}
    nodes = [(str(at), 1 + at * ROUNDS // size, f"For every integer $n$ we have $a_{{{at}}} \\le n^2$.") for at in range(size)]
    return _graph(f"seeded {size}, {seed}", nodes, [(str(used), str(user)) for used, user in uses])


def _graph(name: str, nodes: list[tuple[str, int, str]], uses: list[tuple[str, str]]) -> dict[str, Any]:
    from apps.lemmas.titles import title_of

    reduced = nx.transitive_reduction(nx.DiGraph([use for use in uses if use[0] != use[1]])).edges
    return {
        "name": name,
        "nodes": [
            {"id": id_, "kind": "lemma", "round": round_, "first_seq": at, "label": str(at + 1), "title": title_of(statement)}
            for at, (id_, round_, statement) in enumerate(nodes)
        ],
        "edges": [{"id": f"{used}>{user}", "source": used, "target": user, "kind": "uses"} for used, user in reduced],
    }


if __name__ == "__main__":
    for row in measured():
        print(
            f"{row['name']:<22} {row['size']:>4} nodes   crossings {row['ours']:>4}, dot {row['dot']:>4}   "
            f"zoom {row['zoom']:.2f}   titles {row['pixels']:.1f} px on {row['titled']:>3} boxes   {row['ms']:.0f} ms"
        )
    for figure in figures():
        print(*figure.row(), sep="   ")
