"""The table by other metrics than the mean, sorted by a column, with what cells cost in money."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, SolvingCell
from apps.experiments.solving.manifest import ManifestWrong
from apps.experiments.solving.measures import Measuring, metrics_of
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import rows_of
from apps.reasoning.answers.points import INCOMPARABLE, NOTHING
from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.metrics import Measure
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = [{"name": "answer", "kind": "answer"}]
PRICES = {"served": {"input": 1.0, "output": 2.0, "date": "2026-11-01"}}


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    """Right on the first repeat of each problem only; the wrong answers of the others are equal."""
    seen: dict[str, int] = {}

    def answer(request: Any) -> str:
        number = re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0]
        seen[number] = seen.get(number, 0) + 1
        return proof("We add.", f"So it is.\nAnswer: {number if seen[number] == 1 else '$100/2$' if seen[number] == 2 else 50}")

    return {"*": answer}


def value(experiment: Experiment, metric: str) -> float | str:
    problems, rows = rows_of(experiment, "answer")
    known = {one.name: one for one in metrics_of(manifest_stored(experiment), "answer")}
    found = Measuring(experiment, "answer", known[metric], problems).of(rows[0])
    return found.value if isinstance(found, Measure) else found.reason


def test_pass_at_k_counts_one_right_repeat_and_cons_at_k_the_majority(alice: User, stage: Stage) -> None:
    make_problem_set(5)
    experiment = stage.play(begin(alice, scorers=ANSWER, repeats=3, at_once=1))
    assert value(experiment, "mean") == pytest.approx(1 / 3)
    assert value(experiment, "pass-2") == pytest.approx(2 / 3)
    assert value(experiment, "pass-3") == 1
    assert value(experiment, "cons-3") == 0  # $100/2$ and 50 are one answer.


def test_a_metric_of_more_repeats_than_are_scored_is_empty_with_the_reason(alice: User, stage: Stage) -> None:
    make_problem_set(5)
    experiment = stage.play(begin(alice, scorers=ANSWER, repeats=3))
    CellScore.objects.filter(cell__item__name="sum-2", cell__repeat=0).delete()
    assert value(experiment, "pass-2") == pytest.approx(0.6, abs=0.15)
    assert value(experiment, "pass-3") == "1 of 5 problems has fewer than 3 scored repeats"
    assert isinstance(Undefined(reason="x"), Undefined)


def test_the_page_shows_the_metric_and_sorts_by_a_column(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(5)
    two = [
        {"name": "long", "scaffold": "majority_vote", "params": {"solutions": 2}},
        {"name": "short", "scaffold": "single_call"},
    ]
    experiment = stage.play(begin(alice, methods=two, scorers=ANSWER, repeats=2, prices=PRICES))
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/?metric=pass-2&sort=calls").content.decode()
    assert "Pass@2 by answer" in html
    assert re.findall(r'class="table__head">(\w+)', html) == ["short", "long"]
    assert 'aria-sort="ascending"' in html
    unknown = client.get(f"/experiments/{experiment.public_id}/?metric=best&sort=colour").content.decode()
    assert "Mean score by answer" in unknown


def test_money_follows_the_prices_of_each_model(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=ANSWER, prices=PRICES))
    cells = list(SolvingCell.objects.all())
    paid = sum(cell.prompt_tokens + 2 * cell.completion_tokens for cell in cells) / len(cells) / 1e6
    assert paid > 0
    assert rows_of(experiment, "answer")[1][0].money == pytest.approx(paid)


def test_a_model_without_a_price_leaves_the_money_empty(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=ANSWER, prices={"other": PRICES["served"]}))
    assert rows_of(experiment, "answer")[1][0].money is None


def test_prices_in_two_currencies_are_refused() -> None:
    two = {**PRICES, "other": {**PRICES["served"], "currency": "EUR"}}
    with pytest.raises(ManifestWrong, match="prices are in two currencies"):
        manifest(prices=two)


def test_cells_without_an_answer_are_left_out_or_count_as_0_and_the_page_says_which(
    alice: User, stage: Stage, client: Client
) -> None:
    make_problem_set(5)
    experiment = stage.play(begin(alice, scorers=ANSWER))
    gone = CellScore.objects.filter(cell__item__name__in=["sum-1", "sum-2"])
    gone.update(state="unscored", points=None, scale=None, unscored=NOTHING)
    undecided = CellScore.objects.filter(cell__item__name="sum-3")
    undecided.update(state="unscored", points=None, scale=None, unscored="two readings")
    outside = CellScore.objects.filter(cell__item__name="sum-4")
    outside.update(state="unscored", points=None, scale=None, unscored=f"{INCOMPARABLE} (it is in words)")
    client.force_login(alice)
    url = f"/experiments/{experiment.public_id}/"
    html = client.get(url).content.decode()
    assert "100.0 %" in html
    assert "3 cells gave no answer that could be compared, and are left out" in html
    assert "between 25.0 % and 100.0 % if all that might be scored had no points or all points" in html
    counted = client.get(f"{url}?none=0").content.decode()
    assert "25.0 %" in counted, "one right answer of four; the problem without a comparable key does not count"
    assert "3 cells without a comparable answer count as 0" in counted
    row = rows_of(experiment, "answer")[1][0]
    assert (row.mean, row.counting_none.mean) == (1.0, 0.25)
    assert (row.bounds, row.counting_none.bounds) == ((0.25, 1.0), None)


def test_a_problem_with_too_few_scores_leaves_a_metric_of_several_repeats_empty(alice: User, stage: Stage) -> None:
    make_problem_set(3)
    experiment = stage.play(begin(alice, scorers=ANSWER, repeats=2))
    pass_at_2 = next(one for one in metrics_of(manifest_stored(experiment), "answer") if one.name == "pass-2")

    def measured() -> object:
        problems, (row,) = rows_of(experiment, "answer")
        return Measuring(experiment, "answer", pass_at_2, problems).of(row)

    assert isinstance(measured(), Measure)
    hardest = CellScore.objects.filter(cell__item__name="sum-1")
    hardest.update(state="unscored", points=None, scale=None, unscored=NOTHING)
    assert measured() == Undefined(reason="1 of 3 problems has fewer than 2 scored repeats")
    hardest.update(unscored=f"{INCOMPARABLE} (it is in words)")
    assert isinstance(measured(), Measure), "a problem that the scorer cannot score is no problem of the metric"


def test_more_unscored_cells_on_one_side_are_named_with_the_difference(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    two = [{"name": "one", "scaffold": "single_call"}, {"name": "two", "scaffold": "single_call", "max_new_tokens": 500}]
    experiment = stage.play(begin(alice, methods=two, scorers=ANSWER, baseline="one"))
    CellScore.objects.filter(cell__method="two", cell__item__name="sum-1").update(
        state="unscored", points=None, scale=None, unscored=NOTHING
    )
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/").content.decode()
    assert "1 of 6 are unscored here, 0 of 6 there." in html


def test_a_row_that_used_more_than_its_budget_is_named(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=ANSWER, budgets=[{"tokens": 5}]))
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/").content.decode()
    assert re.search(r"single: 2 of 2, up to [\d,]+ tokens, with a budget of 5\.", html)
