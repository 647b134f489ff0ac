"""Transcriptions proposed by a model: requested, corrected and taken by the author of the page."""

import base64
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState, Paper
from apps.contests.services import ContestRefused, coach_add
from apps.reasoning.domain.errors import BackendUnavailable
from apps.reasoning.domain.generation import PICTURE_BYTES, GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.scripted import Faults
from apps.submissions.models import Scan, Submission, SubmissionVersion, Transcription, TranscriptionState
from apps.submissions.scans import scan_assign
from apps.submissions.transcribing import models_for_pages
from apps.submissions.transcriptions import NO_MODEL, page_model, transcription_ask, transcription_decline
from tests.contests.factory import enter, make_contest, moved
from tests.problems.factory import make_problem
from tests.submissions.pages import BLIND, JPEG, address, models_file, pages_given, read, typed

ClientFor = Callable[[User | None], Client]
GOOD = "<transcription>Let $p = 4k+1$.\n\nThen $p = a^2 + b^2$.</transcription>"
WORDS = "Let $p = 4k+1$.\n\nThen $p = a^2 + b^2$."


@pytest.fixture(autouse=True)
def _seeing(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = models_file(tmp_path)


@pytest.fixture
def contest(bob: User) -> Contest:
    return make_contest(bob, make_problem("One"), make_problem("Two"), state=ContestState.OPEN)


@pytest.fixture
def entered(contest: Contest, charlie: User) -> tuple[Paper, ContestProblem]:
    return enter(contest, charlie)


@pytest.fixture
def page(entered: tuple[Paper, ContestProblem]) -> Scan:
    return pages_given(*entered)[0]


def write_page(client: Client, problem: ContestProblem) -> str:
    return client.get(reverse("submissions:write", kwargs={"problem_id": problem.public_id})).content.decode()


def state_of(page: Scan) -> Transcription:
    return Transcription.objects.get(scan=page)


def test_a_corrected_proposal_is_appended_to_the_text(
    entered: tuple[Paper, ContestProblem], page: Scan, charlie: User, client_for: ClientFor
) -> None:
    client, problem = client_for(charlie), entered[1]
    assert "Propose a transcription" in write_page(client, problem)
    client.post(address(problem, "ask"), typed("Typed by me.", scan=page.public_id))
    assert Submission.objects.get().draft == "Typed by me."
    assert "Being read" in write_page(client, problem)
    assert read(GOOD) == 1
    shown = write_page(client, problem)
    assert "Read by AI, not checked" in shown
    assert "Then $p = a^2 + b^2$." in shown
    assert Submission.objects.get().draft == "Typed by me.", "a proposal does not change the text"
    edit = {f"words-{page.public_id}": "Let $p = 4k+3$."}
    client.post(address(problem, "take"), typed("Typed by me. And more.", 1, scan=page.public_id, **edit))
    assert Submission.objects.get().draft == "Typed by me. And more.\n\nLet $p = 4k+3$."
    assert (state_of(page).state, state_of(page).text) == (TranscriptionState.TAKEN, WORDS), "the output of the model is kept"
    assert "In your text" in write_page(client, problem)


def test_the_model_receives_only_the_clean_page(entered: tuple[Paper, ContestProblem], page: Scan, charlie: User) -> None:
    asked: list[GenerationRequest] = []

    def answer(request: GenerationRequest) -> str:
        asked.append(request)
        return GOOD

    transcription_ask(scan=page)
    read(answer)
    (request,) = asked
    (picture,) = request.pictures
    assert (picture.media, base64.b64decode(picture.data)) == ("image/jpeg", JPEG)
    sent = request.model_copy(update={"pictures": ()}).model_dump_json()
    statement = entered[1].version.statement
    for word in (charlie.username, entered[0].number, statement[:30], str(page.public_id)):
        assert word not in sent


def test_an_untaken_proposal_is_not_handed_in(
    entered: tuple[Paper, ContestProblem], page: Scan, charlie: User, client_for: ClientFor
) -> None:
    client, problem = client_for(charlie), entered[1]
    transcription_ask(scan=page)
    read(GOOD)
    write = reverse("submissions:write", kwargs={"problem_id": problem.public_id})
    edit = {f"words-{page.public_id}": "Corrected but not confirmed."}
    answer = client.post(write, typed("", 0, **edit), follow=True).content.decode()
    version = SubmissionVersion.objects.get()
    assert (version.source, version.pages.count()) == ("", 1)
    assert "without proposed transcriptions (1)" in answer
    assert state_of(page).edited == "Corrected but not confirmed.", "the correction is kept"


def test_an_outdated_window_does_not_overwrite_the_draft(
    entered: tuple[Paper, ContestProblem], page: Scan, charlie: User, client_for: ClientFor
) -> None:
    client, problem = client_for(charlie), entered[1]
    transcription_ask(scan=page)
    read(GOOD)
    client.post(reverse("submissions:draft", kwargs={"problem_id": problem.public_id}), typed("From the other window."))
    answer = client.post(address(problem, "take"), typed("From this one.", 0, scan=page.public_id))
    assert answer.status_code == 409
    assert "From this one." in answer.content.decode()
    assert Submission.objects.get().draft == "From the other window."
    assert state_of(page).state == TranscriptionState.READY


def test_a_page_is_read_at_most_three_times(page: Scan, client_for: ClientFor, charlie: User) -> None:
    problem, client = page.submission.problem, client_for(charlie)
    for _ in range(3):
        client.post(address(problem, "ask"), typed(scan=page.public_id))
        read(GOOD)
        client.post(address(problem, "decline"), typed(scan=page.public_id))
        assert state_of(page).state == TranscriptionState.DECLINED
    answer = client.post(address(problem, "ask"), typed(scan=page.public_id), follow=True).content.decode()
    assert "read 3 times, which is the limit" in answer
    assert state_of(page).state == TranscriptionState.DECLINED


@pytest.mark.parametrize(
    ("answer", "faults", "reason"),
    [
        ("<unreadable>The page is blank.</unreadable>", None, "could read nothing: The page is blank."),
        ("Sure! Here is what I see.", None, "cannot be used"),
        ("<transcription>  </transcription>", None, "no writing on this page"),
        (f"<transcription>{'a' * 20_001}</transcription>", None, "more than 20,000 characters"),
        (GOOD, Faults(fail={1: BackendUnavailable("Nothing listens at http://inside:1.")}), "could not be asked"),
        (GOOD, Faults(cut={1: 2}), "cut off"),
    ],
    ids=["unreadable", "no tags", "empty", "endless", "down", "cut"],
)
def test_a_failure_is_shown_and_the_draft_is_kept(
    page: Scan, charlie: User, client_for: ClientFor, answer: str, faults: Faults | None, reason: str
) -> None:
    problem, client = page.submission.problem, client_for(charlie)
    client.post(address(problem, "ask"), typed("Mine.", scan=page.public_id))
    read(answer, faults)
    assert state_of(page).state == TranscriptionState.FAILED
    shown = write_page(client, problem)
    assert reason in shown
    assert "http://inside" not in shown, "authors see no internal addresses"
    assert "You can type the content of the page yourself." in shown
    assert Submission.objects.get().draft == "Mine."


def test_the_call_of_a_silent_model_is_stopped(page: Scan, settings: Settings) -> None:
    settings.TRANSCRIPTION_WITHIN_S = 0.05
    stopped: list[str] = []
    transcription_ask(scan=page)
    read(GOOD, Faults(hang=frozenset({1})), stopped=stopped)
    row = state_of(page)
    assert row.state == TranscriptionState.FAILED
    assert "within" in row.reason or "longer than" in row.reason


def test_an_oversized_page_is_not_sent(entered: tuple[Paper, ContestProblem]) -> None:
    (page,) = pages_given(*entered, b"\xff" * (PICTURE_BYTES + 1))
    transcription_ask(scan=page)
    read(GOOD)
    assert "more than 4 MB" in state_of(page).reason


def test_a_backend_without_vision_refuses(page: Scan) -> None:
    transcription_ask(scan=page)
    read(GOOD, vision=False)
    assert "could not be asked" in state_of(page).reason


def test_without_a_vision_model_no_transcription_can_be_requested(
    page: Scan, charlie: User, client_for: ClientFor, settings: Settings, tmp_path: Path
) -> None:
    settings.MODELS_FILE = models_file(tmp_path, BLIND)
    problem, client = page.submission.problem, client_for(charlie)
    assert page_model() is None
    assert "Propose" not in write_page(client, problem)
    answer = client.post(address(problem, "ask"), typed(scan=page.public_id), follow=True).content.decode()
    assert NO_MODEL in answer
    assert not Transcription.objects.exists()


def test_a_removed_model_is_reported(page: Scan, settings: Settings, tmp_path: Path) -> None:
    transcription_ask(scan=page)
    settings.MODELS_FILE = models_file(tmp_path, BLIND)
    read(GOOD)
    assert "model reader can no longer read images" in state_of(page).reason


def test_each_page_is_read_in_its_own_call(entered: tuple[Paper, ContestProblem], charlie: User, client_for: ClientFor) -> None:
    pages = pages_given(*entered, b"\xff\xd8\xff one", b"\xff\xd8\xff two", b"\xff\xd8\xff three")
    prompts: list[str] = []

    def answer(request: GenerationRequest) -> str:
        prompts.append(request.messages[-1].content.splitlines()[0])
        return f"<transcription>{base64.b64decode(request.pictures[0].data)[4:].decode()}</transcription>"

    client_for(charlie).post(address(entered[1], "ask"), typed())
    assert read(answer) == 3
    assert [state_of(page).text for page in pages] == ["one", "two", "three"]
    assert sorted(prompts) == [f"This is page {n} of 3. Write down what is on it." for n in (1, 2, 3)]


def test_an_abandoned_page_is_read_again(page: Scan) -> None:
    transcription_ask(scan=page)
    long_ago = timezone.now() - timedelta(hours=1)
    Transcription.objects.update(state=TranscriptionState.RUNNING, started_at=timezone.now())
    assert read(GOOD) == 0, "another process reads it"
    Transcription.objects.update(started_at=long_ago)
    assert read(GOOD) == 1
    assert state_of(page).state == TranscriptionState.READY


def test_the_answer_to_a_dismissed_request_is_dropped(page: Scan) -> None:
    def dismissed() -> dict[str, Alias]:
        transcription_decline(scan=page)
        return models_for_pages()

    transcription_ask(scan=page)
    assert read(GOOD, models=dismissed) == 1
    assert (state_of(page).state, state_of(page).text) == (TranscriptionState.DECLINED, "")


def test_a_proposal_moves_with_its_page(contest: Contest, page: Scan) -> None:
    transcription_ask(scan=page)
    read(GOOD)
    second = contest.problems.all()[1]
    scan_assign(scan=page, problem=second)
    assert Transcription.objects.get().scan.submission.problem == second


def test_transcriptions_cannot_change_after_the_end(contest: Contest, page: Scan, charlie: User, client_for: ClientFor) -> None:
    transcription_ask(scan=page)
    read(GOOD)
    moved(contest, ContestState.MARKING)
    with pytest.raises(ContestRefused, match="Nothing more can be handed in"):
        transcription_ask(scan=Scan.objects.get(pk=page.pk))
    client, problem = client_for(charlie), page.submission.problem
    client.post(address(problem, "take"), typed(scan=page.public_id))
    assert (state_of(page).state, Submission.objects.get().draft) == (TranscriptionState.READY, "")
    assert "Append to my text" not in write_page(client, problem)


def test_only_the_author_sees_a_proposal(
    contest: Contest, page: Scan, charlie: User, alice: User, bob: User, dana: User, client_for: ClientFor
) -> None:
    transcription_ask(scan=page)
    read(GOOD)
    state = reverse("submissions:transcription_state", kwargs={"scan_id": page.public_id})
    problem = page.submission.problem
    assert "Then $p = a^2" in client_for(charlie).get(state).content.decode()
    client_for(charlie).post(reverse("submissions:write", kwargs={"problem_id": problem.public_id}), typed())
    enter(contest, alice)
    coach_add(contest=contest, person=dana)
    moved(contest, ContestState.MARKING)
    for person in (alice, bob, dana):
        assert client_for(person).get(state).status_code == 404
    moved_on = client_for(alice).post(address(problem, "take"), typed(scan=page.public_id))
    assert moved_on.status_code in (302, 404)
    assert state_of(page).state == TranscriptionState.READY
    script = reverse("submissions:script", kwargs={"version_id": SubmissionVersion.objects.get().public_id})
    assert "4k+1" not in client_for(bob).get(script).content.decode(), "markers read only the handed-in text"
    assert client_for(charlie).post(address(problem, "publish"), typed()).status_code == 404
