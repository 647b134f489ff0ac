"""The material of a model's hints: released verdicts, false formulas, the scheme without points, and no author."""

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.problems.models import Problem
from apps.reasoning.feedback.ladder import Rules
from apps.results import feedback
from apps.results.hint_material import material_of, secret_of
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_create
from tests.contests.factory import enter, hand_in, make_contest
from tests.marks.factory import scheme_active
from tests.problems.factory import SECRET, make_problem
from tests.results.factory import ALL, VERDICT_WORDS, marked, released, version_of
from tests.schemes.factory import content


@pytest.fixture(autouse=True)
def _no_formula_check(settings: Settings) -> None:
    settings.MARKING_GRADERS = []


def test_only_released_verdicts_are_material(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob, writer="tutor")
    released(problem.contest, bob, "comments")
    request = feedback.request_open(version=version_of(problem, charlie), track="repair", words="")
    assert material_of(request.asked.get()).faults == ()
    released(problem.contest, bob, *ALL)
    faults = material_of(request.asked.get()).faults
    assert [(fault.step, fault.kind) for fault in faults] == [(2, "A case is missing"), (3, "This does not follow")]
    material = material_of(request.asked.get()).model_dump_json()
    assert VERDICT_WORDS not in material, "the words of markers must not reach a model"
    assert "sentinel-for-markers" not in material


def test_a_false_formula_is_material_from_the_second_rung(settings: Settings, bob: User, charlie: User) -> None:
    settings.MARKING_GRADERS = ["computational"]
    contest = make_contest(bob, make_problem(statement="Show something about $a$."), state=ContestState.OPEN)
    problem = contest.problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(first_wait=0, later_wait=0), by=bob)
    version = hand_in(*enter(contest, charlie), text="Let $a$ be an integer.\n\nThen $(a+1)^2=a^2+1$.")
    request = feedback.request_open(version=version, track="repair", words="")
    assert material_of(request.asked.get()).faults == (), "the first rung uses only the text"
    feedback.rung_give(asked=request.asked.get(), text="First.", by=bob)
    (fault,) = material_of(feedback.rung_ask(request=request, level=1, tried="x")).faults
    assert fault.step == 2
    assert "a" in fault.counterexample
    assert "sides" in fault.counterexample


def test_the_scheme_is_material_without_points_and_notes(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    released(problem.contest, bob, "comments")
    asked = feedback.request_open(version=version_of(problem, charlie), track="stuck", words="").asked.get()
    scheme = problem.setup.scheme
    assert scheme is not None
    content = scheme.versions.get(status="active").content
    assert material_of(asked).scheme == tuple(item.text for item in content.items if item.kind == "checkpoint")
    assert "charlie" not in material_of(asked).model_dump_json().lower()


def test_released_solutions_are_not_secret(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    released(problem.contest, bob, "comments")
    asked = feedback.request_open(version=version_of(problem, charlie), track="stuck", words="").asked.get()
    assert SECRET in secret_of(asked).solutions
    released(problem.contest, bob, *ALL)
    assert secret_of(asked).solutions == ()


def test_the_next_hint_is_about_the_newer_version(bob: User, charlie: User) -> None:
    contest = make_contest(bob, state=ContestState.OPEN)
    problem = contest.problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(first_wait=0), by=bob)
    version = hand_in(*enter(contest, charlie))
    request = feedback.request_open(version=version, track="repair", words="")
    feedback.rung_give(asked=request.asked.get(), text="First.", by=bob)
    hand_in(version.submission.paper, problem, "Something quite new.")
    asked = feedback.rung_ask(request=request, level=1, tried="")
    assert material_of(asked).steps == ("Something quite new.",)
    assert material_of(asked).earlier == ("First.",)


ITEM = "Finds a smaller solution by replacing one of the two numbers with its conjugate."


def scheme_with_item(bob: User, problem: Problem) -> MarkingScheme:
    text = content(("Finds a smaller solution.", ITEM))
    return scheme_active(bob, scheme_create(problem=problem, title="Selection test", content=text, by=bob))


def test_the_scheme_is_secret_until_it_is_released(bob: User, charlie: User) -> None:
    problem = marked(bob, charlie)
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    released(problem.contest, bob, "comments")
    asked = feedback.request_open(version=version_of(problem, charlie), track="stuck", words="").asked.get()
    items = {"Finds a smaller solution.", "Uses unique factorisation.", "The case of two is missing.", "A slip."}
    assert items <= set(secret_of(asked).scheme)
    released(problem.contest, bob, "solution")
    assert (secret_of(asked).solutions, secret_of(asked).answer) == ((), "")
    assert items <= set(secret_of(asked).scheme), "releasing solutions does not release the scheme"
    released(problem.contest, bob, "scheme")
    assert secret_of(asked).scheme == ()


def test_a_hint_that_copies_an_item_leaks_before_marking(bob: User, charlie: User) -> None:
    library = make_problem()
    contest = make_contest(bob, library, state=ContestState.OPEN)
    problem = contest.problems.get()
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(), by=bob)
    asked = feedback.request_open(version=hand_in(*enter(contest, charlie)), track="stuck", words="").asked.get()
    leaking = f"Try this: {ITEM[0].lower()}{ITEM[1:]}"
    assert feedback.leaks_in(asked, leaking) == ()
    scheme_with_item(bob, library)
    with pytest.raises(feedback.HintLeaks, match="replacing one of the two"):
        feedback.rung_give(asked=asked, text=leaking, by=bob)
    feedback.rung_give(asked=asked, text="Which of the two numbers could be smaller?", by=bob)
