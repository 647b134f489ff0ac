"""Pages of table imports: upload, meanings and preview, the import, and its files."""

import uuid
from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import accounts_may_create, user_of
from apps.accounts.enrolling import password_address
from apps.accounts.models import User
from apps.contests.services import ContestRefused
from apps.contests.windows import adding_refusal
from apps.files.grids import ENCODINGS
from apps.files.tables import FileWrong
from apps.tables import selectors, services
from apps.tables.access import maker_of, table_contest_for, table_file_for, table_import_for, was_imported
from apps.tables.choices import Choices, Origin, Unknown
from apps.tables.columns import Role, columns_fault
from apps.tables.forms import NewContestForm, UploadForm
from apps.tables.models import TableFile, TableImport
from apps.tables.sent import choices_sent, columns_sent, people_sent
from apps.ui.plain_text import without_nul

SHOWN = 200
FIRST_ROWS = 5


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Store a table for a contest and redirect to its page. Nothing is imported yet."""
    user = user_of(request)
    contest = table_contest_for(user, contest_id)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["file"].name
        file = services.table_file_keep(user=user, contest=contest, filename=name, data=form.content, grid=form.grid)
        return redirect("tables:review", file_id=file.public_id)
    context = {
        "form": form,
        "contest": contest,
        "refusal": adding_refusal(contest),
        "imports": selectors.import_list(user, contest),
    }
    return render(request, "tables/upload.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def upload_new(request: HttpRequest) -> HttpResponse:
    """Store a table from which a new contest is made, and redirect to its page. Nothing is made yet."""
    user = maker_of(request)
    form = NewContestForm(request.POST, request.FILES) if request.method == "POST" else NewContestForm()
    if request.method == "POST" and form.is_valid():
        name, title = form.cleaned_data["file"].name, form.cleaned_data["title"]
        file = services.table_file_keep(user=user, contest=None, filename=name, data=form.content, grid=form.grid, title=title)
        return redirect("tables:review", file_id=file.public_id)
    return render(request, "tables/upload.html", {"form": form}, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest, file_id: uuid.UUID) -> HttpResponse:
    """Show what a table means and what would happen; store changed meanings (`do=preview`), or import (`do=import`)."""
    user = user_of(request)
    if was_imported(user, file_id):
        return redirect("tables:imported", import_id=file_id)
    file = table_file_for(user, file_id)
    if request.method != "POST":
        return _review_page(request, file)
    sent = without_nul(request.POST)
    try:
        grid = services.grid_of(file)
        reading = {name: str(sent.get(name, getattr(grid, name))) for name in ("sheet", "encoding")}
        names, is_other = grid.names, reading != {"sheet": grid.sheet, "encoding": grid.encoding}
        if is_other:
            grid = services.reading_choose(file=file, **reading)
    except FileWrong as error:
        messages.error(request, str(error))
        return redirect("tables:review", file_id=file_id)
    if grid.names != names:  # The form has the meanings of other columns.
        return redirect("tables:review", file_id=file_id)
    before, choices = services.columns_of(file, grid), Choices.of(file.choices)
    shown = services.people_shown(file, grid) if people_sent(sent) else {}
    columns, chosen = columns_sent(sent, before), choices_sent(sent, choices, shown)
    services.meanings_choose(file=file, grid=grid, columns=columns, choices=chosen)
    if sent.get("do") != "import" or columns_fault(columns):
        return redirect("tables:review", file_id=file_id)
    if is_other or columns != before or chosen != choices:
        messages.info(request, "You changed something, so nothing was imported yet. Look at the new preview, then import.")
        return redirect("tables:review", file_id=file_id)
    try:
        record, created = services.table_import(file=file, grid=grid, looked_at=people_sent(sent) if "looked" in sent else ())
    except ContestRefused as refused:
        messages.error(request, str(refused))
        return redirect("tables:review", file_id=file_id)
    if created:  # The passwords are stored nowhere, so that a redirect could not show them.
        return _imported_page(request, record, created)
    return redirect("tables:imported", import_id=record.public_id)


@never_cache
@require_GET
def left_out(request: HttpRequest, file_id: uuid.UUID) -> HttpResponse:
    """Download the rows that an import would leave out, with their reasons."""
    file = table_file_for(user_of(request), file_id)
    grid = services.grid_of(file)
    rows = services.left_out_rows(services.plan_of(file, grid))
    return _csv(selectors.left_out_lines(grid.names, rows), "left-out.csv")


@never_cache
@require_GET
def imported(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Show what an import stored and left out."""
    return _imported_page(request, table_import_for(user_of(request), import_id), [])


@never_cache
@require_POST
def imported_passwords(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Draw new passwords for accounts of an import that were never signed in to; show them once, in the response itself."""
    user = user_of(request)
    record = table_import_for(user, import_id)
    if not accounts_may_create(user):
        raise Http404("You may not create accounts.")
    try:
        return _imported_page(request, record, services.passwords_redraw(record=record, by=user))
    except ContestRefused as refused:
        messages.error(request, str(refused))
    return redirect("tables:imported", import_id=import_id)


@never_cache
@require_GET
def imported_left_out(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Download the rows that an import left out, with their reasons; empty a day after it."""
    record = table_import_for(user_of(request), import_id)
    return _csv(selectors.left_out_lines(record.header, record.left_out), "left-out.csv")


@never_cache
@require_GET
def imported_points(request: HttpRequest, import_id: uuid.UUID) -> HttpResponse:
    """Download the points of an import, by name."""
    record = table_import_for(user_of(request), import_id)
    return _csv(selectors.points_lines(record), "points.csv")


def _review_page(request: HttpRequest, file: TableFile) -> HttpResponse:
    grid = services.grid_of(file)
    columns = services.columns_of(file, grid)
    fault = columns_fault(columns)
    plan = None if fault else services.plan_of(file, grid)
    context: dict[str, object] = {
        "file": file,
        "contest": file.contest,
        "grid": grid,
        "first": grid.rows[:FIRST_ROWS],
        "columns": selectors.column_rows(grid, columns),
        "unused": [name for name, column in zip(grid.names, columns, strict=True) if not column.role],
        "roles": Role.choices,
        "choices": Choices.of(file.choices),
        "unknowns": [one for one in Unknown.choices if one[0] != Unknown.ACCOUNT or accounts_may_create(file.owner)],
        "origin": Origin(file.choices.get("origin", Origin.GUESSED)).label,
        "encodings": ENCODINGS,
        "fault": fault,
        "plan": plan,
        "refusal": adding_refusal(file.contest) if file.contest else "",
    }
    if plan is not None:
        context |= {"look": plan.to_look_at, "wrong": list(plan.wrong.items())[:SHOWN], "counts": plan.counts}
        context |= {"unknown_people": plan.without_account[:SHOWN]}
    return render(request, "tables/review.html", context)


def _imported_page(request: HttpRequest, record: TableImport, created: list[tuple[User, str]]) -> HttpResponse:
    context = {
        "record": record,
        "contest": record.contest,
        "created": created,
        "password_file": password_address(created),
        "unused": selectors.unused_accounts(record).count() if accounts_may_create(user_of(request)) else 0,
        "left_out": record.left_out[:SHOWN],
    }
    return render(request, "tables/imported.html", context)


def _csv(lines: Iterable[str], name: str) -> HttpResponse:
    answer = HttpResponse("\ufeff" + "".join(lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
