"""Convert rows of a file to pairs of points of a person and a grader; unreadable predictions become unscored."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from apps.files.kept_columns import siblings
from apps.files.mark_files import Row, column_names, columns_check, value_of
from apps.files.tables import FileWrong
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import points_or_unscored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_NO, _YES = {"", "0", "false", "no", "n"}, {"1", "true", "yes", "y"}
SHOWN = 40
#: Limit of a scale's steps, as tables of categories grow with its square.
STEPS_AT_MOST = 200
SPLIT_BY_AUTHOR = "“{}” is the author column, which already has separate tables. Remove it from the columns to split by."
SEVERAL = "If the rows are from several graders (see columns such as workflow and model), make one file per grader."
Runs = Sequence[float | Unscored]


@dataclass(frozen=True, slots=True)
class Columns:
    """Column names by content, "" for none. `labels`: points by word; `times`: factor for predictions."""

    human: str
    scale: Scale
    problem: str = ""
    paper: str = ""
    author: str = ""
    contaminated: str = ""
    groups: Sequence[str] = ()
    labels: dict[str, float] = field(default_factory=dict)
    times: float = 1


def factor_of(number: float) -> float:
    """Check the factor for predictions. Raises `ValueError` unless it is positive and finite."""
    if not 0 < number < math.inf:
        raise ValueError("the factor for predictions must be a number above 0")
    return number


def labels_of(text: str) -> dict[str, float]:
    """Parse `incorrect=0, partial=1` to points by word. Raises `ValueError`."""
    labels: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        word, _, points = part.rpartition("=")
        number = _number(points)
        if not word.strip() or number is None:
            raise ValueError(f"“{part}” is not of the form word=points")
        labels[word.strip().casefold()] = number
    return labels


def pairs_of(rows: list[Row], columns: Columns, predicted: str, *, by_person: bool = False) -> list[Pair]:
    """One pair per row. `predicted`: column of the other side; with `by_person`, of a second person's marks.

    Raises `FileWrong` for a mark that is not points or is off the scale. Unreadable predictions are unscored, with the reason.
    """
    named = (columns.human, predicted, columns.problem, columns.paper, columns.author, columns.contaminated, *columns.groups)
    columns_check(rows, [name for name in named if name])
    reason = siblings(column_names(rows), "unscored", columns.human).get(predicted, "")
    pairs = []
    papers: set[str] = set()
    for number, row in enumerate(rows, 1):
        paper = _text(row, columns.paper) or f"row {number}"
        if paper in papers:
            raise FileWrong(f"Row {number}: duplicate paper “{paper}”; each paper counts once. {SEVERAL}")
        papers.add(paper)
        other = value_of(row, predicted)
        pairs.append(
            Pair(
                paper=paper,
                human=_mark(value_of(row, columns.human), columns, number),
                predicted=_mark(other, columns, number) if by_person else _prediction(other, columns, _text(row, reason)),
                problem=_text(row, columns.problem),
                author=_text(row, columns.author),
                contaminated=_contaminated(_text(row, columns.contaminated)),
                groups={name: _text(row, name) for name in columns.groups},
            )
        )
    return pairs


def mean_pairs(rows: list[Row], columns: Columns, runs: Sequence[str]) -> tuple[list[Pair], dict[str, Runs]]:
    """Columns as repeated runs of one grader: pairs with the mean of its scored runs, and each paper's runs.

    A paper is unscored where none of its runs is scored, for the first run's reason. Raises `FileWrong`.
    """
    columns_check(rows, list(runs))
    pairs: list[Pair] = []
    by_paper: dict[str, Runs] = {}
    for pair, row in zip(pairs_of(rows, columns, runs[0]), rows, strict=True):
        given = [_prediction(value_of(row, run), columns) for run in runs]
        scored = [points for points in given if not isinstance(points, Unscored)]
        by_paper[pair.paper] = given
        pairs.append(pair.model_copy(update={"predicted": fmean(scored)}) if scored else pair)
    return pairs, by_paper


def _mark(value: Any, columns: Columns, number: int) -> float | Unscored:
    if _is_empty(value):
        return Unscored(reason="there is no mark")
    points = _points(value, columns)
    if points is None:
        raise FileWrong(f"Row {number}: {_quoted(value)} is not points. Map words to points with --labels word=points,….")
    if not columns.scale.holds(points):
        scale = columns.scale
        raise FileWrong(
            f"Row {number}: {points:g} is not from {scale.lowest:g} to {scale.highest:g}. Set another scale with --scale."
        )
    return points


def _prediction(value: Any, columns: Columns, reason: str = "") -> float | Unscored:
    if _is_empty(value):
        return Unscored(reason=reason or "there is no prediction")
    points = _points(value, columns)
    if points is None:
        return Unscored(reason=f"{_quoted(value)} is neither points nor a label")
    is_label = isinstance(value, str) and value.strip().casefold() in columns.labels
    return points_or_unscored(points if is_label else points * columns.times, columns.scale)


def _points(value: Any, columns: Columns) -> float | None:
    """The points of a label, or the number; None for other values, including true and false."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        return None
    return columns.labels.get(value.strip().casefold(), _number(value))


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _text(row: Row, column: str) -> str:
    value = value_of(row, column) if column else None
    return "" if value is None else str(value).strip()


def _contaminated(text: str) -> str:
    """The reason of contamination, or "". Any text other than yes and no is itself the reason."""
    word = text.casefold()
    return "" if word in _NO else "marked as contaminated" if word in _YES else text


def _quoted(value: Any) -> str:
    text = " ".join(str(value).split())
    return f"“{text[:SHOWN]}…”" if len(text) > SHOWN else f"“{text}”"


def scale_of(text: str) -> Scale:
    """Parse `0:7` to a scale in whole points. Raises `ValueError`."""
    lowest, _, highest = text.partition(":")
    first, last = _number(lowest), _number(highest)
    if first is None or last is None or last - first < 1 or (last - first) % 1:
        raise ValueError(f"“{text}” is not a scale in whole points; enter lowest and highest points, such as 0:7")
    if last - first > STEPS_AT_MOST:
        raise ValueError(f"“{text}” has more than {STEPS_AT_MOST} steps")
    return Scale(lowest=first, highest=last)
