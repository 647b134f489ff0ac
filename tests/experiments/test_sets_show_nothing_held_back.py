"""Held-back solutions stay hidden: sets and experiments of a user never reveal them."""

import json
import uuid
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.experiments.advancing import conduct_once
from apps.experiments.models import CellState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft, experiment_create, experiment_retry
from apps.graded_sets.importing import Upload, set_import, set_read
from apps.graded_sets.models import GradedSet
from apps.marks.models import CaseState, MarkingCase
from apps.problems.models import Problem, ProblemVersion
from apps.runs.models import Run
from tests.contests.factory import make_contest
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.graders.grade import SCRIPT
from tests.grading.suggesting import problem_with
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def imported(by: User | None, **row: object) -> GradedSet:
    content = {"problem": "P1", "script": "It is so.", "points": 3, "max": 7, "author": "a model"} | row
    upload = Upload("set", {PurePosixPath("set.jsonl"): json.dumps(content).encode()})
    return set_import(upload=upload, draft=set_read(upload), title="A set", by=by)


def linked(made: GradedSet) -> Problem | None:
    stated = made.scripts.get().problem
    return stated.problem if stated else None


@pytest.fixture
def held(bob: User) -> Problem:
    """A problem of a contest that Bob prepares."""
    problem = make_problem()
    Problem.objects.filter(pk=problem.pk).update(external_id="P1")
    make_contest(bob, problem, state=ContestState.OPEN)
    return problem


@pytest.mark.parametrize("changes", [{"statement": True}, {}])
def test_an_imported_set_is_not_linked_to_a_problem_held_back_from_the_importing_user(
    changes: dict[str, bool], alice: User, held: Problem
) -> None:
    row = {"statement": held.current.statement} if changes else {}
    made = imported(alice, **row)
    found = linked(made)
    assert found != held
    assert found is None or not found.reference_solutions.exists()


@pytest.mark.parametrize("changes", [{"statement": True}, {}])
def test_imports_by_users_who_may_read_the_solutions_and_from_the_terminal_are_linked_to_the_problem(
    changes: dict[str, bool], bob: User, held: Problem
) -> None:
    row = {"statement": held.current.statement} if changes else {}
    assert linked(imported(bob, **row)) == held
    assert linked(imported(None, **row, comment="From the terminal.")) == held


def test_an_experiment_on_a_held_back_problem_is_refused(alice: User, bob: User) -> None:
    graded_set = make_set(4, problems=2)
    make_contest(bob, graded_set.scripts.order_by("position")[0].problem.problem, state=ContestState.OPEN)  # type: ignore[union-attr]
    with pytest.raises(ExperimentRefused, match="solutions of P1 are held back from you"):
        make_experiment(alice, graded_set)
    draft = ExperimentDraft("Trial", Chosen(graded_set=graded_set, problems=["P2"]), ["single_turn"], ["served"])
    assert experiment_create(owner=alice, draft=draft).cells.count() == 2
    assert make_experiment(bob, graded_set).cells.count() == 4


def test_an_experiment_on_a_copy_of_a_held_back_problem_is_refused(alice: User, bob: User) -> None:
    graded_set = make_set(1)
    stated = graded_set.scripts.get().problem
    assert stated is not None
    other = make_problem("Another")
    ProblemVersion.objects.filter(problem=other).update(statement=stated.statement)
    make_contest(bob, other, state=ContestState.OPEN)
    with pytest.raises(ExperimentRefused, match="held back"):
        make_experiment(alice, graded_set)


@pytest.mark.parametrize("is_copy", [False, True])
def test_a_pasted_script_is_not_graded_with_held_back_solutions(
    is_copy: bool, alice: User, bob: User, stage: Stage, client_for: ClientFor
) -> None:
    """In a closed contest the statement is open, but the solutions are not before their release."""
    problem = make_problem()
    make_contest(bob, problem, state=ContestState.CLOSED)
    if is_copy:
        statement, problem = problem.current.statement, make_problem("A copy")
        ProblemVersion.objects.filter(problem=problem).update(statement=statement)
    address = reverse("graders:start", args=[problem.slug])
    data = {"workflow": "single_turn", "alias": "served", "script": "It is so.", "start_id": str(uuid.uuid4())}
    response = client_for(alice).post(address, data)
    assert "held back from you" in response.content.decode()
    assert not Run.objects.exists()
    assert client_for(bob).post(address, data).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_cells_on_a_problem_held_back_after_the_start_are_not_started(alice: User, bob: User, stage: Stage) -> None:
    graded_set = make_set(2, problems=2)
    experiment = make_experiment(alice, graded_set)
    make_contest(bob, graded_set.scripts.order_by("position")[0].problem.problem, state=ContestState.OPEN)  # type: ignore[union-attr]
    conduct_once()
    first, second = experiment.cells.order_by("position")
    assert (first.state, first.run) == (CellState.FAILED, None)
    assert "solutions of P1 are held back" in first.trouble
    assert second.state == CellState.RUNNING
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_unsettled_contest_script_is_not_graded_as_part_of_a_set(alice: User, bob: User, stage: Stage) -> None:
    contest = problem_with(bob).contest
    row = {"problem": "P7", "statement": "Show it.", "script": SCRIPT}
    made = imported(bob, **row)
    by_marker, by_other = make_experiment(bob, made), make_experiment(alice, made)
    for experiment in (by_marker, by_other):
        stage.play(experiment)
    cell = by_marker.cells.get()
    assert (cell.state, cell.run) == (CellState.FAILED, None)
    assert "is a script of a contest in which you mark or organise" in cell.trouble
    assert by_other.cells.get().state == CellState.SCORED
    MarkingCase.objects.filter(problem__contest=contest).update(state=CaseState.SETTLED)
    experiment_retry(experiment=by_marker)
    stage.play(by_marker)
    assert by_marker.cells.get().state == CellState.SCORED


@pytest.mark.django_db(transaction=True)
def test_a_contest_that_opens_after_the_start_of_an_experiment_blocks_its_waiting_cells(bob: User, stage: Stage) -> None:
    experiment = make_experiment(bob, imported(bob, problem="P7", statement="Show it.", script=SCRIPT))
    problem_with(bob)
    stage.play(experiment)
    assert experiment.cells.get().state == CellState.FAILED
