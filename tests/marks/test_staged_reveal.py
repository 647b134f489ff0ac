"""The staged reveal: nothing before sealing, one stage after the other, every finding answered, points change for a reason."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.calibration import calibration_set
from apps.marks.claims import task_next
from apps.marks.comparing import case_compare
from apps.marks.models import (
    AuditEvent,
    CaseState,
    FinalGrade,
    FindingAnswer,
    Mark,
    MarkingTask,
    MarkState,
    Reveal,
    Slot,
)
from apps.marks.panel import panel_of
from apps.marks.revealing import (
    Change,
    RevealRefused,
    finding_answer,
    findings_shown,
    mark_change,
    mark_keep,
    reveal_refusal,
    stage_show,
)
from apps.marks.sealing import NotReady, cases_settle, mark_unseal
from apps.marks.sheets import sheet_of
from apps.reasoning.marking.revealing import Shown, Stage, drawn_order
from apps.reasoning.marking.suggestion import SuggestionBody
from tests.marks.factory import ONE_PLACE, claimed, marker, past_grace, problem_to_mark, sealed
from tests.marks.suggested import BODY, SECRET, suggested

ClientFor = Callable[[User | None], Client]
Commands = tuple[tuple[str, dict[str, Any]], ...]
SEVEN: Commands = (("claim", {"line": "A1 A2"}),)
THREE: Commands = (("claim", {"line": "A1"}), ("verdict", ONE_PLACE))


def sealed_mark(user: User, *commands: tuple[str, dict[str, Any]], others: tuple[User, ...] = (), **choices: Any) -> Mark:
    """A sealed mark with a suggestion beside it."""
    problem = problem_to_mark(user, *others, scripts=1, **{"unrevealed_percent": 0, **choices})
    mark = sealed(claimed(problem, user), user, *(commands or SEVEN))
    suggested(mark)
    return mark


def answered(mark: Mark, *, is_accepted: bool = False) -> None:
    """Go through both stages and answer each finding."""
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    stage_show(mark=mark, stage=Stage.FINDINGS)
    for one, _ in findings_shown(mark):
        finding_answer(mark=mark, suggestion=one.suggestion, finding=one.finding.id, is_accepted=is_accepted)


def test_locations_come_first_and_say_neither_type_nor_reason(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob, *THREE)
    address = reverse("marks:reveal", kwargs={"task_id": mark.task.public_id})
    client = client_for(bob)
    assert SECRET not in client.get(address).content.decode()
    assert "step 2" not in client.get(address).content.decode()
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    page = client.get(address).content.decode()
    assert panel_of(mark).locations == [2], "the marker has a verdict at step 1"
    assert "step 2" in page
    for word in (SECRET, "missing case", "critical", "scripted"):
        assert word not in page


def test_stages_cannot_be_jumped(bob: User) -> None:
    mark = sealed_mark(bob)
    for stage in (Stage.FINDINGS, Stage.ITEMS):
        with pytest.raises(RevealRefused):
            stage_show(mark=mark, stage=stage)
    assert not Reveal.objects.exists()


def test_items_and_points_come_when_every_finding_is_answered(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    stage_show(mark=mark, stage=Stage.FINDINGS)
    with pytest.raises(RevealRefused, match="Answer every finding"):
        stage_show(mark=mark, stage=Stage.ITEMS)
    address = reverse("marks:reveal", kwargs={"task_id": mark.task.public_id})
    page = client_for(bob).get(address).content.decode()
    assert f"{SECRET} one" in page
    assert f"{SECRET} three" not in page
    assert "80 %" not in page
    assert "checked" not in page, "nothing is chosen beforehand"
    answered_now = findings_shown(mark)
    for one, _ in answered_now:
        finding_answer(mark=mark, suggestion=one.suggestion, finding=one.finding.id, is_accepted=False)
    stage_show(mark=mark, stage=Stage.ITEMS)
    page = client_for(bob).get(address).content.decode()
    assert f"{SECRET} three" in page
    assert "80 %" in page
    assert list(Reveal.objects.values_list("kind", flat=True)) == ["locations", "findings", "items"]


def test_each_answer_is_kept_with_its_seconds_and_nothing_answers_all(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob)
    answered(mark, is_accepted=True)
    rows = FindingAnswer.objects.filter(person=bob)
    assert {row.finding for row in rows} == {"f1", "f2"}
    assert all(row.is_accepted and row.seconds >= 0 for row in rows)
    address = reverse("marks:reveal_answer", kwargs={"task_id": mark.task.public_id})
    assert client_for(bob).post(address, {"answer": "accept_all"}).status_code == 404


def test_a_finding_that_was_not_shown_is_not_answered(bob: User) -> None:
    mark = sealed_mark(bob)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    with pytest.raises(RevealRefused, match="not shown"):
        finding_answer(mark=mark, suggestion="00000000-0000-4000-8000-000000000000", finding="f1", is_accepted=True)


def test_before_sealing_there_is_no_panel(bob: User, client_for: ClientFor) -> None:
    problem = problem_to_mark(bob, scripts=1, unrevealed_percent=0)
    task = claimed(problem, bob)
    for name in ("reveal", "reveal_show", "reveal_answer", "reveal_decide"):
        address = reverse(f"marks:{name}", kwargs={"task_id": task.public_id})
        client = client_for(bob)
        answer = client.get(address) if name == "reveal" else client.post(address, {"stage": "locations", "decision": "keep"})
        assert answer.status_code == 404


def test_to_look_ends_the_time_in_which_a_mark_can_be_opened(bob: User) -> None:
    mark = sealed_mark(bob)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    with pytest.raises(NotReady):
        mark_unseal(task=mark.task, user=bob)


def test_a_share_of_papers_stays_without_suggestions(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob, unrevealed_percent=100)
    assert "without suggestions" in reveal_refusal(mark)
    with pytest.raises(RevealRefused, match="without suggestions"):
        stage_show(mark=mark, stage=Stage.LOCATIONS)
    page = client_for(bob).get(reverse("marks:reveal", kwargs={"task_id": mark.task.public_id})).content.decode()
    assert SECRET not in page
    assert 'name="stage"' not in page


def test_keeping_a_mark_changes_no_points(bob: User) -> None:
    mark = sealed_mark(bob)
    answered(mark)
    mark = mark_keep(mark=mark)
    assert [mark.state, mark.points, mark.sealed_points] == [MarkState.CONFIRMED, 7, 7]
    with pytest.raises(RevealRefused):
        mark_keep(mark=mark)


def test_an_accepted_finding_becomes_a_verdict_of_the_mark_and_what_was_sealed_stays(bob: User) -> None:
    mark = sealed_mark(bob)
    answered(mark, is_accepted=True)
    mark = mark_keep(mark=mark)
    assert [verdict.step for verdict in sheet_of(mark).verdicts] == [1, 2]
    assert [mark.points, mark.sealed_points] == [7, 7]
    assert mark.sealed_sheet is not None
    assert mark.sealed_sheet["verdicts"] == []


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (Change("A1", ""), "four reasons"),
        (Change("A1", "better"), "four reasons"),
        (Change("A1", "missed"), "Name the step"),
        (Change("A1", "missed", 9), "no step 9"),
        (Change("A1 A2", "slip"), "Nothing is different"),
    ],
)
def test_points_change_only_with_a_reason_and_down_only_with_a_step(bob: User, change: Change, missing: str) -> None:
    mark = sealed_mark(bob)
    answered(mark)
    with pytest.raises(RevealRefused, match=missing):
        mark_change(mark=mark, change=change)
    mark.refresh_from_db()
    assert [mark.points, mark.state] == [7, MarkState.SEALED]


def test_a_change_keeps_what_was_sealed_and_gives_a_new_grade(bob: User) -> None:
    mark = sealed_mark(bob)
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark = mark_change(mark=mark, change=Change("A1 A2 D1", "missed", 2, "The case of two."))
    assert [mark.state, mark.points, mark.sealed_points] == [MarkState.REVISED, 6, 7]
    assert mark.change_reason == "I missed it (step 2). The case of two."
    first, second = FinalGrade.objects.order_by("pk")
    assert [first.points, second.points, second.supersedes] == [7, 6, first]
    assert AuditEvent.objects.get(verb="mark.revised").body["before"] == "7"


def test_before_the_findings_are_answered_nothing_is_decided(bob: User) -> None:
    mark = sealed_mark(bob)
    with pytest.raises(RevealRefused):
        mark_keep(mark=mark)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    stage_show(mark=mark, stage=Stage.FINDINGS)
    with pytest.raises(RevealRefused):
        mark_change(mark=mark, change=Change("A1", "slip", 1))


def test_far_from_what_was_sealed_somebody_who_has_seen_nothing_marks_afresh(bob: User) -> None:
    eve = marker("eve")
    mark = sealed_mark(bob, others=(eve,))
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2, "A gap."))
    case = mark.task.case
    case.refresh_from_db()
    assert case.state == CaseState.OPEN
    task = claimed(case.problem, eve)
    assert (task.slot, task.case) == (Slot.THIRD, case)
    past_grace(sealed(task, eve, *THREE))
    cases_settle(case.problem.contest)
    case.refresh_from_db()
    assert case.state == CaseState.SETTLED
    assert FinalGrade.objects.get(case=case, superseded_by=None).points == 3


def test_a_fresh_mark_is_for_nobody_who_has_seen_something(bob: User) -> None:
    eve, mallory = marker("eve"), marker("mallory")
    mark = sealed_mark(bob, others=(eve, mallory))
    case = mark.task.case
    Reveal.objects.create(case=case, person=eve, kind="colleague", mark=mark, trigger="ledger")
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2, "A gap."))
    assert task_next(case.problem, bob) is None
    assert task_next(case.problem, eve) is None
    task = task_next(case.problem, mallory)
    assert task is not None
    assert task.slot == Slot.THIRD


def test_where_nobody_fresh_is_left_the_change_stands(bob: User) -> None:
    mark = sealed_mark(bob)
    cases_settle(past_grace(mark).task.case.problem.contest)
    answered(mark)
    mark_change(mark=mark, change=Change("A1", "missed", 2))
    assert not MarkingTask.objects.filter(slot=Slot.THIRD).exists()
    mark.task.case.refresh_from_db()
    assert mark.task.case.state == CaseState.SETTLED


def test_two_who_changed_apart_are_compared_again(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2, unrevealed_percent=0)
    marks = [sealed(claimed(problem, person), person, *SEVEN) for person in (bob, dana)]
    suggested(marks[0], SuggestionBody())
    for mark in marks:
        past_grace(mark)
    cases_settle(problem.contest)
    answered(marks[0])
    mark_change(mark=marks[0], change=Change("A1 A2 D1", "slip", 1))
    case = marks[0].task.case
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    assert case_compare(case) == CaseState.DISPUTED, "comparing again changes nothing"
    answered(marks[1])
    with pytest.raises(RevealRefused, match="compared"):
        mark_keep(mark=marks[1])


def test_a_calibration_script_is_marked_without_suggestions(bob: User, dana: User) -> None:
    mark = sealed_mark(bob, others=(dana,))
    cases_settle(past_grace(mark).task.case.problem.contest)
    case = mark.task.case
    case.refresh_from_db()
    calibration_set(case=case, by=bob, is_on=True)
    again = sealed(claimed(case.problem, dana), dana, *THREE)
    assert again.task.slot == Slot.CALIBRATION
    with pytest.raises(RevealRefused):
        stage_show(mark=again, stage=Stage.LOCATIONS)


def test_the_order_of_findings_is_drawn_for_each_mark(bob: User) -> None:
    shown = [Shown("s", finding) for finding in BODY.findings]
    orders = {tuple(one.finding.id for one in drawn_order(shown, str(seed))) for seed in range(40)}
    assert orders == {("f1", "f2"), ("f2", "f1")}


def test_the_panel_works_without_javascript(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob)
    client, where = client_for(bob), {"task_id": mark.task.public_id}
    page = reverse("marks:reveal", kwargs=where)
    for stage in ("locations", "findings"):
        assert client.post(reverse("marks:reveal_show", kwargs=where), {"stage": stage}).headers["Location"] == page
    for one, _ in findings_shown(mark):
        data = {"suggestion": one.suggestion, "finding": one.finding.id, "answer": "reject"}
        assert client.post(reverse("marks:reveal_answer", kwargs=where), data).headers["Location"] == page
    refused = client.post(reverse("marks:reveal_decide", kwargs=where), {"decision": "change", "claim": "Z9"}, follow=True)
    assert "Z9 is no item" in refused.content.decode()
    part = client.post(
        reverse("marks:reveal_decide", kwargs=where), {"decision": "keep"}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "You stayed with 7" in part
    assert "<html" not in part
