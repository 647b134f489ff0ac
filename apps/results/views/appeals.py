"""Appeals: handing in and withdrawing, the coaches' queue, hearing and answering."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import coached_get_for
from apps.marks.grades import grade_of
from apps.marks.models import Appeal
from apps.marks.sealing.seeing import marks_shown
from apps.results import appeals
from apps.results.access import appeal_heard_for, appeal_own_for, made_marks, marks_unsealed, version_own_for
from apps.results.forms import AnswerForm, AppealForm
from apps.results.revisions import revisions_for
from apps.results.shown import parts_of
from apps.ui.refusals import refusals_shown


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def appeal_write(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The appeal form; `?about=verdict:…` preselects its subject."""
    version = version_own_for(user_of(request), version_id)
    parts = parts_of([version]).get(version.pk, {})
    window, targets = appeals.appeal_window(parts), appeals.targets_of(parts)
    if window is None or not targets:
        raise Http404("There is nothing to appeal against.")
    choices = [(one.key, one.words) for one in targets]
    about = request.GET.get("about", "")
    form = AppealForm(choices, request.POST if request.method == "POST" else None, initial={"target": about})
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                appeals.appeal_write(version=version, parts=parts, **form.cleaned_data)
            except appeals.AppealRefused as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, "Your appeal is handed in. Another marker will look at your text.")
                return redirect("results:result", version_id=version_id)
    context = {
        "contest": version.submission.paper.contest,
        "problem": version.submission.problem,
        "version": version,
        "form": form,
        "window": window,
    }
    return render(request, "results/appeal_write.html", context, status=status)


@require_POST
def appeal_withdraw(request: HttpRequest, appeal_id: uuid.UUID) -> HttpResponse:
    """Withdraw an appeal."""
    appeal = appeal_own_for(user_of(request), appeal_id)
    with refusals_shown(request, appeals.AppealRefused):
        appeals.appeal_withdraw(appeal=appeal)
    return redirect("results:result", version_id=appeal.grade.case.version.public_id)


@never_cache
@require_GET
def appeal_list(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Open appeals of a contest, and newer versions of texts with released remarks."""
    user = user_of(request)
    contest = coached_get_for(user, contest_id)
    rows = []
    for appeal in appeals.appeals_open(contest):
        case = appeal.grade.case
        if not marks_unsealed(user, case):
            rows.append((appeal, appeals.appeal_words(appeal), appeals.hearing_refusal(user, appeal)))
    context = {"contest": contest, "rows": rows, "revised": revisions_for(user, contest)}
    return render(request, "results/appeal_list.html", context)


@never_cache
@require_GET
def appeal_detail(request: HttpRequest, appeal_id: uuid.UUID) -> HttpResponse:
    """An appeal for a coach: its subject and, after the fresh mark, both results."""
    appeal = appeal_heard_for(user_of(request), appeal_id)
    return _detail(request, appeal, AnswerForm())


@require_POST
def appeal_command(request: HttpRequest, appeal_id: uuid.UUID, verb: str) -> HttpResponse:
    """`take`, `reject` or `uphold`."""
    user = user_of(request)
    appeal = appeal_heard_for(user, appeal_id)
    try:
        if verb == "take":
            appeals.appeal_take(appeal=appeal, by=user)
            return redirect("results:appeal", appeal_id=appeal_id)
        answers = {"reject": appeals.appeal_reject, "uphold": appeals.appeal_uphold}
        if verb not in answers:
            raise Http404("There is no such page.")
        form = AnswerForm(request.POST)
        if not form.is_valid():
            return _detail(request, appeal, form, status=422)
        answers[verb](appeal=appeal, by=user, answer=form.cleaned_data["answer"])
    except appeals.AppealRefused as error:
        messages.error(request, str(error))
        return redirect("results:appeal", appeal_id=appeal_id)
    if further := appeals.appeal_next(appeal, user):
        messages.success(request, "Your answer is saved. Another appeal about this text waits for your answer.")
        return redirect("results:appeal", appeal_id=further.public_id)
    messages.success(request, "Your answer is saved. Students see changed points with the next release.")
    return redirect("results:appeal_list", contest_id=appeal.grade.case.problem.contest.public_id)


def _detail(request: HttpRequest, appeal: Appeal, form: AnswerForm, status: int = 200) -> HttpResponse:
    user = user_of(request)
    case = appeal.grade.case
    mark = appeals.mark_sealed(case, user)
    sees_old = mark is not None or made_marks(user, case)
    current = grade_of(case) if sees_old else None
    if sees_old:
        marks_shown(case, user, "appeal")
    context = {
        "contest": case.problem.contest,
        "problem": case.problem,
        "paper": case.version.submission.paper,
        "appeal": appeal,
        "about": appeals.appeal_words(appeal),
        "refusal": appeals.answer_refusal(user, appeal, mark),
        "related": [(one, appeals.appeal_words(one)) for one in appeals.appeals_related(appeal)],
        "is_result": not appeal.answer and mark is not None and current is not None and current.mark_id == mark.pk,
        "task": appeals.task_of(case, user),
        "mark": mark,
        "current": current,
        "form": form,
    }
    return render(request, "results/appeal.html", context, status=status)
