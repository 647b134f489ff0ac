"""Who signs in a coordination reads what goes along; a claim is one that the contest could give."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.coordination import CoordinationRefused, Proposal, claim_make, proposal_make
from apps.marks.models import Coordination
from tests.marks.test_coordination import SECRET, SIX, disputed, opened

ClientFor = Callable[[User | None], Client]


def test_who_signs_reads_what_goes_along(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    address = reverse("marks:coordination", kwargs={"coordination_id": coordination.public_id})

    def settling() -> str:
        return client_for(dana).get(address).content.decode().split('id="settle"')[1]

    assert "go along, and" not in settling(), "nothing is proposed"
    assert 'value="v1" checked' in settling()
    coordination.refresh_from_db()
    proposal = Proposal(SIX, "A1 and A2 hold.", frozenset({"v1"}))
    coordination = proposal_make(coordination=coordination, by=bob, proposal=proposal, based_on=coordination.row_version)
    above = settling().split("I agree to")[0]
    assert "These go along, and the student may read them:" in above
    assert SECRET in above
    proposal = Proposal(SIX, "A1 and A2 hold.", frozenset())
    proposal_make(coordination=coordination, by=bob, proposal=proposal, based_on=coordination.row_version)
    above, below = settling().split("I agree to")
    assert "No verdict and no comment goes along." in above
    assert SECRET not in above
    assert 'value="v1">' in below, "what the proposal leaves out is not ticked again"


def test_a_claim_is_on_the_contests_step(bob: User, dana: User) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    with pytest.raises(CoordinationRefused, match=r"6\.5 is no multiple of 1"):
        claim_make(coordination=coordination, by=bob, line="=6.5")
    assert Coordination.objects.get().claims == {}
    assert len(claim_make(coordination=coordination, by=bob, line="=6").claims) == 1


def test_what_was_typed_stays_when_it_is_refused(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = opened(bob, dana)
    address = reverse("marks:coordination_do", args=[coordination.public_id, "propose"])
    typed = {"claim": "=7.25", "reason": "Step 2 is no error.", "chooses": "1", "based_on": coordination.row_version}
    answer = client_for(bob).post(address, typed)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'value="=7.25"' in page
    assert ">Step 2 is no error.</textarea>" in page
    assert 'value="v1">' in page, "a box that was cleared stays so"


def test_points_that_differ_are_told_where_no_items_do(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    address = reverse("marks:coordination", args=[coordination.public_id])
    claim_make(coordination=coordination, by=bob, line="=7")
    claim_make(coordination=Coordination.objects.get(), by=dana, line="=6")
    said = client_for(bob).get(address).content.decode().split('id="differences"')[1]
    assert all(f"<strong>{points}</strong>" in said for points in (7, 6))
    assert "All claim the same items." in said


def test_problem_script_and_scheme_stand_on_the_same_page(bob: User, dana: User, client_for: ClientFor) -> None:
    coordination = Coordination.objects.get(case=disputed(bob, dana)[1])
    page = client_for(bob).get(reverse("marks:coordination", args=[coordination.public_id])).content.decode()
    for title in ("The problem", "The script", "Marking scheme"):
        assert f"<summary>{title}</summary>" in page
    assert page.count('<span class="proof__number">') == coordination.case.version.steps.count()
    assert "Finds a smaller solution." in page
