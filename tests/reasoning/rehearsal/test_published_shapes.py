"""Rehearsals of few problems show what the papers found: which method is better, which one costs more, and what decides."""

from statistics import fmean
from typing import Any

from apps.reasoning.rehearsal.matrix import Line, Matrix, PlayedCell, RehearsedProblem
from apps.reasoning.rehearsal.playing import rehearse
from apps.reasoning.rehearsal.skills import skills_of
from apps.reasoning.scaffolds.spec import Budget

PROBLEMS = tuple(RehearsedProblem(name=f"p{number}", statement="Find the sum.") for number in range(24))
SVC = Line(name="svc", scaffold="solver_verifier_corrector", preset="paper")
VERIFIERS = ["*verifier*"]


def played(*lines: Line, **skills: Any) -> list[list[PlayedCell]]:
    """The cells of each line."""
    rows = skills.pop("rows", [])
    matrix = Matrix(lines=lines, problems=PROBLEMS, repeats=3)
    cells = rehearse(matrix, skills_of({"skills": [skills | {"unreadable": 0}, *rows]}), processes=0)
    return [[cell for cell in cells if cell.line == number] for number in range(len(lines))]


def score(cells: list[PlayedCell]) -> float:
    return fmean(bool(cell.right) for cell in cells)


def written(cells: list[PlayedCell]) -> float:
    return fmean(cell.completion_tokens for cell in cells)


def test_turns_states_and_pools_gain_over_a_single_call_and_cost_as_in_table_2_of_qed_nano() -> None:
    lines = [
        Line(name="single", scaffold="single_call"),
        Line(name="rc", scaffold="reasoning_cache", preset="paper"),
        Line(name="dsm", scaffold="deepseek_math", preset="qed_nano"),
        Line(name="rsa", scaffold="rsa", preset="qed_nano"),
    ]
    single, rc, dsm, rsa = played(*lines)
    assert score(single) < min(score(one) for one in (rc, dsm, rsa))
    assert written(single) < written(rc) < written(dsm) < written(rsa)
    assert 2 < written(rc) / written(single) < 8


def test_a_perfect_verifier_is_the_limit_and_one_that_always_says_yes_is_the_floor() -> None:
    def with_verifier(**skill: Any) -> list[PlayedCell]:
        return played(SVC, rows=[{"roles": VERIFIERS, **skill}])[0]

    perfect = with_verifier(judgement="perfect")
    usual = with_verifier(spots=0.6, passes=0.85)
    yes = with_verifier(judgement="always yes")
    assert score(yes) < score(usual) < score(perfect)
    assert all(cell.accepted for cell in yes)
    assert all(cell.right for cell in perfect if cell.accepted)
    assert not all(cell.right for cell in yes if cell.accepted)


def test_with_a_verifier_that_always_says_yes_a_system_is_worth_its_solver() -> None:
    single, system = played(
        Line(name="one", scaffold="single_call"), SVC, rows=[{"roles": VERIFIERS, "judgement": "always yes"}]
    )
    assert abs(score(single) - score(system)) < 0.15


def test_a_better_verifier_and_corrector_raise_the_system_under_the_same_solver_as_in_table_3_of_marsrl() -> None:
    trained = [{"roles": ["*verifier*"], "spots": 0.9, "passes": 0.95}, {"roles": ["corrector*"], "fixes": 0.5}]
    base = played(SVC, rows=[{"roles": VERIFIERS, "spots": 0.4, "passes": 0.7}, {"roles": ["corrector*"], "fixes": 0.1}])[0]
    only_verifier = played(SVC, rows=[trained[0], {"roles": ["corrector*"], "fixes": 0.1}])[0]
    both = played(SVC, rows=trained)[0]
    assert score(base) < score(both)
    assert score(only_verifier) < score(both)


def test_a_stronger_model_solves_more_and_a_team_may_mix_models() -> None:
    lines = [Line(name=name, scaffold="single_call", models={"": name}) for name in ("weak", "strong")]
    weak, strong = played(*lines, rows=[{"models": ["strong"], "ability": 2}])
    assert score(weak) < score(strong)


def test_a_budget_ends_searches_early() -> None:
    free = Line(name="rsa", scaffold="rsa", preset="quick")
    short = free.model_copy(update={"budget": Budget(calls=3)})
    (full,), (cut,) = played(free), played(short)
    assert fmean(cell.calls for cell in cut) == 3 < fmean(cell.calls for cell in full)


def test_an_answer_longer_than_its_limit_is_cut_off_and_nothing_is_handed_in() -> None:
    line = Line(name="one", scaffold="single_call", max_new_tokens=1_000)
    (cells,) = played(line, thinking_tokens=20_000, spread=0)
    assert all(cell.right is None and cell.unread for cell in cells)
