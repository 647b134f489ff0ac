"""Changes from the workspace. They come as JSON and are answered as JSON; sent as a form they lead back to a page.

| status | means |
|---|---|
| 200 | done; the state of the sheet (`sheets.mark_state`), or what the view says |
| 409 | another window was faster: the state as it is, and `fields` |
| 410 | the script is somebody else's by now |
| 422 | not possible; `message` says why, `needs` what is missing |
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
from apps.marks import drafts, sealing
from apps.marks.access import TaskGone, task_get_for
from apps.marks.claims import task_next
from apps.marks.leases import lease_renew, present
from apps.marks.models import MarkingTask, MarkState
from apps.marks.passes import PassRefused, task_pass
from apps.marks.sheets import grace_until, mark_state
from apps.reasoning.marking.commands import CommandRefused
from apps.ui.plain_text import without_nul
from apps.ui.sent import BodyWrong, json_object, whole_number

Body = dict[str, Any]
Change = Callable[[MarkingTask, User, Body], Body]


def _change(change: Change) -> Callable[..., HttpResponseBase]:
    """A view around a change: reads what was sent, finds the task, and says what came of it."""

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
        raise BodyWrong("A command has a verb and arguments.")
    asked = drafts.Command(id=_uuid(body.get("id")), verb=body["verb"], args=args, row_version=_number(body, "row_version"))
    return mark_state(drafts.command_apply(task=task, user=user, command=asked))


@_change
def undo(task: MarkingTask, user: User, body: Body) -> Body:
    """Back by one command."""
    return mark_state(drafts.draft_undo(task=task, user=user, row_version=_number(body, "row_version")))


@_change
def redo(task: MarkingTask, user: User, body: Body) -> Body:
    """On by one command that was undone."""
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
    """Open a mark again that was sealed a moment ago."""
    mark = sealing.mark_unseal(task=task, user=user)
    mark.task = task
    return mark_state(mark) | {"url": _page(task.public_id)}


@_change
def heartbeat(task: MarkingTask, user: User, body: Body) -> Body:
    """Hold the script two minutes more; the answer tells who else marks the problem now, and nothing of what they do."""
    until = lease_renew(task, user)
    drafts.active_keep(mark=drafts.draft_of(task, user), seconds=_seconds(body))
    return {"until": until.isoformat(), "present": present(task.case.problem, user)}


@_change
def hand_on(task: MarkingTask, user: User, body: Body) -> Body:
    """Put the script off, ask the captain about it, or say that one knows whose it is; then the next one."""
    task_pass(task=task, user=user, reason=str(body.get("reason", "")), words=str(body.get("words", "")).replace("\0", ""))
    following = task_next(task.case.problem, user)
    return {"next": _page(following.public_id) if following and following.pk != task.pk else None}


def _body(request: HttpRequest) -> Body:
    """What was sent: a JSON object, or the fields of a form, whose command has its arguments beside it."""
    if request.content_type != "application/json":
        fields: Body = {name: value for name, value in without_nul(request.POST).items() if name != "csrfmiddlewaretoken"}
        known: Body = {name: fields.pop(name) for name in ("id", "verb", "row_version", "active_seconds") if name in fields}
        return {"id": str(uuid.uuid4()), "args": fields, **fields, **known}
    return json_object(request)


def _answered(request: HttpRequest, task_id: uuid.UUID | None, body: Body, status: int = 200) -> HttpResponse:
    """JSON for a program; for a form a page, with what went wrong on it."""
    if request.content_type == "application/json":
        return JsonResponse(body, status=status)
    if status != 200:
        for sentence in body.get("needs") or [body["message"]]:
            messages.error(request, sentence)
    if "next" in body:
        return redirect(body["next"] or "marks:home")
    return redirect("marks:task", task_id=task_id) if task_id else redirect("marks:home")


def _state_now(task: MarkingTask, user: User) -> Body | None:
    """The sheet as it stands after a refusal, brought to the scheme that is active."""
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
        raise BodyWrong("A command has an id.") from error


def _number(body: Body, name: str) -> int:
    found = whole_number(str(body.get(name, "")), 9)
    if found is None:
        raise BodyWrong(f"{name} is missing, or no number that a sheet can have.")
    return found


def _seconds(body: Body) -> float:
    try:
        seconds = float(body.get("active_seconds") or 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise BodyWrong("active_seconds is no number of seconds.") from error
    return min(max(seconds, 0.0), drafts.SECONDS_AT_MOST) if math.isfinite(seconds) else 0.0
