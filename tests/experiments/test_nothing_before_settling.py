"""Grader results on contest scripts are hidden until the script is settled and the reader's own marks are sealed."""

import uuid
from collections.abc import Callable

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import coach_add
from apps.experiments.access import cells_shown, contests_for_experiments, experiment_may_steer
from apps.experiments.models import CellState, Experiment, ExperimentCell
from apps.experiments.scripts import Chosen
from apps.experiments.selectors import with_people
from apps.experiments.services import ExperimentDraft, experiment_create, experiment_retry
from apps.marks.coordination.comparing import fresh_people
from apps.marks.models import Mark, MarkingCase, Reveal, RevealKind
from apps.marks.sealing.calibration import calibration_set
from apps.marks.sealing.revealing import stages_shown
from apps.reasoning.marking.schemes.text_form import text_read
from apps.runs.access import run_get_for, run_visible_to
from apps.runs.models import Run, RunStatus
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.graders.grade import grading
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.marks.sealing.test_calibration_and_remarks import settled

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _no_suggestions(settings: Settings) -> None:
    settings.MARKING_GRADERS = []  # Sealing would wait six seconds for a broker, which these tests do not have.


def graded_contest(stage: Stage, organiser: User, *others: User) -> tuple[Experiment, object]:
    """A contest with three scripts to mark, graded in an experiment."""
    problem = problem_to_mark(organiser, *others)
    draft = ExperimentDraft("In a contest", Chosen(contest=problem.contest), ["single_turn"], ["served"])
    return stage.play(experiment_create(owner=organiser, draft=draft)), problem


def test_points_of_an_unsettled_script_are_hidden_even_from_the_experiments_owner(
    alice: User, bob: User, dana: User, client_for: ClientFor, stage: Stage, answers: dict[str, object]
) -> None:
    answers["*"] = grading("5.5")
    experiment, _ = graded_contest(stage, bob, dana)
    assert set(experiment.cells.values_list("state", flat=True)) <= {CellState.SCORED, CellState.UNSCORED}
    for person in (bob, dana):
        client = client_for(person)
        text = client.get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
        assert "3 results are hidden" in text
        assert "3 of 3" in text
        assert 'data-label="points"' not in text
        for name in ("csv", "jsonl"):
            body = client.get(reverse(f"experiments:{name}", args=[experiment.public_id])).getvalue().decode()
            assert len(body.splitlines()) <= 1
        for cell in experiment.cells.all():
            assert cell.run is not None
            assert client.get(reverse("graders:detail", args=[cell.run.public_id])).status_code == 404
            with pytest.raises(Http404):
                run_get_for(person, cell.run.public_id)


def test_a_settled_script_is_shown_to_captains_and_organisers_only(
    alice: User, bob: User, dana: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment, problem = graded_contest(stage, bob, dana, marker("erin"))
    case = settled(problem, bob)  # type: ignore[arg-type]
    ContestProblem.objects.filter(pk=case.problem_id).update(captain=dana)
    (cell,) = cells_shown(bob, experiment)
    assert cell.version_id == case.version_id
    assert cell.run is not None
    page = reverse("experiments:detail", args=[experiment.public_id])
    run = reverse("graders:detail", args=[cell.run.public_id])
    for person in (bob, dana):
        text = client_for(person).get(page).content.decode()
        assert "3 of 7" in text
        assert "2 results are hidden" in text
        assert client_for(person).get(run).status_code == 200
    text = client_for(marker("erin")).get(page).content.decode()
    assert "3 results are hidden" in text
    assert 'data-label="points"' not in text
    for person in (alice, marker("erin")):
        assert not run_visible_to(person).filter(pk=cell.run.pk).exists()
        assert client_for(person).get(run).status_code == 404
    assert client_for(alice).get(page).status_code == 404


def test_an_organiser_who_marks_another_script_of_the_problem_sees_no_results(bob: User, dana: User, stage: Stage) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    coach_add(contest=problem.contest, person=dana, is_organiser=True)  # type: ignore[attr-defined]
    settled(problem, bob)  # type: ignore[arg-type]
    assert cells_shown(dana, experiment).count() == 1
    claimed(problem, dana)  # type: ignore[arg-type]
    assert cells_shown(bob, experiment).count() == 1
    assert cells_shown(dana, experiment).count() == 0
    run = cells_shown(bob, experiment).get().run
    assert run is not None
    assert not run_visible_to(dana).filter(pk=run.pk).exists()


def test_a_calibration_script_is_shown_after_the_readers_own_mark(bob: User, dana: User, stage: Stage) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    coach_add(contest=problem.contest, person=dana, is_organiser=True)  # type: ignore[attr-defined]
    calibration_set(case=settled(problem, bob), by=bob, is_on=True)  # type: ignore[arg-type]
    assert cells_shown(bob, experiment).count() == 1
    assert cells_shown(dana, experiment).count() == 0, "also not before the reader claims it"
    past_grace(sealed(claimed(problem, dana), dana))  # type: ignore[arg-type]
    assert cells_shown(dana, experiment).count() == 1


@pytest.mark.parametrize("name", ["detail", "csv", "jsonl"])
def test_shown_results_are_recorded_in_the_ledger_once(
    name: str, bob: User, dana: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    coach_add(contest=problem.contest, person=dana, is_organiser=True)  # type: ignore[attr-defined]
    case = settled(problem, bob)  # type: ignore[arg-type]
    for _ in range(2):
        assert client_for(dana).get(reverse(f"experiments:{name}", args=[experiment.public_id])).getvalue()
    kept = set(Reveal.objects.values_list("case", "person", "kind", "trigger"))
    assert kept == {(case.pk, dana.pk, kind, "experiment") for kind in (RevealKind.ITEMS, RevealKind.COLLEAGUE)}
    assert Reveal.objects.count() == 2
    experiment.contest.coaches.filter(person=dana).update(is_organiser=False)  # type: ignore[union-attr]
    assert dana.pk not in fresh_people(case).values_list("person", flat=True), "also after the person stops being an organiser"


@pytest.mark.parametrize("address", ["/gradings/{}/", "/api/v1/runs/{}"])
def test_opening_the_run_of_a_contest_result_is_recorded_in_the_ledger_and_that_of_a_set_is_not(
    address: str, bob: User, dana: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    case = settled(problem, bob)  # type: ignore[arg-type]
    of_set = stage.play(make_experiment(bob, make_set(1))).cells.get().run
    run = cells_shown(bob, experiment).get().run
    assert run is not None
    assert of_set is not None
    for one in (run, run, of_set):
        assert client_for(bob).get(address.format(one.public_id)).status_code == 200
    assert client_for(dana).get(address.format(run.public_id)).status_code == 404
    (kept,) = Reveal.objects.all()
    assert (kept.case, kept.person, kept.kind, kept.suggestion) == (case, bob, RevealKind.ITEMS, None)
    mark = Mark.objects.get(task__case=case)
    assert stages_shown(mark) == set(), "opening a run is no reveal stage of suggestions"


def test_an_appeal_hides_the_script_again(bob: User, dana: User, stage: Stage) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    case = settled(problem, bob)  # type: ignore[arg-type]
    MarkingCase.objects.filter(pk=case.pk).update(state="appealed")
    assert not cells_shown(bob, experiment).exists()


def test_a_run_replaced_by_another_attempt_stays_hidden(bob: User, dana: User, client_for: ClientFor, stage: Stage) -> None:
    experiment, _ = graded_contest(stage, bob, dana)
    cell = experiment.cells.order_by("pk")[0]
    replaced = cell.run
    assert replaced is not None
    ExperimentCell.objects.filter(pk=cell.pk).update(state=CellState.FAILED, points=None)
    Run.objects.filter(pk=replaced.pk).update(status=RunStatus.CANCELLED)
    assert experiment_retry(experiment=experiment) == 1
    cell.refresh_from_db()
    assert cell.run is None
    bob.is_staff = True
    bob.save()
    for person in (bob, dana):
        assert not run_visible_to(person).filter(pk=replaced.pk).exists()
        assert client_for(person).get(reverse("graders:detail", args=[replaced.public_id])).status_code == 404
        assert client_for(person).get(f"/api/v1/runs/{replaced.public_id}").status_code == 404


def test_runs_on_sets_are_visible_to_everyone_who_may_see_runs(alice: User, bob: User, stage: Stage) -> None:
    experiment = stage.play(make_experiment(alice, make_set(1)))
    run = experiment.cells.get().run
    assert run is not None
    assert run_visible_to(bob).filter(pk=run.pk).exists()
    assert run_visible_to(alice).filter(pk=run.pk).exists()


def test_only_organisers_start_experiments_on_a_contest(
    alice: User, bob: User, dana: User, client_for: ClientFor, stage: Stage
) -> None:
    experiment, problem = graded_contest(stage, bob, dana)
    assert list(contests_for_experiments(bob)) == [problem.contest]  # type: ignore[attr-defined]
    assert not contests_for_experiments(dana).exists()
    assert not contests_for_experiments(alice).exists()
    assert not experiment_may_steer(dana, experiment)
    data = {
        "title": "Mine", "source": f"contest:{problem.contest.public_id}", "workflows": ["single_turn"],  # type: ignore[attr-defined]
        "aliases": ["served"], "at_once": 1, "seed": 0, "start_id": str(uuid.uuid4()),
    }  # fmt: skip
    assert client_for(dana).post(reverse("experiments:new"), data).status_code == 422
    assert client_for(marker("erin")).get(reverse("experiments:detail", args=[experiment.public_id])).status_code == 404
    assert Experiment.objects.count() == 1


def test_contest_scripts_cannot_be_filtered_by_author(bob: User, client_for: ClientFor, stage: Stage) -> None:
    problem = problem_to_mark(bob)
    data = {
        "title": "Mine", "source": f"contest:{problem.contest.public_id}", "workflows": ["single_turn"],
        "aliases": ["served"], "at_once": 1, "seed": 0, "author_kind": "student",
    }  # fmt: skip
    response = client_for(bob).post(reverse("experiments:new"), data)
    assert response.status_code == 422
    assert "as that would reveal them" in response.content.decode()


def test_an_official_grade_has_the_scale_of_its_scheme(bob: User, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    fourteen = text_read("scale 14\ncheckpoint A1, 4 points: It begins.\ncheckpoint A2, 10 points: It ends.")
    monkeypatch.setattr("tests.schemes.factory.content", lambda: fourteen)
    experiment, problem = graded_contest(stage, bob)
    case = settled(problem, bob, "A1")  # type: ignore[arg-type]
    row = vars(with_people(experiment.cells.filter(version=case.version_id)).get())
    assert (row["human"], row["human_of"]) == (4, 14)
