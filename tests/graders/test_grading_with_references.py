"""Graders that compare with references: their steps in order, pieces made once, and what happens where one cannot be read."""

from decimal import Decimal
from typing import Any

import pytest

from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.prompts import loader
from tests.graders.answers import CLUSTERS, FOLLOWS, by_items, rubric
from tests.graders.grade import REFERENCES, SCRIPT, grade, grading

TRACES = {
    "ref3": ["cluster", "match", "grade/ref3"],
    "ref5_plain": ["cluster", "match", "analyse/C1/plain", "rubric/C1/plain/steps", "grade/ref5_plain"],
    "ref5_approachability": ["cluster", "match", "analyse/C1/scored", "rubric/C1/scored/steps", "grade/ref5_approachability"],
    "ref5_milestones": ["cluster", "match", "analyse/C1/plain", "rubric/C1/plain/milestones", "grade/ref5_milestones"],
    "ref5_hybrid": ["cluster", "match", "analyse/C1/scored", "rubric/C1/scored/milestones", "grade/ref5_hybrid"],
}
WITH_RUBRIC = [name for name in TRACES if name != "ref3"]


@pytest.mark.parametrize("workflow", TRACES)
async def test_the_steps_are_those_of_the_paper_in_their_order(workflow: str) -> None:
    run = await grade(workflow, FOLLOWS, references=REFERENCES)
    assert run.dispatcher.keys == TRACES[workflow]
    assert run.points == (Decimal(2) if workflow == "ref3" else Decimal("2.5"))
    assert run.grading.findings[0].anchor is not None


@pytest.mark.parametrize("workflow", TRACES)
async def test_prepared_pieces_are_reused_for_the_next_script_and_reported_as_cached(workflow: str) -> None:
    first = await grade(workflow, FOLLOWS, references=REFERENCES)
    second = await grade(workflow, FOLLOWS, references=REFERENCES, prepared=first.pieces, script=SCRIPT + "\n\nQ. E. D.")
    assert second.dispatcher.keys == ["match", f"grade/{workflow}"]
    pieces = [event.model_dump() for _, _, event in second.journal.events if event.kind == "grading.prepared"]
    assert pieces
    assert all(piece["is_cached"] and not piece["call"] for piece in pieces)
    assert second.pieces == first.pieces


async def test_other_references_are_prepared_again() -> None:
    first = await grade("ref5_plain", FOLLOWS, references=REFERENCES)
    others = (REFERENCES[0] + " Done.", *REFERENCES[1:])
    second = await grade("ref5_plain", FOLLOWS, references=others, prepared=first.pieces)
    assert len(second.dispatcher.keys) == 5


async def test_a_single_reference_needs_neither_sorting_nor_a_match() -> None:
    run = await grade("ref5_plain", FOLLOWS, references=REFERENCES[:1])
    assert run.dispatcher.keys == ["analyse/C1/plain", "rubric/C1/plain/steps", "grade/ref5_plain"]


async def test_the_grader_sees_the_matched_reference_and_its_rubric() -> None:
    run = await grade("ref5_plain", FOLLOWS, references=REFERENCES)
    prompt = run.dispatcher.prompt("grade/ref5_plain")
    assert REFERENCES[0] in prompt
    assert REFERENCES[1] not in prompt
    assert "M2, 4 points. Step 2: It is proved." in prompt


async def test_a_text_that_is_no_attempt_is_in_no_cluster() -> None:
    run = await grade("ref3", FOLLOWS, references=REFERENCES)
    clusters = next(value for piece, value in run.pieces.items() if piece.startswith("clusters/"))
    assert [cluster["members"] for cluster in clusters["clusters"]] == [[1], [2]]


@pytest.mark.parametrize("workflow", WITH_RUBRIC)
async def test_items_come_with_points_reasons_and_the_chain_of_the_error(workflow: str) -> None:
    found = (await grade(workflow, FOLLOWS, references=REFERENCES)).grading
    assert [(item.code, item.points, item.most) for item in found.items] == [
        ("M1", Decimal("2.5"), Decimal(3)),
        ("M2", Decimal(0), Decimal(4)),
    ]
    assert [link.name for link in found.chains[0].links] == ["E1", "M2"]
    assert found.chains[0].words == "E1 (step 2) → main step 2 (step 3) → the conclusion falls"
    # A part without words or with another letter is none; of several steps the first counts.
    assert [(one.called, one.step) for one in found.parts] == [
        ("main step 1", 1), ("sub-step 1", 1), ("main step 2", 3), ("claim 1", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("broken", [rubric(3, 3), rubric(7, 1), "<rubric></rubric>", rubric(3), "no"])
async def test_a_rubric_that_is_not_seven_points_is_asked_for_once_more_and_then_said_to_be_none(broken: str) -> None:
    run = await grade("ref5_plain", {"rubric/*": broken} | FOLLOWS, references=REFERENCES)
    assert run.points is None
    assert run.grading.unscored.startswith("no rubric could be made")
    assert run.grading.raw == broken
    assert run.dispatcher.keys[-1] == "rubric/C1/plain/steps/again"
    assert not any(piece.startswith("rubric/") for piece in run.pieces)


async def test_a_rubric_mended_in_the_second_answer_serves() -> None:
    table = {"rubric/*/again": rubric(3, 4), "rubric/*": rubric(3, 3)} | FOLLOWS
    run = await grade("ref5_plain", table, references=REFERENCES)
    assert run.points == Decimal("2.5")


async def test_points_by_approachability_are_computed_and_may_not_be_others() -> None:
    run = await grade("ref5_approachability", {"rubric/*": rubric(4, 3)} | FOLLOWS, references=REFERENCES)
    assert "[3, 4] are wanted" in run.grading.unscored
    assert "3, 4" in run.dispatcher.prompt("rubric/C1/scored/steps")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (by_items(2.5), "points are wanted for exactly M1, M2"),
        (by_items(2.25, 0), "multiples of 0.5"),
        (by_items(3.5, 0), "from 0 to 3"),
        (by_items(3, 1, total=5), "the total is 5, the items sum to 4"),
    ],
)
async def test_points_that_do_not_fit_the_rubric_are_no_points(said: str, why: str) -> None:
    run = await grade("ref5_plain", {"grade/*": said} | FOLLOWS, references=REFERENCES)
    assert run.points is None
    assert why in run.grading.unscored


@pytest.mark.parametrize(
    ("key", "said", "why"),
    [
        ("cluster", CLUSTERS.replace('members="2"', 'members="1, 2"'), "is in two clusters"),
        ("cluster", CLUSTERS.replace('representative="2"', 'representative="3"'), "not one of its cluster"),
        ("cluster", "They are all alike.", "there is no <clusters>"),
        ("match", '<matching><same step="1" cluster="C1" other="1"/></matching>', "a main step that it does not list"),
        ("match", '<matching><main-step>x</main-step><same step="1" cluster="C9" other="1"/></matching>', "of C9"),
        ("analyse/C1/plain", '<analysis><main-step title="One"></main-step></analysis>', "main_steps"),
    ],
)
async def test_a_preparation_that_cannot_be_read_leaves_the_script_unscored(key: str, said: str, why: str) -> None:
    run = await grade("ref5_plain", {f"{key}*": said} | FOLLOWS, references=REFERENCES)
    assert run.points is None
    assert why in run.grading.unscored
    assert run.dispatcher.keys[-1] == f"{key}/again"


async def test_an_analysis_with_approachability_must_have_it() -> None:
    run = await grade("ref5_hybrid", {"analyse/*": FOLLOWS["analyse/C1/plain"]} | FOLLOWS, references=REFERENCES)
    assert "no approachability" in run.grading.unscored


def test_a_grader_that_needs_references_says_so_before_the_run() -> None:
    grader = GRADERS["ref3"]
    params = grader.params.model_validate({"script": "x", "references": ["  "]})
    assert grader.lacks(params) == "With a reference needs a reference solution."  # type: ignore[arg-type]


@pytest.mark.parametrize("guidelines", ["", "Give 1 for the factors."])
async def test_ref3_asks_what_single_turn_asks_and_adds_the_reference_alone(guidelines: str) -> None:
    shown: dict[str, Any] = {"guidelines": guidelines, "view": {"guidelines": True}} if guidelines else {}
    alone = await grade("single_turn", {"*": grading(3)}, **shown)
    shown = {"guidelines": guidelines, "view": {"guidelines": True, "reference": True}} if guidelines else {}
    with_reference = await grade("ref3", {"*": grading(3)}, references=REFERENCES[:1], **shown)
    (first,), (second,) = alone.dispatcher.requests, with_reference.dispatcher.requests
    assert first.messages[0] == second.messages[0], "the same instructions, letter for letter"
    plain, added = first.messages[1].content, second.messages[1].content
    start = added.index("## A correct solution")
    end = added.index("## Guidelines for markers")
    assert added[:start] + added[end:] == plain
    block = added[start:end]
    assert REFERENCES[0] in block
    assert "What contradicts it is wrong." in block


def test_both_are_made_from_one_file() -> None:
    assert not [name for name in loader.names("grading") if "with_reference" in name]
    assert "earns 1 at most" in loader.load("grading/single_turn").system
