"""Views of the graders of an experiment: chosen in its form, stored with it, shown on pages, in files and above tables."""

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.experiments.cells import SHOWN
from apps.experiments.models import Experiment
from apps.graded_sets.models import GradedSet
from apps.problems.models import ProblemVersion
from apps.runs.models import Run
from tests.experiments.driving import Stage, make_experiment, make_set
from tests.experiments.test_teams_and_manners import sent

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
WORDS = "Only for markers: award 3 points for the factorisation."


def with_guidelines() -> GradedSet:
    made = make_set(2)
    ProblemVersion.objects.update(scheme_text=WORDS)
    return made


def test_both_views_can_be_chosen_in_the_form_and_are_distinguished_everywhere(
    alice: User, client_for: ClientFor, stage: Stage
) -> None:
    client, graded_set = client_for(alice), with_guidelines()
    sent(client, graded_set, workflows=["single_turn", "single_turn+guidelines"])
    experiment = stage.play(Experiment.objects.get())
    assert experiment.params[SHOWN] == {"single_turn": "problem", "single_turn+guidelines": "problem, guidelines"}
    page = client.get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert "These graders had different views" in page
    assert "Single turn with guidelines: the problem and the guidelines for markers." in page
    text = b"".join(client.get(reverse("experiments:csv", args=[experiment.public_id]))).decode()
    rows = {(row["workflow"], row["view"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows == {("single_turn", "problem"), ("single_turn+guidelines", "problem, guidelines")}
    agreement = reverse("agreement:detail", args=["set", graded_set.public_id])
    output = client.get(agreement).content.decode()
    assert output.index("These graders had different views") < output.index("<caption")
    kept = client.get(reverse("agreement:json", args=["set", graded_set.public_id])).json()
    assert sorted(kept["views"].values()) == [["problem"], ["problem, guidelines"]]


def test_a_grader_with_guidelines_fails_if_the_problem_has_none(alice: User, stage: Stage) -> None:
    made = with_guidelines()
    first = made.scripts.order_by("position")[0]
    other = make_set(1, title="Another").scripts.get()
    assert other.problem is not None
    ProblemVersion.objects.filter(pk=other.problem.pk).update(scheme_text="")
    made.scripts.filter(pk=first.pk).update(problem=other.problem)
    experiment = stage.play(make_experiment(alice, made, "single_turn+guidelines"))
    cells = list(experiment.cells.order_by("position").values_list("state", "trouble"))
    assert cells[0] == ("failed", "S1: The view includes the guidelines for markers, but this problem has none.")
    assert cells[1][0] == "scored"


def test_an_empty_script_is_unscored_whatever_else_its_problem_lacks(alice: User, stage: Stage) -> None:
    """As in `manage.py grade`."""
    made = make_set(1)
    script = made.scripts.get()
    assert script.problem is not None
    ProblemVersion.objects.filter(pk=script.problem.pk).update(scheme_text="")
    made.scripts.update(text=" ")
    cell = stage.play(make_experiment(alice, made, "single_turn+guidelines")).cells.get()
    assert (cell.state, cell.unscored, cell.trouble) == ("unscored", "empty", "")


def test_an_experiment_from_before_views_keeps_its_former_view(alice: User, client_for: ClientFor, stage: Stage) -> None:
    experiment = make_experiment(alice, with_guidelines(), "single_turn")
    Experiment.objects.update(params={})
    stage.play(experiment)
    assert "view" not in Run.objects.filter(cell__isnull=False)[0].spec["params"]
    client = client_for(alice)
    page = client.get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert (
        "View of Single turn: the problem and the guidelines for markers, in addition to the script (as recorded before views)."
        in page
    )
    lines = b"".join(client.get(reverse("experiments:csv", args=[experiment.public_id]))).decode()
    assert "as recorded before views: problem, guidelines" in lines
