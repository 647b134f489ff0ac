"""The page that replaces closed pages until the reader's own marks are sealed, and handing back scripts from it."""

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from apps.accounts.access import user_of
from apps.contests.access import coached_get_for
from apps.marks.blindness import OwnMarksOpen, tasks_hand_back
from apps.marks.workspace.passes import PassRefused


def after_own_marks(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Turn `OwnMarksOpen` of a view into a page (403) that lists the scripts to seal first."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except OwnMarksOpen as found:
            back = request.get_full_path() if request.method in ("GET", "HEAD") else ""
            held = [task for task in found.tasks if task.done_at is None]
            context = {"contest": found.contest, "tasks": found.tasks, "held": held, "back": back}
            return render(request, "marks/own_marks_first.html", context, status=403)

    return guarded


@require_POST
def hand_back(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Hand back the user's scripts (`task`) in a contest, then open the page that they had closed (`next`)."""
    user = user_of(request)
    contest = coached_get_for(user, contest_id)
    try:
        count = tasks_hand_back(user=user, contest=contest, tasks=uuids_read(request.POST.getlist("task")))
    except PassRefused as refused:
        messages.error(request, str(refused))
        return redirect("marks:home")
    messages.success(request, f"{count} script{'' if count == 1 else 's'} handed back. Your drafts are kept.")
    following = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()})
    return redirect(following if is_ours else "marks:home")


def uuids_read(words: list[str]) -> list[uuid.UUID]:
    """The valid ids among the submitted values."""
    found = []
    for one in words:
        try:
            found.append(uuid.UUID(one))
        except ValueError:
            continue
    return found
