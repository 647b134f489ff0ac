"""The table of methods with its intervals, as LaTeX (booktabs) and as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.experiments.models import Experiment
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import Line, budgets_said, mean_lines
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of

_HEADS = ("Method", "Score", "95 % interval", "Scored", "Unscored", "Calls", "Tokens", "Seconds")
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "×": r"$\times$"}
_TEX |= {"·": r"$\cdot$"} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|])")


@dataclass(frozen=True)
class MethodTable:
    """The table of methods by a scorer. `counts_none`: cells without an answer count as 0, as in the papers."""

    experiment: Experiment
    scorer: str
    counts_none: bool = False

    @cached_property
    def manifest(self) -> Manifest:
        return manifest_stored(self.experiment)

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The heads; the last one is the currency where there are prices."""
        return (*_HEADS, self.manifest.currency) if self.manifest.currency else _HEADS

    @cached_property
    def lines(self) -> list[Line]:
        """The rows."""
        problems, rows = self._found
        return mean_lines(self.manifest, problems, rows)

    @cached_property
    def _found(self) -> tuple[list[str], list[Row]]:
        problems, rows = rows_of(self.experiment, self.scorer)
        return problems, [row.counting_none for row in rows] if self.counts_none else rows

    @property
    def caption(self) -> str:
        """What the table shows, with the budget of a cell."""
        by = f" by {self.scorer}" if self.scorer else ""
        unscored = "Cells without an answer count as 0, other unscored" if self.counts_none else "Unscored"
        return (
            f"{self.experiment.title}: mean score{by} on {len(self._found[0]):,} problems of {self.experiment.problem_set}. "
            f"{budgets_said(self.manifest)} Intervals are over whole problems. {unscored} cells do not count. "
            "Costs are means of a finished cell."
        )

    @property
    def differences(self) -> list[tuple[str, str]]:
        """Rows with what may be said of them and the baseline."""
        return [(line.name, line.against) for line in self.lines if line.against]

    @property
    def against(self) -> str:
        """The heading of the differences, with the name of the baseline."""
        base = next((line.name for line in self.lines if line.is_baseline), "")
        return f"Differences from {base}, paired by problem{', so far' if self.experiment.is_live else ''}:"

    def values(self, line: Line) -> tuple[str, ...]:
        """The values of a row by head."""
        row = line.row
        costs = (f"{row.calls:.1f}", f"{row.tokens:.0f}", f"{row.seconds:.1f}") if row.has_costs else ("–", "–", "–")
        money = ("–" if row.money is None else f"{row.money:.4f}",) if self.manifest.currency else ()
        return (line.name, line.mean or "–", line.interval or "–", str(row.scored), str(line.unscored), *costs, *money)


def latex_of(table: MethodTable) -> str:
    """A table environment for the package booktabs, with the number of problems and the scorer in its caption."""
    rows = [" & ".join(_tex(value) for value in table.values(line)) + r" \\" for line in table.lines]
    return "\n".join(
        [
            "% Needs \\usepackage{booktabs}.",
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{_tex(table.caption)}}}",
            f"  \\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}",
            r"    \toprule",
            "    " + " & ".join(_tex(head) for head in table.heads) + r" \\",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def markdown_of(table: MethodTable) -> str:
    """A caption, a table, and the sentences about differences from the baseline, each after the name of its row."""
    found = [_markdown(table.caption), "", _bars(table.heads), "|---|" + "---:|" * (len(table.heads) - 1)]
    found += [_bars([_markdown(value) for value in table.values(line)]) for line in table.lines]
    said = [f"- {_markdown(name)}: {_markdown(words)}" for name, words in table.differences]
    return "\n".join([*found, "", *([_markdown(table.against), "", *said, ""] if said else [])])


def _bars(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
