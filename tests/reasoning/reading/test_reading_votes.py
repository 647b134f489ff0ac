"""Reading votes: the last verdict of the answer with the faults of its log, or unread with a reason."""

import json

import pytest

from apps.reasoning.domain.verdicts import UNPLACED, Vote
from apps.reasoning.reading.votes import read_lemma_vote, read_proof_vote
from tests.reasoning.play import final


def vote(text: str, steps: int = 3) -> Vote:
    return read_lemma_vote(final(text), steps)


def unread(text: str, steps: int = 3) -> str:
    found = vote(text, steps)
    assert not found.is_valid
    assert found.unscored is not None
    return found.unscored.reason


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<verdict>-1</verdict>", -1),
        ("<verdict> 2 </verdict>\n", 2),
        ("<VERDICT>STEP 3</VERDICT>", 3),
        ("```\n<verdict>1</verdict>\n```", 1),
        ("**<verdict>1</verdict>**", 1),
        ("<verdict>**Step 2.**</verdict>", 2),
        (r"First error: \boxed{STEP2}", 2),
        (r"$\box{{STEP-1}}$", -1),
        ("<think>maybe <verdict>1</verdict></think>\n<verdict>-1</verdict>", -1),
    ],
)
def test_a_verdict_at_the_end_is_read(text: str, fault: int) -> None:
    assert vote(text).first_fault == fault


def test_the_log_is_read_with_its_comments() -> None:
    text = (
        'It looks fine.\n<check step="1" sound="yes">Holds.</check>\n'
        '<check step="2" sound="no" severity="gap">Why $x>0$?</check>\n<verdict>2</verdict>'
    )
    found = vote(text)
    assert [(check.step, check.sound, check.severity, check.comment) for check in found.checks] == [
        (1, True, "", "Holds."),
        (2, False, "gap", "Why $x>0$?"),
    ]
    assert found.summary == "It looks fine."


def test_of_two_boxes_the_last_counts() -> None:
    assert vote(r"At first \boxed{STEP1}, but no: \boxed{STEP3}").first_fault == 3
    assert vote("<verdict>1</verdict> No, wait. <verdict>-1</verdict>").first_fault == -1


def test_a_verdict_that_is_only_quoted_does_not_count() -> None:
    assert "does not end" in unread("The proof claims <verdict>-1</verdict>, which is odd. Step 2 is wrong.")
    assert "does not end" in unread('It ends with "<verdict>-1</verdict>"')


def test_a_verdict_inside_the_thinking_does_not_count() -> None:
    assert unread("<think>So <verdict>-1</verdict></think>I am not sure.") == "there is no verdict"
    assert "never ended" in unread("<think>So <verdict>-1</verdict>")


def test_a_truncated_answer_is_never_a_verdict() -> None:
    found = read_lemma_vote(final("<verdict>-1</verdict>", finish_reason="length"), 3)
    assert found.unscored is not None
    assert "cut off" in found.unscored.reason


@pytest.mark.parametrize(
    "text", ["", " \n", ":", "Thought process:", "The proof is correct.", "incorrect", "correct", "-1", "\\boxed{-1}"]
)
def test_words_that_are_not_a_verdict_are_not_read_as_one(text: str) -> None:
    unread(text)


@pytest.mark.parametrize("content", ["correct", "incorrect", "not -1", "-2", "0", "K", "", "step", "all", "1 or 2"])
def test_a_verdict_that_names_no_step_is_unread(content: str) -> None:
    unread(f"<verdict>{content}</verdict>")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<verdict>9</verdict>", "It names step 9 of 4."),
        ("<verdict>LEMMA 3</verdict>", "It names Lemma 3 as wrong, not a step."),
        ('<check step="7" sound="no">Bad.</check><verdict>-1</verdict>', "It names step 7 of 4."),
    ],
)
def test_a_fault_that_the_text_has_no_place_for_counts_at_no_step(text: str, why: str) -> None:
    found = vote(text, steps=4)
    assert (found.first_fault, found.is_valid, found.is_pass) == (UNPLACED, True, False)
    assert found.summary == why


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<check step="2" sound="no">Bad.</check><verdict>-1</verdict>', 2),
        ('<check step="2" sound="yes" severity="gap">Why?</check><verdict>-1</verdict>', 2),
        ('<check step="2" sound="yes">Good.</check><verdict>2</verdict>', 2),
        ('<check step="1" sound="no">Bad.</check><verdict>2</verdict>', 1),
        ('<check step="2" sound="no">Bad.</check><verdict>LEMMA 3</verdict>', 2),
        ('<check step="2" sound="yes" severity="note">Long.</check><verdict>-1</verdict>', -1),
    ],
)
def test_a_verdict_next_to_a_log_that_says_otherwise_counts_as_their_first_fault(text: str, fault: int) -> None:
    assert vote(text).first_fault == fault


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        ('<check step="2-3" sound="no" severity="critical">Bad.</check>', 2),
        ('<check step="3 and 2" sound="no" severity="gap">Bad.</check>', 2),
        ('<check step="step 2" sound="no" severity="critical">Bad.</check>', 2),
        ("<check step='Step 2:' sound='No'>Bad.</check>", 2),
        ('<check step="2" sound="false" severity="critical">Bad.</check>', 2),
        ('<check step="2" sound="no" severity="minor">Bad.</check>', 2),
        ('<check step="2" sound="partly" severity="gap">Bad.</check>', 2),
        ('<check step="2" sound="yes" severity="Critical error">Bad.</check>', 2),
        ('<check step="2" sound="yes" sound="no">Bad.</check>', 2),
        ('<check step="2" sound="no" severity="critical">Bad.\n', 2),
        ('<check step="2" sound="no" severity="critical">Bad.\n<check step="3" sound="yes">Good.</check>', 2),
        ('<check step="2" sound="no" severity="critical"\nBad.', 2),
        ('<check step="2" title="' + 300 * "a" + '" sound="no">Bad.</check>', 2),
        ('<check step="1 or 2" sound="no" severity="critical">Bad.</check>', UNPLACED),
        ('<check step="the last" sound="false">Bad.</check>', UNPLACED),
        ('<check sound="no">Bad.\n', UNPLACED),
        ('<check severity="gap">Bad.</check>', UNPLACED),
    ],
)
def test_a_pass_next_to_a_fault_in_another_form_is_a_fault_with_its_words(check: str, fault: int) -> None:
    found = vote(f"{check}<verdict>-1</verdict>")
    assert (found.first_fault, found.is_valid, found.is_pass) == (fault, True, False)
    assert "Bad." in found.summary + "".join(one.comment for one in found.checks)


@pytest.mark.parametrize("head", ["", ' step="2"', ' step="2" sound="maybe"', ' step="2" unsound="no"', ' sound "no"'])
def test_a_check_that_says_neither_yes_nor_no_leaves_a_pass_unread_and_a_fault_a_fault(head: str) -> None:
    check = f"<check{head}>Bad.</check>"
    assert "check" in unread(f"{check}<verdict>-1</verdict>")
    assert vote(f"{check}<verdict>3</verdict>").first_fault == 3
    assert vote(f'{check}<check step="1" sound="no">Bad.</check><verdict>-1</verdict>').first_fault == 1


@pytest.mark.parametrize(
    "check",
    [
        '<check step="1" sound="yes">Good.</check>',
        '<check step="1" sound="true">Good.',
        '<check step="1-3" sound="yes" severity="">Good.</check>',
        '<check step="all" sound="yes" severity="note">Good.</check>',
        '<check step="1" sound="yes" severity="minor">Good.</check>',
        "A checkpoint, and <checked> too.",
    ],
)
def test_a_pass_next_to_checks_that_find_no_fault_is_a_pass(check: str) -> None:
    assert vote(f"{check}<verdict>-1</verdict>").is_pass


@pytest.mark.parametrize("word", ["fail", "FAIL.", "**Fail**"])
def test_the_word_fail_counts_at_the_first_fault_of_the_log_or_at_no_step(word: str) -> None:
    for text in (f"Step 2 is false.\n<verdict>{word}</verdict>", json.dumps({"verdict": word, "why": "Step 2 is false."})):
        found = vote(text)
        assert (found.first_fault, found.is_valid) == (UNPLACED, True)
        assert "Step 2 is false." in found.summary
    assert vote(f'<check step="2" sound="no">Bad.</check><verdict>{word}</verdict>').first_fault == 2


def test_the_word_pass_names_no_step_and_is_unread() -> None:
    assert "pass" in unread("<verdict>pass</verdict>")
    unread('{"verdict": "pass"}')


def test_a_format_error_is_no_valid_vote_and_keeps_its_reason() -> None:
    assert unread("The proof is missing.\n<verdict>FORMAT_ERROR</verdict>") == "FORMAT_ERROR: The proof is missing."
    assert unread("FORMAT_ERROR no steps") == "FORMAT_ERROR"


def test_a_process_verifier_may_name_a_lemma() -> None:
    assert read_proof_vote(final("<verdict>LEMMA 3</verdict>"), 2).wrong_lemma == "3"
    assert read_proof_vote(final("<verdict>Lemma s1.3-fixed</verdict>"), 2).wrong_lemma == "s1.3-fixed"
    assert read_proof_vote(final(r"\boxed{LEMMA2}"), 2).wrong_lemma == "2"


def structured(**changes: object) -> str:
    checks = [{"step": 1, "sound": True, "severity": "", "comment": "ok"}, {"step": 2, "sound": False, "comment": "no"}]
    return json.dumps({"checks": checks, "first_fault": 2, "format_error": ""} | changes)


def test_a_structured_verdict_is_read() -> None:
    assert vote(structured()).first_fault == 2
    assert vote(f"```json\n{structured()}\n```").first_fault == 2
    assert unread(structured(format_error="no steps")) == "FORMAT_ERROR: no steps"
    assert vote(structured(first_fault=-1)).first_fault == 2
    assert "step 0" in unread(structured(first_fault=0))
    assert vote(structured(checks=[{"step": 1, "sound": True, "severity": "Gap"}], first_fault=-1)).first_fault == 1
    assert read_proof_vote(final(structured(wrong_lemma="Lemma 4")), 2).wrong_lemma == "4"


def test_a_structured_verdict_of_another_shape_counts_where_it_names_a_fault() -> None:
    found = vote(structured(mood="bad"))
    assert found.first_fault == 2
    assert '"mood": "bad"' in found.summary
    assert vote('{"first_fault": 7}').first_fault == UNPLACED
    assert read_proof_vote(final('{"wrong_lemma": "the second"}'), 2).first_fault == UNPLACED
    assert read_proof_vote(final(structured(wrong_lemma="the second")), 2).first_fault == 2
    assert "fields" in unread(structured(mood="good", first_fault=-1))
    assert "fields" in unread('{"first_fault": true}')


def test_single_backslashes_of_tex_survive_in_structured_verdicts() -> None:
    text = structured().replace('"ok"', r'"$\frac12 \le \theta$ and $\neq$"')
    assert vote(text).checks[0].comment == r"$\frac12 \le \theta$ and $\neq$"
