"""The columns of a run for the list: ending, models, seed, rounds and money."""

import importlib

import pytest
from django.apps import apps
from django.db import connection

from apps.explorations.words import ending
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.scaffolds.spec import TokenPrice, money_of
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.selectors import use_by_alias
from tests.runs.factory import make_run, record, take, with_journal

OUTCOMES = [
    None,
    {},
    *({"accepted": one, "ended_by": by} for one in (True, False, None) for by in ("budget", "nothing-readable")),
]


@pytest.mark.django_db
@pytest.mark.parametrize("status", RunStatus.values)
def test_the_ending_is_the_status_or_the_words_of_the_outcome(status: str) -> None:
    for outcome in OUTCOMES:
        run = make_run()
        Run.objects.filter(pk=run.pk).update(status=status, outcome=outcome)
        run.refresh_from_db()
        assert run.ending == (ending(run) or status)
        assert Run.objects.filter(pk=run.pk, ending=run.ending).exists()


@pytest.mark.django_db
def test_a_run_stores_the_names_of_its_models_once_and_its_seed() -> None:
    roles = {name: {"alias": alias, "sampling": {}} for name, alias in (("reasoner", "b"), ("verifier", "a"), ("writer", "b"))}
    run = make_run(roles=roles, seed=7)
    assert run.model_names == ["a", "b"]
    assert list(Run.objects.filter(aliases__contains="\na\n")) == [run]
    assert (run.seed, run.money) == (7, None), "without prices the money is unknown, not 0"
    imported = make_run(preset="imported")
    assert imported.seed is None
    assert Run(aliases="").model_names == []


def recorded(run: Run, *records: StepRecord) -> Run:
    async def work(journal: RunJournal) -> None:
        for one in records:
            await journal.append(one, texts=["a prompt"])

    with_journal(take(run), work)
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_rounds_and_money_grow_with_the_recorded_calls_and_the_migration_finds_the_same() -> None:
    price = TokenPrice(input=2.0, output=10.0)
    run = make_run(prices={"scripted": price})
    assert run.money == 0.0
    third = record("b").model_copy(update={"place": Place(round=3)})
    inherited = record("c").model_copy(update={"attempt": 0})
    recorded(run, record("a"), third, inherited)
    assert run.rounds == 3
    assert run.money == pytest.approx(money_of(use_by_alias(run), {"scripted": price})) == pytest.approx(140e-6)
    free = recorded(make_run(), record("a"))
    Run.objects.update(rounds=0, aliases="", seed=None)
    Run.objects.filter(pk=run.pk).update(money=None)
    importlib.import_module("apps.runs.migrations.0007_fill_columns_of_the_run_list").fill(apps, connection.schema_editor())
    for one, (rounds, money) in ((run, (3, pytest.approx(140e-6))), (free, (1, None))):
        one.refresh_from_db()
        assert (one.rounds, one.money, one.model_names, one.seed) == (rounds, money, ["scripted"], 0)


@pytest.mark.django_db
def test_a_model_without_a_price_leaves_the_money_unknown() -> None:
    assert make_run(prices={"other": TokenPrice(input=1, output=1)}).money is None
