"""The lineage of solutions as text, by round, and the choice whether to draw it."""

from dataclasses import dataclass

from apps.explorations.candidates.lineage import LineageData, LineageNode
from apps.explorations.words import draws_lineage
from apps.runs.models import Run


def has_lineage(run: Run, data: LineageData) -> bool:
    """Whether to draw the lineage: not if it is a chain in which each solution has one parent and one successor."""
    if draws_lineage(run.scaffold) or (run.spec.get("params") or {}).get("mode") == "evolution":
        return True
    sources = [edge["source"] for edge in data["edges"]]
    targets = [edge["target"] for edge in data["edges"]]
    return len(set(sources)) < len(sources) or len(set(targets)) < len(targets)


@dataclass(frozen=True)
class LineageLevel:
    """One round: its nodes, each with the ids of its sources and of its targets."""

    title: str
    items: list[tuple[LineageNode, list[str], list[str]]]


def lineage_levels(data: LineageData, word: str = "Round") -> list[LineageLevel]:
    """The outline of the whole lineage: candidates by round (`word` is the scaffold's name for it), then the knock-out."""
    uses: dict[str, list[str]] = {}
    used_by: dict[str, list[str]] = {}
    for edge in data["edges"]:
        uses.setdefault(edge["target"], []).append(edge["source"])
        used_by.setdefault(edge["source"], []).append(edge["target"])
    rounds: dict[tuple[int, str], list[LineageNode]] = {}
    for node in data["nodes"]:
        if node["kind"] != "problem":
            rounds.setdefault((node["round"], node["kind"]), []).append(node)
    last = max((round_ for round_, kind in rounds if kind == "candidate"), default=0)
    titles = {"candidate": f"{word} {{0}}", "memory": "Memory after round {0}", "pair": "Knock-out, round {1}"}
    return [
        LineageLevel(
            titles[kind].format(round_, round_ - last),
            [(node, uses.get(node["id"], []), used_by.get(node["id"], [])) for node in nodes],
        )
        for (round_, kind), nodes in sorted(rounds.items())
    ]
