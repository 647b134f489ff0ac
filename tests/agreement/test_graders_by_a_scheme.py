"""Agreement of gradings by a marking scheme: under the meaning of the mark, or the last one in a set, never pooled."""

from decimal import Decimal

import pytest

from apps.accounts.models import User
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.judgements import OTHER_SCHEME
from apps.agreement.sources.sets import SetSource
from apps.agreement.sources.sources import Chosen
from apps.contests.models import ContestProblem
from apps.experiments.models import Experiment, ExperimentCell
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_save
from apps.submissions.models import SubmissionVersion
from tests.agreement.factory import settled_contest
from tests.agreement.test_buckets_sets_and_cards import graded_set, run_of
from tests.marks.factory import marker
from tests.problems.factory import make_problem
from tests.schemes.factory import content

pytestmark = pytest.mark.django_db
OTHER = content(("A1, 3 points", "A1, 4 points"), ("A2, 4 points", "A2, 3 points"))
REWORDED = content(("Finds a smaller solution.", "A smaller solution is found."))
NAME = "cell:scheme@small"


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    return settled_contest(bob, marker("marga"), scripts=4)


def graded(owner: User, problem: ContestProblem, version: SubmissionVersion, points: int, scheme: Scheme | None) -> None:
    """A cell graded by a scheme; without one, a cell whose run was deleted."""
    experiment, _ = Experiment.objects.get_or_create(
        title="E", contest=problem.contest, defaults={"workflows": ["scheme"], "aliases": ["small"]}
    )
    run = scheme and run_of(
        owner, problem.problem, "x", points, workflow="scheme", seed=points, scheme=scheme.model_dump(mode="json")
    )
    ExperimentCell.objects.create(
        experiment=experiment, position=experiment.cells.count(), version=version, problem="p", workflow="scheme",
        alias="small", points=points, scale=7, state="scored", run=run or None,
    )  # fmt: skip


def pairs_of(user: User, problem: ContestProblem) -> list[Pair]:
    return list(ContestSource(user, problem.contest).gather(Chosen(human="first")).graders.get(NAME, ()))


def test_a_grading_under_the_meaning_of_the_mark_counts_and_another_does_not(bob: User, problem: ContestProblem) -> None:
    first, second, third, fourth = (case.version for case in problem.cases.order_by("pk"))
    graded(bob, problem, first, 3, content())
    graded(bob, problem, first, 7, OTHER)
    graded(bob, problem, second, 7, OTHER)
    graded(bob, problem, third, 5, content())
    for _ in "run", "replay":
        graded(bob, problem, third, 6, content())
    graded(bob, problem, fourth, 7, None)
    found = [(pair.predicted, pair.contaminated) for pair in pairs_of(bob, problem)]
    assert found == [(3, ""), (7, OTHER_SCHEME), (5.5, "")], "without its run the scheme is unknown"
    (note,) = ContestSource(bob, problem.contest).gather(Chosen(human="first")).notes
    assert "excluded 1 run that repeats another run on the same script with the same seed." in note


def test_a_change_declared_as_wording_only_keeps_the_meaning(bob: User, problem: ContestProblem) -> None:
    case = problem.cases.order_by("pk")[0]
    graded(bob, problem, case.version, 3, REWORDED)
    assert [pair.contaminated for pair in pairs_of(bob, problem)] == [OTHER_SCHEME]
    scheme = MarkingScheme.objects.get(problem=problem.problem)
    scheme_save(
        scheme=scheme, content=REWORDED, by=bob, based_on=scheme.row_version, is_wording_only=True, reason="Only words.",
    )  # fmt: skip
    assert [pair.contaminated for pair in pairs_of(bob, problem)] == [""]


def test_in_a_set_the_meaning_used_last_on_a_problem_counts_and_others_are_reported_as_excluded(bob: User) -> None:
    made, stated = graded_set(), make_problem()
    cells = list(ExperimentCell.objects.order_by("pk"))
    for cell, scheme in zip(cells, (OTHER, content(), content(), content()), strict=True):
        run = run_of(bob, stated, "x", 7, workflow="scheme", scheme=scheme.model_dump(mode="json"))
        ExperimentCell.objects.filter(pk=cell.pk).update(
            workflow="scheme", run=run, points=Decimal(5), scale=7, state="scored", unscored=""
        )  # fmt: skip
    source = SetSource(made)
    pairs = source.gather(Chosen(human="expert")).graders["scheme@small"]
    assert [pair.paper for pair in pairs] == ["s1", "s2", "s3"], "s0 and s2 are on one problem"
    assert "Excluded, as graded under an earlier meaning of a marking scheme: 1." in source.about
    ExperimentCell.objects.filter(pk=cells[0].pk).update(run=None)
    assert "earlier meaning" not in SetSource(made).about


def test_a_scheme_unknown_to_the_library_has_the_meaning_of_its_content(bob: User) -> None:
    made, stated = graded_set(2), make_problem()
    for cell, scheme in zip(ExperimentCell.objects.order_by("pk"), (content(), REWORDED), strict=True):
        run = run_of(bob, stated, "x", 7, workflow="scheme", scheme=scheme.model_dump(mode="json"))
        ExperimentCell.objects.filter(pk=cell.pk).update(workflow="scheme", run=run)
    made.scripts.update(problem_name="P")
    assert SetSource(made).of_older_schemes == {ExperimentCell.objects.order_by("pk")[0].pk}
