"""The option `verifier_marks` of scaffolds with candidates: judges read which formulas are proved and refuted."""

import pytest

from apps.reasoning.domain.values import Value
from apps.reasoning.programs.registry import SCAFFOLDS
from tests.graders.grade import grading
from tests.reasoning.checked import CheckingDispatcher, play_checked
from tests.reasoning.play import proof

WRITES = proof("We add: $2+2=5$, and $3+3=6$.", "So it holds.")
JUDGED = "<decision>pass</decision>"
#: By scaffold, parameters and answers of a short run, and the pattern of the calls that judge.
CASES: dict[str, tuple[dict[str, object], dict[str, str], str]] = {
    "self_check": ({"improve": False, "accept": 2, "iterations": 2}, {"solve*": WRITES, "check/*": JUDGED}, "check/"),
    "solver_verifier_corrector": ({"accept": 2, "corrections": 0}, {"solve*": WRITES, "check/*": JUDGED}, "check/"),
    "nomos": (
        {"solutions": 2, "kept": 1},
        {"solve*": WRITES, "mark/*": "<score>7</score>", "*": "<groups><group>c1.1</group></groups>"},
        "mark/",
    ),
    "deepseek_math": (
        {"proofs": 1, "examinations": 2, "rounds": 1},
        {"round/*": WRITES, "examine/*": "<score>1</score>"},
        "examine/",
    ),
    "rsa": (
        {"population": 2, "subset": 2, "steps": 1},
        {"step/*": WRITES, "final/*": "<better>A</better>"},
        "final/",
    ),
    "reasoning_cache": (
        {"turns": 1, "states": 1, "attempts": 2, "marks": True},
        {"*/summarise": "<state>We add the terms of both ends.</state>", "mark/*": "<score>7</score>", "*": WRITES},
        "mark/",
    ),
    "best_of": ({"solutions": 2}, {"solve*": WRITES, "grade/*": grading(3), "duel/*": "<better>A</better>"}, "duel/"),
}
#: Scaffolds without a call that judges.
UNJUDGED = {"single_call", "majority_vote"}


async def judged(name: str, *, marked: bool) -> CheckingDispatcher:
    changes, answers, _ = CASES[name]
    params: Value = SCAFFOLDS[name].read_params({**changes, "verifier_marks": marked})
    return (await play_checked(answers, params, scaffold=name)).dispatcher


@pytest.mark.parametrize("name", CASES)
async def test_every_judge_reads_the_marks_and_a_candidate_is_checked_once(name: str) -> None:
    played = await judged(name, marked=True)
    prompts = [played.prompt(key) for key in played.keys if CASES[name][2] in key and not key.endswith("/again")]
    assert prompts
    for prompt in prompts:
        assert "step 1: `2+2=5` is refuted (4 against 5)." in prompt
        assert "step 1: `3+3=6` is proved" in prompt
        assert "says nothing about whether the step follows" in prompt
    own = [key for key in played.checked if key.startswith("formulas/")]
    assert len(own) == len(set(own)) > 0


@pytest.mark.parametrize("name", CASES)
async def test_without_the_option_no_prompt_changes_and_nothing_more_is_checked(name: str) -> None:
    played = await judged(name, marked=False)
    assert not [key for key in played.checked if key.startswith("formulas/")]
    assert not [key for key in played.keys if "What a program found" in played.prompt(key)]


async def test_a_judge_of_pairs_reads_the_marks_of_both_under_their_headings() -> None:
    played = await judged("rsa", marked=True)
    prompt = played.prompt(next(key for key in played.keys if key.startswith("final/")))
    _, _, marks = prompt.partition("What a program found")
    first, _, second = marks.partition("Solution B")
    assert "Solution A\n<<<CONTENT" in first
    assert marks.count("`2+2=5` is refuted") == second.count("`2+2=5` is refuted") * 2 == 2


async def test_the_grader_of_best_of_reads_the_marks_of_each_proof() -> None:
    played = await judged("best_of", marked=True)
    for name in ("c1.1", "c1.2"):
        assert "step 1: `2+2=5` is refuted" in played.prompt(f"grade/{name}/grade")
        assert f"grade/{name}/formulas" in played.checked
    plain = await judged("best_of", marked=False)
    assert [key for key in plain.checked if not key.startswith("check/")] == []


def test_every_scaffold_whose_calls_judge_has_the_option_and_it_is_off() -> None:
    with_it = {name for name, one in SCAFFOLDS.items() if "verifier_marks" in one.params.model_fields}
    assert with_it == {*CASES, "grouped_agents", "alpha_apollo", "intern_s1_mo"} == SCAFFOLDS.keys() - UNJUDGED
    assert not any(SCAFFOLDS[name].params.model_fields["verifier_marks"].default for name in with_it)
