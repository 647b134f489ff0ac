"""Checks made after an import, for the readers of checks (apps/lemmas/formula_checks.py)."""

from collections.abc import Collection

from apps.lemmas.later.models import LaterCheck, LaterChecks
from apps.reasoning.domain.check_events import FormulasChecked
from apps.runs.models import Run

#: In the place of an event's number: no moment of the recorded run has seen these checks.
NEVER = 2**31 - 1


def later_checks(run: Run, subjects: Collection[str] | None = None) -> dict[str, FormulasChecked]:
    """By subject, the checks of an imported run; empty for other runs."""
    if not run.is_imported:
        return {}
    rows = LaterCheck.objects.filter(run=run)
    rows = rows if subjects is None else rows.filter(subject__in=subjects)
    return {subject: FormulasChecked.model_validate(body) for subject, body in rows.values_list("subject", "body")}


def later_outcomes(run: Run) -> dict[str, tuple[str, int]]:
    """By subject, the outcome of these checks and `NEVER`."""
    if not run.is_imported:
        return {}
    rows = LaterCheck.objects.filter(run=run).values_list("subject", "body__outcome")
    return {subject: (outcome, NEVER) for subject, outcome in rows}


def why_not_later(run: Run) -> str:
    """Reason why a subject of an imported run has no check."""
    job = LaterChecks.objects.filter(run=run).first()
    if job is None:
        return "this run was imported before imported runs were checked; its check is waiting."
    if job.ended_at is not None:
        return "there is no formula in it."
    return job.reason or "the check after the import is waiting or under way."


def unfinished_words(run: Run) -> str:
    """Why the checks after the import are not finished, or ""."""
    job = LaterChecks.objects.filter(run=run, ended_at=None).first() if run.is_imported else None
    return "" if job is None else job.reason or "The check after the import is waiting or under way."
