"""Transcriptions proposed by a model: requested and edited by the author of a page, then added to the draft or dismissed.

A proposal is shown next to the page. Only its author can add it to the draft, and it never replaces typed text.
"""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.contests.models import ContestProblem
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.submissions.models import TEXT_LENGTH, Scan, Submission, Transcription, TranscriptionState
from apps.submissions.services import draft_save

TRIES_AT_MOST = 3
NO_MODEL = "No model that can read pages is configured. Type the content of the page."
GONE = "This proposal no longer exists. Reload the page to see the current state."


def page_model() -> Alias | None:
    """The model that reads pages: the first in models.toml with `vision`, or None."""
    try:
        known = load_usable(settings.MODELS_FILE)
    except AliasError:
        return None
    return next((alias for alias in known.values() if alias.vision), None)


@transaction.atomic
def transcription_ask(*, scan: Scan) -> Transcription:
    """Queue a page for the model. Raises `ContestRefused`, also if a request or proposal is open."""
    _may_write(scan.submission.problem)
    alias = page_model()
    if alias is None:
        raise ContestRefused(NO_MODEL)
    row = Transcription.objects.select_for_update().filter(scan=scan).first()
    if row is None:
        return Transcription.objects.create(scan=scan, alias=alias.name, asked_at=timezone.now())
    if row.is_waiting:
        raise ContestRefused("This page is already being read. Wait for the proposal.")
    if row.state == TranscriptionState.READY:
        raise ContestRefused("There is already a proposal for this page. Append it to your text or dismiss it first.")
    if row.tries >= TRIES_AT_MOST:
        raise ContestRefused(f"This page was read {TRIES_AT_MOST} times, which is the limit. Type its content.")
    row.alias, row.state, row.tries = alias.name, TranscriptionState.QUEUED, row.tries + 1
    row.text = row.edited = row.reason = row.revision = ""
    row.asked_at, row.started_at, row.done_at = timezone.now(), None, None
    row.save()
    return row


def transcriptions_ask(*, submission: Submission) -> int:
    """Queue all pages of a draft without a request. Returns their number. Raises `ContestRefused`."""
    pages = list(submission.scans.exclude(position=None).filter(transcription=None).defer("jpeg"))
    for scan in pages:
        transcription_ask(scan=scan)
    return len(pages)


@transaction.atomic
def transcriptions_edit(*, submission: Submission, words: Mapping[str, str]) -> None:
    """Save an author's corrections of proposals; `words` by public id of the page."""
    ready = Transcription.objects.filter(scan__submission=submission, state=TranscriptionState.READY)
    for row in ready.filter(scan__public_id__in=words).select_related("scan"):
        edited = words[str(row.scan.public_id)].replace("\r\n", "\n").replace("\0", "")[:TEXT_LENGTH]
        if edited != row.edited:
            ready.filter(pk=row.pk).update(edited=edited)


@transaction.atomic
def transcription_take(*, scan: Scan, draft: Submission) -> Submission:
    """Append a proposal, as corrected by its author, to the draft. Raises `ContestRefused`, `DraftChanged`."""
    paper, problem = scan.submission.paper, scan.submission.problem
    _may_write(problem)
    row = Transcription.objects.select_for_update().filter(scan=scan, state=TranscriptionState.READY).first()
    if row is None:
        raise ContestRefused(GONE)
    words = row.edited.strip()
    if not words:
        raise ContestRefused("The proposal is empty. Dismiss it, or type the content of the page.")
    text = f"{draft.draft.rstrip()}\n\n{words}" if draft.draft.strip() else words
    saved = draft_save(paper=paper, problem=problem, text=text, text_format=draft.draft_format, based_on=draft.row_version)
    Transcription.objects.filter(pk=row.pk).update(state=TranscriptionState.TAKEN)
    return saved


@transaction.atomic
def transcription_decline(*, scan: Scan) -> None:
    """Dismiss a proposal or cancel a request. Raises `ContestRefused`."""
    _may_write(scan.submission.problem)
    rows = Transcription.objects.filter(scan=scan).exclude(state__in=(TranscriptionState.TAKEN, TranscriptionState.DECLINED))
    if not rows.update(state=TranscriptionState.DECLINED, done_at=timezone.now()):
        raise ContestRefused(GONE)


def unconfirmed(submission: Submission) -> int:
    """Number of proposals of a draft that their author has not settled."""
    rows = Transcription.objects.filter(scan__submission=submission, state=TranscriptionState.READY)
    return rows.exclude(scan__position=None).count()


def _may_write(problem: ContestProblem) -> None:
    if refusal := writing_refusal(problem):
        raise ContestRefused(refusal)
