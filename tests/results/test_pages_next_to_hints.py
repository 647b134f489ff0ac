"""A coach who answers a hint sees the scanned pages of its text, and no other page."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.contests.models import ContestProblem, ContestState
from apps.contests.services import coach_add, contest_move, student_add
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.models import FeedbackRequest
from apps.submissions.models import Scan
from tests.contests.factory import hand_in, make_contest, moved
from tests.marks.factory import claimed
from tests.submissions.pages import JPEG, pages_given

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    problem = make_contest(bob, state=ContestState.OPEN).problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    return problem


@pytest.fixture
def request_asked(problem: ContestProblem, charlie: User) -> FeedbackRequest:
    """Return a request of Charlie's on a text with a photo."""
    paper = student_add(contest=problem.contest, person=charlie)
    pages_given(paper, problem)
    return feedback.request_open(version=hand_in(paper, problem, "See page 1."), track="repair", words="Is page 1 right?")


def picture(scan: Scan) -> str:
    return reverse("submissions:page_image", kwargs={"scan_id": scan.public_id})


def test_the_coach_sees_the_pages_that_the_hint_page_shows(
    problem: ContestProblem, request_asked: FeedbackRequest, bob: User, client_for: ClientFor
) -> None:
    coach = client_for(bob)
    page = coach.get(reverse("results:feedback_answer", kwargs={"request_id": request_asked.public_id})).content.decode()
    (shown,) = re.findall(r'<img class="contest-page" src="([^"]+)"', page)
    answer = coach.get(shown)
    assert (answer.status_code, answer.content) == (200, JPEG)


def test_pages_of_texts_without_a_request_stay_closed_while_students_write(
    problem: ContestProblem, request_asked: FeedbackRequest, bob: User, dana: User, alice: User, client_for: ClientFor
) -> None:
    (asked,) = Scan.objects.all()
    erin = User.objects.create_user("erin", role=Role.STUDENT)
    paper = student_add(contest=problem.contest, person=erin)
    (other,) = pages_given(paper, problem)
    hand_in(paper, problem, "Not asked about.")
    (draft,) = pages_given(asked.submission.paper, problem)[-1:]
    assert client_for(bob).get(picture(other)).status_code == 404, "the author of the text requested no hint"
    assert client_for(bob).get(picture(draft)).status_code == 404, "only the author sees a page of a draft"
    assert client_for(alice).get(picture(asked)).status_code == 404, "Alice does not coach this contest"
    coach_add(contest=problem.contest, person=dana)
    assert client_for(dana).get(picture(asked)).status_code == 200


def test_the_newer_text_that_answers_a_hint_shows_its_own_pages(
    problem: ContestProblem, request_asked: FeedbackRequest, bob: User, client_for: ClientFor
) -> None:
    paper = request_asked.version.submission.paper
    (first,) = feedback_pages(request_asked)
    feedback.rung_give(asked=request_asked.asked.get(), text="Look again.", by=bob, confirms=True)
    pages_given(paper, problem)
    newer = hand_in(paper, problem, "See page 2.")
    second = newer.pages.order_by("-number")[0].scan
    assert client_for(bob).get(picture(second)).status_code == 404
    rung = request_asked.asked.create(level=1, revision=newer)
    assert client_for(bob).get(picture(second)).status_code == 200
    assert rung.request == request_asked
    assert client_for(bob).get(picture(first)).status_code == 200, "the newer text has the page as well"


def test_a_marker_of_the_text_does_not_read_it_through_the_hint(
    problem: ContestProblem, request_asked: FeedbackRequest, bob: User, client_for: ClientFor
) -> None:
    moved(problem.contest, ContestState.MARKING)
    marked = ContestProblem.objects.select_related("contest").get(pk=problem.pk)
    setup_save(problem=marked, choices=Choices(scheme=None), by=bob)
    cases_prepare(marked)
    claimed(marked, bob)
    contest_move(contest=marked.contest, verb="reopen", based_on=marked.contest.row_version)
    (page,) = feedback_pages(request_asked)
    assert client_for(bob).get(picture(page)).status_code == 404


def feedback_pages(request: FeedbackRequest) -> list[Scan]:
    return [page.scan for page in request.version.pages.all()]
