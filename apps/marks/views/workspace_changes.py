"""Changes from the workspace: JSON requests get JSON answers, form requests are redirected to a page.

| status | meaning |
|---|---|
| 200 | done; the state of the sheet (`sheets.mark_state`), or as the view documents |
| 409 | another window was faster: the current state, and `fields` |
| 410 | another marker holds the script |
| 422 | not possible; `message` gives the reason, `needs` what is missing |
"""

import math
import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.marks.access import TaskGone, task_get_for
from apps.marks.leases import lease_renew, present
from apps.marks.models import MarkingTask, MarkState
from apps.marks.sealing import sealing
from apps.marks.sheets import grace_until, mark_state
from apps.marks.workspace import drafts
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.passes import PassRefused, task_pass
from apps.reasoning.marking.sheets.commands import CommandRefused
from apps.ui.plain_text import without_nul
from apps.ui.sent import BodyWrong, json_object, whole_number

Body = dict[str, Any]
Change = Callable[[MarkingTask, User, Body], Body]


def _change(change: Change) -> Callable[..., HttpResponseBase]:
    """A view around a change: parse the request, find the task, and answer with the result."""

    @require_POST
    def view(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
        user = user_of(request)
        try:
            task = task_get_for(user, task_id)
            return _answered(request, task_id, change(task, user, _body(request)))
        except TaskGone as gone:
            return _answered(request, None, {"message": str(gone)}, 410)
        except drafts.DraftChanged as changed:
            changed.mark.task = task
            body = {"message": str(changed), "fields": changed.fields, **mark_state(changed.mark)}
            return _answered(request, task_id, body, 409)
        except sealing.NotReady as refused:
            body = {"message": str(refused), "needs": refused.needs, "state": _state_now(task, user)}
            return _answered(request, task_id, body, 422)
        except (CommandRefused, PassRefused, BodyWrong) as refused:
            return _answered(request, task_id, {"message": str(refused)}, 422)

    view.__doc__ = change.__doc__
    return view


@_change
def command(task: MarkingTask, user: User, body: Body) -> Body:
    """One command on the sheet."""
    args = body.get("args", {})
    if not isinstance(args, dict) or not isinstance(body.get("verb"), str):
        raise BodyWrong("The command needs a verb and arguments.")
    asked = drafts.Command(id=_uuid(body.get("id")), verb=body["verb"], args=args, row_version=_number(body, "row_version"))
    return mark_state(drafts.command_apply(task=task, user=user, command=asked))


@_change
def undo(task: MarkingTask, user: User, body: Body) -> Body:
    """Undo one command."""
    return mark_state(drafts.draft_undo(task=task, user=user, row_version=_number(body, "row_version")))


@_change
def redo(task: MarkingTask, user: User, body: Body) -> Body:
    """Redo one command."""
    return mark_state(drafts.draft_redo(task=task, user=user, row_version=_number(body, "row_version")))


@_change
def seal(task: MarkingTask, user: User, body: Body) -> Body:
    """Seal the mark and claim the next script."""
    seconds = _seconds(body)
    mark = sealing.mark_seal(task=task, user=user, row_version=_number(body, "row_version"), active_seconds=seconds)
    until = grace_until(mark)
    following = task_next(task.case.problem, user)
    return {
        "sealed": True,
        "undo_until": until.isoformat() if until else None,
        "row_version": mark.row_version,
        "next": _page(following.public_id) if following else None,
    }


@_change
def unseal(task: MarkingTask, user: User, body: Body) -> Body:
    """Reopen a mark that was just sealed."""
    mark = sealing.mark_unseal(task=task, user=user)
    mark.task = task
    return mark_state(mark) | {"url": _page(task.public_id)}


@_change
def heartbeat(task: MarkingTask, user: User, body: Body) -> Body:
    """Extend the lease by two minutes; the answer names the others who mark the problem now."""
    until = lease_renew(task, user)
    drafts.active_keep(mark=drafts.draft_of(task, user), seconds=_seconds(body))
    return {"until": until.isoformat(), "present": present(task.case.problem, user)}


@_change
def hand_on(task: MarkingTask, user: User, body: Body) -> Body:
    """Skip the script, ask the captain about it, or declare a conflict of interest; then claim the next one."""
    task_pass(task=task, user=user, reason=str(body.get("reason", "")), words=str(body.get("words", "")).replace("\0", ""))
    following = task_next(task.case.problem, user)
    return {"next": _page(following.public_id) if following and following.pk != task.pk else None}


def _body(request: HttpRequest) -> Body:
    """The request body: a JSON object, or form fields, with the arguments of a command at the top level."""
    if request.content_type != "application/json":
        fields: Body = {name: value for name, value in without_nul(request.POST).items() if name != "csrfmiddlewaretoken"}
        known: Body = {name: fields.pop(name) for name in ("id", "verb", "row_version", "active_seconds") if name in fields}
        return {"id": str(uuid.uuid4()), "args": fields, **fields, **known}
    return json_object(request)


def _answered(request: HttpRequest, task_id: uuid.UUID | None, body: Body, status: int = 200) -> HttpResponse:
    """JSON for a JSON request; for a form, a page with the errors as messages."""
    if request.content_type == "application/json":
        return JsonResponse(body, status=status)
    if status != 200:
        for sentence in body.get("needs") or [body["message"]]:
            messages.error(request, sentence)
    if "next" in body:
        return redirect(body["next"] or "marks:home")
    return redirect("marks:task", task_id=task_id) if task_id else redirect("marks:home")


def _state_now(task: MarkingTask, user: User) -> Body | None:
    """The state of the sheet after a refusal, moved to the active scheme."""
    try:
        mark = drafts.draft_of(task, user)
    except TaskGone:
        return None
    return mark_state(mark) if mark.state == MarkState.DRAFT else None


def _page(task_id: uuid.UUID) -> str:
    return reverse("marks:task", kwargs={"task_id": task_id})


def _uuid(value: Any) -> uuid.UUID:
    try:
        return uuid.UUID(str(value))
    except ValueError as error:
        raise BodyWrong("The command needs an id.") from error


def _number(body: Body, name: str) -> int:
    found = whole_number(str(body.get(name, "")), 9)
    if found is None:
        raise BodyWrong(f"{name} is missing or not a valid number.")
    return found


def _seconds(body: Body) -> float:
    try:
        seconds = float(body.get("active_seconds") or 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise BodyWrong("active_seconds is not a number of seconds.") from error
    return min(max(seconds, 0.0), drafts.SECONDS_AT_MOST) if math.isfinite(seconds) else 0.0
