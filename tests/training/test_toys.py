"""Toys compute rewards from the model's output, and log-probabilities are those at sampling."""

from typing import Any

import numpy as np
import pytest
import torch

from apps.recipes.mathematics.rows import Row, check_row
from apps.recipes.registry import RECIPES
from tests.training.factory import SMALL, a_policy
from workers.training.models import tiny_base
from workers.training.policy import Completion, Policy
from workers.training.toys.asking import AskToy
from workers.training.toys.lemmas import LETTERS, LemmaToy
from workers.training.toys.notes import MOVES, NoteToy, State
from workers.training.toys.registry import TOYS
from workers.training.toys.trio import MAP, TrioToy


class ScriptedPolicy(Policy):
    """A policy whose answers are a function of the prompt."""

    def __init__(self, answer: Any) -> None:
        plain = a_policy()
        super().__init__(plain.model, plain.tokenizer, version=1)
        self._answer = answer

    def draw(self, prompts: Any, *, most: int, stop: str = "") -> list[Completion]:
        answers = [self.encode(self._answer(self.text(prompt))) for prompt in prompts]
        return [Completion(tuple(one[:most]), tuple(-1.0 for _ in one[:most]), "stop") for one in answers]


def played(toy: Any, answer: Any, rows: int = 400) -> tuple[list[Any], dict[str, float]]:
    trajectories = toy.rollouts(ScriptedPolicy(answer), np.random.default_rng(0), rows)
    return trajectories, toy.measures()


def test_sampled_tokens_have_the_models_own_log_probabilities() -> None:
    policy = a_policy()
    prompts = [policy.encode("12="), policy.encode("3456=")]
    for prompt, one in zip(prompts, policy.draw(prompts, most=4, stop=";"), strict=True):
        with torch.no_grad():
            logits = policy.model(input_ids=torch.tensor([[*prompt, *one.ids]])).logits[0, len(prompt) - 1 : -1]
        expected = logits.log_softmax(-1).gather(1, torch.tensor(one.ids)[:, None])[:, 0]
        assert one.logprobs == pytest.approx(expected.tolist(), abs=1e-4)
        assert (one.finish_reason == "length") == (len(one.ids) == 4 and policy.text(one.ids[-1:]) not in (";", ""))


def test_rows_that_have_ended_leave_the_batch_without_changing_the_others() -> None:
    policy = a_policy()
    prompts = [policy.encode(f"{number}=") for number in range(60)]
    drawn = policy.draw(prompts, most=40, stop="0123456789")
    assert len({len(one.ids) for one in drawn}) > 3
    for prompt, one in zip(prompts, drawn, strict=True):
        with torch.no_grad():
            logits = policy.model(input_ids=torch.tensor([[*prompt, *one.ids]])).logits[0, len(prompt) - 1 : -1]
        expected = logits.log_softmax(-1).gather(1, torch.tensor(one.ids)[:, None])[:, 0]
        assert one.logprobs == pytest.approx(expected.tolist(), abs=1e-4)
        assert not set(one.ids[:-1]) & {policy.tokenizer.eos_token_id, *policy.encode("0123456789")}


def test_a_policys_samples_depend_on_its_seed() -> None:
    first, again, other = (a_policy(seed).draw([[4, 5]] * 4, most=3) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("demonstrations", [False, True])
def test_a_toys_rows_are_valid(name: str, demonstrations: bool) -> None:
    toy, policy = TOYS[name](), a_policy() if name != "arithmetic" else Policy(*tiny_base(SMALL | {"prompts": True}, 0))
    given = (toy.demonstrations if demonstrations else toy.rollouts)(policy, np.random.default_rng(0), 720)
    recipe = (
        {"lemmas": "orealh_cold_start"}.get(name, "turn_sft") if demonstrations else {"trio": "marsrl"}.get(name, "turn_ppo")
    )
    rows: list[Row] = RECIPES[recipe].rows(given)
    assert rows
    for number, one in enumerate(rows):
        check_row(one, f"row {number}", needs_logprobs=not demonstrations, needs_advantage=False)


def test_asking_the_tool_solves_the_toy_and_guessing_rarely_does() -> None:
    def asks(prompt: str) -> str:
        return prompt.split(":")[1].rstrip("=") + ";" if ":" in prompt else f"!{prompt[1]};"

    trajectories, measured = played(AskToy(), asks)
    assert measured == {"solved": 1.0, "tool_rate": 1.0}
    assert [len(one.turns) for one in trajectories] == [2] * len(trajectories)
    guessed, measured = played(AskToy(), lambda _: "47;")
    assert measured["solved"] < 0.1
    assert measured["tool_rate"] == 0
    assert [len(one.turns) for one in guessed] == [1] * len(guessed)


def test_asking_for_another_key_gives_another_number() -> None:
    def asks(prompt: str) -> str:
        return prompt.split(":")[1].rstrip("=") + ";" if ":" in prompt else f"!{(int(prompt[1]) + 1) % 10};"

    assert played(AskToy(), asks)[1]["solved"] < 0.1


def test_a_single_row_contains_the_tools_text_masked() -> None:
    def asks(prompt: str) -> str:
        return "47;" if ":" in prompt else f"!{prompt[1]};"

    trajectories, _ = played(AskToy(single=True), asks, 16)
    (turn,) = trajectories[0].turns
    assert turn.loss_mask == [1, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    assert np.isnan(turn.logprobs[3:7]).all()


def test_lemmas_are_valid_only_in_order_and_prove_only_together() -> None:
    def proves(prompt: str) -> str:
        problem, library = int(prompt[0]), prompt[2:-1]
        return str(problem + 1) if prompt.endswith("!") else LETTERS[3 * problem + min(2, len(library))]

    trajectories, measured = played(LemmaToy(), proves)
    assert measured["solved"] == 1.0
    assert measured["masked_rounds"] == 0.25, "three lemmas in four rounds"
    assert trajectories[0].votes is not None
    assert len(trajectories[0].derived) == 2
    skips = played(LemmaToy(), lambda prompt: proves(prompt) if prompt.endswith("!") else LETTERS[3 * int(prompt[0]) + 2])
    assert skips[1]["solved"] == 0.0
    assert skips[1]["masked_rounds"] == 1.0
    side, measured = played(LemmaToy(), lambda prompt: proves(prompt) if prompt.endswith("!") else "x")
    assert (measured["solved"], side[0].turns[0].lemmas) == (0.0, ["x"])


def test_three_roles_are_rewarded_individually() -> None:
    def right(prompt: str) -> str:
        digit = int(prompt[1])
        return ("y" if prompt[3] == str(MAP[digit]) else "n") if prompt.endswith("?") else str(MAP[digit])

    solved, measured = played(TrioToy(planted=False), right, 144)
    assert measured == {"solved": 1.0, "verifier1": 1.0, "spared": 1.0, "silent": 1.0}
    assert {turn.role for turn in solved[0].turns} == {"solver", "verifier1"}, "nothing was flagged"

    def flags(prompt: str) -> str:
        return "n" if prompt.endswith("?") else "0"

    trajectories, measured = played(TrioToy(), flags, 720)
    assert (measured["found"], measured["spared"]) == (1.0, 0.0)
    assert [len(one.turns) for one in trajectories] == [8 + 4 * 16] * 10
    mixed = [turn for one in trajectories for turn in one.turns if turn.role == "corrector2"]
    assert {turn.reward for turn in mixed} == {0.0, 1.0}


def test_a_verifier_sees_right_and_wrong_answers_even_of_a_perfect_or_hopeless_solver() -> None:
    def solves(prompt: str) -> str:
        return "y" if prompt.endswith("?") else str(MAP[int(prompt[1])])

    for solver, answer in (("perfect", solves), ("hopeless", lambda prompt: "y" if prompt.endswith("?") else "x")):
        _, measured = played(TrioToy(), answer, 720)
        assert (measured["found"], measured["spared"], measured["verifier1"]) == (0.0, 1.0, 0.5), solver
    everything, _ = played(TrioToy(), lambda prompt: "n" if prompt.endswith("?") else solves(prompt), 72)
    assert {turn.role for turn in everything[0].turns} == {"solver", "verifier1", "corrector1", "verifier2", "corrector2"}


def test_a_single_trajectory_ends_with_the_first_answer_that_is_not_flagged() -> None:
    def corrects(prompt: str) -> str:
        digit = int(prompt[1])
        if prompt.endswith("?"):
            return "y" if prompt[3] == str(MAP[digit]) else "n"
        return "x" if prompt[0] == "s" else str(MAP[digit])

    trajectories, measured = played(TrioToy(single=True), corrects, 80)
    assert [turn.role for turn in trajectories[0].turns] == ["solver", "verifier1", "corrector1", "verifier2"]
    assert (measured["solved"], measured["final"], measured["found"], measured["spared"]) == (0.0, 1.0, 1.0, 1.0)
    assert {one.reward for one in trajectories} == {1.0}
    assert all(turn.reward is None and not turn.group for one in trajectories for turn in one.turns)


def moved(digit: str, moves: str) -> str:
    """The digits after each of the next two moves."""
    found = ""
    for move in moves[:2]:
        digit = str(MOVES[move][int(digit)])
        found += digit
    return found


def test_a_note_carries_a_chain_to_its_end_and_only_attempts_that_reach_it_are_right() -> None:
    def makes_moves(prompt: str) -> str:
        note = prompt.partition(";")[2].rstrip("=")
        return moved(note[0], note[1:])

    trajectories, measured = played(NoteToy(), makes_moves)
    assert measured == {"solved": 1.0, "reward": 0.5}
    for one in trajectories:
        note = ScriptedPolicy(makes_moves).text(one.turns[0].prompt_ids).partition(";")[2].rstrip("=")
        assert one.turns[0].reward == (7.0 if len(note) <= 3 else 0.0)
    bare, measured = played(NoteToy(states="bare"), makes_moves)
    assert measured["solved"] == 1.0
    assert {one.turns[0].reward for one in bare} == {0.0}


def test_a_wrong_note_cannot_lead_to_the_answer() -> None:
    state = State("7abba", "7abba")
    wrong = state.after(f"{moved('7', 'ab')[0]}{(int(moved('7', 'ab')[1]) + 1) % 10}")
    assert wrong is not None
    assert wrong.is_last
    assert wrong.prompt.startswith("7abba;")
    assert (state.after("1"), state.after("1+")) == (None, None)


def test_attempts_at_a_state_are_a_group_and_with_another_option_those_at_a_problem_are() -> None:
    groups = {}
    for option in ("state", "problem"):
        trajectories, _ = played(NoteToy(groups=option), lambda _: "12", rows=64)
        groups[option] = {(one.problem_id, one.turns[0].group) for one in trajectories}
    assert (len(groups["state"]), len(groups["problem"])) == (8, 4)
