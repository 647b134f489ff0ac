"""Views that list, show, try out and download marking schemes."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from apps.problems.access import problem_may_edit
from apps.reasoning.marking.schemes.json_form import json_written
from apps.reasoning.marking.schemes.text_form import text_written
from apps.schemes import selectors
from apps.schemes.access import reader_of, scheme_get_for, schemes_problem_for, version_get_for
from apps.schemes.sheets import STEPS, sheet_of


@require_GET
def scheme_list(request: HttpRequest, slug: str) -> HttpResponse:
    """List the schemes of a problem."""
    user = reader_of(request)
    problem = schemes_problem_for(user, slug)
    schemes = [(scheme, selectors.version_current(scheme)) for scheme in selectors.scheme_list(problem)]
    context = {"problem": problem, "schemes": schemes, "may_edit": problem_may_edit(user), "text": problem.current.scheme_text}
    return render(request, "schemes/scheme_list.html", context)


@require_GET
def scheme_detail(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """Show one version (`?version=2`) with a try-out of the ticks in the query."""
    user = reader_of(request)
    scheme = scheme_get_for(user, scheme_id)
    version = version_get_for(user, scheme, request.GET.get("version", ""))
    context = {
        "scheme": scheme,
        "version": version,
        "rows": selectors.version_rows(scheme),
        "draft": selectors.draft_number(scheme),
        "is_used": scheme.versions.exclude(used_at=None).exists(),
        "sheet": sheet_of(version.content, request.GET),
        "steps": STEPS,
        "may_edit": problem_may_edit(user),
    }
    return render(request, "schemes/scheme_detail.html", context)


@require_GET
def scheme_try(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """Render only the sheet with the ticks in the query."""
    user = reader_of(request)
    version = version_get_for(user, scheme_get_for(user, scheme_id), request.GET.get("version", ""))
    context = {"sheet": sheet_of(version.content, request.GET), "steps": STEPS, "version": version}
    return render(request, "schemes/_sheet.html", context)


@require_GET
def scheme_download(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """Download a version: `?form=text` or `?form=json`."""
    user = reader_of(request)
    scheme = scheme_get_for(user, scheme_id)
    version = version_get_for(user, scheme, request.GET.get("version", ""))
    forms = {"text": ("txt", "text/plain", text_written), "json": ("json", "application/json", json_written)}
    if (form := request.GET.get("form", "text")) not in forms:
        raise Http404(f"Unknown form {form}. Use text or json.")
    ending, kind, written = forms[form]
    name = f"{slugify(scheme.title) or 'scheme'}-v{version.number}.{ending}"
    response = HttpResponse(written(version.content), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
