"""Files of a run for other programs."""

import uuid

from django.contrib import messages
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from apps.explorations.take_away.article import document
from apps.explorations.take_away.files import PDF, PROOF_FILES, SPANS
from apps.explorations.take_away.spans import spans_text
from apps.explorations.take_away.written import WrittenProof, written_proof
from apps.explorations.views.shared import in_threads, run_of
from apps.runs.models import Run
from apps.ui.typeset.press import PdfFailed, pdf_answer

_NO_PROOF = "This run has no selected proof, so there is nothing to write up. You can export its lemma graph and its events."


@require_GET
def take_away(request: HttpRequest, run_id: uuid.UUID, form: str) -> HttpResponseBase:
    """A file of the run; redirects to its page with the reason if the file cannot be made."""
    run = run_of(request, run_id)
    if form == SPANS:
        return _spans(request, run)
    if form not in (PDF, *PROOF_FILES):
        raise Http404(f"Unknown file. Choose one of {', '.join((PDF, *PROOF_FILES, SPANS))}.")
    written = written_proof(run)
    if written is None:
        return _refused(request, run, _NO_PROOF)
    try:
        return _proof_file(run, form, written)
    except PdfFailed as error:
        return _refused(request, run, str(error))


def _proof_file(run: Run, form: str, written: WrittenProof) -> HttpResponse:
    """The file. Raises `PdfFailed`, `PdfBusy`."""
    if form == PDF:
        return pdf_answer(document(written), f"proof-{run.public_id}.pdf")
    file = PROOF_FILES[form]
    response = HttpResponse(file.write(written), content_type=file.content_type)
    stem = "blueprint" if form == "blueprint" else "proof"
    response["Content-Disposition"] = f'attachment; filename="{stem}-{run.public_id}.{file.ending}"'
    return response


def _refused(request: HttpRequest, run: Run, words: str) -> HttpResponse:
    messages.error(request, words)
    return redirect("explorations:run_detail", run_id=run.public_id)


def _spans(request: HttpRequest, run: Run) -> StreamingHttpResponse:
    pieces = spans_text(run)
    streamed = in_threads(pieces) if isinstance(request, ASGIRequest) else pieces
    response = StreamingHttpResponse(streamed, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="spans-{run.public_id}.json"'
    return response
