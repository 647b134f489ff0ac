"""The ranking that an organiser publishes for students and coaches: with names, or with paper numbers only.

It shows the list that was signed off, as it was then, and awards only if their cut-offs were fixed. Every grade in it is one
whose points students have seen. A coach who has not opened the identities reads the numbers, also where students read names,
and thus stays blind for appeals. Papers by models are not in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.access import coach_of, paper_own
from apps.contests.models import Contest, Identity
from apps.files.csv_files import csv_lines
from apps.marks.audit import audit
from apps.marks.models import ReleasePart
from apps.marks.office.awards import award_words
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.names import NOT_SIGNED, names_of, sign_off
from apps.marks.office.office import ResultList, grades_settled, result_list
from apps.reasoning.marking.schemes.scheme import points_text
from apps.results.models import PublishedRanking
from apps.results.shown import grades_shown
from apps.ui.zones import exact

TEMPLATE = Path(__file__).with_name("ranking.typ")
OTHER_FORM = (
    "This contest published a ranking {was} before. Readers could join both lists by their points and learn whose paper has "
    "which number, so it can only be published {was}."
)


class RankingRefused(Exception):
    """The ranking cannot be published; the message gives the reason."""


@dataclass(frozen=True)
class RankedRow:
    """A line as a reader sees it. `name` and `school` are empty without names; `number` is empty with them."""

    rank: int | None
    number: str
    name: str
    school: str
    points: list[str]
    total: str
    award: str
    is_own: bool


@dataclass(frozen=True)
class ShownRanking:
    """A ranking for one reader."""

    ranking: PublishedRanking
    has_names: bool
    has_awards: bool
    labels: list[str]
    rows: list[RankedRow]


def publishing_refusal(contest: Contest, found: ResultList) -> str:
    """Why this list cannot be published now; empty if it can."""
    if sign_off(contest, found) is None:
        return NOT_SIGNED.replace("Identities stay closed", "No ranking can be published")
    if unseen := points_unseen(contest):
        are = "grade of this list is" if unseen == 1 else "grades of this list are"
        return f"Release the points first: {unseen} {are} new to students."
    return ""


def form_refusal(contest: Contest, *, has_names: bool) -> str:
    """Why the ranking cannot be published with names, or with numbers; empty if it can. Also a withdrawn list was read."""
    if not contest.rankings.filter(has_names=not has_names).exists():
        return ""
    return OTHER_FORM.format(was="with paper numbers" if has_names else "with names")


def points_unseen(contest: Contest) -> int:
    """How many grades of the list of results are not the ones whose points an active batch shows."""
    seen = grades_shown(contest, ReleasePart.POINTS)
    return sum(seen.get(case) != grade for case, grade in grades_settled(contest).values_list("case", "pk"))


def ranking_of(contest: Contest) -> PublishedRanking | None:
    """The published ranking."""
    return contest.rankings.filter(withdrawn_at=None).select_related("by").first()


@transaction.atomic
def ranking_publish(*, contest: Contest, by: User, digest: str, has_names: bool) -> PublishedRanking:
    """Publish the list with this digest in place of an earlier ranking.

    Raises `RankingRefused` if it changed or is not signed off, points in it are not released, the other form was published, or
    `by` has not opened the identities.
    """
    Contest.objects.select_for_update().get(pk=contest.pk)  # Neither a release nor a second ranking meanwhile.
    found = result_list(contest)
    if found.digest != digest:
        raise RankingRefused("The results changed since you looked, so nothing was published. Check the new list first.")
    if refusal := publishing_refusal(contest, found) or form_refusal(contest, has_names=has_names):
        raise RankingRefused(refusal)
    if has_names and names_of(by, contest, found) is None:
        raise RankingRefused("Open the identities on the page of results first, or publish paper numbers only.")
    fixed = cutoffs_fixed(contest)
    rows = [
        {
            "paper": row.paper.pk,
            "number": row.paper.number,
            "rank": row.rank,
            "points": ["–" if one is None else points_text(one) for one in row.points],
            "total": row.total_words,
            "award": award_words(fixed.cutoffs, row) if fixed else "",
        }
        for row in found.rows
        if not row.is_model
    ]
    contest.rankings.filter(withdrawn_at=None).update(withdrawn_at=timezone.now())
    body = {"labels": [problem.label for problem in found.problems], "has_awards": fixed is not None, "rows": rows}
    audit("ranking.published", actor=by, contest=contest, has_names=has_names, papers=len(rows), digest=digest)
    return PublishedRanking.objects.create(contest=contest, has_names=has_names, body=body, digest=digest, by=by)


@transaction.atomic
def ranking_withdraw(*, contest: Contest, by: User) -> None:
    """Withdraw the published ranking. Without one, nothing happens."""
    if contest.rankings.filter(withdrawn_at=None).update(withdrawn_at=timezone.now()):
        audit("ranking.withdrawn", actor=by, contest=contest)


def ranking_shown(user: User, ranking: PublishedRanking) -> ShownRanking:
    """The ranking for this student or coach, who may read the contest."""
    contest, own = ranking.contest, paper_own(user, ranking.contest)
    has_names = ranking.has_names
    if own is None or coach_of(user, contest) is not None:
        has_names = has_names and names_of(user, contest, result_list(contest)) is not None
    identities = dict(_identities(contest)) if has_names else {}
    rows = []
    for row in ranking.body["rows"]:
        identity = identities.get(row["paper"])
        rows.append(
            RankedRow(
                rank=row["rank"],
                number="" if has_names else row["number"],
                name=identity.name if identity else "",
                school=identity.school if identity else "",
                points=row["points"],
                total=row["total"],
                award=row["award"],
                is_own=own is not None and own.pk == row["paper"],
            )
        )
    if has_names:  # Within a rank by name: an order by number would lead from a name to a paper.
        rows.sort(key=lambda row: (row.rank is None, row.rank or 0, row.name))
    return ShownRanking(ranking, has_names, ranking.body["has_awards"], ranking.body["labels"], rows)


def ranking_csv(shown: ShownRanking) -> str:
    """The ranking as CSV. Cells that a spreadsheet would compute begin with an apostrophe."""
    columns = _columns(shown)
    return "".join(csv_lines(columns, (dict(zip(columns, line, strict=True)) for line in _lines(shown))))


def ranking_value(shown: ShownRanking) -> dict[str, Any]:
    """The values for `ranking.typ`."""
    contest = shown.ranking.contest
    when = exact(shown.ranking.at, contest.zone)
    return {"contest": contest.title, "at": when, "columns": _columns(shown), "rows": list(_lines(shown))}


def _columns(shown: ShownRanking) -> list[str]:
    who = ["name", "school"] if shown.has_names else ["paper"]
    return ["rank", *who, *(f"problem {label}" for label in shown.labels), "total", *(["award"] if shown.has_awards else [])]


def _lines(shown: ShownRanking) -> Iterator[list[str]]:
    for row in shown.rows:
        who = [row.name, row.school] if shown.has_names else [row.number]
        rank = "" if row.rank is None else str(row.rank)
        yield [rank, *who, *row.points, row.total, *([row.award] if shown.has_awards else [])]


def _identities(contest: Contest) -> Iterator[tuple[int, Identity]]:
    for identity in contest.identities.all():
        yield identity.paper_id, identity
