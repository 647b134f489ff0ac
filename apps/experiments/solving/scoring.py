"""Scores of finished cells. Scorers without a model score at once; graders make runs of their own, under the same capacity.

An answer that cannot be scored is unscored with the reason, never 0.
"""

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from apps.experiments.models import CellScore, Experiment, SolvingCell, SolvingState
from apps.experiments.solving.manifest import Scorer
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.answers.comparison import UNSTATED, WITHOUT
from apps.reasoning.answers.points import INCOMPARABLE, NO_ANSWER, NOTHING, Found, answer_points
from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run, RunEvent

NOT_JUDGED = "the method did not judge its proof"
#: Cells that are scored in one transaction.
AT_ONCE = 200
_ONE = Decimal(1)


def is_outside(unscored: str) -> bool:
    """Whether a reason is one of `why_outside`."""
    return unscored == NO_ANSWER or unscored.startswith(INCOMPARABLE)


def is_without_answer(unscored: str, kind: str) -> bool:
    """Whether a cell is unscored because it gave no answer; by final answer, also because its answer could not be compared.

    `kind` is that of the scorer. Graders that gave no score say nothing about the answer.
    """
    if kind == "answer":
        return bool(unscored) and not is_outside(unscored)
    return unscored in (NOTHING, WITHOUT) or unscored.startswith(UNSTATED)


def text_of(run: Run, answer: str) -> str:
    """The text of a proof or candidate; "" if the run has none of this id."""
    for kind, name in ((Kind.CANDIDATE_DRAFTED, "candidate"), (Kind.PROOF_DRAFTED, "proof")):
        found = RunEvent.objects.filter(run=run, kind=kind, **{f"body__{name}": answer}).values_list("body__text", flat=True)
        if text := found.order_by("-seq").first():
            return str(text)
    return ""


def handed_in(cell: SolvingCell, answer: str) -> str:
    """The text of an answer of a cell; "" without one, or if its run was deleted."""
    if not answer:
        return ""
    return cell.text if cell.run is None else text_of(cell.run, answer)


@transaction.atomic
def scores_add(experiment: Experiment) -> int:
    """Score finished cells by the scorers without a model, and queue those by graders. Returns the number of new scores, at
    most `AT_ONCE` a scorer."""
    manifest, count = manifest_stored(experiment), 0
    for scorer in manifest.scorers:
        if scorer.kind in ("answer", "accepted", "grader"):
            without: dict[str, Any] = {} if scorer.kind == "accepted" else {"text": ""}  # External cells judge nothing.
            cells = _unscored_cells(experiment, scorer).exclude(method__in=manifest.external, **without)
            scores = [score_new(cell, scorer, cell.answer) for cell in cells[:AT_ONCE]]
            CellScore.objects.bulk_create(scores, ignore_conflicts=True)
            count += len(scores)
    return count


def _unscored_cells(experiment: Experiment, scorer: Scorer) -> QuerySet[SolvingCell]:
    known = CellScore.objects.filter(cell=OuterRef("pk"), scorer=scorer.name, answer=OuterRef("answer"))
    cells = experiment.solving_cells.filter(~Exists(known), state=SolvingState.FINISHED)
    return cells.select_related("run", "item__problem").order_by("position")


def score_new(cell: SolvingCell, scorer: Scorer, answer: str) -> CellScore:
    """The score of an answer of a cell, not saved: to be graded, or by a scorer without a model."""
    if scorer.kind == "grader" and answer:
        return CellScore(cell=cell, scorer=scorer.name, answer=answer)
    found = _by_answer(cell, answer) if scorer.kind == "answer" else _by_method(cell)
    state = CellScore.State.UNSCORED if found.points is None else CellScore.State.SCORED
    given = {**found._asdict(), "scale": None if found.points is None else _ONE}
    return CellScore(cell=cell, scorer=scorer.name, answer=answer, state=state, ended_at=timezone.now(), **given)


def _by_answer(cell: SolvingCell, answer: str) -> Found:
    return answer_points(handed_in(cell, answer), cell.item.problem.answer)


def _by_method(cell: SolvingCell) -> Found:
    if not cell.answer:
        return Found(None, NOTHING)
    return Found(None, NOT_JUDGED) if cell.accepted is None else Found(Decimal(cell.accepted))
