"""Experiments with juries of several models and neutral rewritings; graders with different settings are kept apart."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.sources.sets import SetSource
from apps.agreement.sources.sources import Chosen
from apps.experiments.models import CellState, Experiment, ExperimentState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.scripts import Chosen as Scripts
from apps.experiments.services import ExperimentDraft, experiment_create
from apps.graded_sets.models import GradedSet
from tests.experiments.driving import Stage, is_over, make_experiment, make_set
from tests.grading.test_grade_command import MODELS

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
TEAM = "served,big,other"


@pytest.fixture(autouse=True)
def more_models(models: None, settings: LazySettings) -> None:
    others = "".join(MODELS.replace("[served]", f"[{name}]").replace("A server", name.title()) for name in ("big", "other"))
    settings.MODELS_FILE.write_text(MODELS + others)


def sent(client: Client, graded_set: GradedSet, *, is_asking: bool = False, **changes: Any) -> str:
    data = {
        "title": "Trial", "source": f"set:{graded_set.public_id}", "workflows": ["jury"], "aliases": ["served"], "at_once": 4,
        "seed": 0, "start_id": str(uuid.uuid4()),
    } | changes  # fmt: skip
    headers = {"HX-Request": "true"} if is_asking else {}
    return client.post(reverse("experiments:new"), data, headers=headers).content.decode()


def test_models_per_role_add_one_choice_for_graders_with_these_roles(alice: User, client_for: ClientFor) -> None:
    client, graded_set = client_for(alice), make_set(2)
    chosen: dict[str, Any] = {"workflows": ["jury", "single_turn"], "plays_judge_b": "big", "plays_judge_c": "other"}
    assert 'num">6</strong> gradings of 2 scripts' in sent(client, graded_set, is_asking=True, **chosen)
    sent(client, graded_set, **chosen)
    experiment = Experiment.objects.get()
    assert experiment.aliases == ["served", TEAM]
    found = set(experiment.cells.values_list("workflow", "alias"))
    assert found == {("jury", "served"), ("jury", TEAM), ("single_turn", "served")}


def test_a_team_alone_needs_a_model_for_each_role(alice: User, client_for: ClientFor) -> None:
    client, graded_set = client_for(alice), make_set(1)
    text = sent(client, graded_set, aliases=[], plays_judge_b="big")
    assert "has no model for Judge A, Judge C" in text
    assert "Tick a model, or choose models per role." in sent(client, graded_set, aliases=[])
    assert "no such role" in sent(client, graded_set, plays_analyst="big")
    assert not Experiment.objects.exists()
    sent(client, graded_set, aliases=[], plays_judge_a="served", plays_judge_b="big", plays_judge_c="other")
    assert Experiment.objects.get().cells.get().alias == TEAM


def test_each_judge_of_a_cell_uses_its_chosen_model(alice: User, stage: Stage) -> None:
    experiment = created(alice, make_set(1), ["jury"], team={"": "served", "judge_b": "big"})
    stage.play(experiment)
    cell = experiment.cells.get()
    assert cell.run is not None
    assert [cell.run.spec["roles"][f"judge_{name}"]["alias"] for name in "abc"] == ["served", "big", "served"]


def created(user: User, graded_set: GradedSet, workflows: list[str], aliases: tuple[str, ...] = (), **more: Any) -> Experiment:
    draft = ExperimentDraft("Trial", Scripts(graded_set=graded_set), workflows, aliases, **more)
    return experiment_create(owner=user, draft=draft)


def test_an_unknown_manner_is_refused(alice: User) -> None:
    with pytest.raises(ExperimentRefused, match="Only Marking scheme can be advisory"):
        created(alice, make_set(1), ["jury+advisory"], ("served",))


def test_judging_a_neutral_rewriting_or_with_marks_is_a_separate_grader(
    alice: User, client_for: ClientFor, stage: Stage, answers: dict[str, object]
) -> None:
    answers.clear()
    answers.update({"rewrite": "turtles", "*": "<grading><feedback>Well.</feedback><points>3</points></grading>"})
    graded_set = make_set(1)
    sent(client_for(alice), graded_set, workflows=["single_turn"], judged=["script", "neutral", "marks"])
    experiment = Experiment.objects.get()
    assert is_over(stage.play(experiment))
    cells = {cell.workflow: cell for cell in experiment.cells.select_related("run")}
    assert set(cells) == {"single_turn", "single_turn+neutral", "single_turn+marks"}
    run = cells["single_turn+neutral"].run
    assert run is not None
    assert run.spec["params"]["neutral"] is True
    run = cells["single_turn+marks"].run
    assert run is not None
    assert run.spec["params"]["marks"] is True
    graders = [(one.name.partition("#")[0], one.words) for one in SetSource(graded_set).choices().graders]
    assert graders == [
        ("single_turn@served", "Single turn · served"),
        ("single_turn+marks@served", "Single turn with marks of formulas · served"),
        ("single_turn+neutral@served", "Single turn in a neutral rewriting · served"),
    ]
    page = client_for(alice).get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert "Single turn, Single turn in a neutral rewriting" in page


def test_runs_with_different_temperatures_are_not_pooled_but_different_seeds_are(alice: User, stage: Stage) -> None:
    graded_set = make_set(2)
    for params in ({"temperature": 0.1}, {"temperature": 0.9}, {"temperature": 0.9, "seed": 7}):
        stage.play(created(alice, graded_set, ["single_turn"], ("served",), params=params))
    source = SetSource(graded_set)
    words = {one.name: one.words for one in source.choices().graders}
    assert sorted("temperature 0.1" in one for one in words.values()) == [False, True]
    gathered = source.gather(Chosen(human="people"))
    assert set(gathered.graders) == set(words)
    runs = {("0.9" in words[name]): max(len(given) for given in found.values()) for name, found in gathered.runs.items()}
    assert runs == {True: 2}, "only gradings with the same settings are repeated runs"


def test_a_grading_without_recorded_settings_is_labelled_as_such(alice: User, stage: Stage) -> None:
    graded_set = make_set(1)
    for _ in range(2):
        stage.play(make_experiment(alice, graded_set))
    first = Experiment.objects.order_by("pk")[0]
    first.cells.update(settings="")
    words = [one.words for one in SetSource(graded_set).choices().graders]
    assert words[0] == "Single turn · served · settings not kept"
    assert "temperature 0.2" in words[1]


def test_a_removed_model_of_a_team_stops_only_the_cells_of_the_team(alice: User, stage: Stage, settings: LazySettings) -> None:
    experiment = created(alice, make_set(6), ["jury"], ("served",), team={"": "served", "judge_b": "big"}, at_once=2)
    settings.MODELS_FILE.write_text(MODELS)
    stage.play(experiment)
    experiment.refresh_from_db()
    failed = experiment.cells.filter(state=CellState.FAILED)
    assert {cell.alias for cell in failed} == {"served,big,served"}
    assert "Model big is no longer in models.toml." in failed[0].trouble
    assert experiment.state in (ExperimentState.PAUSED, ExperimentState.DONE)
