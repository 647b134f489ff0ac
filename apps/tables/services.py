"""Write operations of table imports: keep an upload, remember meanings, import."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from apps.accounts.enrolling import Password, passwords_prepare, students_create
from apps.accounts.models import StudentGroup, User
from apps.accounts.services import AccountRefused, GroupRefused, members_add
from apps.contests.entering import NewAuthor, authors_enter, authors_link
from apps.contests.models import Contest, ContestProblem, Identity, Paper
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused, Settings, contest_create, problem_add
from apps.contests.windows import adding_refusal
from apps.files.grids import Grid, grid_read
from apps.problems.drafts import draft_of
from apps.problems.models import Problem
from apps.problems.services import problem_revise, problems_import
from apps.schemes.services import scheme_activate, scheme_create
from apps.submissions.importing.texts import PreparedText, text_prepare, texts_add
from apps.submissions.models import ForeignJudgement, Step, Submission, SubmissionVersion
from apps.submissions.row_counts import rows_recount
from apps.tables.choices import Choices
from apps.tables.columns import LEFT_OUT_HEADER, Column, columns_guess, columns_json, columns_read, header_digest
from apps.tables.models import FILENAME_LENGTH, TableFile, TableImport, TableMeaning, TablePoints
from apps.tables.people import PersonPlan
from apps.tables.plans import TablePlan, new_student, plan_make
from apps.tables.problems import ProblemPlan
from apps.tables.reading import Entry

KEPT_FOR = timedelta(days=1)
LEFT_OUT_KEPT = 20_000
_CELL_KEPT = 2_000
_BATCH = 500
SCHEME_TITLE = "Scheme of the table"


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


def sheet_choose(*, file: TableFile, sheet: str) -> None:
    """Choose another sheet of the workbook; its columns are remembered or guessed. Raises `FileWrong`."""
    _sheet_set(file, grid_read(bytes(file.data), sheet))
    file.save(update_fields=["sheet", "columns", "choices"])


@transaction.atomic
def meanings_choose(*, file: TableFile, grid: Grid, columns: Sequence[Column], choices: Choices) -> None:
    """Store the chosen meanings for this upload, and remember them for the next table with this header."""
    file.columns, file.choices = columns_json(columns), choices.stored()
    file.save(update_fields=["columns", "choices"])
    TableMeaning.objects.update_or_create(
        owner=file.owner, header=header_digest(grid.names), defaults={"columns": file.columns, "used_at": timezone.now()}
    )


def table_import(*, file: TableFile, grid: Grid, is_looked_at: bool) -> tuple[TableImport, list[tuple[User, str]]]:
    """Import an upload and delete it; return the record, and new accounts with their passwords, which are not stored.

    `is_looked_at`: the person has looked at the accounts that were found by a name alone. One transaction; passwords are hashed
    and texts cut into steps before it. Concurrent calls are serialised, and the second one is refused. Raises `ContestRefused`.
    """
    plan = _plan(file, grid)
    if plan.to_look_at and not is_looked_at:
        raise ContestRefused("Nothing was imported yet. Look at the accounts of the same names, then confirm them.")
    try:
        passwords = passwords_prepare(len(plan.created))
        prepared = {one.text: text_prepare(one.text) for one in plan.texts}
        return _import(file, grid, passwords, prepared)
    except AccountRefused as refused:
        raise ContestRefused(f"Nothing was imported: {refused}") from refused


@transaction.atomic
def _import(
    file: TableFile, grid: Grid, passwords: Sequence[Password], prepared: Mapping[str, PreparedText]
) -> tuple[TableImport, list[tuple[User, str]]]:
    if not TableFile.objects.select_for_update().filter(pk=file.pk).exists():
        raise ContestRefused("This table was already imported.")
    if file.contest is not None and (refusal := adding_refusal(file.contest)):
        raise ContestRefused(refusal)
    plan = _plan(file, grid)
    counts = plan.counts  # Before new accounts are in the plan, which would count as linked.
    contest = file.contest or contest_create(settings=Settings(title=file.title), by=file.owner)
    rows = _problems_store(plan, contest, file.owner)
    papers, created = _people_store(plan, contest, file.owner, passwords)
    record = TableImport.objects.create(
        contest=contest,
        by=file.owner,
        filename=file.filename,
        counts=counts,
        header=list(grid.names),
        left_out=left_out_rows(plan),
        left_out_count=len(plan.wrong),
    )
    texts = [
        (papers[one.person], rows[one.problem.casefold()], prepared.get(one.text) or text_prepare(one.text))
        for one in plan.texts
    ]
    versions = dict(zip([_place(one) for one in plan.texts], texts_add(texts=texts), strict=True))
    _points_store(plan, record, papers, rows, versions)
    rows_recount(len(papers), Paper, Identity)
    rows_recount(len(texts), Submission, SubmissionVersion, Step)
    event_publish(contest, "contest.imported", file.owner, texts=len(plan.texts), skipped=len(plan.wrong))
    file.delete()
    return record, created


def plan_of(file: TableFile, grid: Grid) -> TablePlan:
    """The preview of an upload."""
    return _plan(file, grid)


def columns_of(file: TableFile, grid: Grid) -> list[Column]:
    """The meanings of an upload."""
    return columns_read(file.columns, len(grid.names)) or columns_guess(grid)


def _plan(file: TableFile, grid: Grid) -> TablePlan:
    return plan_make(file.contest, grid, columns_of(file, grid), Choices.of(file.choices), file.owner)


def _sheet_set(file: TableFile, grid: Grid) -> None:
    labels = file.contest.problems.values_list("label", "problem__title") if file.contest else ()
    remembered = _remembered(file.owner, grid.names)
    columns = remembered or columns_guess(grid, [name for row in labels for name in row])
    file.sheet, file.columns, file.choices = grid.sheet, columns_json(columns), {"is_remembered": bool(remembered)}


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


def _problems_store(plan: TablePlan, contest: Contest, by: User) -> dict[str, ContestProblem]:
    """Store problems, references and schemes; return the problems of the contest by the key in the table."""
    new = [one for one in plan.problems.values() if one.draft is not None and not one.reason]
    stored = problems_import(drafts=[one.draft for one in new if one.draft], by=by, is_listed=False)
    for one, problem in zip(new, stored, strict=True):
        one.problem = problem
    rows = {}
    for key, one in plan.problems.items():
        if one.reason or one.problem is None:
            continue
        rows[key] = one.row or problem_add(contest=contest, problem=one.problem, label=one.label, by=by)
        if one.references:
            draft = replace(draft_of(one.problem), solutions=one.references)
            one.problem = problem_revise(problem=one.problem, draft=draft, by=by)
        _scheme_store(one, one.problem, by)
    return rows


def _scheme_store(plan: ProblemPlan, problem: Problem, by: User) -> None:
    if plan.scheme is None:
        return
    scheme = scheme_create(problem=problem, title=SCHEME_TITLE, content=plan.scheme.scheme, by=by, reason=plan.scheme.shape)
    if plan.is_usable:
        scheme_activate(scheme=scheme, by=by, based_on=scheme.row_version)


def _people_store(
    plan: TablePlan, contest: Contest, by: User, passwords: Sequence[Password]
) -> tuple[dict[str, Paper], list[tuple[User, str]]]:
    """Create accounts, enter and link people, fill groups; return the papers by the key in the table, and the accounts."""
    created = students_create(students=[new_student(one.person) for one in plan.created], passwords=passwords)
    for one, (user, _) in zip(plan.created, created, strict=True):
        one.account = user
    authors_link(
        contest=contest, accounts={one.identity.pk: one.account for one in plan.linked if one.identity and one.account}
    )
    entered = [(key, one) for key, one in plan.people.items() if one.is_new]
    authors = [_author(one) for _, one in entered]
    papers = dict(zip([key for key, _ in entered], authors_enter(contest=contest, authors=authors, by=by), strict=True))
    known = {key: one.identity.paper_id for key, one in plan.people.items() if one.identity and not one.reason}
    stored = {row.pk: row for row in contest.papers.all()} if known else {}
    _groups_fill(plan, by)
    return papers | {key: stored[pk] for key, pk in known.items()}, created


def _author(plan: PersonPlan) -> NewAuthor:
    person, account = plan.person, plan.account
    name = person.name or (account.get_full_name() or account.username if account else person.shown)
    return NewAuthor(name=name, person=account, school=person.school, external_id=person.external_id)


def _groups_fill(plan: TablePlan, by: User) -> None:
    """Put people with accounts into the groups of the importing person; a missing group is made."""
    groups: dict[str, list[tuple[User, str]]] = {}
    for name, key in plan.memberships:
        one = plan.people[key]
        if one.account is not None:
            groups.setdefault(name, []).append((one.account, one.person.school))
    for name, members in groups.items():
        group, _ = StudentGroup.objects.get_or_create(made_by=by, name=name)
        try:
            members_add(group=group, members=members)
        except GroupRefused as refused:
            raise ContestRefused(f"Nothing was imported. Group {name}: {refused}") from refused


def _points_store(
    plan: TablePlan,
    record: TableImport,
    papers: Mapping[str, Paper],
    rows: Mapping[str, ContestProblem],
    versions: Mapping[tuple[str, str], SubmissionVersion],
) -> None:
    """Store points. Those of the first marker that came with a text also become its external judgement."""
    given = [(one, one.points) for one in plan.points if one.points]
    TablePoints.objects.bulk_create(
        [
            TablePoints(
                paper=papers[one.person],
                problem=rows[one.problem.casefold()],
                marker=points.marker,
                points=points.points,
                out_of=points.out_of,
                remark=points.remark,
                source=record,
            )
            for one, points in given
        ],
        batch_size=_BATCH,
    )
    judged: dict[tuple[str, str], ForeignJudgement] = {}
    for one, points in given:
        if version := versions.get(_place(one)):
            judgement = ForeignJudgement(version=version, points=points.points, out_of=points.out_of, words=points.remark)
            judged.setdefault(_place(one), judgement)
    ForeignJudgement.objects.bulk_create(judged.values(), batch_size=_BATCH)


def _place(entry: Entry) -> tuple[str, str]:
    return entry.person, entry.problem.casefold()
