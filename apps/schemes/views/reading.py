"""The schemes of a problem, the page of one scheme with its try-out, and downloads."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from apps.problems.access import problem_may_edit
from apps.reasoning.marking.json_form import json_written
from apps.reasoning.marking.text_form import text_written
from apps.schemes import selectors
from apps.schemes.access import reader_of, scheme_get_for, schemes_problem_for, version_get_for
from apps.schemes.sheets import STEPS, sheet_of


@require_GET
def scheme_list(request: HttpRequest, slug: str) -> HttpResponse:
    """All schemes of a problem, and the ways to make one."""
    user = reader_of(request)
    problem = schemes_problem_for(user, slug)
    schemes = [(scheme, selectors.version_current(scheme)) for scheme in selectors.scheme_list(problem)]
    context = {"problem": problem, "schemes": schemes, "may_edit": problem_may_edit(user), "text": problem.current.scheme_text}
    return render(request, "schemes/scheme_list.html", context)


@require_GET
def scheme_detail(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """One version, set in type, with a panel to try it out. `?version=2` shows another; ticks stand in the address."""
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
    """The sheet alone, with the ticks of the address."""
    user = reader_of(request)
    version = version_get_for(user, scheme_get_for(user, scheme_id), request.GET.get("version", ""))
    context = {"sheet": sheet_of(version.content, request.GET), "steps": STEPS, "version": version}
    return render(request, "schemes/_sheet.html", context)


@require_GET
def scheme_download(request: HttpRequest, scheme_id: uuid.UUID) -> HttpResponse:
    """A version as a file: `?form=text` or `?form=json`."""
    user = reader_of(request)
    scheme = scheme_get_for(user, scheme_id)
    version = version_get_for(user, scheme, request.GET.get("version", ""))
    forms = {"text": ("txt", "text/plain", text_written), "json": ("json", "application/json", json_written)}
    if (form := request.GET.get("form", "text")) not in forms:
        raise Http404(f"A scheme has no form {form}.")
    ending, kind, written = forms[form]
    name = f"{slugify(scheme.title) or 'scheme'}-v{version.number}.{ending}"
    response = HttpResponse(written(version.content), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
