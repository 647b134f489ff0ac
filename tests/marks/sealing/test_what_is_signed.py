"""Signing a proposal: the page shows the included notes, and claims follow the point step of the contest."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.coordination.coordination import CoordinationRefused, Proposal, claim_make, proposal_make
from apps.marks.models import Coordination
from tests.marks.sealing.test_coordination import SECRET, SIX, disputed, opened

ClientFor = Callable[[User | None], Client]


def test_a_signer_reads_the_included_notes(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})

    def settling() -> str:
        return client_for(dana).get(address).content.decode().split('id="settle"')[1]

    assert "Included notes" not in settling(), "there is no proposal yet"
    assert 'value="v1" checked' in settling()
    coordination.refresh_from_db()
    proposal = Proposal(SIX, "A1 and A2 hold.", frozenset({"v1"}))
    coordination = proposal_make(coordination=coordination, by=bob, proposal=proposal, based_on=coordination.row_version)
    above = settling().split("I agree to")[0]
    assert "Included notes, which the student may read:" in above
    assert SECRET in above
    proposal = Proposal(SIX, "A1 and A2 hold.", frozenset())
    proposal_make(coordination=coordination, by=bob, proposal=proposal, based_on=coordination.row_version)
    above, below = settling().split("I agree to")
    assert "No verdicts or comments are included." in above
    assert SECRET not in above
    assert 'value="v1">' in below, "a note that the proposal leaves out stays clear"


def test_a_claim_follows_the_point_step_of_the_contest(bob: User, dana: User) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    with pytest.raises(CoordinationRefused, match=r"6\.5 is not a multiple of 1"):
        claim_make(coordination=coordination, by=bob, line="=6.5")
    assert Coordination.objects.get().claims == {}
    assert len(claim_make(coordination=coordination, by=bob, line="=6").claims) == 1


def test_a_refused_form_keeps_its_input(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    address = reverse("marks:coordination_do", args=[coordination.public_id, "propose"])
    typed = {"claim": "=7.25", "reason": "Step 2 is no error.", "chooses": "1", "based_on": coordination.row_version}
    answer = client_for(bob).post(address, typed)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'value="=7.25"' in page
    assert ">Step 2 is no error.</textarea>" in page
    assert 'value="v1">' in page, "a cleared box stays clear"


def test_different_points_are_shown_when_the_items_are_equal(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    address = reverse("marks:coordination", args=[coordination.public_id])
    claim_make(coordination=coordination, by=bob, line="=7")
    claim_make(coordination=Coordination.objects.get(), by=dana, line="=6")
    said = client_for(bob).get(address).content.decode().split('id="differences"')[1]
    assert all(f"<strong>{points}</strong>" in said for points in (7, 6))
    assert "All claims have the same items." in said


def test_the_page_shows_problem_script_and_scheme(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    page = client_for(bob).get(reverse("marks:coordination", args=[coordination.public_id])).content.decode()
    for title in ("The problem", "The script", "Marking scheme"):
        assert f"<summary>{title}</summary>" in page
    assert page.count('<span class="proof__number">') == coordination.case.version.steps.count()
    assert "Finds a smaller solution." in page
