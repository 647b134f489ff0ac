"""Every cell is one run; equal cells share one, and an extension asks nothing again."""

import uuid
from dataclasses import replace

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.advancing import conduct_once
from apps.experiments.models import Experiment, ExperimentState, SolvingCell
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.services import experiment_cancel, experiment_retry
from apps.experiments.solving import cells as solving
from apps.experiments.solving.cells import ASSISTED, CANCELLED, follow
from apps.experiments.solving.services import solving_extend, solving_start
from apps.problem_sets.services import items_of, version_add
from apps.problems.models import Problem
from apps.reasoning.domain.events import RunCancelled
from apps.runs.models import Run, RunStatus, Step
from apps.runs.services import command_request, run_resume
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, cells, make_problem_set, manifest, states
from tests.problems.factory import make_problem
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
SOLVED = proof("We add the terms.", "So it is.\nAnswer: 1")
TWO = [{"name": "single", "scaffold": "single_call"}, {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": SOLVED}


def test_every_cell_ends_with_its_run_and_what_it_cost(alice: User, stage: Stage) -> None:
    make_problem_set()
    experiment = stage.play(begin(alice, methods=TWO, repeats=2))
    assert experiment.state == ExperimentState.DONE
    assert states(experiment) == {"finished": 12}
    found = cells(experiment)
    assert {cell.calls for cell in found if cell.method == "single"} == {1}
    assert {cell.calls for cell in found if cell.method == "vote"} == {2}
    assert [(c.method, c.answer) for c in found if not (c.answer and c.completion_tokens)] == []
    assert len({cell.run_id for cell in found}) == 12


def test_seconds_of_a_cell_are_those_of_its_model_calls(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    run = cells(stage.play(begin(alice)))[0].run
    assert run is not None
    Step.objects.filter(run=run, kind="call").update(duration_s=2.5)
    Step.objects.create(run=run, key="check", kind="tool", alias="sandbox", duration_s=60, recorded_at=timezone.now())
    solving._finish(SolvingCell.objects.filter(run=run), run)
    cell = SolvingCell.objects.get(run=run)
    assert (cell.seconds, list(cell.by_alias or ())) == (2.5, ["served"])


def test_methods_have_the_same_seed_on_a_problem_and_repeats_have_others(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, methods=TWO, repeats=2))
    seeds = {(c.item.name, c.method, c.repeat): c.run.spec["seed"] for c in cells(experiment) if c.run is not None}
    for (name, _, repeat), seed in seeds.items():
        assert seed == seeds[name, "single", repeat] == seeds[name, "vote", repeat]
    assert len(set(seeds.values())) == 4


def test_more_repeats_and_methods_ask_no_cell_again(alice: User, stage: Stage) -> None:
    make_problem_set()
    experiment = stage.play(begin(alice))
    asked = list(stage.asked)
    count = solving_extend(experiment=experiment, manifest=manifest(methods=TWO, repeats=2))
    assert count == 3 * 2 * 2 - 3
    experiment = stage.play(experiment)
    assert states(experiment) == {"finished": 12}
    assert stage.asked[: len(asked)] == asked
    assert len(stage.asked) == 2 * 3 * 1 + 2 * 3 * 2
    assert len(set(stage.asked)) == len(stage.asked)


def test_a_smaller_or_changed_matrix_is_no_extension(alice: User, stage: Stage) -> None:
    make_problem_set()
    experiment = stage.play(begin(alice, methods=TWO, repeats=2))
    for changes, reason in (
        ({"methods": TWO[:1], "repeats": 2}, "method vote is missing"),
        ({"methods": TWO, "repeats": 1}, "only grow"),
        ({"methods": TWO, "repeats": 2, "seed": 5}, "another experiment"),
        ({"methods": TWO, "repeats": 2, "budgets": [{"calls": 4}, {}]}, "New budgets follow the old ones"),
        ({"methods": TWO, "repeats": 2, "problems": {"set": "sums@1", "names": ["sum-1"]}}, "sum-2 is no longer chosen"),
    ):
        with pytest.raises(ExperimentRefused, match=reason):
            solving_extend(experiment=experiment, manifest=manifest(**changes))


def test_equal_cells_of_another_experiment_are_taken_over_unless_the_manifest_says_no(alice: User, stage: Stage) -> None:
    make_problem_set()
    first = stage.play(begin(alice))
    asked = len(stage.asked)
    second = stage.play(begin(alice, title="Again"))
    assert len(stage.asked) == asked
    assert {cell.taken_over for cell in cells(second)} == {True}
    assert [cell.answer for cell in cells(second)] == [cell.answer for cell in cells(first)]
    third = stage.play(begin(alice, title="Apart", take_over=False))
    assert len(stage.asked) == 2 * asked
    assert not any(cell.taken_over for cell in cells(third))


def test_runs_that_the_owner_may_not_see_are_not_taken_over(alice: User, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    make_problem_set()
    stage.play(begin(alice))
    asked = len(stage.asked)
    monkeypatch.setattr("apps.experiments.solving.cells.run_visible_to", lambda user: Run.objects.none())
    stage.play(begin(alice, title="Again"))
    assert len(stage.asked) == 2 * asked


def test_two_methods_with_equal_content_share_a_run(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    twins = [{"name": "one", "scaffold": "single_call"}, {"name": "two", "scaffold": "single_call"}]
    experiment = stage.play(begin(alice, methods=twins))
    assert states(experiment) == {"finished": 2}
    assert len(stage.asked) == 1


def test_a_cell_that_cannot_run_says_why_and_the_others_run(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    wrong = [*TWO, {"name": "many", "scaffold": "majority_vote", "params": {"solutions": -1}}]
    teams = [{"name": "served", "roles": {"": "served"}}, {"name": "gone", "roles": {"": "gone"}}]
    experiment = stage.play(begin(alice, methods=wrong, teams=teams))
    assert experiment.state == ExperimentState.DONE
    assert states(experiment) == {"finished": 4, "failed": 8}
    reasons = {cell.trouble for cell in cells(experiment) if cell.state == "failed"}
    assert any("solutions: write a number of" in reason for reason in reasons)
    assert any("gone" in reason for reason in reasons)


def test_failed_runs_in_a_row_pause_it_and_a_retry_continues_it(alice: User, stage: Stage, answers: dict[str, object]) -> None:
    make_problem_set(8)
    answers["*"] = lambda request: (_ for _ in ()).throw(RuntimeError("the disk is full"))
    experiment = stage.play(begin(alice, at_once=1))
    assert experiment.state == ExperimentState.PAUSED
    assert "5 failed runs in a row" in experiment.state_reason
    answers["*"] = SOLVED
    experiment_retry(experiment=experiment)
    assert states(stage.play(experiment)) == {"finished": 8}


def test_cancelling_ends_waiting_cells_and_keeps_finished_ones(alice: User, stage: Stage) -> None:
    make_problem_set(4)
    experiment = begin(alice, at_once=1)
    conduct_once()
    stage.drive_sent()
    experiment_cancel(experiment=experiment, user=alice)
    experiment = stage.play(experiment)
    assert experiment.state == ExperimentState.CANCELLED
    assert states(experiment) == {"finished": 1, "cancelled": 3}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"problems": {"set": "none@1"}}, "no problem set none@1"),
        ({"problems": {"set": "sums@1", "split": "test"}}, "No problem is chosen"),
        ({"problems": {"set": "sums@1", "names": ["sum-9"]}}, "no problem sum-9"),
        ({"repeats": 1000, "budgets": [{"calls": number} for number in range(1, 60)]}, "at most 50,000"),
    ],
)
def test_no_problems_and_too_many_cells_are_refused(alice: User, changes: dict[str, object], reason: str) -> None:
    make_problem_set()
    with pytest.raises(ExperimentRefused, match=reason):
        solving_start(owner=alice, manifest=manifest(**changes))


def test_a_new_budget_after_the_old_ones_adds_its_cells(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice))
    assert solving_extend(experiment=experiment, manifest=manifest(budgets=[{}, {"calls": 4}])) == 2
    assert states(stage.play(experiment)) == {"finished": 4}


def test_another_text_under_a_known_name_is_another_experiment(alice: User, stage: Stage) -> None:
    made = make_problem_set(2)
    experiment = stage.play(begin(alice))
    first, second = items_of(made)
    other = make_problem("Other", statement="Find another sum.", answer="1", solutions=())
    version_add(problem_set=made.problem_set, items=[replace(first, problem=other.current), second], by=None)
    with pytest.raises(ExperimentRefused, match="sum-1 has another text in sums@2"):
        solving_extend(experiment=experiment, manifest=manifest(problems={"set": "sums@2"}))


def test_a_second_experiment_of_the_same_title_is_refused(alice: User) -> None:
    make_problem_set(1)
    begin(alice)
    with pytest.raises(ExperimentRefused, match="You already have an experiment"):
        begin(alice)
    begin(person("bob"))


def test_a_problem_that_is_held_back_from_the_owner_is_not_run(
    alice: User, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(2)
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.solving.planning.problem_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    experiment = stage.play(begin(alice))
    assert {cell.item.name: cell.state for cell in cells(experiment)} == {"sum-1": "failed", "sum-2": "finished"}
    assert "held back from you" in cells(experiment)[0].trouble
    assert len(stage.asked) == 1


def test_a_run_that_a_person_steered_does_not_count_and_is_made_again(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    experiment = begin(alice)
    conduct_once()
    Run.objects.update(is_assisted=True)
    stage.play(experiment)
    assert [(cell.state, cell.trouble) for cell in cells(experiment)] == [("failed", ASSISTED)]
    experiment_retry(experiment=experiment)
    stage.play(experiment)
    assert [cell.state for cell in cells(experiment)] == ["finished"]
    assert Run.objects.count() == 2
    assert cells(stage.play(begin(alice, title="Again")))[0].run == cells(experiment)[0].run


def test_a_run_that_is_cancelled_on_its_page_fails_its_cells_which_can_be_retried(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    first, second = begin(alice), begin(alice, title="Again")
    conduct_once()
    run = Run.objects.get()
    assert {cell.run for cell in (*cells(first), *cells(second))} == {run}
    stage.sent.clear()
    Run.objects.update(status=RunStatus.CANCELLED)
    follow(run, [(2, "cancelled", timezone.now(), RunCancelled())])
    assert {(cell.state, cell.trouble) for cell in (*cells(first), *cells(second))} == {("failed", CANCELLED)}
    for one in (first, second):
        experiment_retry(experiment=one)
        stage.play(one)
    assert {cell.state for cell in (*cells(first), *cells(second))} == {"finished"}
    assert len(stage.asked) == 1


def test_a_run_that_will_be_cancelled_is_not_taken_over(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    begin(alice)
    conduct_once()
    command_request(run=Run.objects.get(), user=alice, command_id=uuid.uuid4(), name="cancel")
    begin(alice, title="Later")
    conduct_once()
    assert Run.objects.count() == 2


def test_a_failed_cell_whose_run_finished_after_all_asks_nothing_again(
    alice: User, stage: Stage, answers: dict[str, object]
) -> None:
    make_problem_set(1)
    answers["*"] = lambda request: (_ for _ in ()).throw(RuntimeError("the disk is full"))
    experiment = stage.play(begin(alice))
    answers["*"] = SOLVED
    run_resume(run=Run.objects.get(), user=alice)
    stage.drive_sent()
    asked = len(stage.asked)
    experiment_retry(experiment=experiment)
    stage.play(experiment)
    assert [(cell.state, cell.attempt) for cell in cells(experiment)] == [("finished", 1)]
    assert len(stage.asked) == asked


def test_one_experiment_with_an_internal_error_does_not_stop_the_others(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    broken = begin(alice, title="Broken")
    Experiment.objects.filter(pk=broken.pk).update(manifest={"title": "Broken"})
    sound = stage.play(begin(alice, title="Sound"))
    broken.refresh_from_db()
    assert sound.state == ExperimentState.DONE
    assert broken.state == ExperimentState.PAUSED
    assert "internal error (ManifestWrong)" in broken.state_reason
