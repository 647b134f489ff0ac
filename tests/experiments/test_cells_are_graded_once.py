"""An experiment starts its cells as capacity allows, grades each once, and stores each result."""

import uuid
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.advancing import conduct_once
from apps.experiments.conductor import CONDUCTOR
from apps.experiments.models import CellState, ExperimentState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.services import (
    experiment_cancel,
    experiment_pause,
    experiment_resume,
    experiment_retry,
)
from apps.graded_sets.models import GradedSet
from apps.graders.models import PreparedPiece
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run, RunStatus
from apps.runs.selectors import run_list
from tests.experiments.driving import Stage, is_over, make_experiment, make_set
from tests.graders.answers import FOLLOWS
from tests.graders.grade import finding, grading

pytestmark = pytest.mark.django_db(transaction=True)
Answers = dict[str, object]
ClientFor = Callable[[User | None], Client]


def test_every_script_gets_points_and_the_experiment_is_done(alice: User, stage: Stage, answers: Answers) -> None:
    answers["*"] = grading(3, finding())
    experiment = make_experiment(alice, make_set(5))
    assert is_over(stage.play(experiment))
    cells = list(experiment.cells.all())
    assert {(one.state, one.points, one.scale, one.findings, one.calls) for one in cells} == {
        (CellState.SCORED, Decimal(3), Decimal(7), 1, 1)
    }
    assert all(one.tokens and one.ended_at for one in cells)
    assert len(stage.asked) == 5


def test_an_unreadable_answer_is_unscored_and_never_zero(alice: User, stage: Stage, answers: Answers) -> None:
    answers["*"] = "I like turtles."
    experiment = make_experiment(alice, make_set(2))
    assert is_over(stage.play(experiment))
    assert {(one.state, one.points) for one in experiment.cells.all()} == {(CellState.UNSCORED, None)}
    assert all(one.unscored for one in experiment.cells.all())


def test_an_empty_script_is_unscored_without_a_call(alice: User, stage: Stage, client_for: ClientFor) -> None:
    graded_set = make_set(3)
    graded_set.scripts.filter(name="S2").update(text="")
    experiment = make_experiment(alice, graded_set)
    assert is_over(stage.play(experiment))
    cells = dict(experiment.cells.values_list("script__name", "state"))
    assert cells == {"S1": CellState.SCORED, "S2": CellState.UNSCORED, "S3": CellState.SCORED}
    assert experiment.cells.get(script__name="S2").unscored == "empty"
    assert len(set(experiment.cells.values_list("settings", flat=True))) == 1, "one grader in agreement tables"
    assert len(stage.asked) == 2
    client = client_for(alice)
    page_text = client.get(reverse("agreement:detail", args=["set", graded_set.public_id])).content.decode()
    assert "1 unscored: empty" in page_text
    page_text = client.get(reverse("graded_sets:detail", args=[graded_set.public_id])).content.decode()
    assert "1 script is empty and will be unscored without a call" in page_text


def test_a_script_with_an_unpublished_text_is_not_an_empty_one(alice: User, stage: Stage) -> None:
    graded_set = make_set(1)
    graded_set.scripts.update(text="")
    GradedSet.objects.update(shape="QED-Nano")
    experiment = stage.play(make_experiment(alice, graded_set))
    assert experiment.cells.get().trouble == "S1: its text was not published with its points."


def test_the_limits_of_parallel_gradings_are_kept(alice: User, stage: Stage, settings: LazySettings) -> None:
    settings.GRADING_AT_ONCE = 5
    stage.play(make_experiment(alice, make_set(9), at_once=3))
    assert stage.most_at_once == 3
    stage.most_at_once = 0
    stage.play(make_experiment(alice, make_set(12, title="Another"), at_once=50))
    assert stage.most_at_once == 5


def test_two_experiments_share_the_capacity(alice: User, bob: User, stage: Stage, settings: LazySettings) -> None:
    settings.GRADING_AT_ONCE = 4
    first = make_experiment(alice, make_set(9), at_once=9)
    second = make_experiment(bob, make_set(9, title="Another"), at_once=9)
    assert conduct_once() == 4
    counts = [one.cells.filter(state=CellState.RUNNING).count() for one in (first, second)]
    assert counts == [2, 2]
    assert is_over(stage.play(first))
    second.refresh_from_db()
    assert is_over(second)


def test_the_first_script_of_a_problem_prepares_pieces_for_the_others(alice: User, stage: Stage, answers: Answers) -> None:
    answers.clear()
    answers.update(FOLLOWS)
    experiment = make_experiment(alice, make_set(6, problems=2), "ref5_plain", at_once=6)
    assert conduct_once() == 2
    assert conduct_once() == 0
    assert is_over(stage.play(experiment))
    calls = sorted(experiment.cells.values_list("calls", flat=True))
    assert (calls, PreparedPiece.objects.count()) == ([2, 2, 2, 2, 5, 5], 6)


def test_graders_that_share_pieces_prepare_them_once(alice: User, stage: Stage, answers: Answers) -> None:
    answers.clear()
    answers.update(FOLLOWS)
    workflows = ("ref5_plain", "ensemble", "ref5_approachability")
    experiment = make_experiment(alice, make_set(2, problems=2), *workflows, at_once=6)
    assert conduct_once() == 2, "one grader per problem"
    assert is_over(stage.play(experiment))
    statements = dict(Run.objects.values_list("public_id", "problem_version"))
    made = [(statements[uuid.UUID(run)], key) for run, key in stage.asked if not key.startswith(("grade/", "match"))]
    assert len(made) == 2 * len({key for _, key in made}) == len(set(made)) == 2 * 6


def test_scripts_of_one_problem_are_started_consecutively(alice: User) -> None:
    cells = make_experiment(alice, make_set(6, problems=3)).cells.order_by("position")
    assert [cell.script.name for cell in cells if cell.script] == ["S1", "S4", "S2", "S5", "S3", "S6"]


def test_conducting_again_starts_no_cell_twice(alice: User, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(3))
    assert (conduct_once(), conduct_once()) == (3, 0)
    assert Run.objects.count() == 3
    assert is_over(stage.play(experiment))
    assert len(set(stage.asked)) == len(stage.asked) == 3


def test_a_lost_process_repeats_no_call(alice: User, stage: Stage) -> None:
    """The task of a run is lost with its process; the warden sends it again, and the cell keeps its run."""
    experiment = make_experiment(alice, make_set(2))
    conduct_once()
    stage.sent.clear()
    assert stage.play(experiment).state == ExperimentState.RUNNING
    for run in Run.objects.all():
        Run.objects.filter(pk=run.pk).update(lease_owner="", lease_until=None)
        stage.sent.append(run.pk)
    assert is_over(stage.play(experiment))
    assert Run.objects.count() == len(stage.asked) == 2


def test_a_paused_experiment_starts_no_cell_and_running_cells_end(alice: User, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(3), at_once=1)
    conduct_once()
    experiment_pause(experiment=experiment)
    stage.play(experiment)
    states = list(experiment.cells.values_list("state", flat=True))
    assert states == [CellState.SCORED, CellState.WAITING, CellState.WAITING]
    experiment_resume(experiment=experiment)
    assert is_over(stage.play(experiment))
    with pytest.raises(ExperimentRefused):
        experiment_pause(experiment=experiment)


def test_a_cancelled_experiment_keeps_finished_cells_and_stops_the_others(alice: User, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(3), at_once=2)
    conduct_once()
    stage.drive_sent(at_most=1)
    experiment_cancel(experiment=experiment, user=alice)
    stage.play(experiment)
    done, running, waiting = experiment.cells.values_list("state", flat=True)
    assert (done, waiting, Run.objects.count()) == (CellState.SCORED, CellState.CANCELLED, 2)
    assert running in (CellState.CANCELLED, CellState.SCORED)  # Its only call may be faster than the command.
    assert Run.objects.order_by("pk")[1].commands.get().name == "cancel"
    assert experiment.state == ExperimentState.CANCELLED
    with pytest.raises(ExperimentRefused):
        experiment_resume(experiment=experiment)
    with pytest.raises(ExperimentRefused):
        experiment_retry(experiment=experiment)


def test_a_script_that_cannot_be_graded_fails_with_the_reason_and_the_others_continue(alice: User, stage: Stage) -> None:
    graded_set = make_set(3)
    graded_set.scripts.filter(position=2).update(problem=None)
    experiment = stage.play(make_experiment(alice, graded_set))
    assert is_over(experiment)
    failed = experiment.cells.get(state=CellState.FAILED)
    assert "no statement for P1" in failed.trouble
    assert (failed.run, experiment.cells.filter(state=CellState.SCORED).count()) == (None, 2)


def test_scripts_that_cannot_be_graded_do_not_count_as_model_failures_and_the_next_starts_at_once(
    alice: User, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded_set = make_set(9)
    graded_set.scripts.filter(position__lte=8).update(problem=None)
    experiment = make_experiment(alice, graded_set, at_once=2)
    woken: list[bool] = []
    monkeypatch.setattr(CONDUCTOR, "wake", lambda: woken.append(True))
    conduct_once()
    assert experiment.cells.filter(state=CellState.FAILED).count() == 2
    assert woken
    assert is_over(stage.play(experiment))
    assert experiment.cells.filter(state=CellState.SCORED).count() == 1


def test_a_removed_model_pauses_the_experiment(alice: User, stage: Stage) -> None:
    experiment = stage.play(make_experiment(alice, make_set(9), at_once=2, alias="away"))
    assert experiment.state == ExperimentState.PAUSED
    assert "Model away is no longer in models.toml." in experiment.state_reason
    assert experiment.cells.filter(state=CellState.WAITING).count() >= 2
    assert experiment.cells.filter(state=CellState.FAILED).count() >= 5


def test_repeated_failures_pause_the_experiment(alice: User, stage: Stage, answers: Answers) -> None:
    def refuse(_: GenerationRequest) -> str:
        raise BackendRefused("The server refuses the key.")

    answers["*"] = refuse
    experiment = stage.play(make_experiment(alice, make_set(9), at_once=2))
    assert experiment.state == ExperimentState.PAUSED
    assert "refuses the key" in experiment.state_reason
    assert experiment.cells.filter(state=CellState.WAITING).count() >= 2
    answers["*"] = grading(4)
    failed = experiment.cells.filter(state=CellState.FAILED).count()
    assert experiment_retry(experiment=experiment) == failed
    assert is_over(stage.play(experiment))
    assert set(experiment.cells.values_list("state", flat=True)) == {CellState.SCORED}
    assert Run.objects.filter(status=RunStatus.FINISHED).count() == Run.objects.count() == 9


def test_a_run_that_ended_without_reporting_ends_its_cell(alice: User, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(1))
    conduct_once()
    stage.sent.clear()
    Run.objects.update(status=RunStatus.FAILED, status_reason="The journal cannot be written.")
    assert is_over(stage.play(experiment))
    assert experiment.cells.get().trouble == "The journal cannot be written."


@pytest.mark.parametrize("leave", [experiment_pause, experiment_cancel])
def test_a_lost_cell_of_a_paused_or_cancelled_experiment_frees_its_capacity(
    leave: Callable[..., None], alice: User, bob: User, stage: Stage, settings: LazySettings
) -> None:
    settings.GRADING_AT_ONCE = 2
    left = make_experiment(alice, make_set(2), at_once=2)
    conduct_once()
    stage.sent.clear()
    Run.objects.update(status=RunStatus.FAILED, status_reason="The journal cannot be written.")
    leave(experiment=left, **({"user": alice} if leave is experiment_cancel else {}))
    assert is_over(stage.play(make_experiment(bob, make_set(2, title="Another"), at_once=2)))
    ended = set(left.cells.values_list("state", "trouble"))
    assert ended == {(CellState.FAILED, "The journal cannot be written.")}


def test_running_cells_of_a_paused_experiment_keep_their_capacity(
    alice: User, bob: User, stage: Stage, settings: LazySettings
) -> None:
    settings.GRADING_AT_ONCE = 2
    paused = make_experiment(alice, make_set(2), at_once=2)
    conduct_once()
    experiment_pause(experiment=paused)
    make_experiment(bob, make_set(2, title="Another"), at_once=2)
    assert conduct_once() == 0
    assert set(paused.cells.values_list("state", flat=True)) == {CellState.RUNNING}


def test_its_runs_are_not_listed_among_other_runs(alice: User, stage: Stage) -> None:
    stage.play(make_experiment(alice, make_set(2)))
    assert Run.objects.count() == 2
    assert not run_list(Run.objects.all()).exists()


def test_fifty_scripts_are_graded_with_one_call_each_and_few_at_a_time(alice: User, stage: Stage) -> None:
    experiment = make_experiment(alice, make_set(50, problems=5), at_once=6)
    assert is_over(stage.play(experiment))
    assert experiment.cells.filter(state=CellState.SCORED, calls=1).count() == len(stage.asked) == len(set(stage.asked)) == 50
    assert stage.most_at_once == 6
