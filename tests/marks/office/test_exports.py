"""Exports of settled scripts and the list of results: their contents, what they leave out, and the signature of the list."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, Identity
from apps.contests.services import author_add, coach_add
from apps.files.csv_files import cell_read
from apps.marks.models import AuditEvent, MarkingCase
from apps.marks.office import office
from apps.marks.office.exporting import scripts_csv
from apps.marks.office.printing import paper_printed
from apps.marks.office.statistics import figures
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.submissions.models import Origin, Submission, TextFormat
from apps.submissions.services import version_add
from tests.marks.factory import claimed, commanded, marker, past_grace, problem_to_mark, script_add, sealed
from tests.results.factory import released

ClientFor = Callable[[User | None], Client]
NAME = "Zebulon Quartermaine"


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create three scripts of a named author; two are settled, the first with a comment and a verdict."""
    problem = problem_to_mark(bob, scripts=2, asks_place=False)
    script_add(problem, NAME)
    cases_prepare(problem)
    task = claimed(problem, bob)
    commanded(task, bob, "comment", id="c1", step=0, words="=HYPERLINK() is no proof.")
    commanded(task, bob, "verdict", id="v1", step=1, fallacy="gap", anchor={"start": 0, "end": 7})
    past_grace(sealed(task, bob, ("claim", {"line": "A1 -D1"}), ("reason", {"words": "So."})))
    past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "B1"})))
    cases_settle(problem.contest)
    return problem


def download(client: Client, problem: ContestProblem, name: str) -> str:
    """Return the file at a named address."""
    answer: Any = client.get(reverse(f"office:{name}", args=[problem.contest.public_id]))
    assert answer.status_code == 200
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def test_the_table_has_a_row_for_every_settled_script(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    rows = list(csv.DictReader(io.StringIO(download(client_for(bob), problem, "scripts_csv"))))
    assert sorted((row["points"], cell_read(row["claim"])) for row in rows) == [("2", "A1 -D1"), ("7", "B1")]
    assert {row["paper"] for row in rows} <= {paper.number for paper in problem.contest.papers.all()}
    commented = next(row for row in rows if row["points"] == "2")
    assert commented["comment"].startswith("'="), "a spreadsheet must not compute a comment"
    assert commented["derivation"].endswith("→ 2")


def test_the_research_file_has_texts_spans_marks_and_schemes(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    head, scheme, *scripts = map(json.loads, download(client_for(bob), problem, "research").splitlines())
    assert (head["format"], head["scripts"]) == ("lemmascope.marking/1", 2)
    assert scheme["body"]["format"] == "lemmascope.scheme/1"
    assert len(scripts) == 2
    one = next(script for script in scripts if script["grade"]["points"] == "2")
    assert one["grade"]["scheme"] == scheme["scheme"]
    (verdict,) = one["grade"]["sheet"]["verdicts"]
    start, end = verdict["anchor"]["start"], verdict["anchor"]["end"]
    assert one["text"]["source"][start:end] == verdict["anchor"]["quote"]
    assert [step["number"] for step in one["text"]["steps"]] == list(range(1, len(one["text"]["steps"]) + 1))
    (mark,) = one["marks"]
    assert (mark["sealed_points"], mark["points"], mark["assisted"]) == ("2", "2", False)


def test_no_file_and_no_page_of_the_office_contains_a_name(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    Identity.objects.filter(name=NAME).update(school="Gymnasium Hohenstein")
    client = client_for(bob)
    texts = [download(client, problem, form) for form in ("scripts_csv", "research")]
    for name in ("statistics", "results", "record"):
        answer = client.get(reverse(f"office:{name}", args=[problem.contest.public_id]))
        texts.append(f"{answer.headers}{answer.content.decode()}")
    for text in texts:
        assert not [word for word in ("Zebulon", "Quartermaine", "Hohenstein", "author 0", "author 1") if word in text]
    assert "bob" not in texts[1], "research files number the markers"


def test_two_files_number_markers_differently(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    first, second = (download(client_for(bob), problem, "research") for _ in range(2))
    markers = [json.loads(text.splitlines()[-1])["marks"][0]["marker"] for text in (first, second)]
    assert markers[0] != markers[1]


def test_a_list_is_signed_when_it_is_complete_and_unchanged(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    contest, client = problem.contest, client_for(bob)
    address = reverse("office:results", args=[contest.public_id])
    found = office.result_list(contest)
    assert found.missing == 1
    assert [(row.total, row.rank) for row in found.rows] == [(7, 1), (2, 2), (None, None)], "no rank without a grade"
    with pytest.raises(office.SignRefused, match="no grade yet"):
        office.results_sign(contest=contest, by=bob, digest=found.digest)
    past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "B1"})))
    cases_settle(contest)
    with pytest.raises(office.SignRefused, match="changed since"):
        office.results_sign(contest=contest, by=bob, digest=found.digest)
    client.post(address, {"digest": office.result_list(contest).digest})
    event = AuditEvent.objects.get(verb="results.signed")
    assert (event.actor, event.body["digest"]) == (bob, office.result_list(contest).digest)
    assert "this list" in client.get(address).content.decode()
    assert [row.rank for row in office.result_list(contest).rows] == [1, 1, 3]


def test_the_record_lists_events_of_settled_scripts(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    task = claimed(problem, bob)
    sealed(task, bob, ("points", {"points": 7}))
    contest = problem.contest
    number = task.case.version.submission.paper.number
    assert not office.record(contest, number=number).exists(), "the record leaves out scripts without a settled grade"
    verbs = set(office.record(contest).values_list("verb", flat=True))
    assert {"mark.sealed", "grade.given", "setup"} <= verbs
    eve = marker("eve")  # Bob can still reopen his mark, so he reads nothing of this problem yet.
    coach_add(contest=contest, person=eve)
    contest.coaches.filter(person=eve).update(is_organiser=True)
    client, address = client_for(eve), reverse("office:record", args=[contest.public_id])
    page = client.get(address, {"verb": "grade.given"}).content.decode()
    assert page.count("<strong>A grade was given</strong>") == 2
    assert "<strong>Sealed a mark</strong>" not in page
    assert number not in client.get(address).content.decode()


def test_a_printed_paper_contains_the_words_to_the_student(
    problem: ContestProblem, bob: User, charlie: User, client_for: ClientFor
) -> None:
    case = MarkingCase.objects.get(grades__points=2)
    address = reverse("office:paper", args=[problem.contest.public_id, case.version.submission.paper.number])
    page = client_for(bob).get(address).content.decode()
    assert "Problem 1: 2 of 7" in page
    assert "is no proof" in page
    assert "Gap" in page
    assert "So." not in page, "a marker's reason is not for students"
    other = MarkingCase.objects.get(grades=None)
    unsettled = reverse("office:paper", args=[problem.contest.public_id, other.version.submission.paper.number])
    assert "No text of this paper is settled yet" in client_for(bob).get(unsettled).content.decode()
    assert client_for(charlie).get(address).status_code == 404
    assert client_for(bob).get(address.replace(case.version.submission.paper.number, "AAAAAA")).status_code == 404


@pytest.mark.parametrize("name", ["scripts_csv", "research"])
def test_files_are_for_organisers(
    name: str, problem: ContestProblem, alice: User, charlie: User, client_for: ClientFor
) -> None:
    address = reverse(f"office:{name}", args=[problem.contest.public_id])
    for user in (alice, charlie):
        assert client_for(user).get(address).status_code == 404
    assert client_for(None).get(address).status_code == 302


def test_only_the_newest_version_of_a_text_counts(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1, asks_place=False)
    settle_next(problem, bob, "A1 A2")
    submission = Submission.objects.get()
    version_add(submission=submission, text="Nothing.", text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    cases_prepare(problem)
    assert not list(office.grades_settled(problem.contest)), "the older version has no effect"
    assert office.result_list(problem.contest).missing == 1
    settle_next(problem, bob, "-D1")
    (grade,) = office.grades_settled(problem.contest)
    assert grade.case.version.number == 2
    assert [row.points for row in office.result_list(problem.contest).rows] == [[0]]
    assert len(csv_rows(scripts_csv(problem.contest))) == 1
    (printed,) = paper_printed(problem.contest, submission.paper)
    assert printed.points == 0
    found = figures([problem])[0]
    assert (found.scripts, found.graded, found.full) == (1, 1, 0)


def test_a_released_grade_counts_until_the_newer_version_has_one(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=1, asks_place=False)
    settle_next(problem, bob, "A1 A2")
    released(problem.contest, bob)
    submission = Submission.objects.get()
    version_add(submission=submission, text="Nothing.", text_format=TextFormat.MARKDOWN, origin=Origin.TYPED)
    cases_prepare(problem)
    found = office.result_list(problem.contest)
    assert found.missing == 1, "the newer version has no grade yet"
    assert [row.points for row in found.rows] == [[7]]
    assert [row.total for row in found.rows] == [7]
    assert [row.rank for row in found.rows] == [1]
    (line,) = csv_rows(scripts_csv(problem.contest))
    assert (line["points"], line["version"], line["newest"]) == ("7", "1", "2")
    script = json.loads(download(client_for(bob), problem, "research").splitlines()[-1])
    assert (script["text"]["version"], script["text"]["newest"]) == (1, 2)
    page = client_for(bob).get(reverse("office:results", args=[problem.contest.public_id])).content.decode()
    assert '7 <span class="muted small">version 1</span>' in page
    printed = reverse("office:paper", args=[problem.contest.public_id, submission.paper.number])
    assert "Problem 1, version 1: 7 of 7" in client_for(bob).get(printed).content.decode()
    settle_next(problem, bob, "-D1")
    (row,) = office.result_list(problem.contest).rows
    assert row.points == [0]
    assert row.total == 0
    assert row.cells[0].older == 0


def test_a_paper_without_a_text_is_not_listed(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    author_add(contest=problem.contest, name="Zora Late", kind=AuthorKind.STUDENT)
    assert problem.contest.papers.count() == 4
    assert len(office.result_list(problem.contest).rows) == 3
    unsettled = next(row.paper for row in office.result_list(problem.contest).rows if row.total is None)
    address = reverse("office:paper_pdf", args=[problem.contest.public_id, unsettled.number])
    answer = client_for(bob).get(address)
    assert answer.status_code == 302, "an empty paper is not printed"


def settle_next(problem: ContestProblem, user: User, line: str) -> None:
    past_grace(sealed(claimed(problem, user), user, ("claim", {"line": line}), ("reason", {"words": "So."})))
    cases_settle(problem.contest)


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))
