"""Answers that say two things, or only seem to say one: unread, since a wrong verdict is worse than none."""

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import read_better, read_decision, read_score
from apps.reasoning.reading.grouping import read_grouping, read_grouping_again
from apps.reasoning.reading.proofs import ReadProof, read_claim, read_proof
from apps.reasoning.reading.votes import read_lemma_vote, read_proof_vote, read_vote_again
from tests.reasoning.play import final

PASS_JSON = '```json\n{"decision": "pass", "issues": []}\n```'
SOUND_JSON = '{"checks": [], "first_fault": -1}'


@pytest.mark.parametrize(
    "text",
    [
        f"{PASS_JSON}\n<decision>fail</decision>",
        f"{PASS_JSON}\n\nDecision: fail",
        "Decision: pass, though step 2 is wrong",
        "Decision: pass with a major error in step 2",
        "verdict: pass requires completeness, which is missing",
        "Decision: Failed to find any mistake, so the proof is right",
        "- **Severity:** major\n- Step 2 divides by zero\n\nDecision: pass",
        "Severity: critical issues: none\nDecision: pass",
        "<decision>pass</decision>\n\nOn reflection the answer is fail.",
        "Decision: pass\n\nWait, step 3 is wrong. The proof is invalid.",
        "## Decision\nPass\n\n## Issues\nThe proof is incorrect since step 2 divides by zero.",
        "The solution provided has a gap because nothing is said of $n=1$.\n\nDecision: pass",
    ],
)
def test_a_decision_that_is_taken_back_or_contradicted_is_unread(text: str) -> None:
    assert isinstance(read_decision(final(text)), Unscored)


@pytest.mark.parametrize(
    "text",
    [
        "- **Critical:** step 2 divides by zero\n\n**Decision:** pass",
        "Issue: severity: critical\n<decision>pass</decision>",
        "<decision>pass</decision>\n\nSeverity: gap\nWhy is it even?",
        "**Critical Error**\nThe converse is not proved.\n\n**Final Decision**\nPass",
    ],
)
def test_a_pass_next_to_an_objection_in_a_line_is_a_fail(text: str) -> None:
    found = read_decision(final(text))
    assert not isinstance(found, Unscored)
    assert (found.passed, found.overruled) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "Every step follows; no errors.\n**Decision:** pass",
        "Critical errors: none\nGaps: none\n\nDecision: pass",
        "**Gaps**\nNone.\n\nThe solution has no gap.\n\nDecision: pass",
        "Decision: pass\n\nThe solution contains neither Critical Errors nor Justification Gaps.",
        "Decision: Pass\n\nIssues: none.",
    ],
)
def test_a_pass_that_denies_faults_stays_one(text: str) -> None:
    found = read_decision(final(text))
    assert not isinstance(found, Unscored)
    assert found.passed


@pytest.mark.parametrize(
    "text", ["Winner: a tie", "Better: a draw", "<better>a tie</better>", "Choice: B is worse", "Better: A has more errors"]
)
def test_no_choice_is_read_where_none_is_made_or_it_is_turned_around(text: str) -> None:
    assert isinstance(read_better(final(text)), Unscored)


@pytest.mark.parametrize(
    "text",
    [
        "Points: 2 errors were found",
        "Mark: 3 gaps remain",
        "Points: 5% off",
        "Score: 7/7 minus one",
        "Total points: 7 possible",
    ],
)
def test_a_count_is_no_score(text: str) -> None:
    assert isinstance(read_score(final(text), tuple(map(float, range(8)))), Unscored)


def test_one_critical_error_is_no_full_mark() -> None:
    assert isinstance(read_score(final("Score: 1 critical error"), (0.0, 0.5, 1.0)), Unscored)


def test_scores_of_parts_are_no_score() -> None:
    assert isinstance(read_score(final("Score: 3/7 for part 1\nScore: 4/7 for part 2"), tuple(map(float, range(8)))), Unscored)


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: 3 steps all correct", "Verdict: 5 of the steps are sound", "Verdict: step 3: fine", "Verdict: 1 (correct)",
        f"{SOUND_JSON}\n<verdict>2</verdict>", f"{SOUND_JSON}\n\nVerdict: 2", "<verdict>-1</verdict>\n\nOops: step 3 is wrong.",
    ],
)  # fmt: skip
def test_a_vote_that_says_two_things_or_none_is_unread(text: str) -> None:
    assert read_lemma_vote(final(text), 5).unscored is not None


def test_a_log_in_tags_counts_next_to_a_verdict_in_json() -> None:
    assert read_lemma_vote(final(f'<check step="2" sound="no">It is false.</check>\n{SOUND_JSON}'), 5).first_fault == 2


def test_a_fault_with_its_reason_is_read() -> None:
    assert read_lemma_vote(final("Verdict: step 3, which is not correct."), 5).first_fault == 3


def test_groups_that_contradict_their_closing_are_unread() -> None:
    text = '{"groups": [[1], [2]], "likeliest": 1}\n\nLikeliest: 2'
    assert isinstance(read_grouping(final(text), 2), Unscored)


def test_a_proof_after_steps_in_json_is_the_proof() -> None:
    found = read_proof(final('```json\n{"steps": ["Old."]}\n```\n<proof><step>New.</step></proof>'))
    assert isinstance(found, ReadProof)
    assert found.steps == ("New.",)


@pytest.mark.parametrize(
    "text",
    [
        "I may not write <claim>complete</claim> yet.",
        "<claim>complete</claim> would be wrong; I have a partial result.",
        "<claim>complete</claim>\nClaim: partial",
    ],
)
def test_a_claim_within_a_sentence_or_contradicted_is_unread(text: str) -> None:
    assert isinstance(read_claim(final(text)), Unscored)


@pytest.mark.parametrize(
    "text",
    [
        "Since all steps are correct, the angle is a right angle.",
        "The solution is complete and rigorous because all steps are clear.",
        'It says "but". The proof holds.\n<check step="1" sound="yes">It follows.</check>',
        "To see whether the solution is correct, we redo it. The solution is a complete and rigorous proof.",
    ],
)
def test_a_fault_next_to_a_text_that_calls_the_whole_right_is_unread(text: str) -> None:
    assert read_lemma_vote(final(f"{text}\n<verdict>1</verdict>"), 3).unscored is not None
    assert read_proof_vote(final(f"{text}\n<verdict>Lemma 1</verdict>"), 3).unscored is not None
    asked = read_vote_again(final('{"first_fault": 1}'), text, 3, may_name_lemma=False)
    assert asked.unscored is not None
    assert asked.unscored.reason == "it names a fault and calls the whole text right"


@pytest.mark.parametrize(
    "text",
    [
        "All steps are correct up to step 2.",
        "The proof is correct, but step 2 is not needed.",
        "The proof is not complete.",
        "If the lemma is valid, step 1 follows.",
        "It ends with “so the proof is complete”, which does not follow.",
        'The proof is complete.\n<check step="2" sound="no" severity="gap">Why?</check>',
        "The proof is correct. However, it needs a reason.",
        "The solution is rigorous. Step 2 is wrong.",
    ],
)
def test_a_fault_counts_where_only_part_of_the_text_is_called_right(text: str) -> None:
    assert read_lemma_vote(final(f"{text}\n<verdict>2</verdict>"), 3).first_fault == 2


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('{"like": {"1": 4}, "most_likely_right": 1}', "number 4"),
        ('{"like": {"1": 1}, "most_likely_right": 4}', "solution 4"),
        ('{"like": [1, 1, 3], "most_likely_right": 1}', "fields"),
    ],
)
def test_groups_of_solutions_that_do_not_exist_are_unread(value: str, reason: str) -> None:
    found = read_grouping_again(final(value), "", 3)
    assert isinstance(found, Unscored)
    assert reason in found.reason
