"""A planned experiment asks no model: it is rehearsed, changed, deleted or started, by those who may steer it."""

from pathlib import Path

import pytest
from django.test import Client

from apps.experiments.models import Experiment, ExperimentState, Rehearsal, SolvingCell
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.extending.filling import Extension
from apps.experiments.solving.manifest import ManifestWrong
from apps.experiments.solving.rehearsal import background, predicting
from apps.experiments.solving.rehearsal.background import rehearsals_work
from apps.experiments.solving.services import curves_begin, manifest_stored, solving_begin, solving_start
from apps.explorations.starting.plans import usable_aliases
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import as_sent, make_problem_set, manifest, states
from tests.experiments.solving.test_the_builder import sent
from tests.experiments.solving.test_the_command import FILE, command
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "/experiments/new/solving/"
FORM = "6d0a3e0e-3c5f-4b53-9a3c-0d7a3f9e1b11"
SCORERS = [{"name": "answer", "kind": "answer"}]


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


@pytest.fixture
def client(client: Client) -> Client:
    client.force_login(person("alice"))
    return client


def plan() -> Experiment:
    return solving_start(owner=person("alice"), manifest=manifest(scorers=SCORERS), planned=True)


def page(experiment: Experiment, name: str = "") -> str:
    return f"/experiments/{experiment.public_id}/{name}"


def test_the_builder_plans_and_rehearses_and_nothing_is_asked_before_the_start(
    stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PROCESSES", 0)
    make_problem_set(2)
    assert "Rehearse first" in client.get(NEW).text
    answer = client.post(NEW, sent("rehearse"))
    experiment = Experiment.objects.get()
    assert answer["Location"] == page(experiment, "rehearsal/")
    assert rehearsals_work() == 1
    assert stage.play(experiment).state == ExperimentState.PLANNED
    assert (states(experiment), stage.asked) == ({"waiting": 4}, [])
    html = client.get(page(experiment, "rehearsal/")).text
    assert "Prediction and outcome" in html
    assert "no model has been asked" in html
    assert client.post(page(experiment, "start/"))["Location"] == page(experiment)
    assert (stage.play(experiment).state, states(experiment)) == (ExperimentState.DONE, {"finished": 4})
    assert Rehearsal.objects.filter(state="done").count() == 1


def test_a_form_rehearsed_twice_plans_one_and_rehearses_it_once(client: Client) -> None:
    make_problem_set(1)
    for _ in range(2):
        assert client.post(NEW, sent("rehearse", start_id=FORM)).status_code == 302
    assert (Experiment.objects.count(), Rehearsal.objects.count()) == (1, 1)


def test_the_same_form_starts_what_it_planned_and_a_changed_one_does_not(client: Client) -> None:
    make_problem_set(1)
    client.post(NEW, sent("rehearse", start_id=FORM))
    changed = client.post(NEW, sent(start_id=FORM, repeats="3"))
    assert "This form was planned with other entries as “Sums”." in changed.text
    assert Experiment.objects.get().state == ExperimentState.PLANNED
    client.post(NEW, sent(start_id=FORM))
    assert Experiment.objects.get().state == ExperimentState.RUNNING


def test_a_matrix_too_large_to_rehearse_is_planned_with_the_reason(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make_problem_set(3)
    monkeypatch.setattr(predicting, "CALLS_AT_MOST", 5)
    assert "a rehearsal has at most 5" in client.post(NEW, sent("rehearse"), follow=True).text
    assert (Experiment.objects.get().state, Rehearsal.objects.count()) == (ExperimentState.PLANNED, 0)


def test_list_page_and_command_say_that_it_is_planned(client: Client) -> None:
    make_problem_set(1)
    experiment = plan()
    assert 'status--planned">planned<' in client.get("/experiments/").text
    html = client.get(page(experiment)).text
    assert "This experiment is planned. No model has been asked." in html
    assert page(experiment, "cancel/") not in html
    assert "answer on 1 problems, planned" in command("table", "Trial")


def test_a_planned_experiment_is_deleted_with_its_rehearsals(client: Client) -> None:
    make_problem_set(1)
    client.post(NEW, sent("rehearse"))
    assert client.post(page(Experiment.objects.get(), "delete/"))["Location"] == "/experiments/"
    assert not Experiment.objects.exists()
    assert not SolvingCell.objects.exists()


def test_a_planned_experiment_may_change_in_all_and_its_rehearsals_are_then_deleted(client: Client) -> None:
    make_problem_set(3)
    client.post(NEW, sent("rehearse"))
    experiment = Experiment.objects.get()
    shown = as_sent(Extension(experiment, usable_aliases(), None))
    assert "Change it" in client.get(page(experiment)).text
    assert client.post(page(experiment, "add/"), {**shown, "action": "start"}).status_code == 302
    assert (experiment.solving_cells.count(), Rehearsal.objects.count()) == (6, 1)
    changes = {"methods-0-scaffold": "majority_vote", "repeats": "1", "names": "sum-1", "action": "start"}
    assert client.post(page(experiment, "add/"), {**shown, **changes}).status_code == 302
    experiment.refresh_from_db()
    assert manifest_stored(experiment).methods[0].scaffold == "majority_vote"
    assert (experiment.state, states(experiment)) == (ExperimentState.PLANNED, {"waiting": 1})
    assert not Rehearsal.objects.exists()


def test_nothing_else_starts_it(client: Client) -> None:
    make_problem_set(1)
    experiment = plan()
    with pytest.raises(ExperimentRefused, match="Start it first"):
        curves_begin(experiment)
    for verb in ("resume", "retry", "pause", "cancel", "curves"):
        client.post(page(experiment, f"{verb}/"))
        experiment.refresh_from_db()
        assert experiment.state == ExperimentState.PLANNED
    solving_begin(experiment)
    solving_begin(experiment)
    client.post(page(experiment, "cancel/"))
    with pytest.raises(ExperimentRefused, match="Only a planned experiment can be started"):
        solving_begin(experiment)


def test_only_those_who_may_steer_start_or_delete_it(client: Client) -> None:
    make_problem_set(1)
    experiment = plan()
    client.force_login(person("bob"))
    assert page(experiment, "start/") not in client.get(page(experiment)).text
    assert [client.post(page(experiment, verb)).status_code for verb in ("start/", "delete/")] == [404, 404]
    assert Experiment.objects.get().state == ExperimentState.PLANNED


def test_the_command_starts_a_planned_experiment(stage: Stage, tmp_path: Path) -> None:
    make_problem_set(1)
    file = tmp_path / "trial.toml"
    file.write_text(FILE.replace("Sums", "Trial"))
    experiment = plan()
    assert "Trial was planned and is started now" in command("run", str(file), "--owner", "alice")
    assert states(stage.play(experiment)) == {"finished": 1}


def test_the_only_limit_can_be_cleared(client: Client) -> None:
    make_problem_set(1)
    experiment = solving_start(owner=person("alice"), manifest=manifest(budgets=[{"calls": 5}]), planned=True)
    shown = as_sent(Extension(experiment, usable_aliases(), None))
    cleared = {name: value for name, value in shown.items() if name != "budgets-0-calls"}
    assert "1</strong> cell on 1 problem" in client.post(page(experiment, "add/"), cleared | {"action": "estimate"}).text
    assert client.post(page(experiment, "add/"), cleared | {"action": "start"}).status_code == 302
    experiment.refresh_from_db()
    assert manifest_stored(experiment).budgets[0].calls is None
    assert experiment.solving_cells.count() == 1


def test_a_change_in_an_older_tab_is_refused_and_undoes_nothing(client: Client) -> None:
    make_problem_set(1)
    experiment = plan()
    older = as_sent(Extension(experiment, usable_aliases(), None)) | {"repeats": "3", "action": "start"}
    newer = as_sent(Extension(experiment, usable_aliases(), None)) | {"repeats": "2", "action": "start"}
    assert client.post(page(experiment, "add/"), newer).status_code == 302
    refused = client.post(page(experiment, "add/"), older)
    assert refused.status_code == 422
    assert "this experiment was changed in another window" in refused.text
    experiment.refresh_from_db()
    assert manifest_stored(experiment).repeats == 2


def test_no_budget_at_all_is_no_manifest() -> None:
    with pytest.raises(ManifestWrong, match="budgets: name at least 1"):
        manifest(budgets=[])
