"""The panels of lemmas and proofs, the outline, and who may see them."""

import html

import pytest
from django.test import Client

from apps.accounts.models import Role
from apps.reasoning.domain.events import LemmaRetired, OutputUnread, VoteCast
from apps.runs.models import Run, RunStatus
from tests.lemmas.factory import make_run, make_story_run, make_user, stored, write_events

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(client: Client) -> Run:
    client.force_login(make_user("ada"))
    return make_story_run()


def page(client: Client, run: Run, path: str, **headers: str) -> str:
    response = client.get(f"/runs/{run.public_id}/{path}", headers=headers)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_a_lemma_says_how_sure_it_is_and_who_says_so(client: Client, run: Run) -> None:
    text = page(client, run, "lemmas/s0.7/")
    assert "3 of 4 votes · 75 % (30–95 %)" in text
    assert "Vote 3 finds the first fault in step 3" in text
    assert "by Ada: Checked by hand." in text


def test_a_lemma_quotes_the_places_where_it_is_used(client: Client, run: Run) -> None:
    text = page(client, run, "lemmas/s0.2/")
    assert "<mark>Lemma 2</mark>" in text
    assert "found by 2" not in text
    assert "2 rollouts (0, 1)" in text


def test_an_unread_vote_is_shown_as_unread(client: Client, run: Run) -> None:
    text = page(client, run, "lemmas/s1.12/")
    assert "Vote 1 could not be read" in text
    assert "Not counted: the verdict line is missing." in text
    assert "none of 4 votes could be read" in text
    assert "0 %" not in text


def test_a_fault_at_no_step_is_shown_as_one_with_its_words(client: Client, run: Run) -> None:
    event = VoteCast(subject="proof/1", index=5, of=5, call="", first_fault=0, summary="It names step 9 of 3.")
    write_events(run, stored([("vote/5", event)], run.last_seq + 1))
    text = page(client, run, "proofs/1/")
    assert "Vote 5 finds a fault, at no step of the text" in text
    assert "It names step 9 of 3." in text


def test_versions_near_duplicates_and_merges_are_linked(client: Client, run: Run) -> None:
    assert f'href="/runs/{run.public_id}/lemmas/s0.10-fixed/"' in page(client, run, "lemmas/s0.10/")
    write_events(run, stored([("x", LemmaRetired(lemma="s0.10", reason="superseded by s0.10-fixed"))], start=run.last_seq + 1))
    assert "Retired: <a" in page(client, run, "lemmas/s0.10/")
    assert "86 % alike" in page(client, run, "lemmas/s1.12/")
    assert "which represents it" in page(client, run, "lemmas/s1.4/")


def test_a_lemma_has_a_page_and_a_part_at_one_address(client: Client, run: Run) -> None:
    whole, part = page(client, run, "lemmas/s0.7/"), page(client, run, "lemmas/s0.7/", **{"HX-Request": "true"})
    assert "<html" in whole
    assert part.lstrip().startswith("<article") or "<html" not in part
    assert "HX-Request" in client.get(f"/runs/{run.public_id}/lemmas/s0.7/").headers["Vary"]


def test_a_proof_shows_findings_at_their_step_and_why_it_is_not_accepted(client: Client, run: Run) -> None:
    text = page(client, run, "proofs/1/")
    assert "Not accepted: 3 of 4 verifiers find a fault." in text
    assert "by votes 1, 2, 4" in text
    assert text.index('id="step-3"') < text.index("coprimality is not shown")


def test_a_name_of_a_lemma_that_does_not_exist_is_marked_at_its_proof(client: Client, run: Run) -> None:
    assert "give no edge" not in page(client, run, "proofs/2/")
    note = "proof/2, step 2: 'Lemma 99' names a lemma that does not exist"
    unread = OutputUnread(call="final/revise/1", role="reviser", reason=note, part=True)
    write_events(run, stored([("final/revise/1/unread/1", unread)], run.last_seq + 1))
    assert "step 2: 'Lemma 99' names a lemma that does not exist" in page(client, run, "proofs/2/")
    assert "give no edge" not in page(client, run, "proofs/1/")


def test_a_revision_carries_both_texts_for_the_diff(client: Client, run: Run) -> None:
    text = page(client, run, "proofs/2/")
    assert "Changes since proof 1" in text
    assert "data-diff-old" in text
    assert "Accepted: 4 of 4 valid votes found no fault." in text


def test_the_outline_lists_what_is_used_before_what_uses_it(client: Client, run: Run) -> None:
    text = page(client, run, "graph/outline/")
    assert text.index('data-node="s0.2"') < text.index('data-node="s0.7"') < text.index('data-node="proof/2"')
    assert "unscored · none of 4 votes could be read" in text


def test_the_graph_page_works_before_the_first_lemma_and_when_none_came(client: Client, run: Run) -> None:
    live = page(client, make_run(RunStatus.RUNNING), "graph/")
    assert "The first appear when the first round has been summarised." in live
    assert "This run produced no lemmas." in page(client, make_run(), "graph/")


def test_a_lemma_is_named_with_its_rollout_where_there_are_several(client: Client, run: Run) -> None:
    assert "<h1>Lemma 7</h1>" in page(client, run, "lemmas/s0.7/")
    Run.objects.filter(pk=run.pk).update(spec={"params": {"rollouts": 2}})
    assert "<h1>Lemma s0.7</h1>" in page(client, run, "lemmas/s0.7/")


@pytest.mark.parametrize("path", ["lemmas/s9.9/", "proofs/9/", "graph/export.docx"])
def test_what_does_not_exist_is_404(client: Client, run: Run, path: str) -> None:
    assert client.get(f"/runs/{run.public_id}/{path}").status_code == 404


@pytest.mark.parametrize("path", ["graph/", "graph.json", "graph/outline/", "lemmas/s0.7/", "proofs/2/", "graph/export.json"])
def test_a_student_sees_nothing_of_a_run(client: Client, path: str) -> None:
    run = make_story_run()
    client.force_login(make_user("student", Role.STUDENT))
    assert client.get(f"/runs/{run.public_id}/{path}").status_code == 404
