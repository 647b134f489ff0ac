"""The final answer and the method's own verdict score a cell; what cannot be scored is unscored with its reason, never 0."""

from decimal import Decimal

import pytest

from apps.accounts.models import User
from apps.experiments.models import CellScore
from apps.experiments.solving.scoring import is_outside, is_without_answer
from apps.experiments.solving.services import solving_extend
from apps.reasoning.answers.points import INCOMPARABLE, answer_points
from apps.reasoning.domain.generation import GenerationRequest
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, cells, make_problem_set, manifest
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = [{"name": "answer", "kind": "answer"}]
BOTH = [*ANSWER, {"name": "own", "kind": "accepted"}]
SAYS = {
    "sum-1": proof("We add.", "So it is.\nAnswer: $2/2$"),
    "sum-2": proof("We add.", "Answer: 7"),
    "sum-3": "I do not know.",
}


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    def by_problem(request: GenerationRequest) -> str:
        text = " ".join(message.content for message in request.messages)
        return next(said for name, said in SAYS.items() if f"number {name[-1]}" in text)

    return {"*": by_problem}


def scores(scorer: str) -> dict[str, tuple[str, Decimal | None, str]]:
    rows = CellScore.objects.filter(scorer=scorer).select_related("cell__item")
    return {row.cell.item.name: (row.state, row.points, row.unscored) for row in rows}


def test_an_equal_answer_is_1_another_0_and_none_is_unscored(alice: User, stage: Stage) -> None:
    make_problem_set()
    stage.play(begin(alice, scorers=ANSWER))
    assert scores("answer") == {
        "sum-1": ("scored", Decimal(1), ""),
        "sum-2": ("scored", Decimal(0), ""),
        "sum-3": ("unscored", None, "nothing was handed in"),
    }


def test_a_scorer_that_is_added_later_asks_no_model(alice: User, stage: Stage) -> None:
    make_problem_set()
    experiment = stage.play(begin(alice, scorers=ANSWER))
    asked, before = len(stage.asked), scores("answer")
    assert solving_extend(experiment=experiment, manifest=manifest(scorers=BOTH)) == 0
    stage.play(experiment)
    assert len(stage.asked) == asked
    assert scores("answer") == before
    assert {state for state, _, _ in scores("own").values()} == {"unscored"}
    assert [cell.state for cell in cells(experiment)] == ["finished"] * 3


def test_a_problem_without_an_answer_is_unscored(alice: User, stage: Stage) -> None:
    from apps.problems.models import ProblemVersion

    made = make_problem_set()
    ProblemVersion.objects.filter(pk=made.items.all()[0].problem_id).update(answer="")
    stage.play(begin(alice, scorers=ANSWER))
    assert scores("answer")["sum-1"] == ("unscored", None, "the problem has no final answer")


@pytest.mark.parametrize("line", ["Hence the sum is\n\n\\[ 1 \\]", "So we have $1$.", "So we have $5$."])
def test_an_answer_that_is_not_stated_is_unscored_whether_it_is_right_or_wrong(line: str) -> None:
    found = answer_points(f"We add.\n\n{line}", "1")
    assert found.points is None
    assert is_without_answer(found.unscored, "answer"), found.unscored
    assert answer_points(f"We add.\n\n{line}\n\nAnswer: $1$", "1").points == 1


@pytest.mark.parametrize("key", ["all powers of 2", "$P(x)=2x^2+c$", r"$f(n)=n$ for all even $n$ and $0$ otherwise"])
def test_a_problem_whose_wrong_answers_cannot_be_refused_is_scored_for_no_method(key: str) -> None:
    """A right answer alone would be scored, so the mean would be too high."""
    for said in (key, "12", "all powers of 3"):
        found = answer_points(f"So it is.\n\nAnswer: {said}", key)
        assert (found.points, found.unscored.startswith(INCOMPARABLE)) == (None, True)
        assert is_outside(found.unscored)
        assert not is_without_answer(found.unscored, "answer")


def test_no_answer_of_a_grader_is_not_no_answer_of_the_method() -> None:
    assert not is_without_answer("the text was cut off at its token limit", "grader")
    assert is_without_answer("the denominator after a slash is ambiguous", "answer")
