"""A budget in money: counted by the prices of the manifest, in runs and rehearsals, and refused without a price."""

from typing import Any

import pytest
from django.test import Client
from pydantic import ValidationError

from apps.accounts.models import User
from apps.experiments.models import SolvingCell
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.manifest import ManifestWrong
from apps.experiments.solving.pages import budget_words, over_budget
from apps.experiments.solving.planning import address_of
from apps.experiments.solving.rehearsal.predicting import predicted
from apps.experiments.solving.services import items_chosen, manifest_stored, solving_extend
from apps.experiments.solving.tables import money_of as cost
from apps.experiments.solving.tables import rows_of
from apps.reasoning.rehearsal.skills import Skills
from apps.reasoning.scaffolds.spec import Budget, RunSpec, TokenPrice, money_of
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run, RunEvent
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, cells, make_problem_set, manifest
from tests.experiments.solving.test_the_builder import sent
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
PRICE = {"input": 1, "output": 2, "currency": "EUR", "date": "2026-11-01"}
PRICES = {"served": PRICE}
TURNS = [{"name": "turns", "scaffold": "reasoning_cache", "params": {"turns": 4}}]
SCORERS = [{"name": "answer", "kind": "answer"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    return {"turn/*/summarise": "<state>We add.</state>", "*": proof("We add.", "So it is.\nAnswer: 1")}


def whole_cost(stage: Stage, alice: User) -> float:
    """What a cell without a limit costs."""
    row = rows_of(stage.play(begin(alice, title="Whole", methods=TURNS, scorers=SCORERS, prices=PRICES)), "answer")[1][0]
    assert row.money is not None
    return row.money


def test_a_run_ends_when_its_money_is_spent(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    whole = whole_cost(stage, alice)
    limited = begin(alice, methods=TURNS, scorers=SCORERS, prices=PRICES, budgets=[{"money": whole / 2, "currency": "EUR"}])
    (cell,) = cells(stage.play(limited))
    assert cell.run is not None
    assert cell.state == "finished"
    spent = RunEvent.objects.get(run=cell.run, kind="budget.spent").body
    assert (spent["which"], spent["limit"]) == ("money", pytest.approx(whole / 2))
    assert whole / 2 <= spent["spent"] < whole
    assert cell.calls < SolvingCell.objects.get(experiment__title="Whole").calls
    assert cell.run.spec["prices"] == {"served": {"input": 1.0, "output": 2.0}}


def test_a_restart_counts_the_money_that_was_spent_before(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    (cell,) = cells(stage.play(begin(alice, methods=TURNS, prices=PRICES, budgets=[{"money": 1}])))
    assert cell.run is not None
    writer = JournalWriter(sinks=())
    try:
        used = RunJournal(cell.run, writer).spent.by_alias
    finally:
        writer.close()
    assert {alias: list(row) for alias, row in used.items()} == cell.by_alias
    assert used["served"][0] > 1
    assert money_of(used, {"served": TokenPrice(input=1, output=2)}) > 0


def test_a_run_without_such_a_limit_keeps_its_address(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    whole_cost(stage, alice)
    spec = RunSpec.model_validate(Run.objects.get().spec)
    assert "prices" not in spec.model_dump()
    assert spec.model_dump()["budget"] == {"tokens": None, "calls": None, "seconds": None}
    priced = spec.model_copy(update={"prices": {"served": TokenPrice(input=1, output=2)}, "budget": Budget(money=1)})
    dearer = priced.model_copy(update={"prices": {"served": TokenPrice(input=1, output=3)}})
    assert len({address_of(one) for one in (spec, priced, dearer)}) == 3


def test_a_specification_with_a_limit_in_money_needs_the_prices_of_its_models(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    whole_cost(stage, alice)
    with pytest.raises(ValidationError, match="a limit in money needs a price of served"):
        RunSpec.model_validate(Run.objects.get().spec | {"budget": {"money": 1}})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budgets": [{"money": 1}]}, "a budget limits money, and served has no price. Add it to prices"),
        ({"budgets": [{"money": 1}], "prices": {"other": PRICE}}, "served has no price"),
        ({"budgets": [{"money": 1, "currency": "USD"}], "prices": PRICES}, "a budget is in USD, and the prices are in EUR"),
        ({"budgets": [{"calls": 1, "currency": "EUR"}], "prices": PRICES}, "a budget has a currency and no money"),
        ({"prices": {"served": PRICE | {"currency": "euro"}}}, "currency: write three capital letters, such as EUR"),
        ({"budgets": [{"money": 0}], "prices": PRICES}, "write a number above 0"),
    ],
)
def test_a_wrong_budget_in_money_is_explained(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ManifestWrong, match=words):
        manifest(**changes)


def test_a_price_that_a_budget_counts_by_does_not_change(alice: User) -> None:
    make_problem_set(1)
    limited: dict[str, Any] = {"budgets": [{"money": 1}], "prices": PRICES}
    experiment = begin(alice, **limited)
    dearer = {"served": {**PRICE, "output": 3}}
    with pytest.raises(ExperimentRefused, match=r"Budgets in money count by the price of served\. Keep it"):
        solving_extend(experiment=experiment, manifest=manifest(**limited | {"prices": dearer, "repeats": 2}))
    assert solving_extend(experiment=experiment, manifest=manifest(**limited | {"repeats": 2})) == 1


def test_a_rehearsal_stops_at_the_same_limit() -> None:
    make_problem_set(3)
    both = manifest(methods=TURNS, prices=PRICES, budgets=[{}, {"money": 1e-3}])
    free, limited = predicted(both, items_chosen(both), Skills(), processes=0).rows
    assert 0 < limited.calls < free.calls


def test_the_form_takes_a_limit_in_money_and_pages_show_it(alice: User, client: Client) -> None:
    make_problem_set(1)
    client.force_login(alice)
    changes = {"budgets-0-money": "0.5", "prices": 'served = { input = 1, output = 2, currency = "EUR", date = "2026-11-01" }'}
    refused = client.post("/experiments/new/solving/", sent(**changes | {"prices": ""}))
    assert "a budget limits money, and served has no price" in refused.text
    assert client.post("/experiments/new/solving/", sent(**changes)).status_code == 302
    stored = manifest_stored(SolvingCell.objects.all()[0].experiment)
    assert budget_words(stored.budgets[0], stored.currency) == "0.5 EUR"


def test_a_row_that_cost_more_than_its_budget_is_named(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, methods=TURNS, scorers=SCORERS, prices=PRICES, budgets=[{"money": 1e-6}]))
    (words,) = over_budget(manifest_stored(experiment), rows_of(experiment, "answer")[1])
    assert "1 of 1, up to " in words
    assert "EUR, with a budget of 1e-06." in words


def test_tools_cost_nothing_and_models_without_a_price_are_unknown() -> None:
    prices = manifest(prices=PRICES).prices
    assert cost({"served": [1, 1_000_000, 500_000], "sandbox": [3, 0, 0]}, prices) == pytest.approx(2)
    assert cost({"served": [1, 10, 10], "other": [1, 10, 0]}, prices) is None
    assert cost({"sandbox": [3, 0, 0]}, prices) == 0
    assert cost({"served": [1, 10, 10]}, {}) is None
