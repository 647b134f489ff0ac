"""Metrics of the table: which ones an experiment has, and the measure of a row by one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import F

from apps.experiments.models import CellScore, Experiment
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Bools, Row, kind_of, rows_empty, rows_of
from apps.reasoning.answers.comparison import answers_compared
from apps.reasoning.statistics.intervals import Floats, Undefined
from apps.reasoning.statistics.metrics import Measure, average, pass_at_k, share_reaching
from apps.reasoning.statistics.scores import Integers, Scores
from apps.reasoning.statistics.selections import NO_ANSWER, best_of_n, consensus_at_k

MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its name in addresses and its title. `k`: repeats that it looks at; `by`: the scorer that selects."""

    name: str
    title: str
    k: int = 1
    by: str = ""


MEAN_SCORE = Metric(MEAN, "mean score")


def metrics_of(manifest: Manifest, scorer: str) -> list[Metric]:
    """The metrics of a scorer: what needs more repeats than there are is left out."""
    kind = kind_of(manifest, scorer)
    found = [MEAN_SCORE]
    if kind in ("grader", "people", "imported"):
        found.append(Metric("full", "share with all points"))
    sizes = [2**power for power in range(1, 11) if 2**power <= manifest.repeats]
    if manifest.repeats > 1 and manifest.repeats not in sizes:
        sizes.append(manifest.repeats)
    found += [Metric(f"pass-{k}", f"pass@{k}", k) for k in sizes]
    if kind == "answer":
        found += [Metric(f"cons-{k}", f"cons@{k}", k) for k in sizes if k > 2]
    judges = [one.name for one in manifest.scorers if one.kind == "grader" and one.name != scorer]
    return found + [Metric(f"best-{k}-{judge}", f"best of {k} by {judge}", k, judge) for judge in judges for k in sizes]


@dataclass
class Measuring:
    """Measures of rows by one metric. What several rows share is read once."""

    experiment: Experiment
    scorer: str
    metric: Metric
    problems: Sequence[str]
    _groups: Mapping[tuple[str, str, int], Integers] = field(default_factory=dict)
    _judged: Mapping[tuple[str, str, int], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.metric.by:
            self._judged = {row.key: row.scores for row in rows_of(self.experiment, self.metric.by)[1]}
        elif self.metric.name.startswith("cons-"):
            self._groups = _groups(self.experiment, self.scorer, self.problems)

    def of(self, row: Row) -> Measure | Undefined:
        """The mean over problems with a score. The other metrics need `k` scores of each problem that the scorer can score."""
        k, name = self.metric.k, self.metric.name
        if name == MEAN:
            return mean_of(self.problems, row)
        is_partial = name == "full" or row.kind == "people"  # People mark a sample.
        scores, kept = _scores_of(self.problems, row, _with_scores(row) if is_partial else ~row.outside)
        if scores is None:
            return Undefined(reason="no cell has a score")
        if name == "full":
            return share_reaching(scores)
        if self.metric.by:
            return best_of_n(scores, self._judged[row.key][kept], k)
        return consensus_at_k(scores, self._groups[row.key][kept], k) if self._groups else pass_at_k(scores, k)


def mean_of(problems: Sequence[str], row: Row) -> Measure | Undefined:
    """The mean score over the problems that have one."""
    scores, _ = _scores_of(problems, row, _with_scores(row))
    return Undefined(reason="no cell has a score") if scores is None else average(scores)


def _with_scores(row: Row) -> Bools:
    return np.asarray(~np.isnan(row.scores).all(axis=1), np.bool_)


def _scores_of(problems: Sequence[str], row: Row, counted: Bools) -> tuple[Scores | None, list[int]]:
    """The scores of a row on the problems that count, with their places; None without a score."""
    kept = [] if np.isnan(row.scores).all() else np.flatnonzero(counted).tolist()
    return (Scores.of([problems[number] for number in kept], row.scores[kept]) if kept else None), kept


def _groups(experiment: Experiment, scorer: str, problems: Sequence[str]) -> dict[tuple[str, str, int], Integers]:
    """By row, which repeats have equal final answers, shape (P, R). Read from the answers that the scorer has kept."""
    rows = CellScore.objects.filter(cell__experiment=experiment, scorer=scorer, answer=F("cell__answer")).exclude(comment="")
    fields = ("cell__item__name", "cell__method", "cell__team", "cell__budget", "cell__repeat", "comment")
    place = {name: number for number, name in enumerate(problems)}
    empty = rows_empty(manifest_stored(experiment), len(problems))
    found = {key: np.full(row.scores.shape, NO_ANSWER, np.int64) for key, row in empty.items()}
    known: dict[str, list[str]] = {}
    for name, method, team, budget, repeat, text in rows.values_list(*fields):
        found[method, team, budget][place[name], repeat] = _group(text, known.setdefault(name, []))
    return found


def _group(text: str, known: list[str]) -> int:
    """The number of the answer among the different ones of its problem, to which it is added if it is new."""
    for number, other in enumerate(known):
        if text == other or answers_compared(text, other).outcome == "equal":
            return number
    known.append(text)
    return len(known) - 1
