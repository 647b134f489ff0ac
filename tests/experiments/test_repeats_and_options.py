"""Repeated gradings with different seeds, and options of graders, from the form to the runs (RefGrader §5.4)."""

import json
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.sources.sets import SetSource
from apps.agreement.sources.sources import Chosen
from apps.experiments.models import Experiment
from apps.graded_sets.models import GradedSet
from apps.graders.option_forms import OPTIONS
from apps.reasoning.graders.registry import GRADERS
from tests.experiments.driving import Stage, is_over, make_set
from tests.graders.answers import FOLLOWS
from tests.graders.grade import grading

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


def sent(client: Client, graded_set: GradedSet, *, is_asking: bool = False, **changes: Any) -> str:
    data = {
        "title": "Trial", "source": f"set:{graded_set.public_id}", "workflows": ["single_turn"], "aliases": ["served"],
        "at_once": 4, "seed": 0, "start_id": str(uuid.uuid4()),
    } | changes  # fmt: skip
    headers = {"HX-Request": "true"} if is_asking else {}
    return client.post(reverse("experiments:new"), data, headers=headers).content.decode()


@pytest.fixture
def client(models: None, alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def test_repeats_grade_each_script_with_consecutive_seeds(client: Client, stage: Stage) -> None:
    graded_set = make_set(2)
    assert 'num">6</strong> gradings of 2 scripts' in sent(client, graded_set, is_asking=True, repeats=3, seed=5)
    sent(client, graded_set, repeats=3, seed=5)
    experiment = Experiment.objects.get()
    assert is_over(stage.play(experiment))
    runs = [cell.run.spec["seed"] for cell in experiment.cells.all() if cell.run]
    assert sorted(runs) == [5, 5, 6, 6, 7, 7]
    page = client.get(reverse("experiments:detail", args=[experiment.public_id])).content.decode()
    assert "3 repeats, seeds 5, 6, 7" in page
    assert "· seed 6" in page
    lines = client.get(reverse("experiments:jsonl", args=[experiment.public_id]))
    rows = [json.loads(line) for line in b"".join(lines).decode().splitlines()]
    assert sorted(row["seed"] for row in rows) == [5, 5, 6, 6, 7, 7]


def test_repeats_are_runs_of_one_grader_and_count_with_their_mean(
    client: Client, stage: Stage, answers: dict[str, object]
) -> None:
    answers.clear()
    points = iter([2, 4, 6])
    answers["*"] = lambda request: grading(next(points))
    graded_set = make_set(1)
    sent(client, graded_set, repeats=3)
    stage.play(Experiment.objects.get())
    gathered = SetSource(graded_set).gather(Chosen(human="people"))
    (runs,) = gathered.runs.values()
    assert sorted(float(one) for one in runs["S1"] if isinstance(one, float)) == [2, 4, 6]
    (pairs,) = gathered.graders.values()
    assert pairs[0].predicted == 4
    # The person gave 0: single gradings have a mean error of 4, and so has their mean.
    page = client.get(reverse("experiments:detail", args=[Experiment.objects.get().public_id])).content.decode()
    assert "Variation of points over 3 repeats" in page
    shown = re.sub(r"\s+", " ", page[page.index("<tbody>") : page.index("</tbody>")])
    assert re.findall(r'class="num">([^<]*)<', shown) == ["1", "0 %", "1.63", "4.00", "1", "4.00", "4.00", "4.00"]


def test_seeds_can_be_listed(client: Client) -> None:
    sent(client, make_set(1), seeds="11, 3,7")
    experiment = Experiment.objects.get()
    assert list(experiment.cells.values_list("seed", flat=True)) == [11, 3, 7]
    assert experiment.params["seeds"] == [11, 3, 7]


def test_an_experiment_without_repeats_has_no_list_of_seeds(client: Client) -> None:
    sent(client, make_set(1), seed=9)
    experiment = Experiment.objects.get()
    assert "seeds" not in experiment.params
    assert experiment.cells.get().seed is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seeds": "1, two"}, "“two” is not a seed. Enter whole numbers from 0 to 2,147,483,648, such as 1, 2, 3."),
        ({"seeds": "-1"}, "“-1” is not a seed."),
        ({"seeds": "4, 4"}, "Duplicate seed: the same seed gives the same answers."),
        ({"seeds": "1, 2", "repeats": 3}, "3 repeats need 3 seeds, but you listed 2."),
        ({"seeds": ",".join(map(str, range(33)))}, "You listed 33 seeds, but an experiment has at most 32 repeats."),
        ({"repeats": 0}, "greater than or equal to 1"),
        ({"repeats": 33}, "less than or equal to 32"),
        ({"option_runs": 4}, "Only Grading points, eight runs has this option. Choose that grader, or reset it to 8."),
        ({"workflows": ["points8"], "option_runs": 65}, "less than or equal to 64"),
        ({"workflows": ["jury"], "option_spread": 8}, "less than or equal to 7"),
        ({"workflows": ["jury"], "option_counts": "best"}, "Select a valid choice"),
        ({"workflows": ["ensemble"], "option_members": ["ref3"]}, "members"),
        ({"workflows": ["ensemble"], "option_members": ["ref3", "oracle"]}, "oracle is not one of the available choices"),
        ({"workflows": ["deepseek_verifier"], "option_checks": 10}, "less than or equal to 9"),
    ],
)
def test_invalid_repeats_and_options_are_refused_with_the_reason(client: Client, changes: dict[str, Any], why: str) -> None:
    assert why in sent(client, make_set(1), **changes)
    assert not Experiment.objects.exists()


def test_pieces_of_a_problem_are_prepared_once_for_all_repeats(
    client: Client, stage: Stage, answers: dict[str, object]
) -> None:
    answers.clear()
    answers.update(FOLLOWS)
    sent(client, make_set(1), workflows=["ref5_plain"], repeats=3)
    experiment = Experiment.objects.get()
    assert [cell.prepares for cell in experiment.cells.all()] == [True, False, False]
    assert is_over(stage.play(experiment))
    made = [key for _, key in stage.asked]
    assert made.count("rubric/C1/plain/steps") == 1
    assert made.count("grade/ref5_plain") == 3


def test_options_apply_to_their_grader_only(client: Client, stage: Stage, answers: dict[str, object]) -> None:
    answers.clear()
    answers.update({"judge_a/1": grading(1), "judge_?/1": grading(5), "grade": grading(3), "*": grading(3)})
    graded_set = make_set(1)
    chosen: dict[str, Any] = {"workflows": ["single_turn", "jury"], "option_spread": 4, "option_counts": "median"}
    sent(client, graded_set, **chosen)
    experiment = Experiment.objects.get()
    assert experiment.params["overrides"] == {"spread": 4, "counts": "median"}
    stage.play(experiment)
    cells = {cell.workflow: cell for cell in experiment.cells.select_related("run")}
    assert cells["jury"].points == 5
    assert cells["jury"].run is not None
    assert cells["jury"].run.spec["params"]["spread"] == 4
    assert cells["single_turn"].points == 3


def test_options_change_the_estimated_cost(client: Client) -> None:
    graded_set = make_set(1)
    eight = sent(client, graded_set, is_asking=True, workflows=["deepseek_verifier"])
    two = sent(client, graded_set, is_asking=True, workflows=["deepseek_verifier"], option_examinations=2, option_checks=0)
    assert "About" in eight or "calls" in eight
    assert eight != two


def test_every_option_belongs_to_one_grader() -> None:
    assert set(OPTIONS) == {"runs", "members", "spread", "more_rounds", "counts", "examinations", "checks"}
    for name, (grader, _) in OPTIONS.items():
        assert [one.name for one in GRADERS.values() if name in one.params.model_fields] == [grader.name]
