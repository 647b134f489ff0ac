"""What a small model writes is read in any form that leaves no doubt; where only the points are missing, they are asked for.

The Markdown is that of a model of 1.5 billion parameters, which was asked for tags.
"""

import json

import pytest

from apps.reasoning.domain.errors import RequestRejected
from tests.graders.grade import SCRIPT, finding, grade, grading
from tests.graders.schemes import CHAINS, PLAIN, decided, given

PROSE = """## Issue
The solution only checks the formula for three instances and concludes that it holds for every integer.

## Severity
`critical`
"""
NO_FORM = "Not read: its findings, which have no form."
UNCLOSED = grading(3, finding()).removesuffix("</grading>")
IN_JSON = '{"findings": [], "feedback": "Look again.", "points": 3}'


@pytest.mark.parametrize(
    "said",
    [
        f"{PROSE}\n## Points\n3",
        f"{PROSE}\n## Points\n\n**3/7**",
        f"{PROSE}\n**Score:** 3",
        f"{PROSE}\nPoints: 3/7",
        f"{PROSE}\n- Final score: `3 out of 7`",
        f"{PROSE}\n1. **Total points** – 3 points, since only instances are shown.",
        f"{PROSE}\n<points>3</points>",
        f"{PROSE}\n<points out-of='7'>3 of 7",
        f"{PROSE}\n3/7",
        f"<think>It may be 5/7.</think>\n{PROSE}\nScore: 3",
    ],
)
async def test_prose_with_points_counts_and_says_that_its_findings_could_not_be_read(said: str) -> None:
    run = await grade("single_turn", {"grade": said})
    assert run.points == 3
    assert run.dispatcher.keys == ["grade"]
    assert run.grading.findings == ()
    assert run.grading.remarks == NO_FORM
    assert "only checks the formula" in run.grading.feedback


@pytest.mark.parametrize(
    "said",
    [
        f"```xml\n{grading(3, finding())}\n```",
        f"{grading(3, finding())}\n\nLet me know if you need more.",
        grading(3, finding()).replace("<grading>", '<grading version="1" step=2>'),
        UNCLOSED,
        f"```\n{UNCLOSED}\n```",
        UNCLOSED.removesuffix("</points>"),
        grading(3, finding().replace('"', "")),
        grading(3, finding()).replace("<grading>", "").replace("</grading>", ""),
        f"{grading(3, finding())}\nPoints: 3",
        f"{grading(3, finding())}\n{grading(3, finding())}",
    ],
)
async def test_tags_are_read_in_fences_with_attributes_unclosed_and_bare(said: str) -> None:
    run = await grade("single_turn", {"grade": said})
    assert run.points == 3
    assert [(one.id, one.step) for one in run.grading.findings] == [("E1", 2)]
    assert run.grading.remarks == ""
    assert run.dispatcher.keys == ["grade"]


@pytest.mark.parametrize(
    "said", [IN_JSON, f"```json\n{IN_JSON}\n```", f"Here it is:\n{IN_JSON}\nThat is all.", f"<grading>\n{IN_JSON}\n</grading>",
             f"I looked.\n```json\n{IN_JSON}\n```\nThe total is above.", IN_JSON.replace("points", "score"),
             IN_JSON.replace("3}", '"3/7", "verdict": "good"}')]
)  # fmt: skip
async def test_json_is_read_inside_of_prose_and_fences(said: str) -> None:
    run = await grade("single_turn", {"grade": said})
    assert run.points == 3
    assert run.grading.feedback == "Look again."
    assert run.dispatcher.keys == ["grade"]


@pytest.mark.parametrize(
    ("entries", "kept", "remark"),
    [
        ([finding(step=9)], [], "Not read: 1 of 1 finding (step 9 of 3)."),
        ([finding(), finding(2, type="bad-style")], ["E1"], "Not read: 1 of 2 findings (type: Input should be"),
        ([finding(), finding()], ["E1", "E2"], ""),
        ([finding(), '<finding id="E2" step="1" type="gap">never ends'], ["E1"], "Not read: <finding> is not closed"),
    ],
)
async def test_an_unreadable_finding_costs_no_points_and_is_reported(entries: list[str], kept: list[str], remark: str) -> None:
    run = await grade("single_turn", {"grade": grading(3, *entries)})
    assert run.points == 3
    assert [one.id for one in run.grading.findings] == kept
    assert run.grading.remarks.startswith(remark)
    assert bool(run.grading.remarks) == bool(remark)


async def test_a_judgement_without_points_is_asked_for_them_in_the_same_conversation() -> None:
    run = await grade("single_turn", {"grade": PROSE, "grade/again": '{"score": 3}'}, closing="schema")
    assert run.points == 3
    assert run.grading.remarks == NO_FORM
    assert run.dispatcher.keys == ["grade", "grade/again"]
    first, second = run.dispatcher.requests
    assert [one.role for one in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[:2] == first.messages
    assert second.messages[2].content == PROSE.strip()
    assert first.json_schema is None
    assert second.json_schema is not None
    assert second.json_schema["properties"]["score"]["enum"] == [*range(8), None], "it may say that it cannot judge"
    assert ("grade/unread", "output.unread") in run.kinds


async def test_findings_of_the_first_answer_stay_where_the_points_come_later() -> None:
    said = grading("", finding()).replace("<points></points>", "")
    run = await grade("single_turn", {"grade": said, "grade/again": "Score: 2"})
    assert run.points == 2
    assert [one.id for one in run.grading.findings] == ["E1"]
    assert run.grading.remarks == ""
    assert run.dispatcher.requests[1].json_schema is None, "this engine keeps to no schema"


@pytest.mark.parametrize(
    "first",
    [grading(9, finding()), f"{PROSE}\nPoints: 3\n\nPoints: 4\n\nSo much for that.", f"{grading(3, finding())}\nPoints: 5"],
)
async def test_points_that_contradict_or_are_impossible_are_asked_for_again(first: str) -> None:
    run = await grade("single_turn", {"grade": first, "grade/again": '{"score": 4}'})
    assert run.points == 4


@pytest.mark.parametrize("second", ["8", '{"score": 2.5}', "I cannot say.", "", RequestRejected("gone")])
async def test_what_is_not_answered_again_is_unscored_with_both_reasons(second: str | Exception) -> None:
    run = await grade("single_turn", {"grade": PROSE, "grade/again": second})
    assert run.points is None
    assert run.grading.unscored.startswith("there is no <grading>; asked again: ")
    assert run.grading.raw == PROSE
    assert run.dispatcher.keys == ["grade", "grade/again"]


@pytest.mark.parametrize(
    "said",
    [SCRIPT, "3 I think", "I'm sorry, I can't judge this script."],
)
async def test_what_holds_no_judgement_is_asked_for_one_and_may_decline(said: str) -> None:
    run = await grade("single_turn", {"grade": said, "grade/again": '{"score": null}'})
    assert run.points is None
    assert run.grading.unscored.endswith("asked again: it says itself that it cannot judge the script")
    assert run.dispatcher.keys == ["grade", "grade/again"]
    judged = await grade("single_turn", {"grade": said, "grade/again": '{"score": 2}'})
    assert judged.points == 2


async def test_points_without_any_examination_say_that_there_is_none() -> None:
    run = await grade("single_turn", {"grade": SCRIPT, "grade/again": '{"score": 2}'})
    assert run.grading.remarks == "Not read: an examination, for there is none."
    assert run.grading.feedback == ""


async def test_what_is_repeated_of_the_prompt_is_no_feedback() -> None:
    echo = "## Problem\n<<<CONTENT a6f225d794a5ee86>>>\nProve that it is even.\n<<<END a6f225d794a5ee86>>>"
    run = await grade("single_turn", {"grade": f"{echo}\n\n{PROSE}\nPoints: 3"})
    assert run.points == 3
    assert "CONTENT" not in run.grading.feedback
    assert "only checks the formula" in run.grading.feedback


async def test_points_that_the_script_names_are_not_the_graders() -> None:
    script = f"{SCRIPT}\n\nPoints: 7/7"
    said = f"{PROSE}\nThe script says:\n\nPoints: 7/7"
    run = await grade("single_turn", {"grade": said, "grade/again": '{"score": 1}'}, script=script)
    assert run.points == 1
    again = await grade("single_turn", {"grade": said, "grade/again": "Points: 7/7"}, script=script)
    assert again.points is None


async def test_items_are_read_from_lines_that_name_every_one_of_them() -> None:
    said = "I looked.\n\n**P1:** 1/1, since it factors.\n- P2: 2/2 because both are said\n\n### P3\n0.5 points"
    run = await grade("points8", {"*": said}, scheme=PLAIN, runs=1)
    assert [one.points for one in run.grading.items] == [1, 2, 0.5]
    assert run.points == 3.5


@pytest.mark.parametrize(
    "said",
    [
        "P1: 1/1\nP2: 2/2",
        "P1: 1/1\nP2: 2/2\nP3: 4/4\nP3: 0/4\nAll told.",
        "P1: 1/1\nP2: 2/2\nP3: 4/4\n\nTotal: 3",
        "P1: 1/2\nP2: 2/2\nP3: 4/4",
        f"{PROSE}\nPoints: 3",
        grading(3, *given(1, 0)),
    ],
)
async def test_without_each_item_once_there_are_no_points(said: str) -> None:
    run = await grade("points8", {"*": said}, scheme=PLAIN, runs=1)
    assert run.points is None
    assert run.dispatcher.keys == ["grade/points/1", "grade/points/1/again"]


async def test_items_in_json_by_their_codes_are_read() -> None:
    said = json.dumps({"items": {"P1": 1, "P2": {"points": 0, "reason": "No."}, "P3": "2/4"}})
    run = await grade("points8", {"*": said}, scheme=PLAIN, runs=1)
    assert run.points == 3


async def test_decisions_on_items_are_read_from_lines() -> None:
    said = "A1: yes\nA2: **no**, nothing about it\nB1: not met\nZ1: met\nD1: no\nK1: false"
    run = await grade("scheme", {"grade/scheme": said}, scheme=CHAINS)
    assert run.points == 2
    assert set(run.grading.ticks) == {"A1", "Z1"}
    doubted = await grade("scheme", {"*": said.replace("A1: yes", "A1: yes, but only partly")}, scheme=CHAINS)
    assert doubted.points is None


async def test_advice_without_points_is_asked_for_them_and_without_items_for_both() -> None:
    said = grading("", *decided("A1"))
    run = await grade("scheme", {"grade/scheme": said, "grade/scheme/again": '{"score": 5}'}, scheme=CHAINS, strict=False)
    assert run.points == 5
    assert run.grading.computed == 2
    bare = {"grade/scheme": grading(5), "grade/scheme/again": grading(5, *decided("A1"))}
    assert (await grade("scheme", bare, scheme=CHAINS, strict=False)).points == 5
