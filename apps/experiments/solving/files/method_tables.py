"""The table of methods with its intervals, as LaTeX (booktabs) and as Markdown."""

import re
from collections.abc import Sequence

from apps.experiments.models import Experiment
from apps.experiments.solving.pages import Line, mean_lines
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import rows_of

HEADS = ("Method", "Score", "95 % interval", "Scored", "Unscored", "Calls", "Tokens", "Seconds")
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "×": r"$\times$"}
_TEX |= {"·": r"$\cdot$"} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|])")


def latex_of(experiment: Experiment, scorer: str) -> str:
    """A table environment for the package booktabs, with the number of problems and the scorer in its caption."""
    problems, lines = _lines(experiment, scorer)
    rows = [" & ".join(_tex(value) for value in _values(line)) + r" \\" for line in lines]
    caption = _tex(_caption(experiment, scorer, problems))
    return "\n".join(
        [
            "% Needs \\usepackage{booktabs}.",
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{caption}}}",
            f"  \\begin{{tabular}}{{l{'r' * (len(HEADS) - 1)}}}",
            r"    \toprule",
            "    " + " & ".join(_tex(head) for head in HEADS) + r" \\",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def markdown_of(experiment: Experiment, scorer: str) -> str:
    """A caption, a table, and the sentences about differences from the baseline."""
    problems, lines = _lines(experiment, scorer)
    found = [_markdown(_caption(experiment, scorer, problems)), "", _bars(HEADS), "|---|" + "---:|" * (len(HEADS) - 1)]
    found += [_bars([_markdown(value) for value in _values(line)]) for line in lines]
    said = [f"- {_markdown(line.against)}" for line in lines if line.against]
    return "\n".join([*found, "", *said, ""] if said else [*found, ""])


def _lines(experiment: Experiment, scorer: str) -> tuple[int, list[Line]]:
    problems, rows = rows_of(experiment, scorer)
    return len(problems), mean_lines(manifest_stored(experiment), problems, rows)


def _caption(experiment: Experiment, scorer: str, problems: int) -> str:
    by = f" by {scorer}" if scorer else ""
    return (
        f"{experiment.title}: mean score{by} on {problems:,} problems of {experiment.problem_set}. Intervals are over whole "
        "problems. Unscored cells do not count. Costs are means of a finished cell."
    )


def _values(line: Line) -> tuple[str, ...]:
    row = line.row
    costs = (f"{row.calls:.1f}", f"{row.tokens:.0f}", f"{row.seconds:.1f}")
    return (line.name, line.mean or "–", line.interval or "–", str(row.scored), str(line.unscored), *costs)


def _bars(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
