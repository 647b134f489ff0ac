"""Certificates and letters: their text, and PDFs of all or of one student."""

import uuid
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.marks.models import PrintedKind
from apps.marks.office import letters, office
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.letters import Printable, TextRefused, TextStale
from apps.marks.office.office import ResultRow
from apps.marks.office.printed_texts import Text, text_of, text_save
from apps.marks.views.blind import after_own_marks
from apps.ui.plain_text import without_nul
from apps.ui.sent import row_version
from apps.ui.typeset.press import PdfFailed, pdf_of_template


@never_cache
@after_own_marks
@require_http_methods(["GET", "HEAD", "POST"])
def texts(request: HttpRequest, contest_id: uuid.UUID, kind: str) -> HttpResponse:
    """The text of certificates or letters, and what can be printed; a POST saves the text."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    if kind not in PrintedKind.values:
        raise Http404("There is no such page.")
    shown, refusal = text_of(contest, kind), ""
    if request.method == "POST":
        sent = without_nul(request.POST)
        shown = Text(sent.get("heading", ""), sent.get("text", ""), row_version(request))
        try:
            text_save(contest=contest, kind=kind, heading=shown.heading, text=shown.text, based_on=shown.row_version, by=user)
        except TextRefused as error:
            refusal = str(error)
            if isinstance(error, TextStale):  # The reader has now seen the other text, so *Save* may replace it.
                shown = replace(shown, row_version=error.row_version)
        else:
            messages.success(request, "The text is saved.")
            return redirect("office:letters", contest_id=contest_id, kind=kind)
    found = office.result_list(contest)
    ready, closed = letters.printable(user, contest, found)
    context = {
        "contest": contest,
        "found": found,
        "in_force": cutoffs_fixed(contest),
        "kind": kind,
        "kinds": PrintedKind.choices,
        "words": PrintedKind(kind).label.lower(),
        "text": shown,
        "refusal": refusal,
        "placeholders": letters.PLACEHOLDERS,
        "closed": closed,
        "rows": [(row, ready.identity(row), ready.award(row)) for row in ready.rows] if ready else [],
    }
    return render(request, "marks/letters.html", context, status=422 if refusal else 200)


@never_cache
@after_own_marks
@require_GET
def letters_pdf(request: HttpRequest, contest_id: uuid.UUID, kind: str) -> HttpResponse:
    """One PDF: of all papers with a rank, of those with an award (`?who=awards`), or of one (`?paper=`)."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    ready, closed = letters.printable(user, contest, office.result_list(contest))
    if kind not in PrintedKind.values or ready is None:
        raise Http404(closed or "There is no such file.")
    text = text_of(contest, kind)
    try:
        value = letters.sheets_value(kind, text.heading, text.text, ready, _chosen(request, ready))
        data = pdf_of_template(letters.TEMPLATE, value)
    except (TextRefused, PdfFailed) as error:
        messages.error(request, str(error))
        return redirect("office:letters", contest_id=contest_id, kind=kind)
    answer = HttpResponse(data, content_type="application/pdf")
    number = f"-{request.GET['paper']}" if "paper" in request.GET else "s"
    answer["Content-Disposition"] = f'attachment; filename="{slugify(contest.title) or "contest"}-{kind}{number}.pdf"'
    return answer


def _chosen(request: HttpRequest, ready: Printable) -> list[ResultRow]:
    if "paper" in request.GET:
        rows = [row for row in ready.rows if row.paper.number == request.GET["paper"]]
        if not rows:
            raise Http404("There is no such paper with a rank.")
        return rows
    return [row for row in ready.rows if ready.award(row)] if request.GET.get("who") == "awards" else ready.rows
