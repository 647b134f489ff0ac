"""`grade` and `agrade`: a grader on an address; what is given is shown, or refused in a sentence."""

from decimal import Decimal
from pathlib import Path

import pytest

from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.library import PlanError, agrade, grade
from tests.graders.grade import REFERENCES
from tests.graders.schemes import CHAINS, decided
from tests.library.conftest import CONTEXT, PROBLEM, SCRIPT, ModelServer, Served

SCHEME = "scale 7\nstep 0.5\ncheckpoint P1, 3 points: Factors it.\ncheckpoint P2, 4 points: One of two neighbours is even.\n"


def test_a_script_gets_points_with_findings(server: ModelServer, served: Served) -> None:
    result = grade(PROBLEM, SCRIPT, **served)
    assert (result.points, result.unscored, result.calls) == (Decimal(2), "", 1)
    assert result.grading.findings[0].fallacy == "proof-by-example"
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (
        GRADERS["single_turn"].roles[0].temperature,
        CONTEXT // 2,
    )


def test_what_cannot_be_read_is_unscored_and_never_zero(server: ModelServer, served: Served) -> None:
    server.answers["You examine a script handed in"] = "I would rather not say."
    result = grade(PROBLEM, SCRIPT, **served)
    assert result.points is None
    assert result.unscored
    assert result.unread[0].text == "I would rather not say."


def test_what_is_given_is_shown(server: ModelServer, served: Served) -> None:
    grade(PROBLEM, SCRIPT, guidelines="Half a point for examples.", **served)
    grade(PROBLEM, SCRIPT, **served)
    shown = ["Half a point for examples." in str(body["messages"]) for body in server.requests]
    assert shown == [True, False]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"workflow": "best"}, "There is no grader best; there are single_turn, ref3"),
        ({"workflow": "ref3"}, "needs a reference solution"),
        ({"workflow": "scheme"}, "needs a marking scheme"),
        ({"references": REFERENCES}, "cannot be shown a reference solution"),
        ({"scheme": SCHEME}, "cannot be shown the marking scheme"),
        ({"workflow": "scheme", "scheme": "checkpoint ???"}, "The marking scheme cannot be read"),
        ({"references": "one text"}, "give a list of solutions"),
        ({"script": "  "}, "The script is empty"),
        ({"problem": " "}, "The problem is empty"),
        ({"hints": ["Try n = 1."]}, "a grader takes none"),
        ({"params": {"strictness": 3}}, "has no parameter strictness; there are script"),
        ({"workflow": "points8", "scheme": SCHEME, "params": {"runs": 0}}, "runs: "),
    ],
)
def test_what_a_grader_cannot_use_is_refused_before_any_call(
    given: Served, said: str, server: ModelServer, served: Served
) -> None:
    arguments: Served = {"problem": PROBLEM, "script": SCRIPT} | given | served
    with pytest.raises(PlanError, match=said):
        grade(**arguments)
    assert (server.requests, server.lists_asked) == ([], 0)


async def test_a_marking_scheme_is_taken_as_text_or_as_a_value(server: ModelServer, served: Served) -> None:
    items = "".join(decided("A1"))
    server.answers = {"": f"<grading>{items}<feedback>Prove it for all $n$.</feedback><points>2</points></grading>"}
    by_value = await agrade(PROBLEM, SCRIPT, workflow="scheme", scheme=CHAINS, **served)
    assert by_value.points == 2
    by_text = agrade(PROBLEM, SCRIPT, workflow="scheme", scheme=SCHEME, **served)
    kinds = [event.kind async for event in by_text]
    assert "grading.reached" in kinds
    assert any("P2" in text and "One of two neighbours is even." in text for text in map(str, server.requests))


def test_a_grading_is_resumed_without_a_call(tmp_path: Path, server: ModelServer, served: Served) -> None:
    first = grade(PROBLEM, SCRIPT, journal=tmp_path / "grading.jsonl", **served)
    again = grade(PROBLEM, SCRIPT, journal=tmp_path / "grading.jsonl", **served)
    assert (len(server.requests), again.grading) == (1, first.grading)
    with pytest.raises(PlanError, match="records other parameters"):
        grade(PROBLEM, f"{SCRIPT} Hence.", journal=tmp_path / "grading.jsonl", **served)


def test_what_was_prepared_for_a_problem_serves_its_next_script(server: ModelServer, served: Served) -> None:
    first = grade(PROBLEM, SCRIPT, workflow="ref3", references=REFERENCES, **served)
    asked = len(server.requests)
    again = grade(PROBLEM, f"{SCRIPT} Hence.", workflow="ref3", references=REFERENCES, prepared=first.prepared, **served)
    assert first.prepared
    assert again.calls < asked
