"""One table brings people, problems, references, schemes, texts and points; nothing is stored before the preview was seen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState, Identity, Paper
from apps.marks.models import Mark
from apps.problems.models import Problem
from apps.schemes.models import MarkingScheme, VersionStatus
from apps.submissions.models import ForeignJudgement, SubmissionVersion
from apps.tables.models import TableFile, TableImport, TablePoints
from tests.contests.factory import make_contest
from tests.problems.factory import make_problem
from tests.tables.factory import GUIDELINES, import_all, page_of, post, upload, xlsx

ClientFor = Callable[[User | None], Client]
STATEMENT = "Prove that $n^2+n$ is even for every integer $n$, in at least two ways."
TALL: list[list[Any]] = [
    ["Student", "School", "Problem", "Statement", "Reference solution", "Guidelines", "Text", "Points", "Max", "Marker"],
    ["Anna", "North", "P1", STATEMENT, "It is $n(n+1)$.", GUIDELINES, "Clear.", 6, 7, "Dr. B"],
    ["Ben", "South", "P1", STATEMENT, "It is $n(n+1)$.", GUIDELINES, "By parity.", 7, 7, "Dr. B"],
]


@pytest.fixture
def bobs(bob: User, client_for: ClientFor) -> Client:
    return client_for(bob)


def test_a_new_contest_is_made_from_one_table(bob: User, bobs: Client) -> None:
    file = upload(bobs, None, xlsx(*TALL), "camp.xlsx", title="Camp test")
    page = page_of(bobs, file)
    assert "Students to add 2, 2 by name only" in page
    assert "Problems to add 1 · 1 reference solution · 1 marking scheme" in page
    assert "Texts to add 2" in page
    assert "Points to add 2" in page
    assert not Contest.objects.exists()
    assert not Problem.objects.exists()

    page = post(bobs, file)
    contest = Contest.objects.get()
    assert (contest.title, contest.created_by, contest.state) == ("Camp test", bob, ContestState.PREPARING)
    assert "Imported: camp.xlsx" in page
    row = contest.problems.get()
    assert (row.label, row.problem.title, row.problem.current.statement) == ("1", "P1", STATEMENT)
    assert [one.text for one in row.problem.reference_solutions.all()] == ["It is $n(n+1)$."]
    assert not row.problem.is_listed
    version = MarkingScheme.objects.get(problem=row.problem).versions.get()
    assert version.status == VersionStatus.ACTIVE
    assert [int(item.points) for item in version.items.all()] == [3, 4]
    assert list(contest.identities.values_list("name", "school")) == [("Anna", "North"), ("Ben", "South")]
    texts = sorted(SubmissionVersion.objects.values_list("raw", "origin", "steps__number"))
    assert texts == [("By parity.", "imported", 1), ("Clear.", "imported", 1)]
    assert not TableFile.objects.exists()


def test_points_of_a_table_are_no_marks(bob: User, bobs: Client, client_for: ClientFor, dana: User) -> None:
    record = import_all(bobs, None, xlsx(*TALL), title="Camp test")
    assert not Mark.objects.exists()
    rows = [(row.marker, int(row.points), int(row.out_of)) for row in TablePoints.objects.order_by("points")]
    assert rows == [("Dr. B", 6, 7), ("Dr. B", 7, 7)]
    assert sorted(ForeignJudgement.objects.values_list("points", flat=True)) == [6, 7]
    address = reverse("tables:imported_points", args=[record.public_id])
    assert b"Anna,North,1,6,7,Dr. B," in bobs.get(address).content
    assert client_for(dana).get(address).status_code == 404


def test_the_same_table_again_brings_nothing_new(bob: User, bobs: Client) -> None:
    import_all(bobs, None, xlsx(*TALL), title="Camp test")
    contest = Contest.objects.get()
    counts = [model.objects.count() for model in (Problem, Identity, Paper, SubmissionVersion, TablePoints, MarkingScheme)]
    file = upload(bobs, contest, xlsx(*TALL))
    page = page_of(bobs, file)
    assert "Nothing new: everything that can be imported is in the contest already." in page
    assert "Texts to add 0 · 2 already there" in page
    assert "Rows left out 0" in page
    post(bobs, file)
    after = [model.objects.count() for model in (Problem, Identity, Paper, SubmissionVersion, TablePoints, MarkingScheme)]
    assert counts == after == [1, 2, 2, 2, 2, 1]


def test_other_texts_and_points_of_known_people_stay_out_with_the_reason(bob: User, bobs: Client) -> None:
    import_all(bobs, None, xlsx(*TALL), title="Camp test")
    changed = [TALL[0], [*TALL[1][:6], "Another text.", 5, 7, "Dr. B"], [*TALL[2][:6], "By parity.", 7, 7, "Dr. C"]]
    file = upload(bobs, Contest.objects.get(), xlsx(*changed))
    page = page_of(bobs, file)
    assert "2 Anna already has another text for problem 1. It stays." in page
    assert "Anna already has 6 of 7 points there. The stored points stay." in page
    assert "Points to add 1" in page
    post(bobs, file)
    rows = sorted((row.marker, int(row.points)) for row in TablePoints.objects.all())
    assert rows == [("Dr. B", 6), ("Dr. B", 7), ("Dr. C", 7)]


def test_a_wide_table_has_one_row_for_each_student(bob: User, bobs: Client) -> None:
    contest = make_contest(bob, make_problem("First"), make_problem("Second"))
    table = "Name;School;P1;Problem 2 (10)\nAnna;North;6,5;10\nBen;South;-;12\nCleo;North;;9\n".encode("cp1252")
    file = upload(bobs, contest, table)
    page = page_of(bobs, file)
    assert "the maximum of the points 6,5 is missing" in page
    page = post(bobs, file, "preview", out_of="7")
    assert "3 Problem 2: Invalid points: 12 exceeds the maximum 10." in page
    assert "Students to add 3" in page
    post(bobs, file)
    rows = TablePoints.objects.order_by("pk").values_list("problem__label", "points", "out_of")
    assert [tuple(map(str, row)) for row in rows] == [("1", "6.50", "7.00"), ("2", "10.00", "10.00"), ("2", "9.00", "10.00")]


def test_texts_in_a_column_for_each_problem_become_texts(bob: User, bobs: Client) -> None:
    contest = make_contest(bob, make_problem("First"), make_problem("Second"))
    import_all(bobs, contest, b"Name,P1,P2\nAnna,Let n be even.,\nBen,Obvious.,Induction.\n")
    texts = SubmissionVersion.objects.values_list("submission__problem__label", "raw")
    assert sorted(texts) == [("1", "Let n be even."), ("1", "Obvious."), ("2", "Induction.")]


def test_a_problem_that_is_unknown_is_listed_and_the_rest_is_imported(bob: User, bobs: Client) -> None:
    contest = make_contest(bob)
    record = import_all(bobs, contest, b"Name,P1 (7),P9 (7)\nAnna,5,6\n")
    assert record.counts["points"] == 1
    assert record.left_out == [[2, "The contest has no problem 9, and the table has no statement of it.", "Anna", "5", "6"]]
    text = bobs.get(reverse("tables:imported_left_out", args=[record.public_id])).content.decode()
    assert '2,"The contest has no problem 9, and the table has no statement of it.",Anna,5,6' in text


def test_a_problem_of_the_library_is_found_by_its_statement_and_keeps_what_it_has(bob: User, bobs: Client) -> None:
    problem = make_problem("Squares")
    contest = make_contest(bob, make_problem("Other"))
    table = xlsx(["Problem", "Statement", "Solution"], ["B", problem.current.statement, "Another proof."])
    assert "It has reference solutions, which stay." in page_of(bobs, upload(bobs, contest, table))
    import_all(bobs, contest, table)
    assert [row.problem.title for row in contest.problems.all()] == ["Other", "Squares"]
    assert problem.reference_solutions.count() == 2
    assert Problem.objects.count() == 2


def test_guidelines_without_points_stay_text_and_incomplete_ones_become_a_draft(bob: User, bobs: Client) -> None:
    header = ["Problem", "Statement", "Guidelines"]
    table = xlsx(header, ["A", "Prove A.", "Be kind to beginners."], ["B", "Prove B.", "(Partial)\n1. Found it."])
    file = upload(bobs, make_contest(bob, make_problem("Other")), table)
    assert "The guidelines are kept as text: no items with points were found in them." in page_of(bobs, file)
    post(bobs, file)
    assert Problem.objects.get(title="A").current.scheme_text == "Be kind to beginners."
    assert not MarkingScheme.objects.filter(problem__title="A").exists()
    assert MarkingScheme.objects.filter(problem__title="B").exists()


def test_an_open_contest_takes_people_but_no_problems(bob: User, bobs: Client) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    table = xlsx(["Name", "Problem", "Statement", "Text"], ["Anna", "New", "Prove it.", "Clear."])
    record = import_all(bobs, contest, table)
    assert "which was opened: no problem can be added." in record.left_out[0][1]
    assert record.counts["students"] == 1


def test_a_contest_that_is_being_marked_takes_no_table(bob: User, bobs: Client) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    file = upload(bobs, contest, b"Name,School\nAnna,North\n")
    Contest.objects.filter(pk=contest.pk).update(state=ContestState.MARKING)
    assert "The contest is being marked. Reopen it first." in post(bobs, file)
    assert not TableImport.objects.exists()
    assert 'name="file"' not in bobs.get(reverse("tables:upload", args=[contest.public_id])).content.decode()


def test_a_failed_import_stores_nothing(bob: User, bobs: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    file = upload(bobs, None, xlsx(*TALL), title="Camp test")

    def fail(**_: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr("apps.tables.services.texts_add", fail)
    with pytest.raises(RuntimeError):
        post(bobs, file)
    assert not Contest.objects.exists()
    assert not Problem.objects.exists()
    assert TableFile.objects.exists()


def test_columns_that_are_left_out_are_named_and_the_address_of_the_upload_leads_to_the_import(
    bobs: Client, dana: User, client_for: ClientFor
) -> None:
    file = upload(bobs, None, b"Name,Shoe size\nAnna,38\n", title="Camp test")
    assert "Columns left out Shoe size" in page_of(bobs, file)
    address = reverse("tables:review", args=[file.public_id])
    post(bobs, file)
    imported = reverse("tables:imported", args=[TableImport.objects.get().public_id])
    assert bobs.get(address)["Location"] == bobs.post(address, {"do": "import"})["Location"] == imported
    assert TableImport.objects.count() == 1
    assert client_for(dana).get(address).status_code == 404
