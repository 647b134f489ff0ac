"""Anytime answers of finished cells: recorded in the cell, with a score for each different one."""

from typing import Any

from django.db import transaction

from apps.experiments.models import CellScore, Experiment, SolvingCell, SolvingState
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.scoring import score_new
from apps.reasoning.programs.anytime import NoAnytimeAnswer, answers_over
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import Run, RunEvent

#: Scorers that can score an earlier answer. The method's own verdict exists for the last one only.
KINDS = ("answer", "grader")
#: Cells whose events are read in one transaction.
AT_ONCE = 20


@transaction.atomic
def answers_record(experiment: Experiment, manifest: Manifest) -> int:
    """Record the anytime answers of finished cells and their scores. Returns the number of cells, at most `AT_ONCE`."""
    if not manifest.curves:
        return 0
    open_ = experiment.solving_cells.filter(state=SolvingState.FINISHED, handed__isnull=True, run__isnull=False)
    cells = list(open_.select_related("run", "item__problem").order_by("position")[:AT_ONCE])
    for cell in cells:
        _record(cell, manifest)
    return len(cells)


def _record(cell: SolvingCell, manifest: Manifest) -> None:
    handed = _handed(cell.run, cell.answer) if cell.run is not None else []
    earlier = {str(row[-1]) for row in handed} - {"", cell.answer}
    scorers = [one for one in manifest.scorers if one.kind in KINDS]
    scores = [score_new(cell, scorer, answer) for scorer in scorers for answer in sorted(earlier)]
    CellScore.objects.bulk_create(scores, ignore_conflicts=True)
    SolvingCell.objects.filter(pk=cell.pk).update(handed=handed)


def _handed(run: Run, final: str) -> list[list[Any]]:
    """Rows of calls, completion tokens, tokens, seconds, use by alias, and answer; none if the scaffold has no rule for them.

    `final`: the proof at the end of the run. The candidate that became it is replaced by it, as it is the same text.
    """
    rows = RunEvent.objects.filter(run=run).order_by("seq").values_list("seq", "kind", "body")
    events = [(seq, event_from(kind, body)) for seq, kind, body in rows]
    try:
        found = answers_over(run.scaffold, run.spec["params"], events)
    except NoAnytimeAnswer:
        return []
    last = found[-1].answer if found and final else ""
    return [
        [
            one.calls,
            one.completion_tokens,
            one.tokens,
            round(one.seconds, 3),
            one.by_alias,
            final if last and one.answer == last else one.answer,
        ]
        for one in found
    ]
