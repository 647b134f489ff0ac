"""An experiment without a running cell is deleted by those who may steer it. Its runs stay for other experiments."""

import pytest
from django.core.management import CommandError
from django.test import Client

from apps.experiments.advancing import conduct_once
from apps.experiments.models import CellScore, Experiment, SolvingCell
from apps.runs.models import Run
from tests.cast import person
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.experiments.solving.playing import begin, make_problem_set, states
from tests.experiments.solving.test_the_command import command
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
SCORERS = [{"name": "answer", "kind": "answer"}]


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


@pytest.fixture
def client(client: Client) -> Client:
    client.force_login(person("alice"))
    return client


def url(experiment: Experiment) -> str:
    return f"/experiments/{experiment.public_id}/delete/"


def page(client: Client, experiment: Experiment) -> str:
    return client.get(f"/experiments/{experiment.public_id}/").text


def test_it_goes_with_cells_and_scores_and_an_equal_experiment_keeps_the_shared_run(stage: Stage, client: Client) -> None:
    make_problem_set(1)
    first = stage.play(begin(person("alice"), scorers=SCORERS))
    other = stage.play(begin(person("alice"), title="Other", scorers=SCORERS))
    assert "Delete this experiment with its cells, scores and marks?" in page(client, first)
    assert client.post(url(first))["Location"] == "/experiments/"
    assert list(Experiment.objects.values_list("title", flat=True)) == ["Other"]
    assert (SolvingCell.objects.count(), CellScore.objects.count(), Run.objects.count()) == (1, 1, 1)
    assert states(other) == {"finished": 1}
    assert stage.play(begin(person("alice"), scorers=SCORERS)).title == first.title
    assert len(stage.asked) == 1


def test_a_running_cell_refuses_it(stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = begin(person("alice"))
    conduct_once()
    assert url(experiment) not in page(client, experiment)
    assert "Nothing was deleted: 1 cell is running." in client.post(url(experiment), follow=True).text
    assert states(experiment) == {"running": 1}


def test_waiting_cells_refuse_nothing(stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = begin(person("alice"))
    client.post(url(experiment))
    assert not Experiment.objects.exists()
    assert (stage.play(begin(person("alice"))).title, len(stage.asked)) == ("Trial", 1)


def test_an_experiment_on_grading_is_deleted_too(stage: Stage, client: Client) -> None:
    experiment = stage.play(make_experiment(person("alice"), make_set(1), "single_turn"))
    assert url(experiment) in page(client, experiment)
    client.post(url(experiment))
    assert not Experiment.objects.exists()


def test_others_cannot_delete_it(stage: Stage, client: Client) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(person("alice")))
    client.force_login(person("bob"))
    assert url(experiment) not in page(client, experiment)
    assert client.post(url(experiment)).status_code == 404
    assert Experiment.objects.exists()


def test_the_command_deletes_one_after_a_confirmation_and_asks_whose(stage: Stage, client: Client) -> None:
    make_problem_set(1)
    stage.play(begin(person("alice")))
    with pytest.raises(CommandError, match="This deletes 1 cells with their scores and marks"):
        command("delete", "Trial")
    begin(person("bob"))
    with pytest.raises(CommandError, match="Name one --owner"):
        command("delete", "Trial", "--yes")
    assert "Trial was deleted with 1 cells" in command("delete", "Trial", "--yes", "--owner", "alice")
    assert list(Experiment.objects.values_list("owner__username", flat=True)) == ["bob"]
    with pytest.raises(CommandError, match="There is no experiment “None”"):
        command("delete", "None", "--yes")
