"""The columns of a run for the list: lemmas, those that hold, and confidence. They follow the events at once."""

import importlib

import pytest
from django.apps import apps
from django.db import connection

from apps.lemmas.models import Lemma, LemmaState, ProofVersion
from apps.lemmas.projection import project, rebuild
from apps.runs.models import Run
from tests.lemmas.factory import make_run, make_story_run, stored
from tests.lemmas.story import story

pytestmark = pytest.mark.django_db


def columns(run: Run) -> tuple[int, int, float | None]:
    run.refresh_from_db()
    return run.lemmas_count, run.lemmas_held, run.confidence


def test_the_columns_count_verified_lemmas_of_all_but_merged_ones_after_every_event() -> None:
    run = make_run()
    for event in stored(story()):
        project(run, [event])
        lemmas = Lemma.objects.filter(run=run).exclude(status=LemmaState.MERGED)
        counted = lemmas.count(), lemmas.filter(status=LemmaState.VERIFIED).count()
        assert columns(run)[:2] == counted
    selected = ProofVersion.objects.get(run=run, selected=True)
    assert columns(run)[2] == selected.confidence is not None
    assert 0 < run.lemmas_held < run.lemmas_count


def test_the_columns_of_another_run_stay() -> None:
    other = make_run()
    make_story_run()
    assert columns(other) == (0, 0, None), "no proof was selected, which is not a confidence of 0"


def test_a_rebuild_and_the_migration_write_the_same_columns() -> None:
    run = make_story_run()
    before = columns(run)
    assert before[0]
    Run.objects.update(lemmas_count=0, lemmas_held=0, confidence=None)
    rebuild(run)
    assert columns(run) == before
    Run.objects.update(lemmas_count=0, lemmas_held=0, confidence=None)
    importlib.import_module("apps.lemmas.migrations.0008_fill_columns_of_runs").fill(apps, connection.schema_editor())
    assert columns(run) == before
