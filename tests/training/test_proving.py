"""The toy of arithmetic proofs: problems, their grading by the formula check, prompts of real scaffolds, rows for MarsRL."""

from typing import Any

import numpy as np
import pytest

from apps.recipes.mathematics.rows import check_row
from apps.recipes.registry import RECIPES
from benchmarks.learning import demonstration
from workers.training.models import tiny_base
from workers.training.policy import Completion, Policy
from workers.training.toys import proving
from workers.training.toys.arithmetic import (
    Problem,
    drawn_problem,
    held_out_count,
    is_right,
    proof_text,
    slipped_lines,
    written,
)
from workers.training.toys.scaffold_runs import Asked, Said, play

PROBLEM = Problem((7, "+", 5, "*", 3))
STEPS = (r"$7+5\cdot3=7+15$", "$7+15=22$\n\nAnswer: 22")
SMALL = {"hidden": 32, "layers": 1, "heads": 2, "prompts": True}


class Teacher(Policy):
    """A policy that gives every role right answers, except that two of three first proofs are wrong."""

    def __init__(self) -> None:
        model, tokenizer = tiny_base(SMALL, 0)
        super().__init__(model, tokenizer, version=3)
        self._written = 0

    def draw(self, prompts: Any, *, most: int, stop: str = "") -> list[Completion]:
        found = [self.encode(self._answer(self.text(prompt))) for prompt in prompts]
        return [Completion(tuple(one), tuple(-1.0 for _ in one), "stop") for one in found]

    def _answer(self, prompt: str) -> str:
        if "You examine" in prompt:
            return "<decision>fail</decision>" if "=1" in prompt.rpartition("Answer")[0][-6:] else "<decision>pass</decision>"
        self._written += 1
        statement = prompt.partition("Compute $")[2].partition("$")[0]
        first = f"<proof>\n<step>${statement}="
        return (
            proof_text(PROBLEM.lines())
            if "You receive" in prompt or self._written % 3
            else f"{first}1$\n\nAnswer: 1</step>\n</proof>"
        )


def test_a_proof_is_right_only_if_the_formula_check_proves_every_line_of_a_chain() -> None:
    assert is_right(STEPS, PROBLEM)
    assert is_right((r"$7+5\cdot3=22$" + "\n\nAnswer: 22",), PROBLEM), "fewer steps are a proof too"
    wrong = {
        "a false line": (r"$7+5\cdot3=7+14$", "$7+14=21$\n\nAnswer: 21"),
        "a false line with the right answer": (r"$7+5\cdot3=7+14$", "$7+14=22$\n\nAnswer: 22"),
        "no chain": ("$7+15=22$\n\nAnswer: 22",),
        "another problem": ("$2+2=4$", "$22=22$\n\nAnswer: 22"),
        "the answer alone": ("Answer: 22",),
        "not to the end": (r"$7+5\cdot3=7+15$" + "\n\nAnswer: 22",),
        "nothing": (),
    }
    assert [why for why, steps in wrong.items() if is_right(steps, PROBLEM)] == []


def test_held_out_problems_are_never_drawn_for_training() -> None:
    random = np.random.default_rng(0)
    trained = {drawn_problem(random, held_out=False) for _ in range(2_000)}
    held_out = proving.held_out_problems(200)
    assert len(set(held_out)) == 200
    assert trained.isdisjoint(held_out)
    assert {one.is_held_out for one in held_out} == {True}


def test_more_held_out_problems_than_there_are_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    most = held_out_count()
    assert len(proving.held_out_problems(most)) == most
    with pytest.raises(ValueError, match=f"There are {most} held-out problems"):
        proving.held_out_problems(most + 1)
    monkeypatch.setattr("sys.argv", ["demonstration", "--problems", str(most + 1)])
    with pytest.raises(SystemExit):
        demonstration.main()
    assert f"--problems: 1 to {most}, because" in capsys.readouterr().err


def test_the_teachers_proofs_are_right_and_its_slips_are_wrong() -> None:
    random = np.random.default_rng(1)
    for problem in [drawn_problem(random, held_out=False) for _ in range(50)]:
        right = [f"${written(left)}={written(side)}$" for left, side in problem.lines()]
        slipped, place = slipped_lines(problem, random)
        wrong = [f"${written(left)}={written(side)}$" for left, side in slipped]
        answer = f"\n\nAnswer: {problem.answer}"
        assert is_right([*right[:-1], right[-1] + answer], problem)
        assert not is_right([*wrong[:-1], f"{wrong[-1]}\n\nAnswer: {written(slipped[-1][1])}"], problem)
        assert wrong[:place] == right[:place]


def test_prompts_of_real_scaffolds_are_short_and_without_unknown_tokens() -> None:
    policy = Teacher()
    shown = proving.ProvingToy().demonstrations(policy, np.random.default_rng(0), 60)[0].turns
    assert {turn.role for turn in shown} == {"solver", "verifier_1", "corrector_1", "verifier_2"}
    assert max(len(turn.prompt_ids) for turn in shown) <= 90
    unknown = policy.tokenizer.unk_token_id
    assert not any(unknown in (*turn.prompt_ids, *turn.completion_ids) for turn in shown)
    for turn in shown:
        if turn.role != "verifier_1":
            continue
        assert policy.encode(policy.text(turn.completion_ids)) == list(turn.completion_ids[:-1])


def test_runs_of_grouped_agents_become_groups_for_marsrl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "drawn_problem", lambda random, held_out: PROBLEM)
    toy = proving.ProvingToy()
    trajectories = toy.rollouts(Teacher(), np.random.default_rng(0), 40)
    turns = trajectories[0].turns
    assert {(turn.role, turn.reward) for turn in turns} == {
        ("solver", 1.0),
        ("solver", 0.0),
        ("verifier1", 1.0),
        ("corrector1", 1.0),
    }
    assert len([turn for turn in turns if turn.role == "solver"]) == 8
    assert {len([turn for turn in turns if turn.group == group]) for group in {turn.group for turn in turns}} == {8}
    assert toy.measures() == {"solved": 1.0, "single": 0.75, "found": 1.0, "spared": 1.0}
    rows = RECIPES["marsrl"].rows(trajectories)
    assert {row.role for row in rows} == {"solver"}, "only the Solver’s group has two rewards"
    for place, row in enumerate(rows):
        check_row(row, f"row {place}")


def test_a_solver_may_learn_alone_from_more_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "drawn_problem", lambda random, held_out: PROBLEM)
    toy = proving.ProvingToy(roles=1)
    trajectories = toy.rollouts(Teacher(), np.random.default_rng(0), 40)
    assert [[turn.role for turn in one.turns] for one in trajectories] == [["solver"] * 8] * 5
    assert set(toy.measures()) == {"solved", "single"}


def test_calls_of_all_runs_are_answered_in_batches_and_second_questions_are_not() -> None:
    batches: list[list[str]] = []

    def answers(asked: Any) -> list[Said]:
        batches.append(sorted(one.key for one in asked))
        return [_said(one) for one in asked]

    def _said(asked: Asked) -> Said:
        return Said("?" if asked.run else proof_text(PROBLEM.lines()), "stop", 1)

    given = [proving._text(PROBLEM)] * 2
    runs = play(given, answers, scaffold="solver_verifier_corrector", params={"accept": 1, "corrections": 0}, most=9, seed=0)
    assert batches[0] == ["solve", "solve"]
    assert runs[0].steps[:1] == STEPS[:1]
    assert [is_right(run.steps, PROBLEM) for run in runs] == [True, False]
    assert all("again" not in key for batch in batches for key in batch)
