"""Two rows by problem: their difference, the problems that flip, both runs side by side, and ablations of the baseline."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment
from apps.experiments.solving.comparing.ablations import NO_BASELINE, NONE
from apps.experiments.solving.comparing.views import ONE_ROW, SAME_ROW
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
VOTE = {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}
TWO = [{"name": "single", "scaffold": "single_call"}, VOTE]
SCORERS = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add both numbers.", "So it is.\nAnswer: 1")}


def page(client: Client, user: User, experiment: Experiment, part: str = "compare", **query: Any) -> str:
    client.force_login(user)
    found = client.get(f"/experiments/{experiment.public_id}/{part}/", query)
    assert found.status_code == 200
    return found.content.decode()


def score(experiment: Experiment, method: str, points: dict[str, int], scorer: str = "answer") -> None:
    """Replace the scores of a method, by problem."""
    for cell in experiment.solving_cells.filter(method=method).select_related("item"):
        if cell.item.name in points:
            given = {"state": "scored", "points": points[cell.item.name], "scale": 1, "unscored": ""}
            CellScore.objects.update_or_create(cell=cell, scorer=scorer, answer=cell.answer, defaults=given)


def played(alice: User, stage: Stage, problems: int = 8, **changes: Any) -> Experiment:
    """An experiment in which the vote is right on all problems and the single call on all but the first six."""
    make_problem_set(problems)
    experiment = stage.play(begin(alice, methods=TWO, scorers=SCORERS, **changes))
    score(experiment, "single", {f"sum-{number}": int(number > 6) for number in range(1, problems + 1)})
    score(experiment, "vote", {f"sum-{number}": 1 for number in range(1, problems + 1)})
    return experiment


def test_the_difference_of_two_rows_is_paired_by_problem_and_said_in_a_sentence(
    alice: User, stage: Stage, client: Client
) -> None:
    experiment = played(alice, stage, baseline="single")
    html = page(client, alice, experiment)
    assert "vote is better by 75.0 points" in html
    assert ">6, 2, 0<" in html
    assert ">2.00 ×<" in html
    other = page(client, alice, experiment, left="single~served~0", right="vote~served~0")
    assert "vote is better by 75.0 points" in other
    assert ">0, 2, 6<" in other
    assert ">0.50 ×<" in other


def test_problems_that_differ_come_with_scores_by_repeat_and_lead_to_both_runs(
    alice: User, stage: Stage, client: Client
) -> None:
    experiment = played(alice, stage, repeats=2)
    row = page(client, alice, experiment, left="vote~served~0", right="single~served~0")
    first = row[row.index(">sum-1</th>") : row.index(">sum-2</th>")]
    runs = experiment.solving_cells.filter(item__name="sum-1").values_list("run__public_id", flat=True)
    assert len(runs) == 4
    assert [run for run in runs if f"/runs/{run}/" not in first] == []
    assert "+100.0" in first
    assert "6 problems with another mean score" in row
    assert ">sum-7</th>" not in row


def test_a_problem_that_differs_leads_to_the_comparison_of_two_runs_whose_scores_differ(
    alice: User, stage: Stage, client: Client
) -> None:
    experiment = played(alice, stage, problems=1, repeats=2)
    CellScore.objects.filter(cell__method="single", cell__repeat=1, scorer="answer").update(points=0)
    CellScore.objects.filter(cell__method="single", cell__repeat=0, scorer="answer").update(points=1)
    html = page(client, alice, experiment, left="vote~served~0", right="single~served~0", problem="sum-1", repeat="0")
    found = dict(experiment.solving_cells.values_list("method", "run__public_id").filter(repeat=1))
    address = f"/runs/compare/?run={found['vote']}&amp;run={found['single']}"
    assert f'<a href="{address}">Compare runs</a>' in html
    other = dict(experiment.solving_cells.values_list("method", "run__public_id").filter(repeat=0))
    adjacent = f"/runs/compare/?run={other['vote']}&amp;run={other['single']}"
    assert f'<a href="{adjacent}">Compare the searches of both runs</a>' in html
    assert client.get(address.replace("&amp;", "&")).status_code == 200


def test_without_two_visible_runs_there_is_no_link_to_compare_them(alice: User, stage: Stage, client: Client) -> None:
    experiment = played(alice, stage, problems=1)
    experiment.solving_cells.filter(method="vote").update(run=None)
    html = page(client, alice, experiment, left="vote~served~0", right="single~served~0", problem="sum-1", repeat="0")
    assert "1 problem with another mean score" in html
    assert "/runs/compare/" not in html


def test_of_many_repeats_the_first_are_listed_and_a_link_has_all(alice: User, client: Client) -> None:
    make_problem_set(1)
    experiment = begin(alice, methods=TWO, scorers=SCORERS, repeats=11)
    score(experiment, "single", {"sum-1": 0})
    score(experiment, "vote", {"sum-1": 1})
    html = page(client, alice, experiment, left="vote~served~0", right="single~served~0")
    assert html.count(">and 3 more</a>") == 2
    assert "11 cells" in page(client, alice, experiment, "cells", problem="sum-1", method="vote", team="served", budget="0")
    assert "?problem=sum-1&amp;method=vote&amp;team=served&amp;budget=0" in html


def test_unscored_repeats_are_no_zero(alice: User, stage: Stage, client: Client) -> None:
    experiment = played(alice, stage, repeats=2)
    unscored = CellScore.objects.filter(cell__item__name="sum-1", cell__method="vote", cell__repeat=1, scorer="answer")
    unscored.update(state="unscored", points=None, scale=None, unscored="nothing was handed in")
    html = page(client, alice, experiment, left="vote~served~0", right="single~served~0")
    first = html[html.index(">sum-1</th>") : html.index(">sum-2</th>")]
    assert "+100.0" in first
    assert "repeat 1: –" in first


def test_both_runs_of_a_problem_are_shown_side_by_side_with_scores_and_costs(alice: User, stage: Stage, client: Client) -> None:
    experiment = played(alice, stage)
    html = page(client, alice, experiment, problem="sum-1", repeat="0")
    assert html.count("We add both numbers.") == 2
    assert "answer: 1 of 1; own: the method did not judge its proof" in html
    assert "answer: 0 of 1" in html
    assert html.count("not judged") == 2
    assert "2 calls" in html


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"left": "gone~served~0"}, "There is no row “gone · served · 0” in this experiment"),
        ({"left": "vote~served~0", "right": "vote~served~0"}, SAME_ROW),
        ({"problem": "sum-99"}, "There is no problem “sum-99” here"),
        ({"problem": "sum-1", "repeat": "7"}, "There is no repeat 7. The last one is 0."),
        ({"problem": "sum-1", "repeat": "x", "page": "99"}, "side by side"),
        ({"left": "\0", "scorer": "none"}, "Two methods"),
    ],
)
def test_a_wrong_choice_is_named(alice: User, stage: Stage, client: Client, asked: dict[str, str], words: str) -> None:
    experiment = played(alice, stage, problems=1)
    assert words in page(client, alice, experiment, **asked)


def test_nothing_is_compared_without_two_rows_a_scorer_or_common_problems(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    assert ONE_ROW in page(client, alice, begin(alice, title="One", scorers=SCORERS))
    assert "The manifest has no scorer" in page(client, alice, begin(alice, title="No scorer", methods=TWO))
    experiment = stage.play(begin(alice, methods=TWO, scorers=SCORERS))
    for method, name in (("single", "sum-1"), ("vote", "sum-2")):
        CellScore.objects.filter(cell__method=method, cell__item__name=name).delete()
    assert "Not decisive: no problem has a score in both rows." in page(client, alice, experiment)
    assert "No problem has different mean scores" in page(client, alice, experiment)


def test_runs_that_the_reader_may_not_see_are_text_without_a_link(
    alice: User, stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = played(alice, stage)
    for module in ("comparing.flips", "comparing.sides", "views"):
        monkeypatch.setattr(f"apps.experiments.solving.{module}.run_visible_to", lambda user: Run.objects.none())
    html = page(client, alice, experiment, problem="sum-1")
    assert "/runs/" not in html.partition("<main")[2].partition("</main>")[0]
    assert ">sum-1</th>" in html
    assert html.count("You may not see this run.") == 2
    assert "We add both numbers." not in html
    cells = page(client, alice, experiment, "cells").partition("<main")[2].partition("</main>")[0]
    assert "/runs/" not in cells
    assert "sum-1, repeat 0" in cells


def test_held_back_problems_are_in_no_number_of_the_page(
    alice: User, stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = played(alice, stage)
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    html = page(client, alice, experiment, problem="sum-1")
    assert "1 problem is held back from you" in html
    assert "There is no problem “sum-1” here" in html
    assert ">5, 2, 0<" in page(client, alice, experiment, left="vote~served~0")
    assert "sum-1<" not in html


def test_one_switch_against_the_baseline_is_an_ablation_and_two_are_none(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(8)
    full = {"name": "full", "scaffold": "majority_vote", "params": {"solutions": 2}}
    more = {"name": "more", "scaffold": "majority_vote", "params": {"solutions": 3}}
    written_out = {"name": "hot", "scaffold": "majority_vote", "params": {"solutions": 2}, "temperature": 1.5}
    both = {"name": "both", "scaffold": "majority_vote", "params": {"solutions": 3}, "temperature": 1.5}
    experiment = stage.play(begin(alice, methods=[full, more, written_out, both, TWO[0]], scorers=SCORERS, baseline="full"))
    score(experiment, "full", {f"sum-{number}": 1 for number in range(1, 9)})
    score(experiment, "more", {f"sum-{number}": 0 for number in range(1, 9)})
    html = page(client, alice, experiment, "ablations")
    assert "solutions: 2 → 3</th>" in html
    assert "temperature: default → 1.5</th>" in html
    assert html.count("</th>") == 7 + 2
    assert "full is better by 100.0 points" in html
    assert ">1.50 ×<" in html
    assert ">−100.0 (" in html


def test_another_model_in_one_role_is_an_ablation(alice: User, client: Client) -> None:
    make_problem_set(2)
    method = {"name": "check", "scaffold": "self_check"}
    teams = [
        {"name": "all", "roles": {"": "served"}},
        {"name": "other verifier", "roles": {"": "served", "verifier": "other"}},
        {"name": "all other", "roles": {"": "other"}},
    ]
    html = page(client, alice, begin(alice, methods=[method], teams=teams, baseline="check"), "ablations")
    assert "verifier: served → other</th>" in html
    assert html.count("→") == 1


def test_without_a_baseline_or_an_ablation_the_page_says_how_to_make_one(alice: User, client: Client) -> None:
    make_problem_set(1)
    assert NO_BASELINE in page(client, alice, begin(alice, title="One", methods=TWO), "ablations")
    assert NONE in page(client, alice, begin(alice, methods=TWO, baseline="vote"), "ablations")


def test_students_and_experiments_of_gradings_have_no_such_pages(alice: User, client: Client) -> None:
    from tests.experiments.driving import make_experiment, make_set

    make_problem_set(1)
    solving, grading = begin(alice), make_experiment(alice, make_set(1))
    for part in ("compare", "ablations", "endings"):
        client.force_login(person("charlie"))
        assert client.get(f"/experiments/{solving.public_id}/{part}/").status_code == 404
        client.force_login(alice)
        assert client.get(f"/experiments/{solving.public_id}/{part}/").status_code == 200
        assert client.get(f"/experiments/{grading.public_id}/{part}/").status_code == 404


def test_a_page_of_many_cells_makes_few_queries(alice: User, client: Client, django_assert_max_num_queries: Any) -> None:
    make_problem_set(20)
    experiment = begin(alice, methods=TWO, scorers=SCORERS, repeats=5, baseline="single")
    client.force_login(alice)
    for part in ("compare", "ablations", "endings"):
        with django_assert_max_num_queries(20):
            assert client.get(f"/experiments/{experiment.public_id}/{part}/").status_code == 200


def test_runs_that_handed_nothing_in_say_so(alice: User, stage: Stage, answers: dict[str, object], client: Client) -> None:
    make_problem_set(1)
    answers["*"] = "I do not know."
    experiment = stage.play(begin(alice, methods=TWO, scorers=SCORERS))
    html = page(client, alice, experiment, problem="sum-1")
    assert html.count("Nothing was handed in.") == 2
    assert html.count("no score") == 2
