"""A marker sees the problem and the answer: the page and its address stay the same whatever made the answer."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, PersonMark, SolvingCell
from apps.experiments.solving.manifest import manifest_of
from apps.experiments.solving.people.answers import answers_of
from apps.experiments.solving.services import manifest_stored
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
METHODS = [
    {"name": "onecallmethod", "scaffold": "single_call"},
    {"name": "ballotmethod", "scaffold": "majority_vote", "params": {"solutions": 2}},
]
SETUP = {
    "methods": METHODS,
    "teams": [{"name": "reddishteam", "roles": {"": "served"}}],
    "budgets": [{"calls": 9173}],
    "scorers": [{"name": "people", "kind": "people"}, {"name": "answer", "kind": "answer"}],
}


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    texts = iter(range(10_000))

    def another_text(request: GenerationRequest) -> str:
        return proof("We add.", f"So it is, by way {next(texts)}.\nAnswer: 1")

    return {"*": another_text}


def open_page(client: Client, user: User, url: str, status: int = 200) -> str:
    """The page and its headers, without the date and the tokens against forgery, which differ each time."""
    client.force_login(user)
    found = client.get(url)
    assert found.status_code == status
    kept = {name: value for name, value in found.headers.items() if name not in ("Expires", "Content-Length")}
    whole = f"{kept}\n{found.content.decode()}"
    return re.sub(r'"[A-Za-z0-9]{64}"|nonce-[\w+/=-]+|nonce="[^"]+"|csrftoken=\w+', "", whole)


def urls(user: User, experiment: Experiment) -> list[str]:
    scorer = manifest_stored(experiment).scorers[0]
    return [f"/experiments/{experiment.public_id}/marks/{one.digest}/" for one in answers_of(user, experiment, scorer)]


def test_the_page_and_its_address_name_no_method_team_budget_run_cost_or_score(
    alice: User, stage: Stage, client: Client
) -> None:
    make_problem_set(3)
    experiment = stage.play(begin(alice, **SETUP))
    Run.objects.update(calls=9183, prompt_tokens=918_301, completion_tokens=918_302)
    SolvingCell.objects.update(calls=9184, prompt_tokens=918_401, completion_tokens=918_402, seconds=918.5)
    CellScore.objects.filter(scorer="answer").update(points="0.93", scale="1.94")
    runs = [str(run) for run in Run.objects.values_list("public_id", flat=True)]
    addresses = [value for cell in SolvingCell.objects.all() for value in (str(cell.public_id), cell.address, cell.answer)]
    words = [
        "onecall",
        "ballot",
        "single_call",
        "majority_vote",
        "reddish",
        "served",
        "917",
        "9,17",
        "918",
        "9,18",
        "0.93",
        "1.94",
        "repeat",
    ]
    found = urls(alice, experiment)
    assert len(found) == 6
    for url in found:
        html = open_page(client, alice, url)
        assert "So it is, by way" in html
        shown = re.sub(rf"{experiment.public_id}|[0-9a-f]{{64}}|\?v=\w+|\.[0-9a-f]{{12}}\.", "", html)
        assert [word for word in [*words, *runs] if word in shown] == []
        assert [word for word in [*runs, *addresses] if word and f"/{word}" in html + url] == []


def test_the_page_stays_the_same_if_another_method_made_the_answer(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, **SETUP))
    before = [open_page(client, alice, url) for url in urls(alice, experiment)]
    manifest = experiment.manifest or {}
    manifest["methods"] = [{**one, "name": one["name"] + "changed"} for one in manifest["methods"]]
    manifest["teams"] = [{**one, "name": "othername"} for one in manifest["teams"]]
    Experiment.objects.update(manifest=manifest_of(manifest).model_dump(mode="json"))
    for number, cell in enumerate(SolvingCell.objects.all()):
        changed = {
            "method": f"other{number}",
            "team": "othername",
            "repeat": 5 + number,
            "budget": 1,
            "calls": 77,
            "accepted": True,
        }
        SolvingCell.objects.filter(pk=cell.pk).update(**changed, position=1000 - number, seconds=5.5, completion_tokens=9)
    CellScore.objects.filter(scorer="answer").update(points="0.25", comment="a guess")
    assert [open_page(client, alice, url) for url in urls(alice, experiment)] == before
    Problem.objects.get(slug="sum-1").versions.update(statement="Another statement.")
    assert [open_page(client, alice, url) for url in urls(alice, experiment)] != before


def test_a_marker_sees_no_mark_of_another(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, **SETUP))
    url = urls(alice, experiment)[0]
    before = open_page(client, alice, url)
    PersonMark.objects.create(experiment=experiment, digest=url.split("/")[-2], by=person("dana"), points=3, comment="Weak.")
    assert open_page(client, alice, url) == before


def test_two_markers_get_the_answers_in_different_orders(alice: User, stage: Stage) -> None:
    make_problem_set(6)
    experiment = stage.play(begin(alice, **SETUP))
    mine, others = urls(alice, experiment), urls(person("dana"), experiment)
    assert mine == urls(alice, experiment)
    assert sorted(mine) == sorted(others)
    assert mine != others


def test_who_may_not_steer_may_not_mark_and_students_see_nothing(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, **SETUP))
    url, overview = urls(alice, experiment)[0], f"/experiments/{experiment.public_id}/marks/"
    html = open_page(client, person("bob"), overview)
    assert "Mark the next answer" not in html
    assert "Corrected by people" in html
    for name, page in (("bob", url), ("charlie", url), ("charlie", overview)):
        open_page(client, person(name), page, status=404)
    client.force_login(person("bob"))
    assert client.post(url, {"points": "3"}).status_code == 404
    assert not PersonMark.objects.exists()


def test_an_answer_of_another_experiment_is_not_found_under_this_one(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(1)
    one = stage.play(begin(alice, **SETUP))
    two = stage.play(begin(alice, **SETUP, title="Again"))
    digest = urls(alice, one)[0].split("/")[-2]
    client.force_login(alice)
    for wrong in (digest, "0a", "", "people"):
        found = client.post(f"/experiments/{two.public_id}/marks/{wrong}/".replace("//", "/"), {"points": "3"})
        assert found.status_code in (404, 405)
    assert not PersonMark.objects.exists()


def test_a_problem_that_is_held_back_is_not_offered(
    alice: User, stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, **SETUP))
    every = urls(alice, experiment)
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    left = urls(alice, experiment)
    assert len(every) == 4
    assert len(left) == 2
    assert "0 of 2 marked by you" in open_page(client, alice, f"/experiments/{experiment.public_id}/marks/")
    for url in set(every) - set(left):
        open_page(client, alice, url, status=404)
        assert client.post(url, {"points": "3"}).status_code == 404
