"""Reading a verifier's pass or fail: a fail always counts, a pass only without a critical error or gap next to it."""

import json

import pytest

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import LONGEST_REPORT, NO_REASON, Decision, read_decision
from apps.reasoning.reading.turns.actions import Report, read_report
from tests.reasoning.candidates import decision
from tests.reasoning.play import final


def read(text: str) -> Decision:
    found = read_decision(final(text))
    assert isinstance(found, Decision), found
    return found


def unread(text: str) -> str:
    found = read_decision(final(text))
    assert isinstance(found, Unscored), found
    return found.reason


def structured(**fields: object) -> str:
    return json.dumps({"summary": "Looked at.", "issues": [], "decision": "pass"} | fields)


@pytest.mark.parametrize(
    "text", ["Step 2 is false.\n<decision>fail</decision>", structured(summary="Step 2 is false.", decision="fail")]
)
def test_a_fail_counts_without_an_issue_and_its_prose_is_the_report(text: str) -> None:
    found = read(text)
    assert (found.passed, found.overruled) == (False, False)
    assert found.report == "Step 2 is false."


def test_a_fail_without_a_word_says_that_it_gives_no_reason() -> None:
    assert read("<decision>FAIL</decision>").report == NO_REASON
    assert read("<decision>pass</decision>").report == ""


def test_prose_that_is_the_whole_report_is_cut_later_than_prose_next_to_issues() -> None:
    prose = "word " * 4_000
    assert len(read(f"{prose}<decision>fail</decision>").summary) == LONGEST_REPORT
    assert len(read(prose + decision("fail", ("gap", "Why?"))).summary) == 2_000


@pytest.mark.parametrize("severity", ["critical", "gap"])
def test_a_pass_next_to_a_critical_error_or_a_gap_is_an_overruled_fail(severity: str) -> None:
    issue = {"severity": severity, "comment": "Why?"}
    capital = issue | {"severity": f" {severity.title()}"}
    for text in (decision("pass", (severity, "Why?")), structured(issues=[issue]), structured(issues=[capital])):
        found = read(text)
        assert (found.passed, found.overruled, found.issues[0].severity) == (False, True, severity)


@pytest.mark.parametrize("written", ["{}.", "**{}**", " `{}`!", "_{}_"])
def test_a_decision_is_read_without_its_case_its_emphasis_and_its_full_stop(written: str) -> None:
    for word, passed in (("FAIL", False), ("Pass", True)):
        said = written.format(word)
        assert read(f"Looked at.\n<decision>{said}</decision>").passed == passed
        assert read(structured(decision=said)).passed == passed


def test_a_structured_fail_counts_under_the_name_verdict_and_a_pass_does_not() -> None:
    assert not read('{"verdict": "Fail."}').passed
    assert not read('{"verdict": "fail", "decision": "pass"}').passed
    assert "fields" in unread('{"verdict": "pass"}')


def test_a_pass_next_to_notes_is_a_pass() -> None:
    assert read(decision("pass", ("note", "Long."))).passed
    assert read(structured(issues=[{"severity": "note", "comment": "Long."}])).passed


def test_an_issue_without_its_end_or_with_a_long_head_counts_and_its_words_stay_in_the_report() -> None:
    long = f'<issue where="{300 * "a"}" severity="critical">Step 1 is false.</issue>'
    for issue in ('<issue severity="critical">Step 1 is false.\n', '<issue severity="critical"\nStep 1 is false.\n', long):
        found = read(f"{issue}<decision>pass</decision>")
        assert not found.passed
        assert "Step 1 is false." in found.report


def test_an_issue_of_unreadable_severity_leaves_a_pass_unread_and_a_fail_with_its_words() -> None:
    issue = '<issue severity="major">Step 1 is false.</issue>'
    assert "severity" in unread(f"{issue}<decision>pass</decision>")
    assert "Step 1 is false." in read(f"{issue}<decision>fail</decision>").report


def test_a_structured_fail_of_another_shape_counts_with_the_object_as_its_report() -> None:
    found = read(json.dumps({"decision": "Fail", "issues": [{"severity": "major", "comment": "Step 1 is false."}]}))
    assert not found.passed
    assert "Step 1 is false." in found.report
    assert "fields" in unread(structured(issues=[{"severity": "major", "comment": "Step 1."}]))
    assert "fields" in unread(json.dumps({"summary": "It fails."}))


@pytest.mark.parametrize(
    "text", ["", "It fails.", "<decision>maybe</decision>", "He says <decision>fail</decision>, I do not."]
)
def test_what_is_no_decision_at_the_end_is_unread(text: str) -> None:
    unread(text)
    assert isinstance(read_decision(final("It is false.\n<decision>fail</decision>", finish_reason="length")), Unscored)


def test_an_evaluators_one_next_to_a_critical_issue_is_a_zero() -> None:
    found = read_report('<issue severity="critical">Step 1 is false.</issue>\n1')
    assert found == Report(correct=False, text='<issue severity="critical">Step 1 is false.</issue>')


@pytest.mark.parametrize(
    ("verdict", "passed"),
    [
        ("The solution is correct.", True),
        ("**The proof is completely correct**, since every step is justified.", True),
        ("The solution is **invalid** because it contains a Critical Error.", False),
        ("The solution's approach is viable, but it contains several Justification Gaps.", False),
        ("The solution is correct, but contains one gap in Lemma 1.", False),
        ("The proof is not complete.", False),
    ],
)
def test_a_verdict_in_a_sentence_on_the_whole_solution_is_read(verdict: str, passed: bool) -> None:
    found = read(f"### Summary\n\n**Final Verdict:** {verdict}\n\n**Findings**\n\nStep by step.")
    assert found.passed is passed


@pytest.mark.parametrize(
    "verdict",
    [
        "The solution is correct in its first part.",
        "The solution is correct if $n$ is even.",
        "The solution is correct and contains no gaps, or does it?",
        "It is correct that $n$ is even.",
        "The approach is viable.",
    ],
)
def test_a_verdict_on_a_part_or_with_a_doubt_is_unread(verdict: str) -> None:
    assert unread(f"Final verdict: {verdict}\n\nStep by step.")


def test_a_pass_above_findings_that_name_a_gap_is_an_overruled_fail() -> None:
    found = read("**Final Verdict:** The solution is correct.\n\n* **Issue:** Justification Gap - the bound is not proved.")
    assert (found.passed, found.overruled) == (False, True)
    assert read("**Final Verdict:** The solution is correct.\n\n* **Issue:** none").passed


def test_what_a_long_report_below_says_of_the_solution_does_not_take_the_decision_back() -> None:
    report = "Step 1 is fine. " * 40
    assert not read(f"Decision: fail\n\n{report} The sum should be $n$. Wait for step 3.\n\n{report}").passed
    assert "takes it back" in unread(f"Decision: fail\n\n{report}\n\nWait, I was wrong.")
    assert "takes it back" in unread("Decision: fail\n\nThis should be a pass.")
