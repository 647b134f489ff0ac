"""An estimate knows how long the texts are: prompts as they would be sent, answers as measured or as in the papers."""

from typing import Any

import pytest

from apps.reasoning.graders.grader import costs
from apps.reasoning.graders.lengths import CHARACTERS, REPORT, prompt_tokens, with_lengths
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.registry import GRADERS, PREPARERS
from apps.reasoning.prompts.loader import load
from tests.graders.answers import EXAMINED, FOLLOWS, WHOLE, value
from tests.graders.grade import PROBLEM, REFERENCES, SCRIPT, grade, grading
from tests.graders.schemes import CHAINS, PLAIN, decided, given

TABLE = {
    "grade/scheme": grading(2, *decided("A1")),
    "grade/points/*": grading(3, *given(1, 2, 0)),
    "grade/single_turn": grading(3),
    "judge_*": grading(3),
    "grade": grading(3),
    **WHOLE,
    **EXAMINED,
    "examine/*": value(0.5, "It is so. " * (REPORT // 10)),
    **FOLLOWS,
}


def tokens_of(workflow: str, script: str = SCRIPT, **params: Any) -> dict[str, int]:
    material = {**GRADERS, **PREPARERS}[workflow].read_params({"script": script, **params})
    assert isinstance(material, Material)
    return prompt_tokens(workflow, PROBLEM, material)


@pytest.mark.parametrize("workflow", GRADERS)
async def test_prompts_are_about_as_long_as_those_that_are_sent(workflow: str) -> None:
    needs = GRADERS[workflow].needs
    params: dict[str, Any] = {"references": REFERENCES} if "references" in needs else {}
    params |= {"scheme": CHAINS if workflow == "scheme" else PLAIN} if "scheme" in needs else {}
    run = await grade(workflow, TABLE, **params)
    sent: dict[str, list[int]] = {}
    for request in run.dispatcher.requests:
        sent.setdefault(request.role, []).append(sum(len(one.content) for one in request.messages))
    said = tokens_of(workflow, **params)
    for role, lengths in sent.items():
        assert said[role] == pytest.approx(sum(lengths) / len(lengths) / CHARACTERS, rel=0.2), role


def test_four_characters_of_a_text_are_a_token_more() -> None:
    short, long = "a" * 400, "a" * 800
    assert tokens_of("single_turn", long)["grader"] - tokens_of("single_turn", short)["grader"] == 100
    assert tokens_of("single_turn", guidelines=short)["grader"] - tokens_of("single_turn")["grader"] == 100
    even, uneven = (tokens_of("ref5_plain", references=(short, other)) for other in (short, long))
    # The clusterer reads both, the matcher both as representatives, the others one of 600 on the mean, twice with what is
    # made from it.
    more = {role: uneven[role] - even[role] for role in even}
    assert more == {"clusterer": 100, "matcher": 100, "analyst": 50, "designer": 100, "grader": 100}


def test_the_whole_of_a_prompt_by_hand() -> None:
    ours = [load(f"grading/{name}") for name in ("single_turn", "forms/total_tags", "forms/fallacies")]
    characters = sum(len(one.system) + len(one.user) for one in [*ours, load("shared/forms/fence_rule")])
    characters += len("Prove that $n^2+n$ is even for every integer $n$.") + len("Step 1. It is so.")
    assert tokens_of("single_turn", "It is so.") == {"grader": -(-characters // 4)}


def test_preparing_references_is_measured_as_in_a_grading() -> None:
    prepared = tokens_of("prepare", references=REFERENCES, manners=["ref5_milestones"])
    graded = tokens_of("ref5_milestones", references=REFERENCES)
    assert {role: prepared[role] for role in ("clusterer", "analyst", "designer")} == {
        role: graded[role] for role in ("clusterer", "analyst", "designer")
    }


def test_groups_that_are_there_are_what_a_script_is_compared_with() -> None:
    references = ("a" * 400, "b" * 800, "c" * 1200)
    clusters = {"clusters": [{"members": [1, 2, 3], "representative": 3, "steps": ["One."]}]}
    made = tokens_of("ref3", references=references, prepared={"clusters/x": clusters})
    # Two of the mean length of 800 before, one of 1,200 now.
    assert tokens_of("ref3", references=references)["matcher"] - made["matcher"] == 100


def test_answers_are_as_measured_where_they_were_and_never_longer_than_they_may_be() -> None:
    papers = costs({"matcher": (0, 1, 1), "grader": (0, 8, 8)}, {"matcher": (9_000, 4_000), "grader": (9_000, 9_000)}, None, "")
    assert papers.tokens_expected == 13_000 + 8 * 18_000
    prompts = {"matcher": 500, "grader": 1_000}
    found = with_lengths(papers, prompts, {"grader": 300})
    assert [(one.role, one.tokens_expected, one.written_expected) for one in found.roles] == [
        ("matcher", 500 + 4_000, 4_000), ("grader", 8 * 1_300, 8 * 300),
    ]  # fmt: skip
    assert found.tokens_expected == 4_500 + 10_400
    bound = with_lengths(papers, prompts, {"grader": 300}, {"matcher": 4_000, "grader": 200})
    assert bound.tokens_expected == 4_500 + 8 * 1_200
    assert bound.tokens_max == (500 + 4_000) + 8 * (1_000 + 200)
    assert (found.calls_expected, found.calls_max) == (papers.calls_expected, papers.calls_max) == (9, 9)


def test_a_role_that_is_not_asked_costs_nothing() -> None:
    papers = costs({"clusterer": (0, 0, 1)}, {"clusterer": (15_000, 8_000)}, None, "")
    assert with_lengths(papers, {"clusterer": 500}, {"clusterer": 300}).tokens_expected == 0
