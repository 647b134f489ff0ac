"""Write operations of table imports: keep an upload, remember meanings, import, draw new passwords."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from apps.accounts.enrolling import Password, passwords_prepare, passwords_replace
from apps.accounts.models import User
from apps.accounts.services import AccountRefused
from apps.contests.models import Contest, ContestState, Identity, Paper
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused, Settings, contest_create
from apps.contests.windows import adding_refusal
from apps.files.grids import Grid, grid_read
from apps.submissions.importing.texts import PreparedText, text_prepare, texts_add
from apps.submissions.models import Step, Submission, SubmissionVersion
from apps.submissions.row_counts import rows_recount
from apps.tables.choices import Choices, Origin
from apps.tables.columns import LEFT_OUT_HEADER, Column, columns_fault, columns_guess, columns_json, columns_read, header_digest
from apps.tables.models import FILENAME_LENGTH, TableFile, TableImport, TableMeaning
from apps.tables.plans import TablePlan, plan_make
from apps.tables.selectors import unused_accounts
from apps.tables.storing import people_store, points_store, problems_store

KEPT_FOR = timedelta(days=1)
LEFT_OUT_KEPT = 20_000
_CELL_KEPT = 2_000


@transaction.atomic
def table_file_keep(
    *, user: User, contest: Contest | None, filename: str, data: bytes, grid: Grid, title: str = ""
) -> TableFile:
    """Store an upload until its import, with remembered or guessed meanings. Deletes the owner's earlier one and expired ones.

    Rows that earlier imports left out are deleted after a day, because they have names.
    """
    before = timezone.now() - KEPT_FOR
    TableFile.objects.filter(owner=user).delete()
    TableFile.objects.filter(created_at__lt=before).delete()
    TableImport.objects.filter(at__lt=before).exclude(left_out=[]).update(left_out=[])
    file = TableFile(owner=user, contest=contest, filename=filename[:FILENAME_LENGTH], data=data, title=title)
    _sheet_set(file, grid)
    file.save()
    return file


def reading_choose(*, file: TableFile, sheet: str, encoding: str) -> Grid:
    """Choose another sheet or encoding; the columns of another header are remembered or guessed. Raises `FileWrong`."""
    names = grid_of(file).names
    grid = grid_read(bytes(file.data), sheet, encoding)
    file.sheet, file.encoding = grid.sheet, grid.encoding
    if grid.names != names:
        _sheet_set(file, grid)
    _reading_store(file)
    return grid


@transaction.atomic
def meanings_choose(*, file: TableFile, grid: Grid, columns: Sequence[Column], choices: Choices) -> None:
    """Store the chosen meanings for this upload, and remember them for the next table with this header."""
    file.columns, file.choices = columns_json(columns), {**choices.stored(), "origin": Origin.CHOSEN}
    _reading_store(file)
    TableMeaning.objects.update_or_create(
        owner=file.owner, header=header_digest(grid.names), defaults={"columns": file.columns, "used_at": timezone.now()}
    )


def table_import(*, file: TableFile, grid: Grid, looked_at: Collection[str]) -> tuple[TableImport, list[tuple[User, str]]]:
    """Import an upload and delete it; return the record, and new accounts with their passwords, which are not stored.

    `looked_at`: tokens of the people whose accounts of the same name were looked at. One transaction; passwords are hashed and
    texts cut into steps before it. It locks the upload, so that a second import of it is refused, and the contest, so that
    imports into one contest wait for each other and its state cannot change meanwhile. Raises `ContestRefused`.
    """
    plan = plan_of(file, grid)
    _require_look(plan, looked_at)
    try:
        passwords = passwords_prepare(len(plan.created))
        prepared = {one.text: text_prepare(one.text) for one in plan.texts}
        return _import(file, grid, passwords, prepared, looked_at)
    except AccountRefused as refused:
        raise ContestRefused(f"Nothing was imported: {refused}") from refused


@transaction.atomic
def _import(
    file: TableFile,
    grid: Grid,
    passwords: Sequence[Password],
    prepared: Mapping[str, PreparedText],
    looked_at: Collection[str],
) -> tuple[TableImport, list[tuple[User, str]]]:
    if not TableFile.objects.select_for_update().filter(pk=file.pk).exists():
        raise ContestRefused("This table was already imported.")
    if file.contest is not None:
        file.contest = _locked(file.contest)
    plan = plan_of(file, grid)
    _require_look(plan, looked_at)
    counts = plan.counts  # Before new accounts are in the plan, which would count as linked.
    contest = file.contest or contest_create(settings=Settings(title=file.title), by=file.owner)
    rows = problems_store(plan, contest, file.owner)
    papers, created = people_store(plan, contest, file.owner, passwords)
    record = TableImport.objects.create(
        public_id=file.public_id,
        contest=contest,
        by=file.owner,
        filename=file.filename,
        counts=counts,
        header=list(grid.names),
        left_out=left_out_rows(plan),
        left_out_count=len(plan.wrong),
    )
    record.accounts.set([user for user, _ in created])
    texts = [
        (papers[one.person], rows[one.problem.casefold()], prepared.get(one.text) or text_prepare(one.text))
        for one in plan.texts
    ]
    points_store(plan, record, papers, rows, texts_add(texts=texts))
    rows_recount(len(papers), Paper, Identity)
    rows_recount(len(texts), Submission, SubmissionVersion, Step)
    event_publish(contest, "contest.imported", file.owner, texts=len(plan.texts), skipped=len(plan.wrong))
    file.delete()
    return record, created


def _locked(contest: Contest) -> Contest:
    """Lock and reload a contest: problems and people may be added as of now. Raises `ContestRefused`."""
    locked = Contest.objects.select_for_update().filter(pk=contest.pk).exclude(state=ContestState.DELETED).first()
    if locked is None:
        raise ContestRefused("Nothing was imported: the contest was deleted.")
    if refusal := adding_refusal(locked):
        raise ContestRefused(refusal)
    return locked


def _require_look(plan: TablePlan, looked_at: Collection[str]) -> None:
    """Raise `ContestRefused` if someone is to be looked at who was not."""
    if any(one.token not in looked_at for one in plan.to_look_at):
        raise ContestRefused("Nothing was imported yet. Look at the accounts of the people below, then confirm them.")


def passwords_redraw(*, record: TableImport, by: User) -> list[tuple[User, str]]:
    """Draw new passwords for the accounts of an import that were never signed in to; return them, as they are not stored.

    Raises `ContestRefused` if there is none left.
    """
    accounts = set(unused_accounts(record).values_list("pk", flat=True))
    try:
        passwords = passwords_prepare(len(accounts))
        with transaction.atomic():
            drawn = passwords_replace(accounts=accounts, passwords=passwords)
            if not drawn:
                raise ContestRefused("No password was drawn: every account of this import was signed in to.")
            event_publish(record.contest, "contest.passwords", by, accounts=len(drawn))
            return drawn
    except AccountRefused as refused:
        raise ContestRefused(str(refused)) from refused


def plan_of(file: TableFile, grid: Grid) -> TablePlan:
    """The preview of an upload."""
    return plan_make(file.contest, grid, columns_of(file, grid), Choices.of(file.choices), file.owner)


def people_shown(file: TableFile, grid: Grid) -> dict[str, str]:
    """The accounts that the preview shows for people to look at, by token."""
    columns = columns_of(file, grid)
    return {} if columns_fault(columns) else {one.token: one.picked for one in plan_of(file, grid).to_look_at}


def grid_of(file: TableFile) -> Grid:
    """The table of an upload. Raises `FileWrong`."""
    return grid_read(bytes(file.data), file.sheet, file.encoding)


def columns_of(file: TableFile, grid: Grid) -> list[Column]:
    """The meanings of an upload."""
    return columns_read(file.columns, len(grid.names)) or columns_guess(grid)


def _reading_store(file: TableFile) -> None:
    """Store how an upload is read; does nothing if it was deleted meanwhile."""
    stored = {name: getattr(file, name) for name in ("sheet", "encoding", "columns", "choices")}
    TableFile.objects.filter(pk=file.pk).update(**stored)


def _sheet_set(file: TableFile, grid: Grid) -> None:
    labels = file.contest.problems.values_list("label", "problem__title") if file.contest else ()
    remembered = _remembered(file.owner, grid.names)
    columns = remembered or columns_guess(grid, [name for row in labels for name in row])
    origin = Origin.REMEMBERED if remembered else Origin.GUESSED
    file.sheet, file.columns, file.choices = grid.sheet, columns_json(columns), {"origin": origin}


def _remembered(owner: User, names: Sequence[str]) -> list[Column] | None:
    """The meanings of the last table with this header, also for a download of its rows that were left out."""
    before = 2 if tuple(names[:2]) == LEFT_OUT_HEADER else 0
    for first in {0, before}:
        known = TableMeaning.objects.filter(owner=owner, header=header_digest(names[first:])).first()
        if known and (columns := columns_read(known.columns, len(names) - first)):
            return [Column()] * first + columns
    return None


def left_out_rows(plan: TablePlan) -> list[list[object]]:
    """Lines, reasons and cells of rows that are left out in whole or in part."""
    cells = {row.line: row.cells for row in plan.grid.rows}
    rows = list(plan.wrong.items())[:LEFT_OUT_KEPT]
    return [[line, " ".join(reasons), *(cell[:_CELL_KEPT] for cell in cells.get(line, ()))] for line, reasons in rows]
