"""The page that stands in for one that a person may read once their own marks are sealed, and handing scripts back for it."""

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
from apps.marks.passes import PassRefused


def after_own_marks(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view whose `OwnMarksOpen` becomes a page that says which scripts come first (403)."""

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
    """Hand back scripts (`task`) that the person holds in a contest, and go on to the page (`next`) that they kept shut."""
    user = user_of(request)
    contest = coached_get_for(user, contest_id)
    try:
        count = tasks_hand_back(user=user, contest=contest, tasks=_named(request.POST.getlist("task")))
    except PassRefused as refused:
        messages.error(request, str(refused))
        return redirect("marks:home")
    messages.success(
        request, f"{count} script{' is' if count == 1 else 's are'} handed back. What you had begun is kept for you."
    )
    following = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(following, allowed_hosts={request.get_host()})
    return redirect(following if is_ours else "marks:home")


def _named(words: list[str]) -> list[uuid.UUID]:
    """The ids among what was sent."""
    found = []
    for one in words:
        try:
            found.append(uuid.UUID(one))
        except ValueError:
            continue
    return found
