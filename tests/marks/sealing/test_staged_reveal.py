"""The staged reveal: closed before sealing, one stage at a time, an answer to every finding, a reason for every change."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.models import FindingAnswer, Reveal, Slot
from apps.marks.sealing.calibration import calibration_set
from apps.marks.sealing.revealing import RevealRefused, finding_answer, findings_shown, reveal_refusal, stage_show
from apps.marks.sealing.sealing import NotReady, cases_settle, mark_unseal
from apps.marks.workspace.panel import panel_of
from apps.reasoning.marking.revealing import Shown, Stage, drawn_order
from tests.marks.factory import claimed, past_grace, problem_to_mark, sealed
from tests.marks.suggested import BODY, SECRET, THREE, answered, sealed_mark

ClientFor = Callable[[User | None], Client]


def test_locations_come_first_without_type_or_reason(bob: User, client_for: ClientFor) -> None:
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


def test_stages_cannot_be_skipped(bob: User) -> None:
    mark = sealed_mark(bob)
    for stage in (Stage.FINDINGS, Stage.ITEMS):
        with pytest.raises(RevealRefused):
            stage_show(mark=mark, stage=stage)
    assert not Reveal.objects.exists()


def test_items_and_points_follow_after_every_finding_is_answered(bob: User, client_for: ClientFor) -> None:
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
    assert "checked" not in page, "no answer is preselected"
    answered_now = findings_shown(mark)
    for one, _ in answered_now:
        finding_answer(mark=mark, suggestion=one.suggestion, finding=one.finding.id, is_accepted=False)
    stage_show(mark=mark, stage=Stage.ITEMS)
    page = client_for(bob).get(address).content.decode()
    assert f"{SECRET} three" in page
    assert "80 %" in page
    assert list(Reveal.objects.values_list("kind", flat=True)) == ["locations", "findings", "items"]


def test_each_answer_is_stored_with_its_seconds_and_given_one_by_one(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob)
    answered(mark, is_accepted=True)
    rows = FindingAnswer.objects.filter(person=bob)
    assert {row.finding for row in rows} == {"f1", "f2"}
    assert all(row.is_accepted and row.seconds >= 0 for row in rows)
    address = reverse("marks:reveal_answer", kwargs={"task_id": mark.task.public_id})
    assert client_for(bob).post(address, {"answer": "accept_all"}).status_code == 404


def test_a_finding_cannot_be_answered_before_it_is_shown(bob: User) -> None:
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


def test_looking_at_suggestions_ends_the_grace_time(bob: User) -> None:
    mark = sealed_mark(bob)
    stage_show(mark=mark, stage=Stage.LOCATIONS)
    with pytest.raises(NotReady):
        mark_unseal(task=mark.task, user=bob)


def test_a_share_of_papers_shows_no_suggestions(bob: User, client_for: ClientFor) -> None:
    mark = sealed_mark(bob, unrevealed_percent=100)
    assert "without suggestions" in reveal_refusal(mark)
    with pytest.raises(RevealRefused, match="without suggestions"):
        stage_show(mark=mark, stage=Stage.LOCATIONS)
    page = client_for(bob).get(reverse("marks:reveal", kwargs={"task_id": mark.task.public_id})).content.decode()
    assert SECRET not in page
    assert 'name="stage"' not in page


def test_a_calibration_script_shows_no_suggestions(bob: User, dana: User) -> None:
    mark = sealed_mark(bob, others=(dana,))
    cases_settle(past_grace(mark).task.case.problem.contest)
    case = mark.task.case
    case.refresh_from_db()
    calibration_set(case=case, by=bob, is_on=True)
    again = sealed(claimed(case.problem, dana), dana, *THREE)
    assert again.task.slot == Slot.CALIBRATION
    with pytest.raises(RevealRefused):
        stage_show(mark=again, stage=Stage.LOCATIONS)


def test_the_order_of_findings_is_random_for_each_mark(bob: User) -> None:
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
