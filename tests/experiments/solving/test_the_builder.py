"""The builder: rows of a form become a manifest; the estimate names conflicts; nothing is lost when something is wrong."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.experiments.models import Experiment
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from tests.cast import person
from tests.experiments.solving.playing import make_problem_set
from tests.problems.factory import make_problem

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/experiments/new/solving/"
MANY = {"repeats": "1000", "budgets-TOTAL_FORMS": "20", **{f"budgets-{number}-calls": str(number + 9) for number in range(20)}}


@pytest.fixture
def client(client: Client) -> Client:
    client.force_login(person("alice"))
    return client


def sent(action: str = "start", **changes: str) -> dict[str, str]:
    """The form with one method, team, budget and scorer."""
    parts, kinds = ("methods", "teams", "budgets", "scorers"), {"TOTAL_FORMS": "1", "INITIAL_FORMS": "0"}
    counts = {f"{part}-{kind}": count for part in parts for kind, count in kinds.items()}
    fields = {
        "title": "Sums", "set": "sums", "repeats": "2", "seed": "0", "at_once": "4", "take_over": "on",
        "methods-0-name": "single", "methods-0-scaffold": "single_call", "teams-0-name": "served", "teams-0-alias": "served",
        "scorers-0-kind": "answer", "action": action,
    }  # fmt: skip
    return {**counts, **fields, **changes}


def test_the_form_starts_the_experiment_of_its_manifest(client: Client) -> None:
    make_problem_set(3)
    more = {
        "methods-TOTAL_FORMS": "2", "methods-1-name": "vote", "methods-1-scaffold": "majority_vote",
        "methods-1-params": "solutions = 2", "baseline": "single", "budgets-0-calls": "9", "split": "",
        "scorers-TOTAL_FORMS": "2", "scorers-1-kind": "grader", "scorers-1-workflow": "single_turn",
        "scorers-1-alias": "served",
    }  # fmt: skip
    answer = client.post(URL, sent(**more))
    experiment = Experiment.objects.get()
    assert answer["Location"] == f"/experiments/{experiment.public_id}/"
    made = experiment.manifest or {}
    assert [method["params"] for method in made["methods"]] == [{}, {"solutions": 2}]
    assert [scorer["name"] for scorer in made["scorers"]] == ["answer", "single_turn by served"]
    assert made["budgets"] == [{"tokens": None, "calls": 9, "seconds": None}]
    assert experiment.solving_cells.count() == 12


def test_people_are_asked_for_a_sample_or_for_all_cells(client: Client) -> None:
    make_problem_set(3)
    client.post(URL, sent(**{"scorers-0-kind": "people", "scorers-0-sample": "2", "scorers-0-points": "10"}))
    client.post(URL, sent(**{"scorers-0-kind": "people", "title": "All"}))
    made = [one.manifest or {} for one in Experiment.objects.order_by("pk")]
    assert [(one["scorers"][0]["sample"], one["scorers"][0]["points"]) for one in made] == [(2, 10), (0, 7)]


def test_a_sample_that_is_too_small_to_correct_a_grader_is_named(client: Client) -> None:
    make_problem_set(12)
    two = {"scorers-TOTAL_FORMS": "2", "scorers-1-kind": "people"}
    assert (
        "people marks 9 problems; 10 are needed" in client.post(URL, sent("estimate", **two, **{"scorers-1-sample": "9"})).text
    )
    assert "are needed to correct" not in client.post(URL, sent("estimate", **two, **{"scorers-1-sample": "10"})).text


def test_a_form_sent_twice_starts_one(client: Client) -> None:
    make_problem_set(1)
    start = re.findall(r'name="start_id" value="([^"]+)"', client.get(URL).content.decode())[0]
    for _ in range(2):
        client.post(URL, sent(start_id=start))
    assert Experiment.objects.count() == 1


def test_the_estimate_counts_cells_and_calls_and_says_what_could_be_shown(client: Client) -> None:
    make_problem_set(8)
    two = {"methods-TOTAL_FORMS": "2", "methods-1-name": "b", "methods-1-scaffold": "rsa"}
    html = client.post(URL, sent("estimate", **two)).content.decode()
    assert ">32</strong> cells on 8 problems" in html
    assert re.search(r"Differences from \d+ percentage points are shown in 80 % of such experiments", html)
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"methods-0-params": "solutions = -1", "methods-0-scaffold": "majority_vote"},
            "solutions: write a number",
        ),
        ({"methods-0-scaffold": "majority_vote", "budgets-0-calls": "1"}, "needs at least"),
        ({"scorers-0-kind": "grader", "scorers-0-workflow": "single_turn"}, "cannot grade"),
        ({"methods-0-params": "grader = [1]", "methods-0-scaffold": "best_of"}, "grader: write a text"),
        ({"methods-0-params": "rounds = "}, "Write one value a line"),
        ({"methods-0-params": "rounds = nan"}, "Write one value a line"),
        ({"methods-0-params": 'words = "\\u0000"'}, "NUL"),
        ({"methods-0-name": ""}, "methods"),
        (
            {"repeats": "1000", "budgets-TOTAL_FORMS": "20", **{f"budgets-{n}-calls": str(n + 9) for n in range(20)}},
            "at most 50,000",
        ),
        ({"baseline": "none"}, "the baseline none is no method"),
        ({"split": "test"}, "No problem is chosen"),
        ({"names": "sum-1, sum-9"}, "no problem sum-9. The page of the set lists its problems."),
        ({"scorers-0-kind": ""}, "There is no scorer, so the table will have no score."),
        ({"methods-TOTAL_FORMS": "2", "methods-1-name": "single", "methods-1-scaffold": "rsa"}, "is used twice"),
    ],
)
def test_conflicts_and_faults_are_named_before_the_start(client: Client, changes: dict[str, str], words: str) -> None:
    make_problem_set(3)
    assert words in client.post(URL, sent("estimate", **changes)).content.decode()


def test_problems_without_an_answer_are_counted_for_the_scorer_that_needs_one(client: Client) -> None:
    from apps.problems.models import ProblemVersion

    made = make_problem_set(3)
    ProblemVersion.objects.filter(pk=made.items.all()[0].problem_id).update(answer="")
    ProblemVersion.objects.filter(pk=made.items.all()[1].problem_id).update(answer="all powers of 2")
    html = client.post(URL, sent("estimate")).content.decode()
    assert "1 of 3 problems have no final answer" in html
    assert "1 of 3 problems has an answer that refuses no wrong one" in html


def by_grader(workflow: str) -> dict[str, str]:
    return {"scorers-0-kind": "grader", "scorers-0-workflow": workflow, "scorers-0-alias": "served"}


def test_problems_without_a_reference_are_counted_for_the_grader_that_needs_one_and_the_others_cost(client: Client) -> None:
    bare = make_problem("Bare sum", answer="1", solutions=())
    made = [bare, *(make_problem(f"Sum {number}", answer="1") for number in range(3))]
    set_create(title="Sums", items=named_of(made), by=None)
    html = client.post(URL, sent("estimate", **by_grader("ref3"))).text
    assert "1 of 4 problems has no reference solution, which ref3 by served needs. Add one to each, or choose another" in html
    assert "6 gradings of answers: about" in html
    assert "about 0 calls" not in html
    assert "no reference" not in client.post(URL, sent("estimate", **by_grader("single_turn"))).text
    make_problem_set(2, "Bare")
    html = client.post(URL, sent("estimate", set="bare", **by_grader("ref3"))).text
    assert "2 of 2 problems have no reference solution" in html
    assert "of answers: about" not in html
    html = client.post(URL, sent("estimate", set="bare", **by_grader("scheme"))).text
    assert "2 of 2 problems have no active marking scheme" in html


def test_the_material_of_many_problems_takes_few_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    for size in (12, 60):
        make_problem_set(size, f"Sums of {size}")
    with CaptureQueriesContext(connection) as few:
        client.post(URL, sent("estimate", set="sums-of-12", **by_grader("ref3")))
    with django_assert_max_num_queries(len(few)):
        client.post(URL, sent("estimate", set="sums-of-60", **by_grader("ref3")))


def test_a_wrong_form_starts_nothing_and_keeps_what_was_written(client: Client) -> None:
    make_problem_set(1)
    found = client.post(URL, sent(title="", **{"methods-0-params": "rounds = 2"}))
    assert found.status_code == 422
    assert "rounds = 2" in found.content.decode()
    assert not Experiment.objects.exists()


def test_a_row_is_added_without_javascript(client: Client) -> None:
    make_problem_set(1)
    html = client.post(URL, sent("add-methods")).content.decode()
    assert 'name="methods-1-name"' in html
    assert 'value="single"' in html


def test_a_row_without_a_name_does_not_count(client: Client) -> None:
    make_problem_set(1)
    more = {"methods-TOTAL_FORMS": "2", "methods-1-scaffold": "rsa", "teams-TOTAL_FORMS": "2", "teams-1-alias": "served"}
    client.post(URL, sent(**more))
    made = Experiment.objects.get().manifest or {}
    assert [len(made[part]) for part in ("methods", "teams")] == [1, 1]


def test_without_a_set_the_page_leads_to_the_sets(client: Client) -> None:
    assert "No problem sets yet" in client.get(URL).content.decode()


def test_the_page_of_a_set_leads_to_the_builder_with_this_set(client: Client) -> None:
    make_problem_set(1)
    assert f"{URL}?set=sums" in client.get("/problem-sets/sums/").content.decode()
    assert '<option value="sums" selected>' in client.get(f"{URL}?set=sums").content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"teams-0-roles": 'verifer = "served"'}, "No method has a role verifer of the team served. The roles are solver."),
        ({"teams-0-roles": 'solver = "gone"'}, "There is no model gone for the role solver of the team served."),
        ({"prices": 'gone = { input = 1, output = 2, date = "2026-11-01" }'}, "served has no price"),
        ({"budgets-0-tokens": "5"}, "One call of single takes more tokens than a budget of 5."),
    ],
)
def test_misspelt_roles_missing_prices_and_tiny_budgets_are_named(client: Client, changes: dict[str, str], words: str) -> None:
    make_problem_set(2)
    assert words in client.post(URL, sent("estimate", **changes)).content.decode()


def test_gradings_are_counted_apart_from_the_calls_of_methods(client: Client) -> None:
    make_problem_set(2)
    grader = {"scorers-0-kind": "grader", "scorers-0-workflow": "single_turn", "scorers-0-alias": "served"}
    assert "4 gradings of answers: about 4 calls" in client.post(URL, sent("estimate", **grader)).content.decode()
