"""A marked paper as PDF, typeset on the server."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.marks.office import office
from apps.marks.office.printing import paper_document, paper_printed
from apps.marks.views.blind import after_own_marks
from apps.ui.typeset.press import PdfFailed, pdf_answer


@never_cache
@after_own_marks
@require_GET
def paper_pdf(request: HttpRequest, contest_id: uuid.UUID, number: str) -> HttpResponse:
    """A marked paper under its number; redirects to its page with the reason if no PDF can be made."""
    contest = office.office_results_for(user_of(request), contest_id)
    found = get_object_or_404(contest.papers, number=number)
    printed = paper_printed(contest, found)
    if not printed:
        return redirect("office:paper", contest_id=contest_id, number=number)  # The page explains that nothing is settled.
    try:
        return pdf_answer(paper_document(contest, found, printed), f"paper-{found.number}.pdf")
    except PdfFailed as error:
        messages.error(request, str(error))
        return redirect("office:paper", contest_id=contest_id, number=number)
