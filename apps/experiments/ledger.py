"""Record disclosures of contest scripts on pages of experiments and agreement in the ledger of the script.

If the script is reopened, a person with a disclosure no longer counts as an unbiased marker.
"""

from collections.abc import Iterable

from django.db import transaction

from apps.accounts.models import User
from apps.experiments.models import ExperimentCell
from apps.marks.models import Mark, MarkingCase, MarkState, Reveal, RevealKind
from apps.runs.models import BATCHED, Run

EXPERIMENT, AGREEMENT, CARDS = "experiment", "agreement", "cards"
_AT_ONCE = 500


@transaction.atomic
def results_shown(user: User, cases: Iterable[int], trigger: str, *, with_people: bool = True) -> None:
    """Record once that a user was shown the points of graders and, `with_people`, of other people for these scripts.

    `cases`: primary keys. The rows name no suggestion, so that they do not count as a reveal stage next to the user's own mark.
    """
    keys = sorted(set(cases))
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        known = Reveal.objects.filter(person=user, case__in=some)
        given = set(known.filter(kind=RevealKind.ITEMS, suggestion=None).values_list("case", flat=True))
        rows = [Reveal(case_id=case, person=user, kind=RevealKind.ITEMS, trigger=trigger) for case in some if case not in given]
        rows += _of_people(user, some, trigger) if with_people else []
        Reveal.objects.bulk_create(rows)


def texts_shown(user: User, texts: Iterable[int | None]) -> None:
    """Record rows of an experiment's table or file, which include the official grade. `texts`: primary keys of versions."""
    versions = sorted({text for text in texts if text is not None})
    for start in range(0, len(versions), _AT_ONCE):
        cases = MarkingCase.objects.filter(version__in=versions[start : start + _AT_ONCE])
        results_shown(user, cases.values_list("pk", flat=True), EXPERIMENT)


def run_opened(user: User, run: Run) -> None:
    """Record the opening of a cell's run, which shows no points of people."""
    if run.preset == BATCHED:
        cases = MarkingCase.objects.filter(version__in=ExperimentCell.objects.filter(run=run).values("version"))
        results_shown(user, cases.values_list("pk", flat=True), EXPERIMENT, with_people=False)


def _of_people(user: User, cases: list[int], trigger: str) -> list[Reveal]:
    """One row per sealed mark of others that is not in the ledger yet."""
    kept = Reveal.objects.filter(person=user, case__in=cases, kind=RevealKind.COLLEAGUE)
    known = set(kept.values_list("mark", flat=True))
    marks = (
        Mark.objects.filter(task__case__in=cases, sealed_at__isnull=False).exclude(marker=user).exclude(state=MarkState.VOID)
    )
    return [
        Reveal(case_id=case, person=user, kind=RevealKind.COLLEAGUE, mark_id=mark, trigger=trigger)
        for mark, case in marks.order_by("pk").values_list("pk", "task__case")
        if mark not in known
    ]
