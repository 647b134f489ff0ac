"""From rows of a file to pairs of points: what a person gave, what a grader gave, and what could not be read."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from apps.grading.kept_columns import siblings
from apps.grading.mark_files import Row, column_names, columns_check, value_of
from apps.problems.importing.files import FileWrong
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import points_or_unscored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.domain.values import Unscored

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_NO, _YES = {"", "0", "false", "no", "n"}, {"1", "true", "yes", "y"}
SHOWN = 40
#: Of a scale: tables of categories grow with its square.
STEPS_AT_MOST = 200
TWICE_PARTED = "“{}” says who the author is: its tables stand apart already, and are not split by it once more."
SEVERAL = "Where rows are by several graders (columns like workflow and model say so), make a file of each."
Runs = Sequence[float | Unscored]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; an empty name: there is none. `labels` are words with points, `times` multiplies predictions."""

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
    """What predictions are multiplied by. Raises `ValueError` for what makes nothing of them."""
    if not 0 < number < math.inf:
        raise ValueError("predictions are multiplied by a number above 0")
    return number


def labels_of(text: str) -> dict[str, float]:
    """`incorrect=0, partial=1` as words with points. Raises `ValueError`."""
    labels: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        word, _, points = part.rpartition("=")
        number = _number(points)
        if not word.strip() or number is None:
            raise ValueError(f"“{part}” is not of the form word=points")
        labels[word.strip().casefold()] = number
    return labels


def pairs_of(rows: list[Row], columns: Columns, predicted: str, *, by_person: bool = False) -> list[Pair]:
    """A pair per row, `predicted` being the other side's column; with `by_person` that is a second person's mark.

    What a person gave must be points: raises `FileWrong` for a mark that is none or lies off the scale. What a grader gave may
    be anything: what cannot be read is unscored, with the reason.
    """
    named = (columns.human, predicted, columns.problem, columns.paper, columns.author, columns.contaminated, *columns.groups)
    columns_check(rows, [name for name in named if name])
    reason = siblings(column_names(rows), "unscored", columns.human).get(predicted, "")
    pairs = []
    papers: set[str] = set()
    for number, row in enumerate(rows, 1):
        paper = _text(row, columns.paper) or f"row {number}"
        if paper in papers:
            raise FileWrong(f"Row {number}: the paper “{paper}” was there before; a paper counts once. {SEVERAL}")
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
        raise FileWrong(f"Row {number}: {_quoted(value)} is not points. Words get points with --labels word=points,….")
    if not columns.scale.holds(points):
        scale = columns.scale
        raise FileWrong(f"Row {number}: {points:g} is not from {scale.lowest:g} to {scale.highest:g}. Another scale: --scale.")
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
    """A label's points, or the number; None for all else. True and false are no points."""
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
    """Any other word than yes and no is the reason itself."""
    word = text.casefold()
    return "" if word in _NO else "marked as contaminated" if word in _YES else text


def _quoted(value: Any) -> str:
    text = " ".join(str(value).split())
    return f"“{text[:SHOWN]}…”" if len(text) > SHOWN else f"“{text}”"


def scale_of(text: str) -> Scale:
    """`0:7` as a scale in whole points. Raises `ValueError`."""
    lowest, _, highest = text.partition(":")
    first, last = _number(lowest), _number(highest)
    if first is None or last is None or last - first < 1 or (last - first) % 1:
        raise ValueError(f"“{text}” is no scale in whole points; write its lowest and highest, such as 0:7")
    if last - first > STEPS_AT_MOST:
        raise ValueError(f"“{text}” has more than {STEPS_AT_MOST} steps")
    return Scale(lowest=first, highest=last)
