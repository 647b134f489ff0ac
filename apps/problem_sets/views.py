"""Pages of problem sets: list, import, one set with its versions, splits, and its file."""

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.files.tables import FileWrong
from apps.problem_sets.access import hidden_of, reader_of
from apps.problem_sets.contamination import published, shared_with
from apps.problem_sets.forms import FromLibraryForm, SetImportForm, SplitForm
from apps.problem_sets.importing import named_of, set_import, set_plan
from apps.problem_sets.models import ProblemSet, ProblemSetVersion
from apps.problem_sets.services import SetRefused, set_create, version_split
from apps.problems.access import solved_visible_to
from apps.problems.drafts import draft_of
from apps.problems.importing.shapes import SHAPES
from apps.problems.selectors import filter_from, problem_list
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.ui.sent import whole_number

PAGE = 100
WRONG_SHOWN = 200


@require_GET
def set_list(request: HttpRequest) -> HttpResponse:
    """List all sets with their newest version."""
    reader_of(request)
    rows = ProblemSetVersion.objects.annotate(problems=Count("items")).order_by("problem_set__title", "-number")
    newest: dict[int, ProblemSetVersion] = {}
    for row in rows.select_related("problem_set"):
        newest.setdefault(row.problem_set_id, row)
    return render(request, "problem_sets/list.html", {"versions": list(newest.values())})


@require_http_methods(["GET", "HEAD", "POST"])
def set_upload(request: HttpRequest) -> HttpResponse:
    """Import a file in one step; the page of the set lists rows that were left out."""
    user = reader_of(request)
    form = SetImportForm(request.POST, request.FILES) if request.method == "POST" else SetImportForm(initial=request.GET.dict())
    context: dict[str, Any] = {"form": form, "shapes": SHAPES.values()}
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            plan = set_plan(given["file"].read(), given["shape"], user)
            if plan.rows:
                names = {name: given[name] for name in ("into", "title", "credit", "licence")}
                made = set_import(plan=plan, by=user, **names)
                return redirect("problem_sets:detail", slug=made.problem_set.slug)
            context["wrong"] = plan.wrong[:WRONG_SHOWN]
            form.add_error("file", "None of its rows can be imported. The reasons are below.")
        except FileWrong as error:
            form.add_error("file", str(error))
        except SetRefused as error:
            form.add_error("title", str(error))
    return render(request, "problem_sets/import.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def set_from_library(request: HttpRequest) -> HttpResponse:
    """Make a set of the problems that the filters of the library show."""
    user = reader_of(request)
    asked = filter_from(request.GET)
    problems = problem_list(solved_visible_to(user), asked)
    form = FromLibraryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = set_create(items=named_of(list(problems)), by=user, note="From the library", **form.cleaned_data)
            return redirect("problem_sets:detail", slug=made.problem_set.slug)
        except SetRefused as error:
            form.add_error("title", str(error))
    context = {"form": form, "count": problems.count(), "query": request.GET.urlencode()}
    return render(request, "problem_sets/from_library.html", context, status=422 if form.errors else 200)


@require_GET
def set_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a version of a set: its problems with splits, and what models may know of it."""
    user = reader_of(request)
    version = _version(slug, request.GET.get("version", ""))
    items = list(version.items.select_related("problem__problem").defer("problem__statement", "problem__scheme_text"))
    hidden = hidden_of(user, items)
    shown = [item for item in items if item.problem.problem_id not in hidden]
    shared = shared_with(version)
    context = {
        "set": version.problem_set,
        "version": version,
        "versions": version.problem_set.versions.annotate(problems=Count("items")).order_by("-number"),
        "page": Paginator([(item, shared.get(item.name, [])) for item in shown], PAGE).get_page(request.GET.get("page")),
        "query": f"version={version.number}",
        "hidden": hidden,
        "problems": len(items),
        "is_newest": version == version.problem_set.versions.first(),
        "published": published(items, _models()),
        "with_answers": sum(bool(item.problem.answer) for item in items),
        "splits": _counted(item.split for item in items),
        "form": SplitForm(),
    }
    return render(request, "problem_sets/detail.html", context)


@require_POST
def set_split(request: HttpRequest, slug: str) -> HttpResponse:
    """Draw splits, as a new version."""
    user = reader_of(request)
    version, form = _version(slug, ""), SplitForm(request.POST)
    if form.is_valid():
        try:
            made = version_split(version=version, by=user, **form.cleaned_data)
            messages.success(request, f"Version {made.number} has the splits.")
        except SetRefused as error:
            messages.error(request, str(error))
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    return redirect("problem_sets:detail", slug=slug)


@require_GET
def set_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Download a version as JSONL in the format of the import, without problems that are held back."""
    user = reader_of(request)
    version = _version(slug, request.GET.get("version", ""))
    texts = ("problem__problem__reference_solutions", "problem__problem__hints")
    items = list(version.items.select_related("problem__problem").prefetch_related(*texts))
    hidden = hidden_of(user, items)
    lines = []
    for item in items:
        if item.problem.problem_id not in hidden:
            record = SHAPES["ours"].write(draft_of(item.problem.problem, item.problem))
            lines.append(json.dumps(record | {"external_id": item.name}, ensure_ascii=False) + "\n")
    response = HttpResponse("".join(lines), content_type="application/x-ndjson; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{version.problem_set.slug}-{version.number}.jsonl"'
    return response


def _version(slug: str, number: str) -> ProblemSetVersion:
    found = get_object_or_404(ProblemSet, slug=slug)
    rows = found.versions.select_related("problem_set")
    asked = whole_number(number, 6) if number else None
    version = rows.first() if not number else rows.filter(number=asked).first() if asked is not None else None
    if version is None:
        raise Http404(f"This set has no version {number}. See {reverse('problem_sets:detail', args=[slug])}.")
    return version


def _models() -> dict[str, Alias]:
    try:
        return load_usable(settings.MODELS_FILE)
    except AliasError:  # The page of models explains it.
        return {}


def _counted(splits: Any) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for split in splits:
        counts[split] = counts.get(split, 0) + 1
    return [(split or "no split", count) for split, count in counts.items()] if set(counts) != {""} else []
