"""The panel as of an event: lemmas, proofs, costs, log and charts; the end of the run where no event is named."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.lemmas.models import Lemma, ProofVersion
from apps.lemmas.rows import rows_of
from apps.lemmas.selectors import lemma_detail, proof_detail
from apps.runs.models import Run, RunStatus
from apps.runs.selectors import cost_per_role
from tests.explorations.factory import make_exploration, make_unread
from tests.explorations.test_replay import place_of

ClientFor = Callable[[User | None], Client]
_SHOWN = ("lemma", "status", "passes", "valid", "total", "expected", "confidence", "merged_into", "found_in", "first_seq")


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice)


def shown(lemma: Lemma) -> dict[str, object]:
    return {name: getattr(lemma, name) for name in _SHOWN}


def test_at_the_last_event_everything_is_shown_as_stored(run: Run) -> None:
    then = rows_of(run, run.last_seq)
    now = rows_of(run)
    for stored in now.lemmas():
        replayed = rows_of(run, run.last_seq, stored.lemma).lemma(stored.lemma)
        assert replayed is not None
        assert shown(replayed) == shown(stored)
        detail, whole = lemma_detail(run, stored.lemma, run.last_seq), lemma_detail(run, stored.lemma)
        assert detail is not None
        assert whole is not None
        assert [row.vote.seq for row in detail.votes] == [row.vote.seq for row in whole.votes]
        assert [use.name for use in detail.uses] == [use.name for use in whole.uses]
        assert [person.command for person in detail.people] == [person.command for person in whole.people]
    assert [(proof.proof, proof.selected, proof.status) for proof in then.proofs()] == [
        (proof.proof, proof.selected, proof.status) for proof in now.proofs()
    ]


def test_a_lemma_is_not_there_before_its_event_and_has_the_votes_of_then(run: Run) -> None:
    proposed, voted = place_of(run, "lemma.proposed"), place_of(run, "vote.cast")
    name = run.events.get(seq=proposed).body["lemma"]
    subject = run.events.get(seq=voted).body["subject"]
    assert lemma_detail(run, name, proposed - 1) is None
    early = lemma_detail(run, name, proposed)
    assert early is not None
    assert (early.votes, early.lemma.status, early.used_by) == ([], "proposed", [])
    one = lemma_detail(run, subject, voted)
    assert one is not None
    assert (len(one.votes), one.lemma.total, one.lemma.confidence) == (1, 1, None)
    assert Lemma.objects.get(run=run, lemma=subject).total > 1


def test_a_replayed_proof_is_the_newest_at_that_event_and_not_yet_selected(run: Run) -> None:
    drafted = place_of(run, "proof.drafted")
    assert proof_detail(run, "", drafted - 1) is None
    early = proof_detail(run, "", drafted)
    assert early is not None
    assert (early.proof.proof, early.proof.selected, early.standing.word) == ("proof/1", False, "not yet judged")
    last = proof_detail(run, "", run.last_seq)
    selected = ProofVersion.objects.get(run=run, selected=True)
    assert last is not None
    assert (last.proof.proof, last.proof.selected) == (selected.proof, True)


def test_costs_count_the_calls_that_were_over(run: Run) -> None:
    ended = place_of(run, "call.ended", 1)
    assert sum(cost.calls for cost in cost_per_role(run, ended)) == 2
    assert cost_per_role(run, 1) == []
    assert sum(cost.calls for cost in cost_per_role(run)) > 2


def test_the_panel_the_log_and_the_charts_are_asked_for_as_of_an_event(run: Run, client_for: ClientFor, alice: User) -> None:
    client, ended = client_for(alice), place_of(run, "call.ended", 1)
    panel, log = (reverse(f"explorations:{name}", args=[run.public_id]) for name in ("run_panel", "run_log"))
    part = {"HX-Request": "true"}
    costs = client.get(panel, {"tab": "agents", "at": str(ended)}, headers=part).content.decode()
    assert "2 calls" in costs
    assert f"As of event {ended}." in costs
    rows = client.get(panel, {"tab": "log", "at": str(ended)}, headers=part).content.decode()
    assert rows.count("log__row--") == 2
    assert f'name="at" value="{ended}"' in rows
    assert client.get(log, {"at": str(ended)}, headers=part).content.decode().count("log__row--") == 2
    assert client.get(log, headers=part).content.decode().count("log__row--") > 2
    charts = reverse("explorations:run_charts", args=[run.public_id])
    assert len(client.get(charts, {"at": "1"}).json()["confidence"]["data"][0]["x"]) == 0
    assert len(client.get(charts).json()["confidence"]["data"][0]["x"]) > 0
    for tab in ("lemma", "proof", "charts"):
        assert client.get(panel, {"tab": tab, "at": "1"}, headers=part).status_code == 200


def test_the_whole_page_and_a_live_run_show_what_is_now(run: Run, client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    page = reverse("explorations:run_detail", args=[run.public_id])
    assert "As of event" not in client.get(page, {"tab": "log", "at": "3"}).content.decode()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.RUNNING)
    panel = reverse("explorations:run_panel", args=[run.public_id])
    part = client.get(panel, {"tab": "agents", "at": "1"}, headers={"HX-Request": "true"}).content.decode()
    assert "As of event" not in part


def test_nonsense_for_an_event_is_no_event(run: Run, client_for: ClientFor, alice: User) -> None:
    make_unread(run, run.steps.first().key)  # type: ignore[union-attr]
    panel = reverse("explorations:run_panel", args=[run.public_id])
    part = client_for(alice).get(panel, {"tab": "log", "at": "-1 or 1"}, headers={"HX-Request": "true"}).content.decode()
    assert "As of event" not in part
