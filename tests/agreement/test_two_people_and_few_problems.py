"""Second marks as a baseline for graders on the same papers; with few problems, intervals are wide or undefined."""

import pytest

from apps.accounts.models import User
from apps.agreement.comparisons import Asked, Gathered, gathered_of, parts_of
from apps.agreement.places import places_shown
from apps.agreement.sources.columns import Columns, scale_of
from apps.agreement.sources.contests import ContestSource
from apps.agreement.sources.sources import Chosen
from apps.marks.models import Slot
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.report import agree
from apps.reasoning.statistics.intervals import Interval, Undefined
from tests.agreement.factory import marked, settled_contest
from tests.marks.factory import marker

ROWS = [{"first": str(number % 8), "second": str(number % 8) if number < 40 else "", "grader": "0"} for number in range(60)]


def pairs(count: int, problems: int, times: int = 3) -> tuple[Pair, ...]:
    given = [(number % 8, number * times % 8, f"P{number % problems}") for number in range(count)]
    return tuple(
        Pair(paper=f"{number}", human=human, predicted=predicted, problem=problem)
        for number, (human, predicted, problem) in enumerate(given)
    )


@pytest.mark.django_db
def test_third_marks_are_excluded_as_they_are_requested_after_disagreements(bob: User) -> None:
    problem = settled_contest(bob, marker("marga"))
    source = ContestSource(bob, problem.contest)
    for number, case in enumerate(problem.cases.order_by("pk")[:4]):
        marked(case, marker("theo"), 3, None, Slot.SECOND if number < 2 else Slot.THIRD)
    assert len(source.gather(Chosen(human="first")).people) == 2
    assert source.gather(Chosen(human="third")).people == ()


def test_a_missing_second_mark_does_not_count_as_wrong() -> None:
    gathered = gathered_of({"": ROWS}, Columns("first", scale_of("0:7")), Asked(predicted=("grader",), second="second"))
    assert len(gathered.people) == 40
    (part,) = parts_of(gathered, draws=0, seed=0)
    assert part.people is not None
    assert (part.people.unscored, part.people.accuracy) == ((), 1)


def test_a_grader_is_compared_with_two_people_on_the_common_papers() -> None:
    gathered = Gathered(graders={"g": pairs(60, 10)}, people=pairs(80, 10, times=1)[20:])
    (part,) = parts_of(gathered, draws=50, seed=0)
    (grader,) = part.graders
    assert grader.beside is not None
    assert [one.counts.pairs for one in grader.beside] == [40, 40]
    assert (grader.over_all.counts.pairs, part.people and part.people.counts.pairs) == (60, 60)
    (alone,) = parts_of(Gathered(graders={"g": pairs(60, 10)}), draws=0, seed=0)
    assert alone.graders[0].beside is None


def test_with_one_problem_papers_are_resampled_and_the_advantage_error_has_a_value() -> None:
    found = agree(pairs(60, 1), draws=50)
    assert isinstance(found.estimate("qwk").interval, Interval)
    advantage = found.estimate("advantage_error")
    assert isinstance(advantage.value, float)
    assert isinstance(advantage.interval, Undefined)


def test_with_very_few_problems_the_interval_is_undefined() -> None:
    few = agree(pairs(60, 3), draws=50).estimate("qwk").interval
    assert isinstance(few, Undefined)
    assert "only 3 problems" in few.reason
    assert isinstance(agree(pairs(60, 10), draws=50).estimate("qwk").interval, Interval)


@pytest.mark.parametrize("text", ["0:100000", "0:1000000000", "-500:500"])
def test_a_scale_with_too_many_steps_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="more than 200 steps"):
        scale_of(text)
    assert scale_of("0:100").size == 101


@pytest.mark.django_db
def test_an_unreadable_answer_counts_for_neither_errors_nor_items(bob: User) -> None:
    bodies = [{"unscored": "it is no JSON", "distribution": []} if number < 10 else {} for number in range(40)]
    problem = settled_contest(bob, marker("marga"), bodies=bodies)
    (shown,) = places_shown(ContestSource(bob, problem.contest), Chosen(human="first"))
    assert (shown.unscored, len(shown.compared)) == (10, 30)
