"""An answer in the layout of its prompt is a solution where the given one was changed, and none where it was not."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.layouts import UNCHANGED
from apps.reasoning.reading.proofs import WAY_WORDS, ReadProof, read_proof
from tests.reasoning.play import final

GIVEN = "Step 1. Let $O$ be the centre, so $OA=OB$ and $2<3$.\nStep 2. Then the triangle is isosceles."
BETTER = (
    "Step 1. Let $O$ be the centre of the circle. All radii are equal.\n**Step 2.** So $OA=OB$, and the triangle is isosceles."
)
STEPS = ("Let $O$ be the centre of the circle. All radii are equal.", "So $OA=OB$, and the triangle is isosceles.")
REPORT = "Step 1 does not say why the two segments are equal, and that is all."


def layout(solution: str, title: str = "Solution", report: str = REPORT) -> str:
    return (
        "## Problem\n<<<CONTENT aaaa>>>\nProve that the triangle is isosceles.\n<<<END aaaa>>>\n\n"
        f"## {title}\n<<<CONTENT bbbb>>>\n{solution}\n<<<END bbbb>>>\n\n"
        f"## Report of the verifier\n<<<CONTENT cccc>>>\n{report}\n<<<END cccc>>>\n\n"
        "## Your task\nHand in the corrected solution."
    )


PROMPT = "You receive a solution, and hand in one that is correct.\n\n" + layout(GIVEN)


def read(answer: str, prompt: str = PROMPT, reason: str = "stop") -> ReadProof | Unscored:
    found = read_proof(final(answer, finish_reason=reason), prompt)
    assert isinstance(found, ReadProof | Unscored)
    return found


@pytest.mark.parametrize(
    "answer",
    [
        layout(BETTER),
        layout(BETTER).partition("## Report")[0],
        layout(BETTER).partition("## Solution")[2].join(("## Solution", "")),
        "Let me correct it.\n\n" + layout(BETTER),
        layout(BETTER).replace("<<<CONTENT bbbb>>>\n", "").replace("\n<<<END bbbb>>>", ""),
        layout(BETTER).replace("\n<<<END bbbb>>>", ""),
        layout(GIVEN) + f"\n\n## Corrected solution\n{BETTER}",
    ],
)
def test_the_changed_solution_is_read_from_under_its_heading(answer: str) -> None:
    assert read(answer) == ReadProof(steps=STEPS, way="layout")
    assert "in place of the given solution" in WAY_WORDS["layout"]


@pytest.mark.parametrize(
    "copy",
    [
        GIVEN,
        "Step 1: Let \\( O \\) be the centre so \\( OA = OB \\) and \\( 2 < 3 \\)\nStep 2. Then, the Triangle is isosceles.",
        GIVEN.replace("Step 1. ", "").replace("Step 2. ", "**Step 2:** "),
    ],
)
def test_the_given_solution_is_none_whatever_signs_were_changed(copy: str) -> None:
    assert read(layout(copy)) == Unscored(reason=UNCHANGED)
    assert read(layout(copy, report="This report says something else, but it is no solution of it.")) == Unscored(
        reason=UNCHANGED
    )


@pytest.mark.parametrize(
    "changed",
    [
        GIVEN.replace("$2<3$", "$2<3.5$"),
        GIVEN.replace("isosceles", "not isosceles"),
        GIVEN.replace(" and $2<3$", ""),
        GIVEN.replace("Then", "All radii of one circle have the same length, which gives two equal sides. Then"),
    ],
)
def test_one_word_or_formula_that_was_changed_is_a_difference(changed: str) -> None:
    assert isinstance(read(layout(changed)), ReadProof)


def test_a_copy_that_was_cut_off_is_read_as_far_as_it_goes_and_none_before_it_differs() -> None:
    changed, _, _ = layout(BETTER).partition(", and the triangle")
    found = read(changed, reason="length")
    assert found == ReadProof(steps=(STEPS[0], "So $OA=OB$"), way="cut")
    assert read(layout(BETTER), reason="length") == ReadProof(steps=STEPS, way="layout")
    assert read(layout(GIVEN)[:180], reason="length") == Unscored(reason=UNCHANGED)


def test_several_changed_solutions_are_none() -> None:
    two = "## Problem\n\n## Solutions of others\nSolution 1\n{}\n\nSolution 2\n{}\n\n## Your task\nHand in one."
    prompt = two.format("<<<CONTENT aaaa>>>\nBy induction.\n<<<END aaaa>>>", "<<<CONTENT bbbb>>>\nBy cases.\n<<<END bbbb>>>")
    one_changed = prompt.replace("By cases.", f"By cases, as follows here: {BETTER}")
    assert isinstance(read(one_changed, prompt), ReadProof)
    both = one_changed.replace("By induction.", "By induction on the number of points of the circle, as follows.")
    found = read(both, prompt)
    assert isinstance(found, Unscored)
    assert "several changed solutions" in found.reason


def test_where_the_prompt_gives_no_solution_its_headings_are_no_layout() -> None:
    prompt = PROMPT.replace("## Solution", "## Working notes of a round that claimed a complete solution")
    changed = layout(BETTER).replace("## Solution", "## Working notes of a round that claimed a complete solution")
    assert isinstance(read(changed, prompt), ReadProof)
    assert read(f"## Solution\n{BETTER}", "Solve it.\n\n## Problem\n\n## Your task") != Unscored(reason=UNCHANGED)
    assert read(f"## Solution\n\n{BETTER}") == ReadProof(steps=(BETTER,), way="whole")
