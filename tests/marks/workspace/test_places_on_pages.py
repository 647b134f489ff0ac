"""Handwriting is marked where it is: errors, comments and ticks are at pages, with regions that every later page shows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pydantic import ValidationError

from apps.accounts.models import Role, User
from apps.contests.models import ContestProblem
from apps.marks.models import Coordination, Verdict
from apps.marks.office.printing import PICTURES_AT_MOST, paper_document, paper_printed
from apps.marks.page_marks import pages_marked
from apps.marks.sealing.revealing import stage_show
from apps.marks.sealing.sealing import NotReady, cases_settle
from apps.reasoning.marking.revealing import Stage
from apps.reasoning.marking.sheets.carrying import remarks_carried
from apps.reasoning.marking.sheets.commands import CommandRefused, Script, sheet_apply
from apps.reasoning.marking.sheets.joining import notes_joined
from apps.reasoning.marking.sheets.pages import Region, page_of, page_step, place_read, place_title, place_words
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.submissions.models import Scan, SubmissionVersion
from tests.answers import pdf_text
from tests.marks.factory import claimed, commanded, past_grace, problem_to_mark, script_scanned, sealed
from tests.marks.suggested import suggested
from tests.schemes.factory import content

ClientFor = Callable[[User | None], Client]
PAGES = Script(source="", steps=(), pages=("a", "b"))
REGION = {"x": 0.1, "y": 0.25, "w": 0.5, "h": 0.1}
ERROR = {"id": "v1", "step": 10_002, "fallacy": "gap", "region": REGION, "words": "Why?"}
COMMENT = {"id": "c1", "step": 10_001, "region": {"x": 0.3, "y": 0.4}, "words": "A good idea."}


def given(script: Script, *commands: tuple[str, dict[str, Any]]) -> MarkSheet:
    sheet = MarkSheet()
    for verb, args in commands:
        sheet = sheet_apply(sheet, verb, args, content(), script)
    return sheet


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create one script of two pages without text."""
    made = problem_to_mark(bob, scripts=0)
    script_scanned(made, "Ada")
    return made


def test_a_page_is_a_step_with_its_own_words() -> None:
    assert (page_step(3), page_of(10_003), page_of(3), page_of(0)) == (10_003, 3, None, None)
    assert [place_words(step) for step in (4, 10_002, 0)] == ["step 4", "page 2", "the whole text"]
    assert place_title(10_002) == "Page 2"


def test_errors_comments_ticks_and_grants_are_at_pages() -> None:
    sheet = given(
        PAGES, ("verdict", ERROR), ("comment", COMMENT), ("tick", {"code": "A1", "step": 10_001}), ("grant", {"step": 10_002})
    )
    assert sheet.verdicts[0].region == Region.model_validate(REGION)
    assert sheet.comments[0].region == Region(x=0.3, y=0.4)
    assert Region(x=0.3, y=0.4).is_pin
    assert sheet.places == {"A1": 10_001}
    assert sheet.granted == {10_002}


@pytest.mark.parametrize(
    ("verb", "args", "said"),
    [
        ("verdict", ERROR | {"step": 10_003}, "The script has no page 3."),
        ("verdict", ERROR | {"step": 1}, "The script has no step 1."),
        ("comment", COMMENT | {"step": 0}, "Only a page has regions."),
        ("comment", COMMENT | {"region": {"x": 0.9, "y": 0, "w": 0.2, "h": 0.1}}, "over the edge of the page"),
        ("comment", COMMENT | {"region": {"x": -1, "y": 0}}, "greater than or equal to 0"),
        ("comment", COMMENT | {"anchor": {"start": 0, "end": 1}}, "A page has no words to select"),
        ("tick", {"code": "A1", "step": 10_009}, "The script has no page 9."),
    ],
)
def test_places_that_do_not_exist_are_refused(verb: str, args: dict[str, Any], said: str) -> None:
    with pytest.raises(CommandRefused, match=said):
        given(PAGES, (verb, args))
    with pytest.raises(ValidationError):
        Region(x=0.5, y=0.5, w=0.6)


def test_a_remark_goes_with_its_page_and_keeps_its_region_when_the_page_is_scanned_again() -> None:
    sheet = given(PAGES, ("verdict", ERROR), ("comment", COMMENT))
    swapped = remarks_carried(sheet.verdicts, sheet.comments, PAGES, Script(source="", steps=(), pages=("b", "a")))
    assert [(one.fate, one.step) for one in (*swapped.verdicts, *swapped.comments)] == [("kept", 10_001), ("kept", 10_002)]
    again = remarks_carried(sheet.verdicts, (), PAGES, Script(source="", steps=(), pages=("a", "new")))
    assert [(one.fate, one.step, one.because) for one in again.verdicts] == [
        ("needs confirmation", 10_002, "The page was scanned again.")
    ]
    fewer = remarks_carried(sheet.verdicts, (), PAGES, Script(source="", steps=(), pages=("a",)))
    assert [(one.fate, one.because) for one in fewer.verdicts] == [("orphaned", "The page is gone.")]


@pytest.mark.django_db
def test_partial_points_for_handwriting_need_a_place_on_a_page(problem: ContestProblem, bob: User) -> None:
    task = claimed(problem, bob)
    commanded(task, bob, "tick", code="A1")
    with pytest.raises(NotReady, match="an item ticked at a step or page"):
        sealed(task, bob, ("reason", {"words": "A beginning."}))
    sealed(task, bob, ("untick", {"code": "A1"}), ("tick", {"code": "A1", "step": 10_002}))


@pytest.mark.django_db
def test_the_sealed_places_are_on_the_paper_and_in_its_pdf(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    task = claimed(problem, bob)
    mark = sealed(task, bob, ("verdict", ERROR), ("comment", COMMENT), ("claim", {"line": "A1"}), ("reason", {"words": "x"}))
    row = Verdict.objects.get()
    assert (row.step, row.region) == (10_002, REGION)
    past_grace(mark)
    cases_settle(problem.contest)
    number = task.case.version.submission.paper.number
    page = client_for(bob).get(reverse("office:paper", args=[problem.contest.public_id, number])).content.decode()
    assert '<rect x="60" y="212" width="300" height="85"/>' in page
    assert 'aria-label="1 marked place on page 2"' in page
    assert "A good idea." in page
    answer = client_for(bob).get(reverse("office:paper_pdf", args=[problem.contest.public_id, number]))
    text = pdf_text(answer.content)
    assert "Place 1: Gap" in text
    assert "Why?" in text


def test_marks_that_agree_keep_errors_at_different_places_of_a_page_apart() -> None:
    far = ERROR | {"id": "v2", "region": {"x": 0.7, "y": 0.8}, "words": ""}
    near = ERROR | {"id": "v3", "region": {"x": 0.3, "y": 0.3}, "words": ""}
    mine = given(PAGES, ("verdict", ERROR))
    assert len(notes_joined([mine, given(PAGES, ("verdict", far))]).verdicts) == 2
    (one,) = notes_joined([given(PAGES, ("verdict", near)), mine]).verdicts
    assert (one.words, one.region) == ("Why?", Region(x=0.3, y=0.3))


@pytest.mark.parametrize(
    ("text", "has_steps", "place"),
    [
        ("3", True, 3),
        ("step 3", True, 3),
        ("page 2", True, 10_002),
        ("p2", True, 10_002),
        ("2", False, 10_002),
        ("x", True, None),
    ],
)
def test_a_place_is_read_as_people_write_it(text: str, has_steps: bool, place: int | None) -> None:
    assert place_read(text, has_steps=has_steps) == place


@pytest.mark.django_db
def test_points_for_handwriting_may_go_down_after_a_reveal(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=0, unrevealed_percent=0)
    script_scanned(problem, "Ada")
    mark = sealed(claimed(problem, bob), bob, ("claim", {"line": "A1 A2"}))
    suggested(mark, SuggestionBody())
    for stage in (Stage.LOCATIONS, Stage.FINDINGS):
        stage_show(mark=mark, stage=stage)
    address = reverse("marks:reveal_decide", kwargs={"task_id": mark.task.public_id})
    change = {"decision": "change", "claim": "A1", "reason": "missed", "words": "The end is missing."}
    refused = client_for(bob).post(address, change | {"step": "page 3"}, follow=True).content.decode()
    assert "There is no page 3." in refused
    client_for(bob).post(address, change | {"step": "page 2"})
    mark.refresh_from_db()
    assert mark.change_reason == "I missed it (page 2). The end is missing."


@pytest.mark.django_db
def test_remarks_on_pages_beyond_the_pictures_of_a_pdf_are_printed(bob: User) -> None:
    problem = problem_to_mark(bob, scripts=0)
    script_scanned(problem, "Ada", pages=PICTURES_AT_MOST + 2, size=(60, 85))
    late = ERROR | {"step": page_step(PICTURES_AT_MOST + 1)}
    mark = sealed(claimed(problem, bob), bob, ("verdict", late), ("claim", {"line": "A1"}), ("reason", {"words": "x"}))
    past_grace(mark)
    cases_settle(problem.contest)
    paper = mark.task.case.version.submission.paper
    document = paper_document(problem.contest, paper, paper_printed(problem.contest, paper))
    printed = [block.get("prose", "") for part in document.parts for block in part.blocks]
    assert len(document.pictures) == PICTURES_AT_MOST
    assert any("Page 41 is not printed" in words for words in printed)
    assert "Why?" in printed


@pytest.mark.django_db
def test_numbers_count_the_regions_of_a_page(problem: ContestProblem, bob: User) -> None:
    version = SubmissionVersion.objects.get()
    notes = given(
        PAGES,
        ("verdict", ERROR),
        ("comment", COMMENT | {"step": 10_002, "id": "c2"}),
        ("comment", {"id": "c3", "step": 10_002, "words": "All."}),
    )
    first, second = pages_marked(version, notes.verdicts, notes.comments, lambda one: one)
    assert (first.rows, first.pins) == ([], [])
    assert [row.number for row in second.rows] == [1, 2, 0]
    assert [(pin.is_error, pin.is_pin) for pin in second.pins] == [(True, False), (False, True)]


@pytest.mark.django_db
def test_markers_who_differ_on_a_page_see_the_page_in_the_differences(bob: User, charlie: User, client_for: ClientFor) -> None:
    User.objects.filter(pk=charlie.pk).update(role=Role.COACH)
    charlie.refresh_from_db()
    problem = problem_to_mark(bob, charlie, scripts=0, markers=2)
    script_scanned(problem, "Ada")
    for person, points in ((bob, "A1"), (charlie, "A1 A2")):
        task = claimed(problem, person)
        note = ("verdict", ERROR) if person == bob else ("comment", COMMENT)
        past_grace(sealed(task, person, note, ("claim", {"line": points}), ("reason", {"words": "x"})))
    cases_settle(problem.contest)
    found = Coordination.objects.get()
    for person, claim in ((bob, "A1"), (charlie, "A1 A2")):
        client_for(person).post(reverse("marks:coordination_do", args=[found.public_id, "claim"]), {"claim": claim})
    page = client_for(bob).get(reverse("marks:coordination", args=[found.public_id])).content.decode()
    assert "Page 2</h3>" in page
    assert "marked place on page 2" in page
    assert "page 2 · gap" in page
    assert "10002" not in page.replace("step-10002", "")


@pytest.mark.django_db
def test_the_workspace_shows_pages_alone_when_there_is_no_text(
    problem: ContestProblem, bob: User, client_for: ClientFor
) -> None:
    task = claimed(problem, bob)
    page = client_for(bob).get(reverse("marks:task", args=[task.public_id])).content.decode()
    assert all(f'data-step="{step}"' in page for step in (10_001, 10_002))
    assert "has no text" not in page
    scan = Scan.objects.all()[0]
    image = client_for(bob).get(reverse("submissions:page_image", args=[scan.public_id]))
    assert (image["Cache-Control"], image["Vary"]) == ("private, max-age=3600", "Cookie")
