"""Transcriptions that a model proposes: asked for by a page's author, edited, then taken into the draft or laid aside.

A proposal lies beside the picture until its author takes it; it never goes into a version by itself and never replaces what
was typed.
"""

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.contests.models import Paper
from apps.contests.services import ContestRefused, hand_in_refusal
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.submissions.models import TEXT_LENGTH, Scan, Submission, Transcription, TranscriptionState
from apps.submissions.services import draft_save

TRIES_AT_MOST = 3
NO_MODEL = "No model that reads pages is set up here. Type what the page says."
GONE = "This proposal is no longer there."


def page_model() -> Alias | None:
    """The model that reads pages: the first of models.toml that says `vision`; None where there is none."""
    try:
        known = load_usable(settings.MODELS_FILE)
    except AliasError:
        return None
    return next((alias for alias in known.values() if alias.vision), None)


@transaction.atomic
def transcription_ask(*, scan: Scan) -> Transcription:
    """Queue a page for the model. Raises `ContestRefused`, also where a proposal waits for its author already."""
    _may_write(scan.submission.paper)
    alias = page_model()
    if alias is None:
        raise ContestRefused(NO_MODEL)
    row = Transcription.objects.select_for_update().filter(scan=scan).first()
    if row is None:
        return Transcription.objects.create(scan=scan, alias=alias.name, asked_at=timezone.now())
    if row.is_waiting:
        raise ContestRefused("This page is being read.")
    if row.state == TranscriptionState.READY:
        raise ContestRefused("There is a proposal for this page. Take it or lay it aside first.")
    if row.tries >= TRIES_AT_MOST:
        raise ContestRefused(f"This page was read {TRIES_AT_MOST} times, which is the limit. Type what it says.")
    row.alias, row.state, row.tries = alias.name, TranscriptionState.QUEUED, row.tries + 1
    row.text = row.edited = row.reason = row.revision = ""
    row.asked_at, row.started_at, row.done_at = timezone.now(), None, None
    row.save()
    return row


def transcriptions_ask(*, submission: Submission) -> int:
    """Queue every page of a draft that was never asked for; how many. Raises `ContestRefused`."""
    pages = list(submission.scans.exclude(position=None).filter(transcription=None).defer("jpeg"))
    for scan in pages:
        transcription_ask(scan=scan)
    return len(pages)


@transaction.atomic
def transcriptions_edit(*, submission: Submission, words: Mapping[str, str]) -> None:
    """Keep what an author has made of proposals so far; `words` by the public ids of their pages."""
    ready = Transcription.objects.filter(scan__submission=submission, state=TranscriptionState.READY)
    for row in ready.filter(scan__public_id__in=words).select_related("scan"):
        edited = words[str(row.scan.public_id)].replace("\r\n", "\n").replace("\0", "")[:TEXT_LENGTH]
        if edited != row.edited:
            ready.filter(pk=row.pk).update(edited=edited)


@transaction.atomic
def transcription_take(*, scan: Scan, draft: Submission) -> Submission:
    """Confirm a proposal as its author left it: it goes to the end of their draft. Raises `ContestRefused`, `DraftChanged`."""
    paper = scan.submission.paper
    _may_write(paper)
    row = Transcription.objects.select_for_update().filter(scan=scan, state=TranscriptionState.READY).first()
    if row is None:
        raise ContestRefused(GONE)
    words = row.edited.strip()
    if not words:
        raise ContestRefused("The proposal is empty now. Lay it aside, or write what the page says.")
    text = f"{draft.draft.rstrip()}\n\n{words}" if draft.draft.strip() else words
    problem = scan.submission.problem
    saved = draft_save(paper=paper, problem=problem, text=text, text_format=draft.draft_format, based_on=draft.row_version)
    Transcription.objects.filter(pk=row.pk).update(state=TranscriptionState.TAKEN)
    return saved


@transaction.atomic
def transcription_decline(*, scan: Scan) -> None:
    """Lay a proposal aside, or stop waiting for one. Raises `ContestRefused`."""
    _may_write(scan.submission.paper)
    rows = Transcription.objects.filter(scan=scan).exclude(state__in=(TranscriptionState.TAKEN, TranscriptionState.DECLINED))
    if not rows.update(state=TranscriptionState.DECLINED, done_at=timezone.now()):
        raise ContestRefused(GONE)


def unconfirmed(submission: Submission) -> int:
    """How many proposals of a draft wait for their author."""
    rows = Transcription.objects.filter(scan__submission=submission, state=TranscriptionState.READY)
    return rows.exclude(scan__position=None).count()


def _may_write(paper: Paper) -> None:
    if refusal := hand_in_refusal(paper.contest):
        raise ContestRefused(refusal)
