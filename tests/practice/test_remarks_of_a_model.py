"""A model reads a version if its student asks: labelled, one stage at a time, limited a day, and forbidden by rules."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import Role, User
from apps.practice import remarks
from apps.practice.coaching.figures import model_figures
from apps.practice.helping import requests
from apps.practice.helping.requests import NOTHING, calls_today, remark_request, request_refusal, requests_work
from apps.practice.helping.rules import HelpRefused, rules_save
from apps.practice.models import ModelUse, Remark, RemarkRequest, RequestState
from apps.practice.own_data import practice_erase
from apps.reasoning.domain.errors import BackendUnavailable
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias, parse_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Faults, ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.submissions.models import SubmissionVersion
from tests.practice.factory import OWN, attempted, handed_in, on_sheet, sheet_of, with_hints

ClientFor = Callable[[User | None], Client]
MODELS = """
[tutor]
backend = "openai_http"
title = "The tutor"
model = "m"
base_url = "http://localhost:1/v1"
"""
VOTE = '<check step="2" sound="no" severity="critical">one of them need not be even</check>\n<verdict>2</verdict>'
QUESTION, REASON = "Why is one of the two even?", "It is not said that neighbours have different parity."
WORDS = f"<remark>\n<kind>gap</kind>\n<question>{QUESTION}</question>\n<reason>{REASON}</reason>\n</remark>"


@pytest.fixture(autouse=True)
def _tutor(settings: Settings) -> None:
    settings.PRACTICE_MODEL = "tutor"


@pytest.fixture
def version(charlie: User) -> SubmissionVersion:
    return attempted(charlie, with_hints())


@pytest.fixture
def erins() -> User:
    return User.objects.create_user("erin", role=Role.STUDENT)


def known() -> dict[str, Alias]:
    return parse_aliases(MODELS)


def worked(vote: str = VOTE, faults: Faults | None = None) -> int:
    """Run the orchestrator's part with a scripted model; returns the number of requests."""

    def answer(request: GenerationRequest) -> str:
        return WORDS if request.role == "writer" else vote

    @asynccontextmanager
    async def scripted(_run: str, aliases: Sequence[Alias]) -> AsyncIterator[Dispatcher]:
        yield LocalDispatcher({alias.name: ScriptedBackend(answer, faults=faults) for alias in aliases})

    return requests_work(scripted, known)


def page_of(version: SubmissionVersion, client: Client) -> str:
    return client.get(reverse("practice:attempt", args=[version.public_id])).content.decode()


def test_a_remark_opens_place_then_question_then_reason(
    version: SubmissionVersion, charlie: User, client_for: ClientFor
) -> None:
    client = client_for(charlie)
    assert "Let a model read it" in page_of(version, client)
    client.post(reverse("practice:model", args=[version.public_id]))
    assert "The model is reading version 1" in client.get(reverse("practice:model", args=[version.public_id])).content.decode()
    assert (worked(), worked()) == (1, 0)
    page = page_of(version, client)
    assert "Look at step 2 again" in page
    assert "AI, unchecked, may be wrong" in page
    assert QUESTION not in page
    more = reverse("practice:remark_reply", args=[Remark.objects.get().public_id, "more"])
    for _ in range(2):  # Pressing twice opens one stage.
        client.post(more, {"stage": "1"})
    page = page_of(version, client)
    assert QUESTION in page
    assert REASON not in page
    client.post(more, {"stage": "2"})
    assert REASON in page_of(version, client)


def test_a_silent_model_says_why_and_praises_nothing(version: SubmissionVersion, charlie: User, client_for: ClientFor) -> None:
    remark_request(version=version)
    worked("<verdict>-1</verdict>")
    assert NOTHING in page_of(version, client_for(charlie))
    assert not Remark.objects.exists()
    assert remark_request(version=version).state == RequestState.SILENT


def test_a_model_that_fails_can_be_asked_again(version: SubmissionVersion, charlie: User, client_for: ClientFor) -> None:
    remark_request(version=version)
    worked(faults=Faults(fail={number: BackendUnavailable() for number in range(20)}))
    assert RemarkRequest.objects.get().state == RequestState.FAILED
    assert "The model did not answer." in page_of(version, client_for(charlie))
    remark_request(version=version)
    worked()
    assert Remark.objects.count() == 1


def test_a_practice_that_is_erased_while_a_model_reads_stops_no_other_request(
    version: SubmissionVersion, charlie: User, erins: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = requests._stored

    def erased_before(job: requests._Job) -> None:
        practice_erase(user=charlie)
        store(job)

    monkeypatch.setattr(requests, "_stored", erased_before)
    remark_request(version=version)
    other = attempted(erins, version.submission.problem.problem, OWN + " Erin.")
    remark_request(version=other)
    assert worked() == 2
    assert [remark.version for remark in Remark.objects.all()] == [other]
    assert list(ModelUse.objects.values_list("person__username", "calls").order_by("person__username")) == [
        ("charlie", 3),
        ("erin", 3),
    ]


def test_a_day_has_a_limit_over_practice_and_sheets(
    version: SubmissionVersion, charlie: User, bob: User, settings: Settings
) -> None:
    settings.PRACTICE_CALLS_A_DAY = 10
    remark_request(version=version)
    worked()
    assert calls_today(version.submission.paper) == 3
    row = sheet_of(bob, charlie)
    rules_save(contest=row.contest, by=bob, model="tutor")
    other = on_sheet(row.contest, charlie)
    assert request_refusal(other).startswith("That was enough from a model for today.")
    with pytest.raises(HelpRefused, match="enough from a model"):
        remark_request(version=other)


def test_no_call_is_made_where_the_sheet_forbids_it(charlie: User, bob: User, client_for: ClientFor) -> None:
    row = sheet_of(bob, charlie)
    version = on_sheet(row.contest, charlie)
    client_for(charlie).post(reverse("practice:model", args=[version.public_id]))
    assert not RemarkRequest.objects.exists()
    assert "Let a model read it" not in page_of(version, client_for(charlie))


def test_an_older_version_and_an_empty_text_are_not_read(version: SubmissionVersion, charlie: User) -> None:
    handed_in(version.submission.problem, "A newer text of the proof.")
    assert "newer version" in request_refusal(version)


def test_agreement_with_coaches_is_counted_for_staff(
    version: SubmissionVersion, charlie: User, bob: User, dana: User, client_for: ClientFor
) -> None:
    remark_request(version=version)
    worked()
    remark = Remark.objects.get()
    remarks.disagree(remark=remark, words="Neighbours have different parity.")
    remarks.remark_add(version=version, step=3, words="", kind="gap", by=bob)
    remarks.remark_add(version=version, step=2, words="", kind="gap", by=bob)
    client = client_for(bob)
    assert "Is this remark right?" not in client.get(reverse("practice:answer", args=[version.public_id])).content.decode()
    client.post(reverse("practice:remark_decide", args=[remark.public_id, "dispute"]), {"holds": "no", "reply": ""})
    row = model_figures()[0]
    assert (row.alias, row.shown) == ("tutor", 1)
    assert (row.right.count, row.located.count, row.disputed.count) == (1, 1, 1)
    assert "1 of 1 (21% to 100%)" in client_for(dana).get(reverse("practice:models")).content.decode()
    assert client_for(bob).get(reverse("practice:models")).status_code == 404
