"""Problems of a job's own runs from a problem set: chosen by earlier attempts, explained, and visited less once solved."""

import time
from decimal import Decimal
from functools import partial

import pytest
from django.db.models import Count
from django.utils import timezone

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, ExperimentKind, SolvingCell, SolvingState
from apps.learning.models import Rollout
from apps.learning.rollouts.curriculum import Attempts, Selection, attempts_of, choose, words_of
from apps.learning.rollouts.resting import runs_wanted, visits_rested
from apps.learning.rollouts.rollouts import Rollouts
from apps.problem_sets.importing import named_of
from apps.problem_sets.models import ProblemSetVersion
from apps.problem_sets.services import set_create
from apps.problems.models import ProblemVersion
from apps.runs.models import Run, aliases_text
from tests.cast import person
from tests.datasets.factory import version_of
from tests.reasoning.play import proof
from tests.runs.factory import make_run
from tests.training_jobs.playing import Stage, a_playing_job

pytestmark = pytest.mark.django_db(transaction=True)
#: By problem: how many of four attempts by the model “small” were right. The last one has two attempts.
SOLVED_OF_4 = {"never": 0, "rare": 1, "half": 2, "often": 3, "always": 4}


def a_set() -> ProblemSetVersion:
    problems = [version_of(slug, answer="$2$").problem for slug in (*SOLVED_OF_4, "new")]
    return set_create(title="Hard ones", items=named_of(problems), by=None)


def attempted(version: ProblemSetVersion) -> list[ProblemVersion]:
    """The problems of the set, with scored cells of an experiment."""
    experiment = Experiment.objects.create(
        title="E", kind=ExperimentKind.SOLVING, problem_set=version, workflows=[], aliases=[], owner=person("alice")
    )
    items = list(version.items.select_related("problem__problem"))
    position = 0
    for item in items:
        slug = item.problem.problem.slug
        for repeat in range(4 if slug in SOLVED_OF_4 else 2):
            position += 1
            run = make_run()
            Run.objects.filter(pk=run.pk).update(aliases=aliases_text(["small"]))
            cell = SolvingCell.objects.create(
                experiment=experiment, position=position, item=item, method="m", team="t", repeat=repeat, run=run,
                state=SolvingState.FINISHED, ended_at=timezone.now(),
            )  # fmt: skip
            points = Decimal(repeat < SOLVED_OF_4.get(slug, 0))
            CellScore.objects.create(cell=cell, scorer="answer", state="scored", points=points, scale=1)
    return [item.problem for item in items]


def test_attempts_of_experiments_are_counted_by_model() -> None:
    versions = attempted(a_set())
    found = attempts_of(versions, "small")
    assert {one.problem.slug: found[one.pk] for one in versions if one.problem.slug in SOLVED_OF_4} == {
        slug: Attempts(solved, 4) for slug, solved in SOLVED_OF_4.items()
    }
    assert attempts_of(versions, "other") == {}


@pytest.mark.parametrize(
    ("selection", "kept", "left"),
    [
        ({}, ["never", "rare", "half", "often", "always", "new"], {}),
        (
            {"lowest": 0.1, "highest": 0.7},
            ["rare", "half"],
            {"never solved": 1, "solved in 0.7 of the attempts or more": 2, "fewer than 4 attempts by small": 1},
        ),
        (
            {"hardest": 2, "order": "easy"},
            ["half", "rare"],
            {"never solved": 1, "easier than the hardest 2": 2, "fewer than 4 attempts by small": 1},
        ),
        ({"order": "easy"}, ["always", "often", "half", "rare", "never"], {"fewer than 4 attempts by small": 1}),
        ({"least_attempts": 2, "lowest": 0.3}, ["half", "often", "always"],
         {"never solved": 2, "solved in less than 0.3 of the attempts": 1}),
    ],
)  # fmt: skip
def test_problems_are_chosen_by_their_pass_rate(selection: dict[str, object], kept: list[str], left: dict[str, int]) -> None:
    found = choose(attempted(a_set()), Selection(attempts_by="small", **selection), seed=0)
    assert list(found.problems) == kept
    assert found.left == left


def test_mixed_order_follows_the_seed() -> None:
    versions = attempted(a_set())
    first, again, other = (choose(versions, Selection(order="mixed"), seed).problems for seed in (1, 1, 2))
    assert first == again != other
    assert sorted(first) == sorted(other)


def test_the_choice_is_explained(stage: Stage) -> None:
    set_create(title="Hard ones", items=named_of([version_of("even-number").problem]), by=None)
    selection = Selection(attempts_by="scripted", hardest=2).model_dump(mode="json")
    chosen = {"set": "hard-ones@1", "selection": selection, "kept": 2, "left": {"never solved": 1, "held back from you": 3}}
    assert words_of(chosen) == [
        "2 of the 6 problems of “Hard ones”, version 1, are played, as in the set.",
        "Their difficulty is the share of attempts by Player with full points.",
        "Left out: 3 held back from you; 1 never solved.",
    ]
    chosen |= {"set": "gone@1", "selection": selection | {"attempts_by": "gone"}}
    assert ["gone@1 are played" in words_of(chosen)[0], "by gone with" in words_of(chosen)[1]] == [True, True]


@pytest.mark.parametrize(("counted", "rests", "wanted"), [(0, 0, 16), (0, 1, 12), (13, 2, 16), (8, 2, 8), (9, 2, 12)])
def test_a_visit_that_has_begun_is_played_whole(counted: int, rests: int, wanted: int) -> None:
    job = a_playing_job(runs_a_group=4, visits=4)
    assert runs_wanted(Rollouts(job).plan, counted, rests) == wanted


def answered(answer: int, _: object) -> str:
    return proof("We compute.", f"The answer is $\\boxed{{{answer}}}$.")


def test_a_problem_that_all_answers_solved_misses_a_visit(stage: Stage, playing: list[Rollouts], alice: User) -> None:
    for slug in ("even-number", "odd-number"):
        version_of(slug, answer="$2$")
    more = {"scaffold": "single_call", "judge": "answer", "runs_a_group": 1, "rest_solved": True}
    job = a_playing_job("turn_grpo", problems=("even-number", "odd-number"), visits=6, at_once=2, **more)
    playing.append(one := Rollouts(job))
    deadline = time.monotonic() + 60
    while not (job.folder / "rows" / "END").exists():
        assert time.monotonic() < deadline
        one.poll()
        assert one.trouble == ""
        if stage.sent:
            answer = 2 if Run.objects.get(pk=stage.sent[0]).problem_version.problem.slug == "even-number" else 3
            stage.drive(answer=partial(answered, answer))
            time.sleep(0.6)  # The producer reads the feed.
    played = dict(Rollout.objects.values_list("problem").annotate(count=Count("pk")).order_by())
    assert played["odd-number"] == 6, "unsolved visits are not left out"
    assert 3 <= played["even-number"] <= 4, "one visit may begin before the one before it is known to be solved"
    assert visits_rested(job, one.plan) == 6 - played["even-number"]
