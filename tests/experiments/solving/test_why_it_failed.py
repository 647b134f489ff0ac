"""Endings of cells, signs of trouble in their calls and objections, by method; each number leads to its cells."""

import re

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import Experiment, SolvingState
from apps.experiments.services import experiment_cancel
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run, Step
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set
from tests.reasoning.candidates import PASS, decision
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
SINGLE = {"name": "single", "scaffold": "single_call"}
CHECK = {"name": "check", "scaffold": "self_check", "params": {"accept": 1, "give_up": 1, "improve": False}}
FAIL = decision("fail", ("critical", "The base case is missing for all odd numbers above nine."), ("gap", "Why?"))


@pytest.fixture
def alice() -> User:
    return person("alice")


@pytest.fixture
def answers() -> dict[str, object]:
    def checked(request: GenerationRequest) -> str:
        return PASS if "sum number 2" in " ".join(message.content for message in request.messages) else FAIL

    def solved(request: GenerationRequest) -> str:
        is_third = "sum number 3" in " ".join(message.content for message in request.messages)
        return "I do not know." if is_third else proof("We add.", "So it is.\nAnswer: 1")

    return {"check/*": checked, "*": solved}


def page(client: Client, user: User, url: str) -> str:
    client.force_login(user)
    found = client.get(url)
    assert found.status_code == 200
    return found.content.decode()


def endings(client: Client, user: User, experiment: Experiment) -> str:
    return page(client, user, f"/experiments/{experiment.public_id}/endings/")


def number(html: str, method: str, label: str) -> tuple[int, str]:
    """The count in the row of a method and the column of a label, and the address of its cells."""
    for row in re.findall(rf'<th scope="row" class="table__head">{method}</th>.*?</tr>', html, re.DOTALL):
        if found := re.search(rf'data-label="{label}">(?:<a href="([^"]*)">|<span[^>]*>)([\d,]+)<', row):
            return int(found[2].replace(",", "")), (found[1] or "").replace("&amp;", "&")
    raise AssertionError(f"no {label} of {method}")


def listed(client: Client, user: User, url: str) -> int:
    """The number of cells that an address lists."""
    return int(re.findall(r"([\d,]+) cells?</p>", page(client, user, url))[0].replace(",", ""))


def test_every_cell_has_one_ending_and_each_number_leads_to_its_cells(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(4)
    html = endings(client, alice, experiment := stage.play(begin(alice, methods=[SINGLE, CHECK])))
    expected = {
        ("single", "not judged"): 3,
        ("single", "nothing handed in"): 1,
        ("check", "accepted"): 1,
        ("check", "not accepted"): 2,
        ("check", "nothing handed in"): 1,
        ("check", "failed"): 0,
    }
    for (method, label), count in expected.items():
        found, url = number(html, method, label)
        assert (method, label, found) == (method, label, count)
        assert not url or listed(client, alice, url) == count
    assert experiment.solving_cells.count() == 8


def test_unread_answers_cut_off_ones_and_objections_are_counted_by_method(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(4)
    experiment = stage.play(begin(alice, methods=[SINGLE, CHECK]))
    Step.objects.filter(run__solving_cells__method="single", run__solving_cells__item__name="sum-1").update(
        finish_reason="length"
    )
    html = endings(client, alice, experiment)
    unread, url = number(html, "single", "unread answers")
    assert unread == 2, "the answer and its repetition"
    assert listed(client, alice, url) == 1
    assert number(html, "single", "answers cut off")[0] == 1
    assert listed(client, alice, number(html, "single", "answers cut off")[1]) == 1
    assert number(html, "check", "answers cut off")[0] == 0
    assert number(html, "check", "verdicts that object")[0] == 2
    assert listed(client, alice, number(html, "check", "verdicts that object")[1]) == 2
    assert "2 critical" in html
    assert "2 gap" in html
    assert re.search(r"The base case is missing for all odd … <span[^>]*>2 times<", html)


def test_a_run_that_two_experiments_share_counts_once_in_each(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(4)
    first = stage.play(begin(alice, methods=[CHECK]))
    twice = {**CHECK, "name": "check again"}
    second = stage.play(begin(alice, title="Again", methods=[CHECK, twice]))
    assert Run.objects.count() == 4
    for experiment in (first, second):
        assert number(endings(client, alice, experiment), "check", "verdicts that object")[0] == 2
    assert number(endings(client, alice, second), "check again", "verdicts that object")[0] == 2


def test_failed_cells_are_counted_by_the_first_clause_of_their_reason(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(3)
    experiment = stage.play(begin(alice, teams=[{"name": "gone", "roles": {"": "gone"}}]))
    first = experiment.solving_cells.filter(item__name="sum-1")
    first.update(trouble="The disk “one” is full: stop.")
    experiment.solving_cells.filter(item__name="sum-2").update(trouble="The disk “two” is full; wait.")
    html = endings(client, alice, experiment)
    assert number(html, "single", "failed")[0] == 3
    found = re.search(r'<a href="([^"]*)">2 failed</a>, as the disk an answer is full\.', html)
    assert found
    assert listed(client, alice, found[1].replace("&amp;", "&")) == 2
    assert "1 failed</a>, as no enabled model is named gone" in html


def test_the_cells_of_a_very_long_reason_are_found(alice: User, client: Client) -> None:
    make_problem_set(1)
    experiment = begin(alice)
    experiment.solving_cells.update(state="failed", trouble="It is full of words " * 50)
    url = re.findall(r'href="([^"]*reason=[^"]*)"', endings(client, alice, experiment))[0].replace("&amp;", "&")
    assert listed(client, alice, url) == 1


def test_a_spent_budget_and_cancelled_cells_are_counted(alice: User, stage: Stage, client: Client) -> None:
    make_problem_set(2)
    small = stage.play(begin(alice, methods=[CHECK], budgets=[{"calls": 1}]))
    html = endings(client, alice, small)
    assert number(html, "check", "budget spent")[0] == 2
    assert listed(client, alice, number(html, "check", "budget spent")[1]) == 2
    waiting = begin(alice, title="Other", methods=[SINGLE])
    assert number(endings(client, alice, waiting), "single", "not ended")[0] == 2
    experiment_cancel(experiment=waiting, user=alice)
    assert number(endings(client, alice, waiting), "single", "cancelled")[0] == 2
    assert waiting.solving_cells.filter(state=SolvingState.CANCELLED).count() == 2


def test_an_unknown_ending_lists_no_cells(alice: User, client: Client) -> None:
    make_problem_set(1)
    experiment = begin(alice)
    html = page(client, alice, f"/experiments/{experiment.public_id}/cells/?ending=lost")
    assert "No cells match" in html
    assert "unknown ending" in html
    assert "No verdict of a verifier objects." in endings(client, alice, experiment)


def test_held_back_problems_and_hidden_runs_show_no_objection(
    alice: User, stage: Stage, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_problem_set(2)
    experiment = stage.play(begin(alice, methods=[CHECK]))
    assert "The base case is missing" in endings(client, alice, experiment)
    with monkeypatch.context() as patch:
        patch.setattr("apps.experiments.solving.comparing.failures.run_visible_to", lambda user: Run.objects.none())
        html = endings(client, alice, experiment)
        assert number(html, "check", "verdicts that object")[0] == 1
        assert "The base case is missing" not in html
    hidden = Problem.objects.get(slug="sum-1").pk
    monkeypatch.setattr("apps.experiments.access.solved_visible_to", lambda user: Problem.objects.exclude(pk=hidden))
    html = endings(client, alice, experiment)
    assert number(html, "check", "verdicts that object")[0] == 0
    assert number(html, "check", "accepted")[0] == 1
    assert "1 problem is held back from you" in html


def test_objections_of_votes_and_those_without_words_are_read() -> None:
    from apps.experiments.solving.comparing.failures import first_words, objections_in

    checks = [{"sound": True, "comment": "Fine."}, {"sound": False, "severity": "critical", "comment": "Not $n > 1$."}]
    assert objections_in({"checks": checks, "summary": "No."}) == [("critical", "Not $n > 1$.")]
    assert objections_in({"issues": [], "checks": [], "summary": "It is wrong."}) == [("", "It is wrong.")]
    assert first_words("a b c d e f g $x + y$ and more") == "a b c d e f g $x + y$ …"
    assert first_words("") == ""
