"""Corrections of a proposed transcription are saved with the draft, before the author takes the proposal."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState, Paper
from apps.submissions.models import Scan, TranscriptionState
from apps.submissions.transcriptions import transcription_ask
from tests.contests.factory import enter, make_contest
from tests.submissions.pages import models_file, pages_given, read, typed
from tests.submissions.test_transcriptions import GOOD, WORDS, state_of, write_page

ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _seeing(settings: Settings, tmp_path: Path) -> None:
    settings.MODELS_FILE = models_file(tmp_path)


@pytest.fixture
def entered(bob: User, charlie: User) -> tuple[Paper, ContestProblem]:
    return enter(make_contest(bob, state=ContestState.OPEN), charlie)


@pytest.fixture
def page(entered: tuple[Paper, ContestProblem]) -> Scan:
    return pages_given(*entered)[0]


def test_corrections_are_saved_with_the_draft(
    entered: tuple[Paper, ContestProblem], page: Scan, charlie: User, client_for: ClientFor
) -> None:
    client, problem = client_for(charlie), entered[1]
    transcription_ask(scan=page)
    read(GOOD)
    draft = reverse("submissions:draft", kwargs={"problem_id": problem.public_id})
    edit = {f"words-{page.public_id}": "Corrected\r\nby hand."}
    assert client.post(draft, typed("Mine.", 0, **edit)).status_code == 200
    assert "Corrected\nby hand." in write_page(client, problem)
    assert (state_of(page).state, state_of(page).text) == (TranscriptionState.READY, WORDS), "saving does not take the proposal"
    late = {f"words-{page.public_id}": "From an outdated window."}
    assert client.post(draft, typed("Other.", 0, **late)).status_code == 409
    assert state_of(page).edited == "Corrected\nby hand."
