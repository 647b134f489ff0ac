"""The sample contest: complete, half marked through the services, and created once."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.marks.graders.scripted import SCRIPTED
from apps.marks.models import Mark, MarkingCase, MarkState, Pass, Suggestion
from apps.marks.sample import TITLE, SampleBroken, commands_of, sample_files, scripts_read
from apps.marks.sealing.sealing import cases_settle
from apps.marks.suggestions.suggesting import label_of
from apps.problems.samples import FOLDER, sample_read
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.sheets.commands import Script, sheet_apply
from apps.reasoning.marking.sheets.sealing import missing_for_seal
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.marking.suggestion import suggestion_checked
from apps.reasoning.texts.segmentation import segment
from apps.reasoning.texts.source import source_of
from apps.submissions.models import SubmissionVersion
from tests.marks.factory import past_grace


@pytest.fixture
def loaded(db: None, settings: Settings) -> Contest:
    settings.EMBEDDED = True
    call_command("load_samples", verbosity=0)
    call_command("load_schemes", verbosity=0)
    call_command("load_contest", verbosity=0)
    return Contest.objects.get(title=TITLE)


def test_the_files_hold_three_problems_with_eight_texts_each() -> None:
    files = sample_files()
    assert [len(scripts) for _, scripts in files] == [8, 8, 8]
    kinds = " ".join(script.kind for _, scripts in files for script in scripts)
    for word in ("full solution", "gap", "wrong", "alternative route", "two attempts in one text"):
        assert kinds.count(word) >= 2, word
    assert all(script.judgements for _, scripts in files for script in scripts)


def test_every_judgement_can_be_sealed_by_every_marker() -> None:
    for slug, scripts in sample_files():
        scheme = scheme_import(sample_read(FOLDER / f"{slug}.md").scheme_text).scheme
        for script in scripts:
            source = source_of(script.text)
            paper = Script(source=source, steps=tuple(segment(source)))
            for judgement in script.judgements:
                sheet = MarkSheet()
                for verb, args in commands_of(judgement, source):
                    sheet = sheet_apply(sheet, verb, args, scheme, paper)
                assert missing_for_seal(sheet, scheme, Decimal(1), asks_place=True) == [], (slug, script.author)
                assert all(script.text.count(verdict["at"]) == 1 for verdict in judgement.verdicts), script.author


def test_the_contest_is_half_marked_and_created_once(loaded: Contest) -> None:
    assert loaded.state == ContestState.MARKING
    texts = SubmissionVersion.objects.filter(submission__problem__contest=loaded)
    assert (loaded.papers.count(), texts.count()) == (8, 24)
    assert loaded.coaches.count() == 3
    sealed = Mark.objects.filter(state=MarkState.SEALED, task__case__problem__contest=loaded)
    assert sealed.count() == 26
    for mark in sealed:
        past_grace(mark)
    cases_settle(loaded)
    states = Counter(MarkingCase.objects.filter(problem__contest=loaded).values_list("state", flat=True))
    assert sum(states.values()) == 24
    assert states["open"] >= 8
    assert states["settled"] >= 6
    assert Pass.objects.count() == 1
    identity = loaded.identities.get(person=User.objects.get(username="student"))
    assert identity.paper.submissions.count() == 3, "the sample student takes part"
    call_command("load_contest", verbosity=0)
    assert (Contest.objects.count(), sealed.count()) == (3, 26), "a second load changes nothing"


def test_two_coaches_differ_on_scripts_of_the_second_problem(loaded: Contest) -> None:
    for mark in Mark.objects.filter(task__case__problem__contest=loaded, state=MarkState.SEALED):
        past_grace(mark)
    cases_settle(loaded)
    cases = MarkingCase.objects.filter(problem__contest=loaded, problem__label="2")
    assert cases.filter(state="disputed").count() == 1, "one point apart: the markers discuss it"
    assert cases.filter(tasks__slot="third", tasks__done_at=None).count() == 1, "two points apart: a fresh mark is requested"
    assert cases.filter(state="settled").count() >= 2


def test_scripts_have_authored_suggestions_with_a_label(loaded: Contest) -> None:
    kept = Suggestion.objects.filter(grader=SCRIPTED, version__submission__problem__contest=loaded)
    assert kept.count() == 9
    assert set(kept.values_list("state", flat=True)) == {"done"}
    assert set(kept.values_list("version__submission__problem__label", flat=True)) == {"1", "2", "3"}
    assert "Written by people" in label_of(SCRIPTED)
    sealed = Mark.objects.filter(task__case__problem__contest=loaded, task__case__version__in=kept.values("version"))
    assert len(set(sealed.values_list("task__case", flat=True))) >= 3


def test_every_suggestion_refers_to_existing_steps_and_items() -> None:
    for slug, scripts in sample_files():
        scheme = scheme_import(sample_read(FOLDER / f"{slug}.md").scheme_text).scheme
        for script in scripts:
            if script.suggestion is not None:
                source = source_of(script.text)
                steps = {step.number for step in segment(source)}
                codes = [item.code for item in scheme.items]
                suggestion_checked(script.suggestion, source, steps, codes, scheme.scale)
                assert script.suggestion.findings


def test_a_served_installation_gets_no_sample_contest(db: None, settings: Settings) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="embedded mode"):
        call_command("load_contest", verbosity=0)
    assert not Contest.objects.exists()


def test_a_missing_sample_library_is_reported(db: None, settings: Settings) -> None:
    settings.EMBEDDED = True
    with pytest.raises(CommandError, match="fraction-in-lowest-terms-1959"):
        call_command("load_contest", verbosity=0)


def test_a_malformed_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "4-broken.md"
    path.write_text("=== Author\nkind = 3\nno divider")
    with pytest.raises(SampleBroken, match=r"4-broken\.md"):
        scripts_read(path)
