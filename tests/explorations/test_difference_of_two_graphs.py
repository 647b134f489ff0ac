"""The difference of two lemma graphs as one graph: the trunk of a fork, what was added, what is gone, other verdicts."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.explorations.comparing.asking import Side, drawn_of
from apps.explorations.comparing.difference import difference_of
from apps.lemmas.models import LemmaState
from apps.lemmas.pairs.services import pairs_decide
from apps.runs.models import Run
from tests.explorations.factory import make_exploration
from tests.lemmas.factory import make_run

pytestmark = pytest.mark.django_db


def ids(*runs: Run) -> dict[str, list[str]]:
    """What the address or a form says of these runs."""
    return {"run": [str(run.public_id) for run in runs]}


def forked(alice: User) -> tuple[Run, Run]:
    """A run and its fork, which took over the calls of two rounds and then lost, found and judged other lemmas."""
    parent = make_exploration(alice)
    fork = make_exploration(alice, forked_from=parent)
    fork.steps.filter(round__lte=2).update(attempt=0)
    for step in fork.steps.filter(round__gte=3):
        step.text_sha = "0" * 64
        step.save()
    fork.lemmas.filter(lemma="s1.11").delete()
    fork.lemmas.filter(lemma="s1.12").update(statement="The number $p + 7$ is even.")
    fork.lemmas.filter(lemma="s0.8").update(judged="rejected", status="rejected")
    return parent, fork


def changes(found: Any) -> dict[str, str]:
    return {node["id"]: node["change"] for node in found["nodes"]}


def test_nodes_are_the_same_added_gone_or_judged_otherwise(alice: User) -> None:
    found = difference_of(*forked(alice))
    of = changes(found)
    assert {name for name, change in of.items() if change == "added"} == {"s1.12"}
    assert {name for name, change in of.items() if change == "gone"} == {"before:s1.11", "before:s1.12"}
    assert {name for name, change in of.items() if change == "verdict"} == {"s0.8"}
    assert of["s0.10-fixed"] == of["problem"] == of["proof/2"] == "same"
    judged = next(node for node in found["nodes"] if node["id"] == "s0.8")
    assert (judged["was"], judged["now"]) == ("verified", "rejected")
    assert found["counts"] == {"same": 12, "added": 1, "gone": 2, "verdict": 1, "trunk": 9}


def test_the_trunk_is_what_the_fork_took_over(alice: User) -> None:
    parent, fork = forked(alice)
    trunk = {node["id"] for node in difference_of(parent, fork)["nodes"] if node["trunk"]}
    assert trunk == {lemma.lemma for lemma in parent.lemmas.filter(round__lte=2)}
    assert not any(node["trunk"] for node in difference_of(parent, make_exploration(alice))["nodes"])


def test_edges_are_the_same_added_or_gone_between_nodes_of_the_drawing(alice: User) -> None:
    found = difference_of(*forked(alice))
    of = {(edge["source"], edge["target"]): edge["change"] for edge in found["edges"] if edge["kind"] == "uses"}
    assert of["s0.3", "s0.8"] == "same"
    assert of["before:s1.11", "proof/2"] == "gone"
    assert of["s0.7", "s1.12"] == "added"
    names = set(changes(found))
    assert {end for edge in found["edges"] for end in (edge["source"], edge["target"])} <= names
    assert len({edge["id"] for edge in found["edges"]}) == len(found["edges"])


def test_addresses_lead_to_the_lemma_in_both_runs(alice: User, client: Client) -> None:
    parent, fork = forked(alice)
    found = {node["id"]: node for node in difference_of(parent, fork)["nodes"]}
    assert (found["s1.12"]["url"], found["s1.12"]["before_url"]) == (f"/runs/{fork.public_id}/lemmas/s1.12/", "")
    gone = found["before:s1.12"]
    assert (gone["url"], gone["before_url"]) == ("", f"/runs/{parent.public_id}/lemmas/s1.12/")
    client.force_login(alice)
    for url in (found["s0.8"]["url"], found["s0.8"]["before_url"], found["proof/2"]["url"]):
        assert client.get(url).status_code == 200


def test_lemmas_with_other_ids_are_one_node_if_they_say_the_same_or_people_joined_them(alice: User) -> None:
    before, after = make_run(), make_run()
    fields = {"number": 1, "rollout": 0, "round": 1, "first_seq": 1, "last_seq": 1, "judged": "verified", "status": "verified"}
    before.lemmas.create(lemma="s0.1", statement="Every prime is odd.", **fields)
    before.lemmas.create(lemma="s0.2", statement="Squares are not negative.", **fields)
    after.lemmas.create(lemma="s0.5", statement="Every prime is odd", **fields)
    after.lemmas.create(lemma="s0.6", statement="We have $x^2 \\ge 0$.", **fields)
    assert changes(difference_of(before, after)) == {
        "problem": "same", "s0.5": "same", "s0.6": "added", "before:s0.2": "gone",
    }  # fmt: skip
    pairs_decide(user=alice, lemmas=[(before, "s0.2"), (after, "s0.6")], is_same=True)
    assert changes(difference_of(before, after)) == {"problem": "same", "s0.5": "same", "s0.6": "same"}


def test_lemmas_of_equal_ids_that_people_parted_are_two_nodes(alice: User) -> None:
    before, after = make_exploration(alice), make_exploration(alice)
    pairs_decide(user=alice, lemmas=[(before, "s0.2"), (after, "s0.2")], is_same=False)
    found = changes(difference_of(before, after))
    assert (found["s0.2"], found["before:s0.2"]) == ("added", "gone")


def test_equal_runs_do_not_differ(alice: User) -> None:
    found = difference_of(make_exploration(alice), make_exploration(alice))
    assert set(changes(found).values()) == {"same"}
    assert {edge["change"] for edge in found["edges"]} == {"same"}
    assert not any(node["kind"] == "proof" and node["round"] <= found["rounds"] for node in found["nodes"])


def test_a_lemma_that_people_rejected_has_another_verdict(alice: User) -> None:
    before, after = make_exploration(alice), make_exploration(alice)
    after.lemmas.filter(lemma="s0.2").update(status=LemmaState.RETIRED)
    after.human_verdicts.create(command="c", lemma="s0.2", accepted=False, by="Ada", requested_seq=1, applied_seq=2)
    node = next(node for node in difference_of(before, after)["nodes"] if node["id"] == "s0.2")
    assert (node["was"], node["now"]) == ("verified", "retired, rejected by people")


def test_a_parent_and_its_fork_are_drawn_before_others_and_forks_of_one_run_too(alice: User) -> None:
    parent, other = make_run(), make_run()
    one, two = make_run(), make_run()
    Run.objects.filter(pk__in=(one.pk, two.pk)).update(forked_from=parent)
    one.refresh_from_db()
    two.refresh_from_db()

    def drawn(asked: str, *runs: Run) -> str:
        pair = drawn_of([Side(letter, run) for letter, run in zip("ABCD", runs, strict=False)], asked)
        return "".join(side.letter for side in pair) if pair else ""

    assert drawn("", other, one, parent) == "CB"
    assert drawn("", other, one, two) == "BC"
    assert drawn("", other, parent) == ""
    assert drawn("BA", other, parent) == "BA"
    assert drawn("AA", other, parent) == drawn("AZ", other, parent) == drawn("?", other, parent) == ""


def test_the_page_draws_a_fork_against_its_parent_and_offers_the_other_pairs(alice: User, client: Client) -> None:
    parent, fork = forked(alice)
    client.force_login(alice)
    page = client.get("/runs/compare/", ids(fork, parent)).content.decode()
    address = f"/runs/compare/difference.json?run={parent.public_id}&amp;run={fork.public_id}"
    assert f'data-url="{address}" data-before="B" data-after="A"' in page
    assert "drawn=AB#difference" in page
    assert client.get(address.replace("&amp;", "&")).json()["counts"]["gone"] == 2
    strangers = client.get("/runs/compare/", ids(parent, make_exploration(alice))).content.decode()
    assert "None of these runs is a fork of another one." in strangers


@pytest.mark.parametrize(
    ("number", "words"), [(0, "No run is chosen."), (1, "One run alone"), (3, "A difference is of two runs")]
)
def test_a_difference_of_any_other_number_of_runs_is_refused(alice: User, client: Client, number: int, words: str) -> None:
    client.force_login(alice)
    answer = client.get("/runs/compare/difference.json", ids(*(make_run() for _ in range(number))))
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
