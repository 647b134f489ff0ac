"""Store the parts of a plan: problems, people and points. The caller opens the transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.accounts.enrolling import Password, students_create
from apps.accounts.models import StudentGroup, User
from apps.accounts.services import GroupRefused, members_add
from apps.contests.entering import NewAuthor, authors_complete, authors_enter, authors_link
from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.services import ContestRefused, problem_add
from apps.problems.drafts import draft_of
from apps.problems.models import Problem
from apps.problems.services import problem_revise, problems_import
from apps.schemes.services import scheme_activate, scheme_create
from apps.submissions.models import ForeignJudgement, SubmissionVersion
from apps.tables.models import TableImport, TablePoints
from apps.tables.people import PersonPlan
from apps.tables.plans import TablePlan, new_student
from apps.tables.problems import ProblemPlan
from apps.tables.reading import Entry

_BATCH = 500
SCHEME_TITLE = "Scheme of the table"


def problems_store(plan: TablePlan, contest: Contest, by: User) -> dict[str, ContestProblem]:
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


def people_store(
    plan: TablePlan, contest: Contest, by: User, passwords: Sequence[Password]
) -> tuple[dict[str, Paper], list[tuple[User, str]]]:
    """Create accounts, enter and link people, fill groups; return the papers by the key in the table, and the accounts."""
    created = students_create(students=[new_student(one.person) for one in plan.created], passwords=passwords)
    for one, (user, _) in zip(plan.created, created, strict=True):
        one.account = user
    authors_link(
        contest=contest, accounts={one.identity.pk: one.account for one in plan.linked if one.identity and one.account}
    )
    details = {one.identity.pk: one.details for one in plan.completed if one.identity}
    authors_complete(contest=contest, details=details)
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


def points_store(
    plan: TablePlan,
    record: TableImport,
    papers: Mapping[str, Paper],
    rows: Mapping[str, ContestProblem],
    versions: Sequence[SubmissionVersion],
) -> None:
    """Store points. Those of the first marker that came with a text also become its external judgement.

    `versions`: of the texts of the plan, in the same order.
    """
    of_place = dict(zip([_place(one) for one in plan.texts], versions, strict=True))
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
        if version := of_place.get(_place(one)):
            judgement = ForeignJudgement(version=version, points=points.points, out_of=points.out_of, words=points.remark)
            judged.setdefault(_place(one), judgement)
    ForeignJudgement.objects.bulk_create(judged.values(), batch_size=_BATCH)


def _place(entry: Entry) -> tuple[str, str]:
    return entry.person, entry.problem.casefold()
