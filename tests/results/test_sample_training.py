"""The sample training sheet: marked and released, with an appeal and hints for the pages of students."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.models import Appeal, MarkingCase
from apps.marks.sample import commands_of, sample_files
from apps.problems.samples import FOLDER as LIBRARY
from apps.problems.samples import sample_read
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.sheets.commands import Script, sheet_apply
from apps.reasoning.marking.sheets.sealing import missing_for_seal
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.results.models import Notice, RungAsked
from apps.results.sample import FOLDER, TITLE
from apps.submissions.models import SubmissionVersion

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def loaded(db: None, settings: Settings) -> Contest:
    settings.EMBEDDED = True
    call_command("load_samples", verbosity=0)
    call_command("load_schemes", verbosity=0)
    call_command("load_contest", verbosity=0)
    return Contest.objects.get(title=TITLE)


def test_every_judgement_can_be_sealed() -> None:
    ((slug, scripts),) = sample_files(FOLDER)
    scheme = scheme_import(sample_read(LIBRARY / f"{slug}.md").scheme_text).scheme
    assert len(scripts) == 7
    for script in scripts:
        source = source_of(script.text)
        paper = Script(source=source, steps=tuple(segment(source)))
        (judgement,) = script.judgements
        sheet = MarkSheet()
        for verb, args in commands_of(judgement, source):
            sheet = sheet_apply(sheet, verb, args, scheme, paper)
        assert missing_for_seal(sheet, scheme, Decimal(1), asks_place=True) == [], script.author
        assert all(script.text.count(verdict["at"]) == 1 for verdict in judgement.verdicts), script.author


def test_the_student_sees_results_an_appeal_and_hints(loaded: Contest, client_for: ClientFor) -> None:
    student = User.objects.get(username="student")
    client = client_for(student)
    page = client.get(reverse("results:own", kwargs={"contest_id": loaded.public_id})).content.decode()
    assert "5" in page
    version = SubmissionVersion.objects.get(submission__paper=loaded.identities.get(person=student).paper)
    result = client.get(reverse("results:result", kwargs={"version_id": version.public_id})).content.decode()
    for words in ("This is true; why?", "One sentence more", "A1", "Handed in", "Marking scheme"):
        assert words in result, words
    hints = client.get(reverse("results:feedback_own", kwargs={"version_id": version.public_id})).content.decode()
    assert "Your colouring decides the problem" in hints
    assert "Asked for." in hints


def test_a_coach_who_marked_nothing_can_hear_the_appeal(loaded: Contest, client_for: ClientFor) -> None:
    coach, marker = (User.objects.get(username=name) for name in ("coach", "coach-2"))
    appeal = Appeal.objects.get()
    url = reverse("results:appeal_command", kwargs={"appeal_id": appeal.public_id, "verb": "take"})
    client_for(marker).post(url)
    appeal.refresh_from_db()
    assert appeal.state == "written", "the marker of the text cannot hear the appeal"
    client_for(coach).post(url)
    appeal.refresh_from_db()
    assert appeal.state == "heard"


def test_the_sheet_is_settled_released_and_created_once(loaded: Contest) -> None:
    cases = MarkingCase.objects.filter(problem__contest=loaded)
    assert sorted(cases.values_list("state", flat=True)) == ["appealed", *["released"] * 6]
    assert RungAsked.objects.count() == 2
    assert not Notice.objects.exists()
    call_command("load_contest", verbosity=0)
    assert (Contest.objects.count(), Appeal.objects.count(), loaded.releases.count()) == (3, 1, 1)


def test_a_loaded_contest_without_the_training_sheet_gets_it(loaded: Contest) -> None:
    Contest.objects.filter(pk=loaded.pk).update(title="Something else")
    call_command("load_contest", verbosity=0)
    assert Contest.objects.filter(title=TITLE).count() == 1
