"""Recorded runs show what a method would have handed in earlier; each different answer is scored once, without another call."""

import re

import pytest
from django.core.management import CommandError
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, ExperimentState, SolvingCell
from apps.experiments.solving.curves.budgets import curves_of, front
from apps.experiments.solving.curves.pages import amount
from apps.experiments.solving.services import solving_extend
from apps.experiments.solving.tables import rows_of
from apps.reasoning.domain.generation import GenerationRequest
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.experiments.solving.test_the_command import command
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
METHODS = [
    {"name": "single", "scaffold": "single_call"},
    {"name": "turns", "scaffold": "reasoning_cache", "params": {"turns": 2}},
]
ANSWER = [{"name": "answer", "kind": "answer"}]
OWN = [{"name": "own", "kind": "accepted"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    """The first of two turns is wrong, the second and a single call are right."""

    def answer(request: GenerationRequest) -> str:
        number = int(re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0])
        return proof("We add.", f"So it is.\nAnswer: {0 if request.key == 'turn/1/solve' else number}")

    return {"turn/*/summarise": "<state>We add.</state>", "*": answer}


def curves(stage: Stage, alice: User, client: Client, scorers: object = ANSWER) -> Experiment:
    """An experiment that was played to its end, and whose earlier answers were asked for on its page."""
    experiment = stage.play(begin(alice, methods=METHODS, scorers=scorers, repeats=2))
    client.force_login(alice)
    client.post(f"/experiments/{experiment.public_id}/curves/")
    return stage.play(experiment)


def test_a_method_is_wrong_at_first_and_right_at_its_end(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = curves(stage, alice, client)
    single, turns = curves_of(experiment, "answer", "calls")
    assert [(point.budget, point.score) for point in single.points] == [(1.0, 1.0)]
    assert turns.at(0.5) is None
    assert [turns.points[0].score, turns.points[-1].score] == [0.0, 1.0]
    assert turns.at(2).score == 0  # type: ignore[union-attr]
    assert turns.points[-1].budget == 3
    assert turns.cells == 12


def test_at_its_end_a_curve_is_what_the_table_says(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = curves(stage, alice, client)
    table = {row.key: row.mean for row in rows_of(experiment, "answer")[1]}
    for unit in ("written", "tokens", "calls", "seconds"):
        assert {curve.row.key: curve.points[-1].score for curve in curves_of(experiment, "answer", unit)} == table


def test_earlier_answers_are_scored_once_and_no_model_is_asked(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, methods=METHODS, scorers=ANSWER))
    asked, scored = len(stage.asked), CellScore.objects.count()
    client.force_login(alice)
    for _ in range(2):
        client.post(f"/experiments/{experiment.public_id}/curves/")
        stage.play(experiment)
    assert len(stage.asked) == asked
    assert experiment.state == ExperimentState.DONE
    assert CellScore.objects.count() == scored + 2  # The first turn on each problem.
    assert not SolvingCell.objects.filter(handed__isnull=True).exists()
    cells = client.get(f"/experiments/{experiment.public_id}/cells/").text
    assert cells.count("answer: ") == SolvingCell.objects.count(), "the list shows the score of what was handed in at the end"


def test_a_scorer_that_is_added_later_scores_earlier_answers_too(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = curves(stage, alice, client)
    larger = manifest(methods=METHODS, scorers=[*ANSWER, {"name": "again", "kind": "answer"}], repeats=2)
    solving_extend(experiment=experiment, manifest=larger)
    stage.play(experiment)
    found = CellScore.objects.values_list("scorer").order_by()
    assert found.filter(scorer="again").count() == found.filter(scorer="answer").count()


def test_an_unscored_end_takes_its_cell_out_of_the_curve(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = curves(stage, alice, client)
    last = CellScore.objects.filter(cell__method="turns", cell__item__name="sum-1", points=1)
    last.update(state="unscored", points=None, scale=None, unscored="two answers")
    assert curves_of(experiment, "answer", "calls")[1].cells == 10


def test_the_page_draws_curves_and_the_front(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = curves(stage, alice, client)
    html = client.get(f"/experiments/{experiment.public_id}/budgets/?unit=calls").content.decode()
    assert "Mean score of a cell by its budget" in html
    assert '"name": "turns"' in html
    assert "Best for their cost" in html


def test_curves_are_refused_without_a_scorer_that_can_score_earlier_answers(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = curves(stage, alice, client, scorers=OWN)
    assert SolvingCell.objects.exclude(handed__isnull=True).count() == 0
    html = client.get(f"/experiments/{experiment.public_id}/budgets/").content.decode()
    assert "Curves need a scorer by final answer or by a grader" in html


def test_only_those_who_may_steer_ask_for_curves(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, methods=METHODS, scorers=ANSWER))
    client.force_login(person("bob"))
    assert client.post(f"/experiments/{experiment.public_id}/curves/").status_code == 404


def test_a_row_that_is_as_good_for_more_is_not_on_the_front() -> None:
    assert front([1, 2, 3, 3], [0.5, 0.5, 0.9, 0.4]) == [0, 2]
    assert front([1, 1], [0.5, 0.5]) == [0, 1]


PRICES = {"served": {"input": 1, "output": 2, "currency": "EUR", "date": "2026-11-01"}}


def priced(stage: Stage, alice: User, client: Client) -> Experiment:
    """As `curves`, with a price of the model."""
    client.force_login(alice)
    return stage.play(begin(alice, methods=METHODS, scorers=ANSWER, prices=PRICES, curves=True))


def test_a_curve_in_money_ends_at_the_cost_and_the_score_of_the_table(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = priced(stage, alice, client)
    rows = {row.key: row for row in rows_of(experiment, "answer")[1]}
    for curve in curves_of(experiment, "answer", "money"):
        row = rows[curve.row.key]
        assert (curve.points[-1].score, curve.cells, curve.unpriced) == (row.mean, 6, 0)
        assert curve.points[-1].budget == pytest.approx(row.money)
    turns = curves_of(experiment, "answer", "money")[1]
    cell = SolvingCell.objects.filter(method="turns")[0]
    first, last = (sum(one[1] + 2 * one[2] for one in row[-2].values()) / 1e6 for row in cell.handed or [])
    assert first < last
    assert [turns.at(first * 1.2).score, turns.points[-1].score] == [0, 1]  # type: ignore[union-attr]


def test_money_is_offered_where_there_are_prices_only(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    experiment = priced(stage, alice, client)
    html = client.get(f"/experiments/{experiment.public_id}/budgets/?unit=money").content.decode()
    assert '<strong aria-current="page">EUR</strong>' in html
    assert re.search(r'data-label="EUR">0\.000\d+<', html)
    assert '"budget: EUR"' in html
    other = stage.play(begin(alice, title="Free", methods=METHODS, scorers=ANSWER, curves=True))
    without = client.get(f"/experiments/{other.public_id}/budgets/?unit=money").content.decode()
    assert '<strong aria-current="page">tokens written</strong>' in without
    assert "EUR" not in without


def test_answers_read_by_an_earlier_version_have_no_cost_until_they_are_read_again(
    alice: User, stage: Stage, client: Client
) -> None:
    make_problem_set(6)
    experiment = priced(stage, alice, client)
    for cell in SolvingCell.objects.filter(method="turns"):
        SolvingCell.objects.filter(pk=cell.pk).update(handed=[[*row[:4], row[-1]] for row in cell.handed or []])
    url, asked = f"/experiments/{experiment.public_id}/budgets/?unit=money", len(stage.asked)
    assert "6 cells are left out" in client.get(url).content.decode()
    assert [curve.cells for curve in curves_of(experiment, "answer", "calls")] == [6, 6]
    client.post(f"/experiments/{experiment.public_id}/curves/")
    stage.play(experiment)
    assert "left out" not in client.get(url).content.decode()
    assert len(stage.asked) == asked


def test_the_command_prints_curves_and_says_why_there_are_none(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(6)
    stage.play(begin(alice, methods=METHODS, scorers=[*ANSWER, *OWN]))
    with pytest.raises(CommandError, match="Its earlier answers have not been scored"):
        command("curves", "Trial")
    client.force_login(alice)
    client.post(f"/experiments/{Experiment.objects.get().public_id}/curves/")
    stage.play(Experiment.objects.get())
    said = command("curves", "Trial", "--unit", "calls").splitlines()
    assert said[0] == "Trial: score in percent by answer at a budget of calls, with 95 % intervals"
    assert re.fullmatch(r"row +cells +1 +2 +3", said[1])
    assert re.match(r"single +6  +100 \(\d+ to 100\)", said[2])
    assert re.match(r"turns +6  +0 \(0 to \d+\)", said[3])
    assert said[-2:] == ["single: 100.0 % for 1", "turns: 100.0 % for 3, beaten by single"]
    with pytest.raises(CommandError, match="no unit second"):
        command("curves", "Trial", "--unit", "second")
    with pytest.raises(CommandError, match="It has no scorer own"):
        command("curves", "Trial", "--scorer", "own")


def test_amounts_below_ten_have_two_digits() -> None:
    assert [amount(value, "seconds") for value in (0.0017, 0.25, 1, 2.04, 9, 31, 12_400)] == [
        "0.0017", "0.25", "1", "2", "9", "31", "12.4k",
    ]  # fmt: skip
