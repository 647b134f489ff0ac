"""A marker's own marks on a problem as a table: download and upload."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_of
from apps.files.tables import FILE_BYTES, FileWrong
from apps.marks.access import problem_marked_for
from apps.marks.setups import setup_of
from apps.marks.workspace import tables

NO_SETUP = "The table was not read, because an organiser has yet to choose how this problem is marked."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def marks_table(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Upload a table: `check` previews the effect of each row, `seal` applies it."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    context: dict[str, object] = {
        "problem": problem,
        "contest": problem.contest,
        "setup": setup_of(problem),
        "columns": tables.COLUMNS,
        "clear": tables.CLEAR,
    }
    if request.method != "POST":
        return render(request, "marks/table.html", context)
    is_trial = request.POST.get("action") != "seal"
    upload = request.FILES.get("file")
    try:
        if upload is None or context["setup"] is None:
            raise FileWrong("Choose a file first." if upload is None else NO_SETUP)
        if upload.size is None or upload.size > FILE_BYTES:
            raise FileWrong(f"The file is larger than {FILE_BYTES // 1024**2} MB and was not read.")
        context["rows"] = rows = tables.table_seal(problem=problem, user=user, data=upload.read(), is_trial=is_trial)
    except FileWrong as wrong:
        return render(request, "marks/table.html", context | {"fault": str(wrong)}, status=422)
    counts = {state: sum(row.state == state for row in rows) for state in ("sealed", "unchanged", "refused")}
    return render(request, "marks/table.html", context | {"counts": counts, "is_trial": is_trial})


@never_cache
@require_GET
def marks_table_download(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The user's own marks as CSV."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    answer = HttpResponse(tables.table_written(problem, user), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="my-marks.csv"'
    return answer
