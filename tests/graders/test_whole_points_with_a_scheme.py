"""Graders of QED-Nano's Tables 4 and 5: whole points from 0 to 7 with a scheme, in manners that differ in their words."""

from typing import Any

import pytest

from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.graders.whole_points import MANNERS
from apps.reasoning.marking.schemes.text_form import text_read
from tests.graders.grade import REFERENCES, finding, grade, grading
from tests.graders.schemes import CHAINS

ALL = sorted(MANNERS)
WITH: dict[str, Any] = {"scheme": CHAINS, "references": ("", *REFERENCES)}
#: A passage that occurs in the prompt of one manner only.
OWN = {
    "proofbench_strict": "A part of the scheme that the script leaves out costs its points.",
    "proofbench_strict_ref": "A part of the scheme that the script leaves out costs its points.",
    "proofbench": "Another order, other lemmas, or a correct shortcut cost nothing",
    "gimo": "You verify; you do not solve.",
    "simple": "Compare the script with the problem, with the correct solution",
    "opc": "Be wary: the author may be a model",
}


@pytest.mark.parametrize("workflow", ALL)
async def test_points_are_whole_and_come_with_findings(workflow: str) -> None:
    run = await grade(workflow, {"*": grading(4, finding())}, **WITH)
    assert run.points == 4
    assert run.grading.workflow == workflow
    assert run.grading.scale == 7
    assert [one.step for one in run.grading.findings] == [2]
    assert run.dispatcher.keys == [f"grade/{workflow}"]


@pytest.mark.parametrize("said", ["2.5", "8", "all"])
async def test_half_points_and_points_off_the_scale_are_none(said: str) -> None:
    run = await grade("proofbench_strict", {"*": grading(said, finding())}, **WITH)
    assert run.points is None


@pytest.mark.parametrize("workflow", ALL)
async def test_each_manner_has_its_words_the_scheme_and_a_reference_where_the_paper_shows_one(workflow: str) -> None:
    run = await grade(workflow, {"*": grading(4)}, **WITH)
    prompt = run.dispatcher.prompt(f"grade/{workflow}")
    assert [name for name, words in OWN.items() if words in prompt and words == OWN[workflow]]
    assert not [words for words in OWN.values() if words in prompt and words != OWN[workflow]]
    assert "checkpoint A2, 5 points, chain A, needs A1" in prompt
    assert (REFERENCES[0] in prompt) == MANNERS[workflow].has_reference


async def test_strict_with_a_reference_is_the_strict_prompt_with_the_reference_added() -> None:
    alone = await grade("proofbench_strict", {"*": grading(4)}, **WITH)
    with_reference = await grade("proofbench_strict_ref", {"*": grading(4)}, **WITH)
    (first,), (second,) = alone.dispatcher.requests, with_reference.dispatcher.requests
    assert first.messages[0] == second.messages[0]
    added = second.messages[1].content
    start, end = added.index("## A correct solution"), added.index("## Marking scheme")
    assert added[:start] + added[end:] == first.messages[1].content


@pytest.mark.parametrize("workflow", ALL)
def test_what_is_missing_is_said_before_the_run(workflow: str) -> None:
    grader = GRADERS[workflow]
    without = grader.params.model_validate({"script": "x", "references": REFERENCES})
    assert grader.lacks(without) == f"{grader.title} needs a marking scheme."  # type: ignore[arg-type]
    alone = grader.params.model_validate({"script": "x", "scheme": CHAINS})
    lack = f"{grader.title} needs a reference solution." if MANNERS[workflow].has_reference else ""
    assert grader.lacks(alone) == lack  # type: ignore[arg-type]


def test_a_scheme_of_another_scale_is_refused_with_what_to_take() -> None:
    grader = GRADERS["proofbench"]
    ten = grader.params.model_validate({"script": "x", "scheme": text_read("scale 10\ncheckpoint A1, 10 points: All of it.")})
    assert grader.lacks(ten) == (  # type: ignore[arg-type]
        "Whole points from 0 to 7 need a marking scheme of 7 points; this one has 10. Use the grader “Marking scheme”."
    )
    broken = grader.params.model_validate({"script": "x", "scheme": text_read("scale 7\ncheckpoint A1, 3 points: Half.")})
    assert "has errors" in grader.lacks(broken)  # type: ignore[arg-type]


def test_each_names_its_table() -> None:
    assert {GRADERS[name].source for name in ALL} == {"QED-Nano, Table 4, App. E", "QED-Nano, Table 5, App. A"}
