"""The page on which owners make, list and revoke the links to their run."""

import uuid
from datetime import date, timedelta

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.sharing import services
from apps.sharing.access import run_share_for, sharing_refusal


@never_cache
@require_http_methods(["GET", "POST"])
def link_list(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The links to a run, and a form for a new one. The address of a new link is in this response only."""
    user, run = user_of(request), run_share_for(user_of(request), run_id)
    today = timezone.localdate()
    context = {
        "run": run,
        "refusal": sharing_refusal(run),
        "first": today + timedelta(days=1),
        "last": today + timedelta(days=services.DAYS_AT_MOST),
        "ends_on": today + timedelta(days=services.DAYS),
        "sent": request.POST,
    }
    status = 200
    if request.method == "POST":
        try:
            ends_on = date.fromisoformat(request.POST.get("ends_on", ""))
            name, shown_by = request.POST.get("name", ""), request.POST.get("shown_by", "")
            link, token = services.link_make(user=user, run=run, ends_on=ends_on, name=name, shown_by=shown_by)
            address = request.build_absolute_uri(reverse("sharing:shared_run", args=[token]))
            context |= {"new": link, "address": address, "sent": {}}
        except ValidationError as refusal:
            context["error"], status = refusal.messages[0], 422
        except ValueError:
            context["error"], status = "Choose the last day of the link.", 422
    context["links"] = list(run.shared_links.select_related("made_by"))
    return render(request, "sharing/link_list.html", context, status=status)


@require_POST
def link_revoke(request: HttpRequest, run_id: uuid.UUID, link_id: uuid.UUID) -> HttpResponse:
    """Revoke one link of the run."""
    run = run_share_for(user_of(request), run_id)
    link = run.shared_links.filter(public_id=link_id).first()
    if link is None:
        raise Http404("This run has no such link.")
    services.link_revoke(link=link)
    messages.success(request, "The link was revoked. It shows nothing any more.")
    return redirect("sharing:link_list", run_id=run.public_id)
