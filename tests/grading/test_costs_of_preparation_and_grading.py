"""Pages and files separate the cost of preparing a problem from the cost of a script, counted from recorded calls."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.cards import cards_for
from apps.experiments.models import Experiment
from apps.experiments.selectors import progress_of
from apps.marks.models import Suggestion
from apps.marks.suggestions.answering import FAMILIES, suggestions_work
from apps.reasoning.domain.spending import Amount, Spending
from apps.reasoning.marking.suggestion import Cost, SuggestionBody
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.graders.answers import FOLLOWS
from tests.graders.grade import SCRIPT
from tests.grading import suggesting as played
from tests.grading.suggesting import Model, problem_with
from tests.grading.test_grade_command import MODELS
from tests.grading.test_pages_of_gradings import graded, page
from tests.marks.factory import claimed, sealed
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
model = played.model


@pytest.fixture(autouse=True)
def models(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


def test_the_second_script_costs_two_calls_and_its_page_shows_that_nothing_was_prepared(
    alice: User, client_for: ClientFor
) -> None:
    problem = make_problem()
    first = graded(alice, problem, "ref5_plain", FOLLOWS)
    second = graded(alice, problem, "ref5_plain", FOLLOWS, SCRIPT + "\n\nDone.")
    client = client_for(alice)
    cost = [text[text.index("grading-cost") :] for text in (page(client, first), page(client, second))]
    assert all('<dt>for this script</dt><dd class="num">2 calls, ' in text for text in cost)
    assert ">3 calls, " in cost[0]
    assert "once for all scripts" in cost[0]
    assert "none: all pieces existed before" in cost[1]
    assert "preparation of the problem" not in page(client, graded(alice, problem, "single_turn", {"*": FOLLOWS["grade/ref3"]}))


def test_a_card_separates_the_cost_of_a_script_from_preparation(alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    runs = [graded(alice, problem, "ref5_plain", FOLLOWS, f"{SCRIPT}\n\nVersion {number}.") for number in range(3)]
    (card,) = cards_for(alice)
    assert (card.calls, card.prepared.calls, card.preparing) == (2, 3, 1)
    assert 3 * card.tokens + card.prepared.tokens == sum(run.tokens for run in runs)
    client = client_for(alice)
    text = client.get(reverse("agreement:cards")).content.decode()
    assert "2.0 calls, " in text
    assert "<dt>preparation</dt><dd>3 calls, " in text
    listed = client.get(f"{reverse('agreement:cards')}?card={card.key}").content.decode()
    assert listed.count('data-label="Calls">2<') == 3
    assert listed.count('data-label="Prepared">3 calls, ') == 1
    assert listed.count(">nothing<") == 2


def played_out(alice: User, stage: Stage) -> Experiment:
    return stage.play(make_experiment(alice, make_set(4, problems=2), "ref5_plain"))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch, FOLLOWS)


def test_an_experiment_shows_preparation_separately_in_its_header_and_its_rows(
    alice: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment = played_out(alice, stage)
    progress = progress_of(experiment)
    assert (progress.calls, progress.prepared_calls) == (4 * 2, 2 * 3)
    assert progress.prepared_tokens == sum(cell.prepared_tokens for cell in experiment.cells.all()) > 0
    assert sorted((cell.online_calls, cell.prepared_calls) for cell in experiment.cells.all()) == [
        (2, 0),
        (2, 0),
        (2, 3),
        (2, 3),
    ]
    text = client_for(alice).get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert "8 calls · " in text
    assert "6 calls · " in text
    assert text.count(" prepared</span>") == 2


def test_a_single_call_is_in_the_singular(alice: User, client_for: ClientFor, stage: Stage) -> None:
    stage.answers = {"*": FOLLOWS["grade/ref3"]}
    experiment = stage.play(make_experiment(alice, make_set(1)))
    text = client_for(alice).get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert "1 call · " in text
    assert "1 calls" not in text
    assert "prepared" not in text


def test_downloads_have_columns_for_both_costs(alice: User, client_for: ClientFor, stage: Stage) -> None:
    experiment = played_out(alice, stage)
    client = client_for(alice)
    names = ("calls", "online_calls", "prepared_calls")
    table = client.get(reverse("experiments:csv", args=[experiment.public_id])).getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert sorted(tuple(row[name] for name in names) for row in rows) == [
        ("2", "2", "0"), ("2", "2", "0"), ("5", "2", "3"), ("5", "2", "3"),
    ]  # fmt: skip
    lines = client.get(reverse("experiments:jsonl", args=[experiment.public_id])).getvalue().decode()
    found = [json.loads(line) for line in lines.splitlines()]
    assert all(row["tokens"] == row["online_tokens"] + row["prepared_tokens"] for row in found)
    assert sum(row["prepared_calls"] for row in found) == 6


def test_a_suggestion_shows_the_cost_of_preparing_the_problem(bob: User, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    # The test does the work itself. Without a broker, sealing would wait six seconds for one.
    monkeypatch.setattr("apps.marks.queues.suggest.apply_async", lambda *_, **__: None)
    model.answers |= FOLLOWS
    problem = problem_with(bob, "workflow:ref5_plain@served", scripts=2)
    for _ in range(2):
        sealed(claimed(problem, bob), bob)
        suggestions_work(FAMILIES)
    costs = [SuggestionBody.model_validate(row.body).cost or Cost() for row in Suggestion.objects.order_by("pk")]
    assert [(cost.online.calls, cost.prepared and cost.prepared.calls) for cost in costs] == [(2, 3), (2, 0)]
    first, second = (stage_of(cost) for cost in costs)
    assert (
        "2 calls, 20 tokens read and 10 written for this script; once for all scripts of the problem 3 calls, 30 read" in first
    )
    assert "2 calls, 20 tokens read and 10 written; 3 pieces of the problem reused." in second


def test_an_older_suggestion_shows_its_total_cost() -> None:
    cost = Cost.model_validate({"calls": 5, "prompt_tokens": 50, "completion_tokens": 25, "seconds": 1.0, "reused": 0})
    assert cost.prepared is None
    assert Spending(online=cost.online).total == Amount(calls=5, prompt_tokens=50, completion_tokens=25)
    assert "5 calls, 50 tokens read and 25 written." in stage_of(cost)


def stage_of(cost: Cost) -> str:
    """The rendered stage of items and points of a suggestion with this cost."""
    items = [{"grader": "A grader", "body": SuggestionBody(cost=cost), "shares": [], "scale": None}]
    return render_to_string("marks/_reveal_items.html", {"panel": {"items": items}})
