"""An experiment gets more in the browser: what it has stays, what would be lost is refused, and twice sent is once added."""

from typing import Any

import pytest
from django.test import Client

from apps.experiments.models import Experiment, ExperimentState
from apps.experiments.solving.extending.filling import Extension
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.services import manifest_stored
from apps.explorations.starting.plans import usable_aliases
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import Named, version_add
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import as_sent, begin, make_problem_set, states
from tests.problems.factory import make_problem
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
SCORERS = [{"name": "answer", "kind": "answer"}]


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


@pytest.fixture
def client(client: Client) -> Client:
    client.force_login(person("alice"))
    return client


def url(experiment: Experiment) -> str:
    return f"/experiments/{experiment.public_id}/add/"


def sent(experiment: Experiment, action: str = "start", **changes: str) -> dict[str, str]:
    """The form as the page shows it, with changes."""
    shown = as_sent(Extension(Experiment.objects.get(pk=experiment.pk), usable_aliases(), None))
    return {**{name: text.replace("\n", "\r\n") for name, text in shown.items()}, **changes, "action": action}


def stored(experiment: Experiment) -> Manifest:
    return manifest_stored(Experiment.objects.get(pk=experiment.pk))


VOTE = {"methods-TOTAL_FORMS": "2", "methods-1-name": "vote", "methods-1-scaffold": "majority_vote"}


def test_a_method_and_repeats_are_added_and_nothing_is_asked_again(stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(person("alice"), scorers=SCORERS))
    before = list(experiment.solving_cells.values_list("pk", "run", "ended_at"))
    assert "Add to it" in client.get(f"/experiments/{experiment.public_id}/").text
    found = client.post(url(experiment), sent(experiment, "estimate", repeats="2", **VOTE)).text
    assert ">6</strong> new cells on 2 problems." in found
    assert '<span class="num">2</span> stay as they are.' in found
    answer = client.post(url(experiment), sent(experiment, repeats="2", **VOTE))
    assert answer["Location"] == f"/experiments/{experiment.public_id}/"
    assert states(stage.play(experiment)) == {"finished": 8}
    assert (
        list(experiment.solving_cells.filter(pk__in=[pk for pk, *_ in before]).values_list("pk", "run", "ended_at")) == before
    )


def test_a_form_sent_twice_adds_once(stage: Stage, client: Client) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(person("alice"), scorers=SCORERS))
    twice = sent(experiment, **VOTE)
    assert [client.post(url(experiment), twice).status_code for _ in range(2)] == [302, 302]
    assert experiment.solving_cells.count() == 4
    assert len(stored(experiment).methods) == 2


def test_a_new_grader_counts_the_cells_that_have_ended(client: Client) -> None:
    make_problem_set(3)
    experiment = begin(person("alice"), scorers=SCORERS)
    grader = {"scorers-1-kind": "grader", "scorers-1-workflow": "single_turn", "scorers-1-alias": "served"}
    html = client.post(url(experiment), sent(experiment, "estimate", **grader, **{"scorers-TOTAL_FORMS": "2"})).text
    assert ">0</strong> new cells" in html
    assert "3 gradings of answers: about 3 calls" in html
    assert "No cell is new." in html


RICH: dict[str, Any] = {
    "methods": [
        {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}, "max_new_tokens": 512, "temperature": 0.5},
        {"name": "single", "scaffold": "single_call", "temperature": 1.0},
    ],
    "teams": [
        {"name": "by role", "roles": {"solver": "served", "verifier": "gone"}},
        {"name": "gone", "roles": {"": "gone", "solver": "served", "verifier": "other"}},
    ],
    "budgets": [{}, {"calls": 9}, {"seconds": 0.5}],
    "problems": {"set": "sums@1", "names": ["sum-1", "sum-3"]},
    "scorers": [
        {"name": "exact", "kind": "answer"},
        {"name": "mine", "kind": "grader", "workflow": "single_turn", "players": {"": "served", "reader": "gone"}},
        {"name": "jury", "kind": "people", "points": 3, "sample": 2},
    ],
    "prices": {"served": {"input": 1.5, "output": 2, "currency": "EUR", "date": "2026-11-01"}},
    "counts": "tokens",
    "seed": 2**40,
    "take_over": False,
    "curves": True,
    "baseline": "single",
}


def test_what_the_form_cannot_show_stays_as_it_is(client: Client) -> None:
    make_problem_set(3)
    experiment = begin(person("alice"), **RICH)
    before = stored(experiment)
    answer = client.post(url(experiment), sent(experiment, at_once="7"))
    assert answer.status_code == 302
    assert stored(experiment) == before.model_copy(update={"at_once": 7})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"methods-0-params": "solutions = 3"}, "The method vote is missing or changed. Keep it"),
        ({"methods-0-name": ""}, "The method vote is missing or changed."),
        ({"teams-1-alias": "served"}, "The team gone is missing or changed."),
        ({"scorers-2-points": "4"}, "The scorer jury is missing or changed."),
        ({"budgets-1-calls": "8"}, "New budgets follow the old ones"),
        ({"repeats": "1"}, "The number of repeats can only grow."),
        ({"names": "sum-1"}, "The problem sum-3 is no longer chosen."),
        ({"set": "others@1"}, "Select a valid choice"),
        ({"baseline": "none"}, "the baseline none is no method"),
    ],
)
def test_what_would_lose_something_is_refused(client: Client, changes: dict[str, str], words: str) -> None:
    make_problem_set(3)
    make_problem_set(1, "Others")
    experiment = begin(person("alice"), **RICH | {"repeats": 2})
    before = stored(experiment)
    answer = client.post(url(experiment), sent(experiment, **changes))
    assert answer.status_code == 422
    assert words in answer.text
    assert "Nothing was added." in answer.text
    assert words in client.post(url(experiment), sent(experiment, "estimate", **changes)).text
    assert stored(experiment) == before


def test_title_and_seed_are_fixed(client: Client) -> None:
    make_problem_set(1)
    experiment = begin(person("alice"))
    client.post(url(experiment), sent(experiment, title="Other", seed="5", repeats="2"))
    assert (stored(experiment).title, stored(experiment).seed, stored(experiment).repeats) == ("Trial", 0, 2)


def test_a_cancelled_experiment_gets_no_more(client: Client) -> None:
    make_problem_set(1)
    experiment = begin(person("alice"))
    client.post(f"/experiments/{experiment.public_id}/cancel/")
    assert "/add/" not in client.get(f"/experiments/{experiment.public_id}/").text
    assert "A cancelled experiment cannot be extended." in client.post(url(experiment), sent(experiment, repeats="2")).text
    assert Experiment.objects.get().state == ExperimentState.CANCELLED


def test_only_those_who_may_steer_add(client: Client) -> None:
    make_problem_set(1)
    experiment = begin(person("alice"))
    client.force_login(person("bob"))
    assert "/add/" not in client.get(f"/experiments/{experiment.public_id}/").text
    assert [client.get(url(experiment)).status_code, client.post(url(experiment), sent(experiment)).status_code] == [404, 404]


def test_a_later_version_of_the_set_adds_its_problems(client: Client) -> None:
    make_problem_set(2)
    experiment = begin(person("alice"))
    assert experiment.problem_set is not None
    made = make_problem("Sum 9", statement="Find the sum number 9.", answer="9", solutions=())
    problem_set = experiment.problem_set.problem_set
    kept = [Named(item.name, item.problem) for item in experiment.problem_set.items.select_related("problem")]
    version_add(problem_set=problem_set, items=[*kept, *named_of([made])], by=None)
    client.post(url(experiment), sent(experiment, repeats="2"))
    assert (stored(experiment).problems.set, experiment.solving_cells.count()) == ("sums@1", 4)
    answer = client.post(url(experiment), sent(experiment, set="sums@2"))
    assert answer.status_code == 302, answer.text
    assert (stored(experiment).problems.set, experiment.solving_cells.count()) == ("sums@2", 6)
