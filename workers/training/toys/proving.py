"""Prove the value of an arithmetic expression through a real scaffold: a Solver writes, Verifiers judge, Correctors correct.

Rollouts are runs of `grouped_agents`, whose groups are those of MarsRL, or of another scaffold of the three roles. A proof is
graded by the computational verifier and the comparison of final answers (arithmetic.py). A verdict is right if it flags
exactly the wrong proofs. Answers to second questions are not learned from. The teacher plays the same scaffold: half of its
first proofs have a slip, which only its Verifier sees, and these proofs are not shown.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from apps.reasoning.domain.problems import ProblemText
from apps.recipes.mathematics.mars import rates, solver_reward, verifier_reward
from apps.recipes.trajectory import Trajectory, Turn
from workers.training.policy import Policy
from workers.training.toys.arithmetic import (
    Problem,
    drawn_problem,
    held_out_count,
    is_right,
    proof_text,
    slipped_lines,
    written,
)
from workers.training.toys.scaffold_runs import Asked, Played, Said, play

#: Rows of a problem, by the number of roles that answer: Solver; Verifier; Corrector.
ROWS_A_PROBLEM = {1: 8, 2: 24, 3: 40}
#: Tokens of an answer. The longest proof of the teacher has 24.
MOST = 48
AT_ONCE = 128
ROLLOUTS = "grouped_agents"
#: Roles of a rollout: Solver, Verifier, Corrector. Their second kinds have the same prompts.
ROLES = 3
TEACHING: tuple[str, dict[str, Any]] = ("solver_verifier_corrector", {"accept": 1, "corrections": 1})
SLIPS = 0.5
#: Calls of a teacher's run, on average.
_TAUGHT = 2.2
#: A call of a group is numbered; a second question has words after that.
_OF_GROUP = re.compile(r"(step/\d+(?:/[^/]+)?)/\d+\Z")


class ProvingToy:
    """Runs of a scaffold on problems of two operations."""

    def __init__(self, scaffold: str = ROLLOUTS, choice: str = "balanced", roles: int = ROLES) -> None:
        self._scaffold, self._rows = scaffold, ROWS_A_PROBLEM[roles]
        self._params: dict[str, Any] = {"choice": choice, "steps": roles} if scaffold == ROLLOUTS else {}
        self._known: dict[str, float] = {}
        self.held_out = False

    def rollouts(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Runs on `rows` / 40 problems, one trajectory each; `rows` / 8 where only the Solver answers."""
        problems = [drawn_problem(random, held_out=self.held_out) for _ in range(max(1, rows // self._rows))]
        runs = runs_of(policy, problems, scaffold=self._scaffold, params=self._params, seed=int(random.integers(2**31)))
        self._known = measured(problems, runs)
        return [_trajectory(policy, number, *pair) for number, pair in enumerate(zip(problems, runs, strict=True))]

    def demonstrations(self, policy: Policy, random: np.random.Generator, rows: int) -> list[Trajectory]:
        """Right turns of a teacher whose proofs slip half of the time."""
        problems = [drawn_problem(random, held_out=False) for _ in range(max(1, round(rows / _TAUGHT)))]
        teacher = _Teacher(problems, random)
        scaffold, params = TEACHING
        runs = play(
            [_text(one) for one in problems],
            teacher.answers,
            scaffold=scaffold,
            params=params,
            most=MOST,
            seed=int(random.integers(2**31)),
        )
        shown = [
            Turn(prompt_ids(policy, asked.prompt), (*policy.encode(said.text), policy.tokenizer.eos_token_id), role=asked.role)
            for run in runs
            for asked, said in run.calls
            if said.data
        ]
        return [Trajectory(id="shown", problem_id="shown", turns=shown[:rows], reward=1.0)]

    def measures(self) -> dict[str, float]:
        """Shares: `solved` of the proofs handed in, `single` of the first proofs; rates of the first Verifier."""
        return self._known


def runs_of(
    policy: Policy, problems: Sequence[Problem], *, scaffold: str, params: Mapping[str, Any], seed: int
) -> list[Played]:
    """Runs whose calls the policy answers."""

    def answers(asked: Sequence[Asked]) -> list[Said]:
        prompts = [prompt_ids(policy, one.prompt) for one in asked]
        order = sorted(range(len(asked)), key=lambda place: len(prompts[place]))  # Prompts of similar lengths share a batch.
        found: dict[int, Said] = {}
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            drawn = policy.draw([prompts[place] for place in places], most=MOST)
            for place, one in zip(places, drawn, strict=True):
                found[place] = Said(policy.text(one.ids), one.finish_reason, len(one.ids), (prompts[place], one))
        return [found[place] for place in range(len(asked))]

    return play([_text(one) for one in problems], answers, scaffold=scaffold, params=params, most=MOST, seed=seed)


def held_out_problems(count: int) -> list[Problem]:
    """Different problems that no job trains on, always the same. Raises `ValueError` if there are fewer."""
    if count > held_out_count():
        raise ValueError(f"There are {held_out_count()} held-out problems. Ask for at most as many.")
    random, found = np.random.default_rng(0), dict[Problem, None]()
    while len(found) < count:
        found[drawn_problem(random, held_out=True)] = None
    return list(found)


def is_first_right(run: Played, problem: Problem) -> bool:
    """Whether the first call alone wrote a right proof."""
    first = run.drafts.get(run.calls[0][0].key)
    return first is not None and is_right(first.steps, problem)


def prompt_ids(policy: Policy, prompt: str) -> list[int]:
    """Tokens of a prompt: the begin token, the text, and the begin token again, after which the answer begins."""
    begin = policy.tokenizer.bos_token_id
    return [begin, *policy.encode(prompt), begin]


def measured(problems: Sequence[Problem], runs: Sequence[Played]) -> dict[str, float]:
    """Measures of runs: see `ProvingToy.measures`."""
    solved, single, verdicts = [], [], []
    for problem, run in zip(problems, runs, strict=True):
        right = {one.candidate: is_right(one.steps, problem) for one in run.drafts.values()}
        solved.append(is_right(run.steps, problem))
        firsts = [asked.key for asked, _ in run.calls if asked.role == "solver"]
        single += [key in run.drafts and right[run.drafts[key].candidate] for key in firsts]
        judged: dict[str, list[tuple[bool, bool]]] = {}
        for asked, _ in run.calls:
            said = run.verdicts.get(asked.key)
            if said is not None and asked.role == "verifier_1" and said.passed is not None:
                judged.setdefault(said.candidate, []).append((right[said.candidate], not said.passed))
        verdicts += list(judged.values())
    found = rates(verdicts)
    known = {
        "solved": float(np.mean(solved)),
        "single": float(np.mean(single)),
        "found": found.found,
        "spared": found.spared,
    }
    return {name: value for name, value in known.items() if value is not None}


def _text(problem: Problem) -> ProblemText:
    return ProblemText(id=problem.expression, version=1, title="", statement=problem.statement, answer=problem.answer)


def _trajectory(policy: Policy, number: int, problem: Problem, run: Played) -> Trajectory:
    name = f"{policy.version}-{number}"
    turns = [turn for asked, said in run.calls if (turn := _turn(policy, name, problem, run, asked, said)) is not None]
    return Trajectory(id=name, problem_id=name, turns=turns, reward=solver_reward(is_right(run.steps, problem)))


def _turn(policy: Policy, name: str, problem: Problem, run: Played, asked: Asked, said: Said) -> Turn | None:
    """The turn of a call, with its reward and group; None for a second question."""
    numbered = _OF_GROUP.match(asked.key)
    if not numbered:
        return None
    prompt, drawn = said.data
    passed = None
    if asked.role.startswith("verifier"):
        verdict = run.verdicts.get(asked.key)  # Missing where only a second answer could be read.
        passed = verdict.passed if verdict else None
        right = verdict is not None and is_right(run.candidate(verdict.candidate).steps, problem)
        reward = 0.0 if passed is None else verifier_reward(right, not passed)
    else:
        draft = run.drafts.get(asked.key)
        reward = solver_reward(draft is not None and is_right(draft.steps, problem))
    return Turn(
        prompt,
        drawn.ids,
        logprobs=drawn.logprobs,
        role=asked.role.replace("_", ""),
        reward=reward,
        group=f"{name}/{numbered[1]}",
        passed=passed,
        policy_version=policy.version,
        finish_reason=drawn.finish_reason,
    )


class _Teacher:
    """Answers of all roles. `Said.data` is true for a turn worth imitating."""

    def __init__(self, problems: Sequence[Problem], random: np.random.Generator) -> None:
        self._problems, self._random = problems, random
        self._wrong: dict[int, str] = {}

    def answers(self, asked: Sequence[Asked]) -> list[Said]:
        return [self._answer(one) for one in asked]

    def _answer(self, asked: Asked) -> Said:
        problem = self._problems[asked.run]
        if asked.role.startswith("verifier"):
            wrong = self._wrong.pop(asked.run, "")
            text = f'<issue severity="critical"><quote>{wrong}</quote></issue>\n<decision>fail</decision>' if wrong else ""
            return Said(text or "<decision>pass</decision>", "stop", 0, True)
        if asked.role == "solver" and self._random.random() < SLIPS:
            lines, wrong_line = slipped_lines(problem, self._random)
            left, right = lines[wrong_line]
            self._wrong[asked.run] = f"${written(left)}={written(right)}$"
            return Said(proof_text(lines), "stop", 0, False)
        return Said(proof_text(problem.lines()), "stop", 0, True)
