"""The open sample sheet: what a student and a coach find in the embedded mode."""

from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import Contest, ContestKind
from apps.practice.sample import ANSWERED, POINTER, TITLE, WAITS
from apps.results.sample import TITLE as TRAINING

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def student(db: None, settings: Settings) -> User:
    settings.EMBEDDED = True
    for command in ("load_samples", "load_schemes", "load_contest", "load_contest"):
        call_command(command, verbosity=0)
    return User.objects.get(username="student")


def test_the_sample_sheets_show_answers_and_let_the_student_revise(student: User, client_for: ClientFor) -> None:
    sheet = Contest.objects.get(title=TITLE)
    own = client_for(student)
    page = own.get(reverse("practice:path")).content.decode()
    assert "nearly: small repairs" in page
    version = (
        sheet.problems.order_by("position")[0].submissions.get(paper=sheet.identities.get(person=student).paper).versions.get()
    )
    page = own.get(reverse("practice:attempt", args=[version.public_id])).content.decode()
    for words in (ANSWERED[:40], POINTER[:20], "This step is granted"):
        assert words in page
    coach = client_for(User.objects.get(username="coach"))
    assert WAITS in coach.get(reverse("practice:queue")).content.decode()
    # The marked sheet takes newer versions without a reopening.
    training = Contest.objects.get(title=TRAINING)
    assert training.kind == ContestKind.SHEET
    page = own.get(reverse("submissions:own", args=[training.public_id])).content.decode()
    assert "Write a newer version" in page
