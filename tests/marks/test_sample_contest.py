"""The sample contest: complete, half-marked through the services, and made once."""

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState
from apps.marks.models import Mark, MarkingCase, MarkState, Pass
from apps.marks.sample import SampleBroken, commands_of, sample_files, scripts_read
from apps.marks.sealing import cases_settle
from apps.problems.samples import FOLDER, sample_read
from apps.reasoning.marking.commands import Script, sheet_apply
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.sealing import missing_for_seal
from apps.reasoning.marking.sheet import MarkSheet
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
    return Contest.objects.get()


def test_the_files_hold_three_problems_with_eight_texts_each() -> None:
    files = sample_files()
    assert [len(scripts) for _, scripts in files] == [8, 8, 8]
    kinds = " ".join(script.kind for _, scripts in files for script in scripts)
    for word in ("full solution", "gap", "wrong", "alternative route", "two attempts in one text"):
        assert kinds.count(word) >= 2, word
    assert all(script.judgements for _, scripts in files for script in scripts)


def test_every_judgement_could_be_sealed_whomever_the_order_gives_it() -> None:
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


def test_it_is_half_marked_and_made_once(loaded: Contest) -> None:
    assert loaded.state == ContestState.MARKING
    assert (loaded.papers.count(), SubmissionVersion.objects.count()) == (8, 24)
    assert loaded.coaches.count() == 3
    sealed = Mark.objects.filter(state=MarkState.SEALED)
    assert sealed.count() == 20
    for mark in sealed:
        past_grace(mark)
    cases_settle(loaded)
    states = Counter(MarkingCase.objects.values_list("state", flat=True))
    assert sum(states.values()) == 24
    assert states["open"] >= 8
    assert states["settled"] >= 8
    assert Pass.objects.count() == 1
    identity = loaded.identities.get(person=User.objects.get(username="student"))
    assert identity.paper.submissions.count() == 3, "the student of the sample accounts takes part"
    call_command("load_contest", verbosity=0)
    assert (Contest.objects.count(), sealed.count()) == (1, 20), "loading it twice changes nothing"


def test_a_served_installation_gets_none(db: None, settings: Settings) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="embedded mode"):
        call_command("load_contest", verbosity=0)
    assert not Contest.objects.exists()


def test_without_the_sample_library_it_says_what_is_missing(db: None, settings: Settings) -> None:
    settings.EMBEDDED = True
    with pytest.raises(CommandError, match="fraction-in-lowest-terms-1959"):
        call_command("load_contest", verbosity=0)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "4-broken.md"
    path.write_text("=== Somebody\nkind = 3\nno divider")
    with pytest.raises(SampleBroken, match=r"4-broken\.md"):
        scripts_read(path)
