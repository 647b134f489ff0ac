"""Requests to proof assistants: who asks, what waits, and what a page shows."""

from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import User
from apps.lemmas.formula_checks import CheckedFormula, FormulaCheck, check_of
from apps.lemmas.kernel.models import KernelCheck, KernelState
from apps.lemmas.kernel.tools import tools_here
from apps.runs.models import Run

#: A request without an answer after this time was lost with its process, and may be made again.
LOST_AFTER = timedelta(minutes=10)
#: Outcomes of our own check for which a proof assistant may be asked.
ASKED = frozenset(["proved", "survived"])


def with_kernel(run: Run, subject: str, check: FormulaCheck) -> FormulaCheck:
    """The check with the answers of proof assistants, and the tools that may be asked, at each formula."""
    rows: dict[tuple[str, int, int], list[KernelCheck]] = {}
    for row in KernelCheck.objects.filter(run=run, subject=subject):
        rows.setdefault((row.text_id, row.start, row.end), []).append(row)
    tools = tools_here()

    def shown(formula: CheckedFormula) -> CheckedFormula:
        if formula.outcome not in ASKED:
            return formula
        known = rows.get((formula.where, formula.start, formula.end), [])
        open_tools = [tool for tool in tools if all(row.tool != tool or may_ask_again(row) for row in known)]
        return replace(formula, kernel=tuple(known), kernel_tools=tuple(open_tools))

    return replace(check, formulas=tuple(shown(formula) for formula in check.formulas))


def may_ask_again(row: KernelCheck) -> bool:
    """Whether a request was lost, or its answer may change: a limit ended it, or the tool was absent."""
    if row.state == KernelState.DONE:
        return row.outcome in ("stopped", "absent", "failed")
    return row.asked_at < timezone.now() - LOST_AFTER


def kernel_ask(user: User, run: Run, subject: str, place: tuple[str, int, int], tool: str) -> CheckedFormula:
    """Request a check of the formula at a place, unless it is known or under way. Returns the formula as shown.

    Raises `Http404` if the run has no such formula, or the tool is not configured.
    """
    formula = formula_at(run, subject, place)
    if tool not in tools_here():
        raise Http404("This proof assistant is not configured here.")
    text_id, start, end = place
    with transaction.atomic():
        row, is_new = KernelCheck.objects.select_for_update().get_or_create(
            run=run,
            subject=subject,
            text_id=text_id,
            start=start,
            end=end,
            tool=tool,
            defaults={"asked_by": user, "asked_at": timezone.now()},
        )
        if not is_new and may_ask_again(row):
            row.state, row.result, row.asked_by, row.asked_at = KernelState.QUEUED, {}, user, timezone.now()
            row.save()
            is_new = True
        if is_new:
            transaction.on_commit(_send, robust=True)
    return formula_at(run, subject, place) if is_new else formula


def formula_at(run: Run, subject: str, place: tuple[str, int, int]) -> CheckedFormula:
    """The checked formula at a place of a lemma or proof. Raises `Http404`."""
    check = with_kernel(run, subject, check_of(run, subject))
    for formula in check.formulas:
        if (formula.where, formula.start, formula.end) == place and formula.outcome in ASKED:
            return formula
    raise Http404("This run has no such formula, or it was not proved and did not survive its tests.")


def _send() -> None:
    from apps.lemmas.tasks import check_with_kernel

    check_with_kernel.apply_async(retry=False)
