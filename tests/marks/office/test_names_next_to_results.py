"""Names appear in results after sign-off, for users who opened the identities on record, and never before."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import AuthorKind, ContestProblem, Identity, IdentityReveal
from apps.contests.opening import opening_refusal
from apps.contests.services import author_add, coach_add
from apps.marks.models import AuditEvent, FinalGrade
from apps.marks.office import office
from apps.marks.office.names import NamesRefused, names_of, names_open
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.marks.workspace.claims import task_next
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, script_add, sealed

ClientFor = Callable[[User | None], Client]
PEOPLE = {"Ada Ampere": "7", "Bo Bohr": "2", "Cy Curie": "2", "=SUM(1)": "0"}
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


@pytest.fixture
def problem(bob: User, dana: User) -> ContestProblem:
    """Create four marked papers with 7, 2, 2 and 0 points and an absent student; Bob organises, Eve marked."""
    eve = marker("eve")
    problem = problem_to_mark(bob, eve, scripts=0, asks_place=False)
    for name in PEOPLE:
        script_add(problem, name)
    author_add(contest=problem.contest, name="Zoe Absent", kind=AuthorKind.STUDENT, school="Lyceum")
    Identity.objects.filter(name="Ada Ampere").update(school="Gymnasium Hohenstein", external_id="DE-0017")
    cases_prepare(problem)
    for _ in PEOPLE:
        task = claimed(problem, eve)
        points = PEOPLE[Identity.objects.get(paper__submissions__versions=task.case.version).name]
        line = {"7": "B1", "2": "A1 -D1", "0": "-D1"}[points]
        past_grace(sealed(task, eve, ("claim", {"line": line}), ("reason", {"words": "So."})))
    cases_settle(problem.contest)
    return problem


def at(problem: ContestProblem, name: str, *args: str) -> str:
    return reverse(f"office:{name}", args=[problem.contest.public_id, *args])


def signed(problem: ContestProblem, by: User) -> str:
    digest = office.result_list(problem.contest).digest
    office.results_sign(contest=problem.contest, by=by, digest=digest)
    return digest


def everything(client: Client, problem: ContestProblem) -> str:
    """Return the page of results and all its files as text."""
    pages: list[Any] = [client.get(at(problem, "results")), client.get(at(problem, "scripts_csv"))]
    pages += [client.get(at(problem, "download", form)) for form in ("csv", "jsonl")]
    texts = [page.content.decode() for page in pages]
    book: Any = client.get(at(problem, "download", "xlsx"))
    texts += [str(cells(book.content))]
    research: Any = client.get(at(problem, "research"))
    return "".join([*texts, b"".join(research.streaming_content).decode()])


def cells(book: bytes) -> list[list[str]]:
    """Return the first sheet of a workbook row by row; fail if it has a formula."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        shared = [
            "".join(piece.text or "" for piece in one.iter(f"{SHEET}t"))
            for one in ElementTree.fromstring(parts.read("xl/sharedStrings.xml"))
        ]
        sheet = ElementTree.fromstring(parts.read("xl/worksheets/sheet1.xml"))
    assert not list(sheet.iter(f"{SHEET}f")), "the sheet has a formula"
    rows = []
    for row in sheet.iter(f"{SHEET}row"):
        line = [""] * 8
        for one in row:
            value = one.findtext(f"{SHEET}v") or ""
            line["ABCDEFGH".index(str(one.get("r"))[0])] = shared[int(value)] if one.get("t") == "s" else value
        rows.append(line)
    return rows


def test_no_file_contains_a_name_before_the_current_list_is_signed_and_opened(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    client = client_for(bob)
    digest = office.result_list(problem.contest).digest
    with pytest.raises(NamesRefused, match="stay closed until this list is signed off"):
        names_open(contest=problem.contest, by=bob, digest=digest)
    signed(problem, bob)
    assert not re.search("Ampere|Hohenstein|DE-0017|Absent", everything(client, problem)), "signed, but not opened"
    assert client.get(at(problem, "download", "csv") + "?names=yes").status_code == 404
    with pytest.raises(NamesRefused, match="changed since you looked"):
        names_open(contest=problem.contest, by=bob, digest="0" * 64)
    assert not IdentityReveal.objects.exists()


def test_all_identities_are_opened_once_and_recorded(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    digest, client = signed(problem, bob), client_for(bob)
    assert "Open all identities" in client.get(at(problem, "results")).content.decode()
    for _ in range(2):
        page = client.post(at(problem, "names_open"), {"digest": digest}, follow=True).content.decode()
        assert "Ada Ampere" in page
        assert "Gymnasium Hohenstein" in page
        assert "Zoe Absent" in page
    event = AuditEvent.objects.get(verb="contest.identities")
    assert (event.actor, event.body["papers"], event.body["digest"]) == (bob, 5, digest)
    assert IdentityReveal.objects.filter(by=bob).count() == 5
    record = client.get(at(problem, "record")).content.decode()
    assert "Opened all identities" in record
    assert "Ampere" not in record
    roster = client.get(reverse("contests:roster", args=[problem.contest.public_id])).content.decode()
    assert "opened the identities of all papers after sign-off" in roster
    assert not [paper.number for paper in problem.contest.papers.all() if paper.number in roster]


def test_the_three_files_agree_on_ties_and_absent_students(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    names_open(contest=problem.contest, by=bob, digest=signed(problem, bob))
    client = client_for(bob)
    files = {form: client.get(at(problem, "download", form) + "?names=yes") for form in ("csv", "xlsx", "jsonl")}
    rows = list(csv.DictReader(io.StringIO(files["csv"].content.decode())))
    listed = [(row["rank"], row["name"], row["problem 1"], row["total"], row["remark"]) for row in rows]
    assert listed[0] == ("1", "Ada Ampere", "7", "7", "")
    assert {one[:2] for one in listed[1:3]} == {("2", "Bo Bohr"), ("2", "Cy Curie")}
    assert listed[3:] == [("4", "'=SUM(1)", "0", "0", ""), ("", "Zoe Absent", "", "", "absent")]
    assert (rows[0]["school"], rows[0]["external id"]) == ("Gymnasium Hohenstein", "DE-0017")
    head, *sheet = cells(files["xlsx"].content)
    assert head == list(rows[0])
    assert [row[2] for row in sheet] == [row["name"].removeprefix("'") for row in rows], (
        "a text in a workbook needs no apostrophe"
    )
    about, *lines = map(json.loads, files["jsonl"].content.decode().splitlines())
    assert (about["format"], about["names"], about["contest"]) == ("lemmascope.results/1", True, problem.contest.title)
    assert (lines[0]["external_id"], lines[0]["points"], lines[0]["rank"]) == ("DE-0017", {"1": 7}, 1)
    assert [line["name"] for line in lines] == [row["name"].removeprefix("'") for row in rows]
    assert "-results-with-names.csv" in files["csv"]["Content-Disposition"]
    plain = client.get(at(problem, "download", "csv")).content.decode()
    assert "Ampere" not in plain, "the list by number stays without names"
    assert plain.splitlines()[0] == "rank,paper,problem 1,total,remark"


def test_a_changed_grade_hides_the_names_until_the_new_list_is_signed(problem: ContestProblem, bob: User) -> None:
    contest = problem.contest
    names_open(contest=contest, by=bob, digest=signed(problem, bob))
    grade = FinalGrade.objects.get(points=0)
    FinalGrade.objects.create(
        case=grade.case, mark=grade.mark, points=1, scheme_version=grade.scheme_version, sheet=grade.sheet, supersedes=grade
    )
    assert names_of(bob, contest, office.result_list(contest)) is None
    signed(problem, bob)
    assert names_of(bob, contest, office.result_list(contest)) is not None
    assert AuditEvent.objects.filter(verb="contest.identities").count() == 1


def test_each_organiser_opens_identities_with_a_permission_of_their_own(
    problem: ContestProblem, bob: User, alice: User, client_for: ClientFor
) -> None:
    contest = problem.contest
    other, plain = marker("frank"), marker("grace")
    coach_add(contest=contest, person=other, is_organiser=True, may_reveal=True)
    coach_add(contest=contest, person=plain, is_organiser=True)
    coach_add(contest=contest, person=alice, is_organiser=True)
    digest = signed(problem, bob)
    names_open(contest=contest, by=bob, digest=digest)
    for user in (other, plain, alice):
        assert "Ampere" not in everything(client_for(user), problem), f"{user} has opened nothing"
    for user, why in ((plain, "You may not open identities"), (alice, "Only coaches can learn")):
        page = client_for(user).post(at(problem, "names_open"), {"digest": digest}, follow=True).content.decode()
        assert why in page
        assert "Ampere" not in page
    assert client_for(marker("eve")).post(at(problem, "names_open"), {"digest": digest}).status_code == 404
    names_open(contest=contest, by=other, digest=digest)
    assert names_of(other, contest, office.result_list(contest)) is not None


def test_an_organiser_who_opened_the_identities_no_longer_marks_those_papers(problem: ContestProblem, bob: User) -> None:
    names_open(contest=problem.contest, by=bob, digest=signed(problem, bob))
    script_add(problem, "Late")
    cases_prepare(problem)
    assert task_next(problem, bob) is not None, "a paper that came later is unknown to him"
    late = Identity.objects.get(name="Late").paper
    assert opening_refusal(late, bob)
    assert names_of(bob, problem.contest, office.result_list(problem.contest)) is None


def test_coaches_see_the_names_of_a_contest_that_is_not_anonymous(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    contest = problem.contest
    contest.is_anonymous = False
    contest.save()
    page = client_for(bob).get(at(problem, "results")).content.decode()
    assert "Ada Ampere" in page
    assert "Open all identities" not in page
    assert not IdentityReveal.objects.exists()
