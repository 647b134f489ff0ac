"""The page of an experiment on solving: progress, scores with intervals, differences, squares that lead to their cells."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.solving.services import solving_extend
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
TWO = [{"name": "single", "scaffold": "single_call"}, {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}]
SCORERS = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    def right_on_even_ones(request: GenerationRequest) -> str:
        number = int(re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0])
        return proof("We add.", f"So it is.\nAnswer: {number if number % 2 == 0 else 0}")

    return {"*": right_on_even_ones}


def page(client: Client, user: User, url: str) -> str:
    client.force_login(user)
    found = client.get(url)
    assert found.status_code == 200
    return found.content.decode()


def test_it_shows_scores_with_intervals_and_what_may_be_said_of_two_methods(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(8)
    experiment = stage.play(begin(alice, methods=TWO, scorers=SCORERS, baseline="single", repeats=2))
    html = page(client, alice, f"/experiments/{experiment.public_id}/")
    assert "32 of 32 cells" in html
    assert html.count("50.0 %") == 2
    assert re.search(r'<span class="num">\d+\.\d to \d+\.\d</span>', html)
    assert "Not decisive" in html
    assert html.count("heat__cell--4") == 8
    assert html.count("heat__cell--0") == 8


def test_a_square_leads_to_its_cells_with_runs_and_scores(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, methods=TWO, scorers=SCORERS, repeats=2))
    html = page(client, alice, f"/experiments/{experiment.public_id}/")
    url = re.findall(r'href="(/experiments/[^"]*problem=sum-2&amp;method=vote[^"]*)"', html)[0].replace("&amp;", "&")
    cells = page(client, alice, url)
    assert "2 cells" in cells
    assert cells.count("answer: 1 of 1") == 2
    run = re.findall(r'href="(/runs/[^"]+)"', cells)[0]
    assert "sum-2, vote" in page(client, alice, run)


def test_a_cell_that_could_not_run_says_why_behind_its_square(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, teams=[{"name": "gone", "roles": {"": "gone"}}]))
    assert "1 failed" in page(client, alice, f"/experiments/{experiment.public_id}/")
    assert "No enabled model is named gone" in page(client, alice, f"/experiments/{experiment.public_id}/cells/?state=failed")


def test_without_a_scorer_it_says_that_one_can_be_added(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice))
    url = f"/experiments/{experiment.public_id}/"
    assert "The manifest has no scorer" in page(client, alice, url)
    solving_extend(experiment=experiment, manifest=manifest(scorers=SCORERS))
    stage.play(experiment)
    html = page(client, alice, f"{url}?scorer=own")
    assert "the method did not judge its proof" in html


def test_the_list_has_both_kinds_and_students_see_none(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, methods=TWO))
    html = page(client, alice, "/experiments/")
    assert "4 of 4" in html
    assert "single, vote" in html
    client.force_login(person("charlie"))
    for url in ("/experiments/", f"/experiments/{experiment.public_id}/", f"/experiments/{experiment.public_id}/cells/"):
        assert client.get(url).status_code == 404


def test_a_page_of_many_cells_makes_few_queries(alice: User, client: Client, django_assert_max_num_queries: object) -> None:
    make_problem_set(20)
    experiment = begin(alice, methods=TWO, scorers=SCORERS, repeats=5)
    client.force_login(alice)
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        assert client.get(f"/experiments/{experiment.public_id}/").status_code == 200


def test_held_back_problems_are_left_out_of_map_and_cells(
    alice: User, stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, scorers=SCORERS))
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    html = page(client, alice, f"/experiments/{experiment.public_id}/")
    assert "1 problem is held back from you" in html
    assert "sum-1" not in html
    found = page(client, alice, f"/experiments/{experiment.public_id}/cells/")
    assert "sum-1" not in found
    assert "Sum 1" not in found
    assert "sum-2" in found
