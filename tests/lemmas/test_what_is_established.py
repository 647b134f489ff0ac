"""What a run has established: the lemmas that hold, the strongest first, and the weakest link of the selected proof."""

import pytest
from django.test import Client

from apps.lemmas.established import believed, established
from apps.lemmas.models import LemmaState
from apps.lemmas.network import run_graph
from apps.reasoning.graph.lemma_graph import proof_closure
from apps.runs.models import Run
from tests.explorations.factory import make_exploration
from tests.lemmas.factory import make_run, make_story_run, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make_story_run()


def test_lemmas_that_hold_are_listed_the_strongest_first(run: Run) -> None:
    found = established(run)
    assert found
    assert all(row.lemma.status == LemmaState.VERIFIED for row in found)
    ends = [row.lemma.low or 0.0 for row in found]
    assert ends == sorted(ends, reverse=True)
    assert {row.lemma.lemma for row in found}.isdisjoint({"s1.9"})


def test_uses_of_merged_lemmas_count_for_their_representative(run: Run) -> None:
    graph = run_graph(run)
    counts = {row.lemma.lemma: row.used_by for row in established(run)}
    assert counts == {name: graph.network.out_degree(name) for name in counts}


def test_the_list_is_as_of_an_earlier_event(run: Run) -> None:
    assert established(run, until=1) == []
    assert len(established(run, until=run.last_seq)) == len(established(run))


def test_tokens_are_unknown_without_recorded_calls(run: Run) -> None:
    assert {row.tokens for row in established(run)} == {None}
    played = make_exploration(make_user("solver"))
    assert all(row.tokens and row.tokens > 0 for row in established(played))


def test_the_weakest_link_is_the_lemma_with_the_lowest_interval(run: Run) -> None:
    graph = run_graph(run)
    found = believed(graph)
    assert found is not None
    assert found.weakest is not None
    resting = [lemma for lemma in graph.lemmas if lemma.lemma in proof_closure(graph.network)]
    assert found.lemmas == len(resting)
    assert found.weakest.low == min(lemma.low or 0.0 for lemma in resting if lemma.confidence is not None)


def test_a_run_without_a_proof_has_no_weakest_link() -> None:
    assert believed(run_graph(make_run())) is None


def test_the_tab_and_the_proof_say_it_on_the_page(run: Run) -> None:
    client = Client()
    client.force_login(make_user("reader"))
    tab = client.get(f"/runs/{run.public_id}/?tab=established").content.decode()
    assert "Lemmas that hold, the strongest first" in tab
    proof = client.get(f"/runs/{run.public_id}/?tab=proof").content.decode()
    assert "The weakest is" in proof
    empty = client.get(f"/runs/{make_run().public_id}/?tab=established").content.decode()
    assert "No lemma of this run holds." in empty
