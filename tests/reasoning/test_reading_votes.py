"""Reading votes: the last verdict of the answer, in agreement with its log, or unread with a reason."""

import json

import pytest

from apps.reasoning.domain.verdicts import Vote
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


@pytest.mark.parametrize("content", ["correct", "incorrect", "not -1", "-2", "0", "K", "", "step", "all", "LEMMA 3", "1 or 2"])
def test_a_verdict_that_names_no_step_is_unread(content: str) -> None:
    unread(f"<verdict>{content}</verdict>")


def test_a_step_that_does_not_exist_is_unread() -> None:
    assert unread("<verdict>9</verdict>", steps=4) == "it names step 9 of 4"


def test_a_verdict_that_contradicts_its_log_is_unread() -> None:
    assert "unsound" in unread('<check step="2" sound="no">Bad.</check><verdict>-1</verdict>')
    assert "sound" in unread('<check step="2" sound="yes">Good.</check><verdict>2</verdict>')
    assert "step 1 unsound" in unread('<check step="1" sound="no">Bad.</check><verdict>2</verdict>')


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
    assert "fields" in unread(structured(mood="good"))
    assert "unsound" in unread(structured(first_fault=-1))
    assert read_proof_vote(final(structured(wrong_lemma="Lemma 4")), 2).wrong_lemma == "4"


def test_single_backslashes_of_tex_survive_in_structured_verdicts() -> None:
    text = structured().replace('"ok"', r'"$\frac12 \le \theta$ and $\neq$"')
    assert vote(text).checks[0].comment == r"$\frac12 \le \theta$ and $\neq$"
