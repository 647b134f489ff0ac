"""A grader scores every answer that was handed in, in a run of its own, and asks no prover again."""

from collections import Counter
from decimal import Decimal

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, ExperimentState
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.services import experiment_cancel, experiment_retry
from apps.experiments.solving.services import solving_extend
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from apps.problems.models import Problem
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set, manifest
from tests.graders.answers import FOLLOWS
from tests.graders.grade import grading
from tests.problems.factory import make_problem
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
GRADER = [{"name": "points", "kind": "grader", "workflow": "single_turn", "players": {"": "served"}}]


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    return {"solve*": proof("We add.", "So it is.\nAnswer: 1"), "*": grading(6)}


def scores() -> list[tuple[str, Decimal | None, Decimal | None]]:
    rows = CellScore.objects.order_by("cell__position")
    return [(row.state, row.points, row.scale) for row in rows]


def test_every_answer_gets_points_from_a_run_of_the_grader(alice: User, stage: Stage) -> None:
    make_problem_set(3)
    experiment = stage.play(begin(alice, scorers=GRADER))
    assert experiment.state == ExperimentState.DONE
    assert scores() == [("scored", Decimal(6), Decimal(7))] * 3
    runs = {row.run for row in CellScore.objects.select_related("run")}
    assert {run.scaffold for run in runs if run} == {"single_turn"}
    assert len(stage.asked) == 6


def test_a_grader_that_is_added_later_asks_no_prover_again(alice: User, stage: Stage) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice))
    proved = list(stage.asked)
    solving_extend(experiment=experiment, manifest=manifest(scorers=GRADER))
    stage.play(experiment)
    assert stage.asked[: len(proved)] == proved
    assert [key for _, key in stage.asked[len(proved) :] if key.startswith("solve")] == []
    assert len(scores()) == 2


def test_the_first_grading_of_a_problem_prepares_pieces_for_the_others(
    alice: User, stage: Stage, answers: dict[str, object]
) -> None:
    solved = answers.pop("solve*")
    answers.clear()
    answers.update({"solve*": solved, **FOLLOWS})
    problems = [make_problem(f"Sum {n}", statement=f"Find the sum number {n}.", answer=str(n)) for n in (1, 2)]
    set_create(title="Sums", items=named_of(problems), by=None)
    rubric = [{"name": "rubric", "kind": "grader", "workflow": "ref5_plain", "players": {"": "served"}}]
    stage.play(begin(alice, scorers=rubric, repeats=3, at_once=16))
    assert [state for state, _, _ in scores()] == ["scored"] * 6
    prepared = Counter(key for _, key in stage.asked if key.startswith(("cluster", "analyse", "rubric")))
    assert set(prepared.values()) == {2}, "once for each problem"


def test_a_stored_grader_that_is_no_longer_known_fails_and_others_grade(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    gone = {"name": "gone", "kind": "grader", "workflow": "renamed_since", "players": {"": "served"}}
    experiment = stage.play(begin(alice, scorers=[*GRADER, gone]))
    assert experiment.state == ExperimentState.DONE, experiment.state_reason
    found = dict(CellScore.objects.values_list("scorer", "state"))
    assert found == {"points": "scored", "gone": "failed"}


def test_an_unreadable_grading_is_unscored_and_nothing_handed_in_is_not_graded(
    alice: User, stage: Stage, answers: dict[str, object]
) -> None:
    make_problem_set(1)
    answers["*"] = "I like it."
    stage.play(begin(alice, scorers=GRADER))
    row = CellScore.objects.get()
    assert (row.state, row.points) == ("unscored", None)
    assert row.unscored
    answers["solve*"] = "I do not know."
    asked = len(stage.asked)
    stage.play(begin(alice, title="Again", scorers=GRADER, seed=9))
    assert CellScore.objects.order_by("-pk")[0].unscored == "nothing was handed in"
    assert [key for _, key in stage.asked[asked:] if not key.startswith("solve")] == []


def test_a_failed_grading_is_retried_alone(alice: User, stage: Stage, answers: dict[str, object]) -> None:
    make_problem_set(2)
    answers["*"] = lambda request: (_ for _ in ()).throw(RuntimeError("the disk is full"))
    experiment = stage.play(begin(alice, scorers=GRADER))
    assert {state for state, _, _ in scores()} == {"failed"}
    answers["*"] = grading(6)
    proved = [key for _, key in stage.asked if key.startswith("solve")]
    assert experiment_retry(experiment=experiment) == 2
    stage.play(experiment)
    assert scores() == [("scored", Decimal(6), Decimal(7))] * 2
    assert [key for _, key in stage.asked if key.startswith("solve")] == proved


def test_a_grader_without_what_it_needs_fails_with_the_reason(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    scheme = [{"name": "scheme", "kind": "grader", "workflow": "scheme", "players": {"": "served"}}]
    experiment = stage.play(begin(alice, scorers=scheme))
    assert experiment.state == ExperimentState.DONE
    row = CellScore.objects.get()
    assert row.state == "failed"
    assert row.trouble.endswith("needs a marking scheme. Add what is missing to the problem and retry, or add another grader.")


def test_cancelling_leaves_no_grading_waiting(alice: User, stage: Stage) -> None:
    from apps.experiments.advancing import conduct_once

    make_problem_set(3)
    experiment = begin(alice, scorers=GRADER, at_once=1)
    conduct_once()
    stage.drive_sent()
    conduct_once()
    experiment_cancel(experiment=experiment, user=alice)
    stage.play(experiment)
    assert not CellScore.objects.filter(state__in=("waiting", "running")).exists()


def test_graders_see_no_solutions_that_are_held_back_from_the_owner(
    alice: User, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(1)
    monkeypatch.setattr("apps.experiments.solving.grading.solved_visible_to", lambda user: Problem.objects.none())
    stage.play(begin(alice, scorers=GRADER))
    row = CellScore.objects.get()
    assert row.state == "failed"
    assert "are held back from you" in row.trouble
    assert row.run is None


def test_a_changed_grader_needs_another_name_and_a_known_one_stays(alice: User, stage: Stage) -> None:
    make_problem_set(1)
    experiment = stage.play(begin(alice, scorers=GRADER))
    changed = [{**GRADER[0], "workflow": "jury"}]
    for scorers in (changed, []):
        with pytest.raises(ExperimentRefused, match="The scorer points is missing or changed"):
            solving_extend(experiment=experiment, manifest=manifest(scorers=scorers))


def test_failed_gradings_in_a_row_pause_the_experiment_and_are_seen(
    alice: User, stage: Stage, answers: dict[str, object], client: Client
) -> None:
    make_problem_set(7)
    answers["*"] = lambda request: (_ for _ in ()).throw(RuntimeError("the disk is full"))
    experiment = stage.play(begin(alice, scorers=GRADER, at_once=1))
    assert experiment.state == ExperimentState.PAUSED
    assert "5 failed gradings in a row" in experiment.state_reason
    client.force_login(alice)
    html = client.get(f"/experiments/{experiment.public_id}/").content.decode()
    assert "5 gradings failed" in html
    assert "Retry 5 failed" in html
