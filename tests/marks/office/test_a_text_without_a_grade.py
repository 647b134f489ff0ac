"""A text without a grade is not marked: it ends the sign-off, its paper has no total, and it never counts as 0."""

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, Identity
from apps.marks.office.names import NamesRefused, names_of, names_open, sign_off
from apps.marks.office.office import SignRefused, result_list, results_sign
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add
from tests.contests.factory import TEXT
from tests.marks.office.listed import listed
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Four marked papers of a contest with a second problem, on which no text was handed in."""
    problem = listed(bob)
    other = make_problem("Sums of cubes")
    ContestProblem.objects.create(contest=problem.contest, problem=other, version=other.current, position=2, label="2")
    return problem


def handed_in_late(problem: ContestProblem) -> None:
    """Add a text to the second problem, by the last paper: its place in the list does not change."""
    paper, second = Identity.objects.get(name="=SUM(1)").paper, problem.contest.problems.get(label="2")
    submission = Submission.objects.create(paper=paper, problem=second)
    version_add(submission=submission, text=TEXT, text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)


def test_a_text_that_is_not_marked_ends_the_sign_off_and_closes_the_names(problem: ContestProblem, bob: User) -> None:
    contest, found = problem.contest, result_list(problem.contest)
    results_sign(contest=contest, by=bob, digest=found.digest)
    names_open(contest=contest, by=bob, digest=found.digest)
    handed_in_late(problem)
    after = result_list(contest)
    assert after.digest != found.digest, "the same points, but not the same list"
    assert sign_off(contest, after) is None
    assert names_of(bob, contest, after) is None
    with pytest.raises(NamesRefused, match="signed off"):
        names_open(contest=contest, by=bob, digest=after.digest)
    with pytest.raises(SignRefused, match="Nothing was signed: 1 script has no grade yet"):
        results_sign(contest=contest, by=bob, digest=after.digest)


def test_pages_and_files_show_no_total_for_it(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    handed_in_late(problem)
    row = next(row for row in result_list(problem.contest).rows if row.total is None)
    assert (row.rank, row.total_words, row.points[1]) == (None, "–", None)
    page = client_for(bob).get(reverse("office:results", args=[problem.contest.public_id])).content.decode()
    line = next(part for part in page.split("<tr>") if f">{row.paper.number}</a>" in part)
    assert "not marked" in line
    assert "<strong>–</strong>" in line
    file = client_for(bob).get(reverse("office:download", args=[problem.contest.public_id, "csv"])).content.decode()
    of_paper = next(one for one in csv.DictReader(io.StringIO(file)) if one["paper"] == row.paper.number)
    assert (of_paper["rank"], of_paper["total"], of_paper["remark"]) == ("", "", "not marked: 2")


def test_papers_by_models_have_no_rank_once_the_list_is_signed_off_and_are_secret_before(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    Identity.objects.filter(name="Ada Ampere").update(kind=AuthorKind.MODEL)
    contest, where = problem.contest, reverse("office:results", args=[problem.contest.public_id])
    before = result_list(contest)
    assert ([row.rank for row in before.rows], before.models) == ([1, 2, 2, 4], 0)
    assert ">model<" not in client_for(bob).get(where).content.decode()
    results_sign(contest=contest, by=bob, digest=before.digest)
    after = result_list(contest)
    assert ([row.rank for row in after.rows], after.models) == ([1, 1, 3, None], 1)
    page = client_for(bob).get(where).content.decode()
    assert page.count(">model<") == 1
    assert "1 paper by models has no rank and no award." in page
    file = client_for(bob).get(reverse("office:download", args=[contest.public_id, "csv"])).content.decode()
    assert file.count("by a model, not ranked") == 1
