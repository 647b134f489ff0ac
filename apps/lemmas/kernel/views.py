"""The requests to proof assistants on the pages of lemmas and proofs."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.lemmas.formula_checks import CheckedFormula
from apps.lemmas.kernel.models import KernelCheck
from apps.lemmas.kernel.services import formula_at, kernel_ask
from apps.lemmas.models import PROOF_PREFIX
from apps.runs.access import run_get_for
from apps.runs.models import Run
from apps.ui.sent import whole_number


@require_POST
def kernel_request(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Let a proof assistant check the formula at `where`, `start`, `end` of `subject`."""
    run = run_get_for(user_of(request), run_id)
    start, end = (whole_number(request.POST.get(name, "")) for name in ("start", "end"))
    if start is None or end is None:
        raise Http404("The place of the formula is missing.")
    subject, place = request.POST.get("subject", ""), (request.POST.get("where", ""), start, end)
    formula = kernel_ask(user_of(request), run, subject, place, request.POST.get("tool", ""))
    if request.headers.get("HX-Request") != "true":
        if subject.startswith(PROOF_PREFIX):
            return redirect("lemmas:proof_panel", run.public_id, subject.removeprefix(PROOF_PREFIX))
        return redirect("lemmas:lemma_panel", run.public_id, subject)
    return _shown(request, run, subject, formula)


@require_GET
def kernel_state(request: HttpRequest, run_id: uuid.UUID, check: int) -> HttpResponse:
    """The newest state of a request, as the partial of its formula."""
    row = _row(request, run_id, check)
    return _shown(request, row.run, row.subject, formula_at(row.run, row.subject, (row.text_id, row.start, row.end)))


@require_GET
def kernel_file(request: HttpRequest, run_id: uuid.UUID, check: int) -> HttpResponse:
    """The file that the proof assistant checked."""
    row = _row(request, run_id, check)
    if not row.result.get("file"):
        raise Http404("There is no checked file.")
    response = HttpResponse(row.result["file"], content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{row.result["file_name"]}"'
    return response


def _row(request: HttpRequest, run_id: uuid.UUID, check: int) -> KernelCheck:
    run = run_get_for(user_of(request), run_id)
    row = KernelCheck.objects.filter(run=run, pk=check).first()
    if row is None:
        raise Http404("This run has no such check.")
    row.run = run
    return row


def _shown(request: HttpRequest, run: Run, subject: str, formula: CheckedFormula) -> HttpResponse:
    return render(request, "lemmas/_kernel.html", {"run": run, "subject": subject, "formula": formula})
