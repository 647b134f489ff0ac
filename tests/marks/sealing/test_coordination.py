"""Coordination: claims first, sealed notes until all have claimed, then agreement or a ruling, and no averages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.contests.services import captain_set
from apps.marks.coordination.comparing import fresh_dismiss
from apps.marks.coordination.coordination import (
    CoordinationChanged,
    CoordinationRefused,
    Proposal,
    claim_make,
    proposal_make,
    proposal_sign,
    remark_add,
    ruling_make,
)
from apps.marks.coordination.page import page_of
from apps.marks.models import CaseState, Coordination, FinalGrade, Mark, MarkingCase, Reveal, RevealKind, Slot
from apps.marks.sealing.sealing import cases_settle
from apps.marks.workspace.tables import table_seal
from apps.reasoning.marking.sheets.positions import PositionWrong
from apps.submissions.models import Scan, VersionScan
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, sealed
from tests.submissions.pages import JPEG

ClientFor = Callable[[User | None], Client]
BOTH = "A1 A2"
SIX = "A1 A2 -D1"
SECRET = "Sesquipedalian"


def error(words: str = "Why?") -> tuple[str, dict[str, Any]]:
    return "verdict", {"id": "v1", "step": 1, "fallacy": "gap", "words": words}


def disputed(bob: User, dana: User, *others: User, lines: tuple[str, str] = (BOTH, SIX)) -> tuple[ContestProblem, MarkingCase]:
    """Return a script with two sealed marks one point apart: Bob's without a note, Dana's with one."""
    problem = problem_to_mark(bob, dana, *others, scripts=1, markers=2)
    first: list[tuple[str, dict[str, Any]]] = [("claim", {"line": lines[0]}), *([error()] if lines[0] == SIX else [])]
    past_grace(sealed(claimed(problem, bob), bob, *first))
    reason = {"words": "The error does not matter." if lines[1] == "B1" else ""}
    past_grace(sealed(claimed(problem, dana), dana, ("claim", {"line": lines[1]}), error(SECRET), ("reason", reason)))
    cases_settle(problem.contest)
    return problem, MarkingCase.objects.get(problem=problem)


def opened(bob: User, dana: User, *others: User) -> Coordination:
    """Return a coordination in which both markers have claimed."""
    coordination = Coordination.objects.get(case=disputed(bob, dana, *others)[1])
    claim_make(coordination=coordination, by=bob, line=BOTH)
    return claim_make(coordination=coordination, by=dana, line=SIX)


def test_equal_marks_settle_with_the_first_one(bob: User, dana: User) -> None:
    _, case = disputed(bob, dana, lines=(SIX, SIX))
    assert case.state == CaseState.SETTLED
    grade = FinalGrade.objects.get(case=case)
    assert [grade.points, grade.mark and grade.mark.marker] == [6, bob]
    assert not Coordination.objects.exists()


def test_equal_points_with_different_items_are_a_dispute(bob: User, dana: User) -> None:
    _, case = disputed(bob, dana, lines=(BOTH, "B1"))
    assert case.state == CaseState.DISPUTED
    assert not FinalGrade.objects.exists()
    assert Coordination.objects.get(case=case).marks.count() == 2


def test_a_claim_is_sealed_until_the_other_has_claimed(bob: User, dana: User, client_for: ClientFor) -> None:
    _, case = disputed(bob, dana)
    coordination = Coordination.objects.get(case=case)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    claim_make(coordination=coordination, by=dana, line=SIX)
    page = client_for(bob).get(address).content.decode()
    assert "has claimed" in page
    assert SIX not in page
    assert SECRET not in page
    assert not Reveal.objects.exists()
    claim_make(coordination=coordination, by=bob, line=BOTH)
    page = client_for(bob).get(address).content.decode()
    assert SIX in page
    assert SECRET in page
    assert Reveal.objects.get(person=bob).kind == RevealKind.COLLEAGUE


def test_only_differences_are_shown_side_by_side(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    page = client_for(dana).get(reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id}))
    differences = page.content.decode().split('id="differences"')[1].split('id="discussion"')[0]
    assert "D1" in differences
    assert "A1" not in differences
    assert "Step 1" in differences
    assert "Step 2" not in differences


def test_claims_are_checked_and_fixed_once_all_have_claimed(bob: User, dana: User) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    with pytest.raises(PositionWrong, match="no item"):
        claim_make(coordination=coordination, by=bob, line="A9")
    with pytest.raises(CoordinationRefused, match="Only the markers"):
        claim_make(coordination=coordination, by=marker("eve"), line=BOTH)
    claim_make(coordination=coordination, by=bob, line=SIX)
    claim_make(coordination=coordination, by=bob, line=BOTH)
    claim_make(coordination=coordination, by=dana, line=SIX)
    with pytest.raises(CoordinationRefused, match="Make a proposal instead"):
        claim_make(coordination=coordination, by=bob, line=SIX)


def test_discussion_and_proposals_wait_until_all_have_claimed(bob: User, dana: User) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    with pytest.raises(CoordinationRefused, match="all markers have entered"):
        remark_add(coordination=coordination, by=bob, words="Look at step 2.")
    with pytest.raises(CoordinationRefused, match="All markers must enter"):
        proposal_make(coordination=coordination, by=bob, proposal=Proposal(SIX, "The slip."), based_on=0)


def test_both_markers_sign_and_both_marks_stay(bob: User, dana: User) -> None:
    coordination = opened(bob, dana)
    remark_add(coordination=coordination, by=bob, words="I missed the slip.")
    proposal = Proposal(SIX, "The slip in step 1.", frozenset({"v1"}))
    coordination = proposal_make(coordination=coordination, by=bob, proposal=proposal, based_on=coordination.row_version)
    assert not FinalGrade.objects.exists(), "one signature is not enough"
    proposal_sign(coordination=coordination, by=dana, based_on=coordination.row_version)
    grade = FinalGrade.objects.get()
    assert [grade.points, grade.mark, grade.coordination] == [6, None, coordination]
    assert [one["id"] for one in grade.sheet["verdicts"]] == ["v1"]
    assert grade.derivation.startswith("Chain A: A1 3 + A2 4 = 7")
    assert list(Mark.objects.order_by("pk").values_list("points", flat=True)) == [7, 6], "the marks stay as they were"
    case = MarkingCase.objects.get()
    assert (case.state, Coordination.objects.get().outcome) == (CaseState.SETTLED, "agreed")
    assert cases_settle(case.problem.contest) == 0


def test_comments_of_both_markers_from_tables_are_included(bob: User, dana: User) -> None:
    problem = problem_to_mark(bob, dana, scripts=1, markers=2, asks_place=False)
    number = MarkingCase.objects.get().version.submission.paper.number
    for person, line in ((bob, BOTH), (dana, SIX)):
        rows = f"paper,claim,comment\n{number},{line},From {person.username}.\n".encode()
        assert [row.state for row in table_seal(problem=problem, user=person, data=rows, is_trial=False)] == ["sealed"]
    for mark in Mark.objects.all():
        past_grace(mark)
    cases_settle(problem.contest)
    coordination = Coordination.objects.get()
    for person, line in ((bob, BOTH), (dana, SIX)):
        coordination = claim_make(coordination=coordination, by=person, line=line)
    page = page_of(coordination, bob)
    assert sorted(note.words for note in page.notes) == ["From bob.", "From dana."]
    assert len({note.id for note in page.notes}) == 2, "each note is chosen separately"
    chosen = frozenset(note.id for note in page.notes)
    proposal_make(coordination=coordination, by=bob, proposal=Proposal(SIX, "So.", chosen), based_on=coordination.row_version)
    sheet = Coordination.objects.get().sheet
    assert sheet is not None
    assert sorted(one["words"] for one in sheet["comments"]) == ["From bob.", "From dana."]


def test_a_new_proposal_needs_new_signatures(bob: User, dana: User) -> None:
    coordination = opened(bob, dana)
    first = proposal_make(
        coordination=coordination, by=bob, proposal=Proposal(SIX, "The slip."), based_on=coordination.row_version
    )
    seen = first.row_version
    proposal_make(coordination=first, by=bob, proposal=Proposal(BOTH, "No, it is harmless."), based_on=seen)
    with pytest.raises(CoordinationChanged):
        proposal_sign(coordination=first, by=dana, based_on=seen)
    assert not FinalGrade.objects.exists()


def test_a_proposal_needs_a_reason_and_points_on_the_step(bob: User, dana: User) -> None:
    coordination = opened(bob, dana)
    for line, reason, missing in ((SIX, " ", "a reason"), ("=6.5", "Half way.", "no multiple"), ("=8", "More.", "at most 7")):
        with pytest.raises((CoordinationRefused, PositionWrong), match=missing):
            proposal_make(coordination=coordination, by=bob, proposal=Proposal(line, reason), based_on=coordination.row_version)


def test_the_captain_rules_unless_they_are_a_party(bob: User, dana: User) -> None:
    eve = marker("eve")
    coordination = opened(bob, dana, eve)
    problem = coordination.case.problem
    with pytest.raises(CoordinationRefused, match="captain rules"):
        ruling_make(coordination=coordination, by=eve, proposal=Proposal(SIX, "So."), based_on=coordination.row_version)
    with pytest.raises(CoordinationRefused, match="captain rules"):
        ruling_make(coordination=coordination, by=bob, proposal=Proposal(BOTH, "Mine."), based_on=coordination.row_version)
    captain_set(row=problem, captain=eve)
    coordination = Coordination.objects.get(pk=coordination.pk)
    ruling_make(
        coordination=coordination, by=eve, proposal=Proposal(SIX, "The slip counts."), based_on=coordination.row_version
    )
    assert Coordination.objects.get().outcome == "captain"
    assert FinalGrade.objects.get().by == eve


def test_an_organiser_who_did_not_mark_is_the_jury(bob: User, dana: User) -> None:
    eve, mallory = marker("eve"), marker("mallory")
    problem = problem_to_mark(bob, eve, mallory, scripts=1, markers=2)
    past_grace(sealed(claimed(problem, eve), eve, ("claim", {"line": BOTH})))
    past_grace(sealed(claimed(problem, mallory), mallory, ("claim", {"line": SIX}), error()))
    cases_settle(problem.contest)
    captain_set(row=problem, captain=eve)
    coordination = Coordination.objects.get()
    for person, line in ((eve, BOTH), (mallory, SIX)):
        coordination = claim_make(coordination=coordination, by=person, line=line)
    ruling_make(coordination=coordination, by=bob, proposal=Proposal(BOTH, "Harmless."), based_on=coordination.row_version)
    assert Coordination.objects.get().outcome == "jury"
    assert FinalGrade.objects.get().points == 7


def test_marks_far_apart_bring_a_fresh_mark_first(bob: User, dana: User) -> None:
    eve = marker("eve")
    problem, case = disputed(bob, dana, eve, lines=(BOTH, "A1"))
    assert (case.state, Coordination.objects.count()) == (CaseState.OPEN, 0)
    task = claimed(problem, eve)
    assert task.slot == Slot.THIRD
    past_grace(sealed(task, eve, ("claim", {"line": "A1"}), error()))
    cases_settle(problem.contest)
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED
    assert Coordination.objects.get().marks.count() == 3
    assert not FinalGrade.objects.exists(), "two equal marks of three are not a majority vote"


def test_an_organiser_can_skip_the_fresh_mark(bob: User, dana: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    _, case = disputed(bob, dana, eve, lines=(BOTH, "A1"))
    address = reverse("marks:fresh_skip", kwargs={"case_id": case.public_id})
    assert client_for(eve).post(address).status_code == 404
    assert client_for(bob).post(address).status_code == 302
    case.refresh_from_db()
    assert case.state == CaseState.DISPUTED


def test_a_fresh_mark_in_progress_is_not_dismissed(bob: User, dana: User) -> None:
    eve = marker("eve")
    problem, case = disputed(bob, dana, eve, lines=(BOTH, "A1"))
    claimed(problem, eve)
    assert not fresh_dismiss(case=case, by=bob)


def test_marks_far_apart_are_disputed_without_another_marker(bob: User, dana: User) -> None:
    _, case = disputed(bob, dana, lines=(BOTH, "A1"))
    assert case.state == CaseState.DISPUTED


def test_other_coaches_and_strangers_get_404(bob: User, dana: User, alice: User, client_for: ClientFor) -> None:
    eve = marker("eve")
    coordination = opened(bob, dana, eve)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    for person in (eve, alice):
        assert client_for(person).get(address).status_code == 404
        assert client_for(person).post(f"{address}remark", {"words": "Hello"}).status_code == 404


def test_the_pages_work_from_claim_to_grade(bob: User, dana: User, client_for: ClientFor) -> None:
    _, case = disputed(bob, dana)
    coordination = Coordination.objects.get(case=case)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    listed = reverse("marks:coordination_list")
    assert case.version.submission.paper.number in client_for(dana).get(listed).content.decode()
    assert client_for(bob).post(f"{address}claim", {"claim": BOTH}).status_code == 302
    assert client_for(dana).post(f"{address}claim", {"claim": "nonsense"}).status_code == 422
    assert client_for(dana).post(f"{address}claim", {"claim": SIX}).status_code == 302
    coordination.refresh_from_db()
    form = {"claim": SIX, "reason": "The slip.", "chooses": "1", "keep": ["v1"], "based_on": str(coordination.row_version)}
    assert client_for(bob).post(f"{address}propose", form).status_code == 302
    assert client_for(bob).post(f"{address}propose", form).status_code == 409
    coordination.refresh_from_db()
    signed = client_for(dana).post(f"{address}sign", {"based_on": str(coordination.row_version)}, follow=True)
    assert "Agreed by both" in signed.content.decode()
    assert FinalGrade.objects.get().points == 6
    assert client_for(dana).post(f"{address}bargain", {}).status_code == 404


def test_scans_are_shown_when_settling_and_after_sealing(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    version = coordination.case.version
    scan = Scan.objects.create(submission=version.submission, jpeg=JPEG, width=40, height=60)
    VersionScan.objects.create(version=version, scan=scan, number=1)
    picture = reverse("submissions:page_image", kwargs={"scan_id": scan.public_id})
    settling = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    after_sealing = reverse("marks:reveal", kwargs={"task_id": Mark.objects.get(marker=bob).task.public_id})
    for address in (settling, after_sealing):
        page = client_for(bob).get(address).content.decode()
        assert f'src="{picture}"' in page
        assert "transcription follows" in page
    assert "The script, 1 scanned page<" in client_for(bob).get(settling).content.decode()


def test_a_script_without_scans_shows_no_scanned_pages(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})
    page = client_for(bob).get(address).content.decode()
    assert "The script<" in page
    assert "Scanned pages" not in page
