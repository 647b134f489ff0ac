"""Two marks with equal points and items make one grade, which shows the student each note of both markers once."""

from typing import Any

from apps.accounts.models import User
from apps.marks.coordination.comparing import case_compare
from apps.marks.grades import grade_of
from apps.marks.models import CaseState, MarkingCase
from apps.marks.sealing.sealing import cases_settle
from apps.reasoning.marking.sheets.joining import notes_joined
from apps.reasoning.marking.sheets.sheet import NOTES_AT_MOST, Comment, Fallacy, MarkSheet, Role, StepVerdict
from apps.reasoning.texts.anchors import Anchor
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed


def fault(key: str, step: int = 1, words: str = "", role: Role = Role.INDEPENDENT, **rest: Any) -> StepVerdict:
    return StepVerdict(id=key, step=step, fallacy=Fallacy.GAP, role=role, words=words, **rest)


def place(start: int, quote: str) -> Anchor:
    return Anchor(start=start, end=start + len(quote), quote=quote)


def joined(*sheets: MarkSheet) -> MarkSheet:
    return notes_joined(sheets)


def test_the_first_sheet_stays_unchanged_when_the_second_adds_nothing() -> None:
    sheet = MarkSheet(verdicts=(fault("v", words="Why?"),), comments=(Comment(id="c", words="Good."),), ticks=frozenset({"A1"}))
    assert joined(sheet) == sheet
    assert joined(sheet, MarkSheet()) == sheet
    assert joined(sheet, sheet) == sheet


def test_further_notes_of_the_second_are_added_and_duplicates_are_not() -> None:
    first = MarkSheet(verdicts=(fault("v", words="Why?"),), comments=(Comment(id="c", step=1, words="Well done."),))
    second = MarkSheet(
        verdicts=(fault("x", words="  why? "), fault("y"), fault("z", words="Not for $p = 2$."), fault("v", step=2)),
        comments=(
            Comment(id="c", step=1, words="Say which prime."),
            Comment(id="d", step=1, words="well  done."),
            Comment(id="e", step=2, words="Well done."),
            Comment(id="f", words="Copied?", audience="markers"),
        ),
        reason="mine",
    )
    sheet = joined(first, second)
    assert [(one.id, one.step, one.words) for one in sheet.verdicts] == [
        ("v", 1, "Why?"),
        ("z", 1, "Not for $p = 2$."),
        ("v-2", 2, ""),
    ]
    assert [(one.id, one.step, one.words) for one in sheet.comments] == [
        ("c", 1, "Well done."),
        ("c-2", 1, "Say which prime."),
        ("e", 2, "Well done."),
    ]
    assert sheet.reason == "", "reasons stay with their marks"


def test_the_same_words_at_another_place_are_not_a_duplicate() -> None:
    first = MarkSheet(verdicts=(fault("v", words="Why?", anchor=place(0, "Suppose")),))
    second = MarkSheet(
        verdicts=(fault("x", words="Why?", anchor=place(3, "pose")), fault("y", words="Why?", anchor=place(20, "Then")))
    )
    assert [one.id for one in joined(first, second).verdicts] == ["v", "y"]


def test_an_error_without_words_gets_the_words_of_the_other_unless_it_is_harmless() -> None:
    first = MarkSheet(verdicts=(fault("v"),))
    second = MarkSheet(verdicts=(fault("x", words="Why?", anchor=place(0, "Let")), fault("y", role=Role.HARMLESS)))
    verdicts = joined(first, second).verdicts
    assert [(one.id, one.words, one.anchor and one.anchor.quote) for one in verdicts] == [("v", "Why?", "Let"), ("y", "", None)]


def test_consequences_follow_from_the_duplicate_of_their_root() -> None:
    first = MarkSheet(verdicts=(fault("v", words="Why?"),))
    second = MarkSheet(
        verdicts=(
            fault("v", step=3, role=Role.CONSEQUENCE, root="x"),
            fault("x", words="Why?", role=Role.ROOT),
            fault("y", step=4, role=Role.CONSEQUENCE, root="z"),
            fault("z", step=2, role=Role.ROOT),
        )
    )
    found = {(one.step, one.id, one.role, one.root) for one in joined(first, second).verdicts}
    assert found == {
        (1, "v", Role.ROOT, ""),
        (2, "z", Role.ROOT, ""),
        (3, "v-2", Role.CONSEQUENCE, "v"),
        (4, "y", Role.CONSEQUENCE, "z"),
    }


def test_a_joined_sheet_respects_the_limit_of_notes() -> None:
    first = MarkSheet(comments=tuple(Comment(id=f"c{number}", words=f"One {number}") for number in range(NOTES_AT_MOST - 1)))
    second = MarkSheet(comments=tuple(Comment(id=f"d{number}", words=f"Two {number}") for number in range(5)))
    comments = joined(first, second).comments
    assert len(comments) == NOTES_AT_MOST
    assert comments[-1].words == "Two 0"


def test_an_agreed_grade_has_the_notes_of_both_but_no_marker_note_of_the_second(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2)
    line = ("claim", {"line": "A1 A2 -D1"})
    own = ("verdict", {"id": "v1", "step": 1, "fallacy": "gap", "words": "Why?"})
    further = ("verdict", {"id": "v2", "step": 2, "fallacy": "unclear", "words": "Which prime?"})
    comment = ("comment", {"id": "c1", "step": 0, "words": "A good beginning."})
    hidden = ("comment", {"id": "c2", "step": 0, "words": "Seen before.", "audience": "markers"})
    past_grace(sealed(claimed(problem, bob), bob, line, own))
    past_grace(sealed(claimed(problem, dana), dana, line, own, further, comment, hidden))
    cases_settle(problem.contest)
    case = MarkingCase.objects.get(problem=problem)
    grade = grade_of(case)
    assert grade is not None
    assert grade.mark is not None
    assert case.state == CaseState.SETTLED
    assert grade.points == 6
    assert grade.mark.marker == bob
    sheet = MarkSheet.model_validate(grade.sheet)
    assert [one.words for one in sheet.verdicts] == ["Why?", "Which prime?"]
    assert [one.words for one in sheet.comments] == ["A good beginning."]
    case_compare(case)
    assert case.grades.count() == 1, "a second comparison gives no further grade"
    assert grade.mark.sheet["comments"] == [], "the sealed mark stays unchanged"
