"""Views for authors: own problems, the editor with preview and autosave, handed-in versions."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import contest_get_for, paper_own, problem_own_for
from apps.contests.models import ContestKind, ContestProblem, ContestState
from apps.contests.selectors import problem_list
from apps.contests.services import ContestRefused
from apps.contests.windows import hand_in_refusal, writing_refusal
from apps.reasoning.texts.latex import names_an_author
from apps.submissions import selectors, services, transcriptions
from apps.submissions.access import submission_own_for, version_own_for
from apps.submissions.forms import TextForm
from apps.submissions.models import Submission
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of

WORDS = "words-"


@never_cache
@require_GET
def own(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Show a contest to one of its students: the problems and the student's versions."""
    user = user_of(request)
    contest = contest_get_for(user, contest_id)
    paper = paper_own(user, contest)
    if paper is None:
        raise Http404("There is no such contest.")
    if contest.kind == ContestKind.PRACTICE:
        return redirect("practice:path")
    context = {"contest": contest, "rows": selectors.own_rows(contest, paper), "refusal": hand_in_refusal(contest)}
    return render(request, "submissions/own.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def write(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Show the editor; POST hands the text in."""
    paper, problem = problem_own_for(user_of(request), problem_id)
    submission = services.submission_of(paper, problem)
    if request.method != "POST":
        return editor_page(request, problem, submission, _form_of(submission))
    form = TextForm(request.POST)
    if not form.is_valid():
        return editor_page(request, problem, submission, form, status=422)
    try:
        version = services.version_hand_in(paper=paper, problem=problem, **form.cleaned_data)
    except services.DraftChanged as changed:
        return editor_page(request, problem, changed.submission, form, is_stale=True, status=409)
    except ContestRefused as error:
        form.add_error(None, str(error))
        return editor_page(request, problem, submission, form, status=422)
    messages.success(request, f"Version {version.number} is handed in.")
    words_keep(request, version.submission)
    if left := transcriptions.unconfirmed(version.submission):
        messages.warning(request, f"Only your text was handed in, without proposed transcriptions ({left}).")
    return redirect("submissions:version_own", version_id=version.public_id)


@login_not_required
@require_GET
def drafts_worker(request: HttpRequest) -> HttpResponse:
    """The service worker of the editor, at an address below which it may answer: that of contest problems only."""
    return render(request, "submissions/drafts_worker.js", content_type="text/javascript")


@require_POST
def draft(request: HttpRequest, problem_id: uuid.UUID) -> JsonResponse:
    """Save a draft and corrections of proposals. Answers `{"row_version", "saved_at"}`.

    Answers 409 with the newer `row_version`, `text` and `format`, or 422 with `error`.
    """
    submission = submission_own_for(user_of(request), problem_id)
    form = TextForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"error": " ".join(str(words) for errors in form.errors.values() for words in errors)}, status=422)
    try:
        submission = services.draft_store(submission=submission, **form.cleaned_data)
    except services.DraftChanged as changed:
        now = changed.submission
        return JsonResponse({"row_version": now.row_version, "text": now.draft, "format": now.draft_format}, status=409)
    except ContestRefused as error:
        return JsonResponse({"error": str(error)}, status=422)
    words_keep(request, submission)
    saved_at = submission.draft_saved_at.isoformat() if submission.draft_saved_at else None
    return JsonResponse({"row_version": submission.row_version, "saved_at": saved_at})


@require_POST
def preview(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Render the text of the editor without storing it."""
    problem_own_for(user_of(request), problem_id)
    text, text_format = request.POST.get("text", ""), request.POST.get("text_format", "")
    context = {"text": text, "text_format": text_format, "names_an_author": names_an_author(text)}
    return render(request, "submissions/_preview.html", context)


@never_cache
@require_GET
def version_own(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Show an author's own version with links to all versions of the problem."""
    version = version_own_for(user_of(request), version_id)
    contest = version.submission.paper.contest
    if contest.kind != ContestKind.CONTEST and contest.state == ContestState.OPEN:
        return redirect("practice:attempt", version_id=version_id)
    context = {
        "version": version,
        "contest": contest,
        "problem": version.submission.problem,
        "versions": selectors.version_list(version.submission),
        "refusal": writing_refusal(version.submission.problem),
    }
    return render(request, "submissions/version_own.html", context)


@require_POST
def version_withdraw(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Withdraw the newest version."""
    version = version_own_for(user_of(request), version_id)
    with refusals_shown(request, ContestRefused):
        services.version_withdraw(version=version)
        messages.success(request, "Version withdrawn. No version of this problem is marked until you hand in a newer one.")
    return redirect("submissions:version_own", version_id=version_id)


def words_keep(request: HttpRequest, submission: Submission) -> None:
    """Save corrections of proposed transcriptions from the fields `words-…`."""
    words = {name.removeprefix(WORDS): str(value) for name, value in request.POST.items() if name.startswith(WORDS)}
    known = {key: text for key, text in words.items() if uuid_of(key)}
    if known and submission.pk:
        transcriptions.transcriptions_edit(submission=submission, words=known)


def _form_of(submission: Submission) -> TextForm:
    initial = {
        "text": submission.draft,
        "text_format": submission.draft_format,
        "based_on": submission.row_version,
    }
    return TextForm(initial=initial)


def editor_page(
    request: HttpRequest,
    problem: ContestProblem,
    submission: Submission,
    form: TextForm,
    *,
    is_stale: bool = False,
    status: int = 200,
) -> HttpResponse:
    """Render the editor with `form` and the stored submission."""
    text = str(form["text"].value() or "")
    context = {
        "problem": problem,
        "contest": problem.contest,
        "submission": submission,
        "form": form,
        "based_on": submission.row_version if is_stale else form["based_on"].value(),
        "text": text,
        "text_format": str(form["text_format"].value() or ""),
        "names_an_author": names_an_author(text),
        "is_stale": is_stale,
        "scans": selectors.scan_list(submission) if submission.pk else [],
        "page_model": transcriptions.page_model(),
        "problems": problem_list(problem.contest),
        "refusal": writing_refusal(problem),
        "versions": selectors.version_list(submission) if submission.pk else [],
    }
    if problem.contest.kind == ContestKind.PRACTICE:
        context["nav_place"] = reverse("practice:path")
    return render(request, "submissions/write.html", context, status=status)
