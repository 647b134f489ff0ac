"""Tables say at which budget, against whom, on which problems, and how cells without an answer count."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from apps.accounts.models import User
from apps.experiments.models import CellScore, Experiment, ExperimentState
from apps.reasoning.answers.points import NOTHING
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set
from tests.experiments.solving.test_the_command import command
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
VOTE = {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}
TWO = [{"name": "single", "scaffold": "single_call"}, VOTE]
ANSWER = [{"name": "answer", "kind": "answer"}]
PRICES = {"served": {"input": 1.0, "output": 2.0, "date": "2026-11-01"}}


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


@pytest.fixture
def alice(client: Client) -> User:
    client.force_login(person("alice"))
    return person("alice")


def page(client: Client, experiment: Experiment, part: str = "") -> str:
    found = client.get(f"/experiments/{experiment.public_id}/{part}")
    assert found.status_code == 200
    return found.content.decode() if not found.streaming else b"".join(found).decode()


def score(experiment: Experiment, method: str, points: dict[str, int | None]) -> None:
    """Replace the scores of a method, by problem; None: it gave no answer."""
    for cell in experiment.solving_cells.filter(method=method).select_related("item"):
        given = points[cell.item.name]
        values: dict[str, Any] = {"state": "scored", "points": given, "scale": 1, "unscored": ""}
        if given is None:
            values = {"state": "unscored", "points": None, "scale": None, "unscored": NOTHING}
        CellScore.objects.update_or_create(cell=cell, scorer="answer", answer=cell.answer, defaults=values)


def played(alice: User, stage: Stage, **changes: Any) -> Experiment:
    """Eight problems. The vote gave no answer on two of them, and is right on the six on which the single call is wrong."""
    make_problem_set(8)
    experiment = stage.play(begin(alice, **{"methods": TWO, "scorers": ANSWER, "baseline": "single"} | changes))
    score(experiment, "single", {f"sum-{number}": int(number > 6) for number in range(1, 9)})
    score(experiment, "vote", {f"sum-{number}": None if number > 6 else 1 for number in range(1, 9)})
    return experiment


@pytest.mark.parametrize(
    ("budgets", "said"),
    [
        ([{}], "Budget of a cell: no limit."),
        ([{"calls": 1}], "Budget of a cell: 1 call."),
        ([{"tokens": 5000}, {"calls": 3}], "Budgets of a cell: 5,000 tokens; 3 calls. Tokens of prompts and answers count."),
    ],
)
def test_page_and_files_name_the_budget_of_a_cell(alice: User, client: Client, budgets: list[Any], said: str) -> None:
    make_problem_set(1)
    experiment = begin(alice, scorers=ANSWER, budgets=budgets)
    for part in ("", "files/methods.md", "files/methods.tex"):
        assert said in page(client, experiment, part)


def test_differences_in_a_file_name_both_rows_and_money_has_a_column(alice: User, stage: Stage, client: Client) -> None:
    teams = [{"name": name, "roles": {"": "served"}} for name in ("one", "two")]
    experiment = played(alice, stage, teams=teams, prices=PRICES)
    markdown = page(client, experiment, "files/methods.md")
    assert "Differences from single · one, paired by problem:" in markdown
    assert re.findall(r"^- (.+?): ", markdown, re.M) == ["single · two", "vote · one", "vote · two"]
    assert "| Seconds | USD |" in markdown
    assert re.search(r"\| 0\.\d{4} \|$", markdown, re.M)
    assert re.search(r"& USD .*\n", page(client, experiment, "files/methods.tex"))


def test_the_choice_to_count_no_answer_as_0_is_kept_on_other_pages_and_in_files(
    alice: User, stage: Stage, client: Client, tmp_path: Path
) -> None:
    experiment = played(alice, stage)
    left, counted = page(client, experiment, "compare/"), page(client, experiment, "compare/?none=0")
    assert "vote is better by 100.0 points" in left
    assert "2 cells gave no answer that could be compared, and are left out" in left
    assert "2 cells without a comparable answer count as 0" in counted
    assert "vote is better by 100.0 points" not in counted
    for part in ("?none=0", "compare/?none=0", "ablations/?none=0", "budgets/?none=0"):
        html = page(client, experiment, part)
        for tab in ("", "compare/", "ablations/", "files/"):
            assert f'href="/experiments/{experiment.public_id}/{tab}?none=0"' in html
    assert "This page leaves them out." in page(client, experiment, "budgets/?none=0")
    files = page(client, experiment, "files/?none=0")
    assert "methods.md?scorer=answer&amp;none=0" in files
    assert "| vote | 100.0 % |" in page(client, experiment, "files/methods.md?scorer=answer")
    with_none = page(client, experiment, "files/methods.md?scorer=answer&none=0")
    assert "| vote | 75.0 % |" in with_none
    assert "Cells without an answer count as 0" in with_none
    call_command("experiment", "export", "Trial", tmp_path, format="markdown", none_as_0=True, stdout=io.StringIO())
    assert (tmp_path / "methods.md").read_text() == with_none


def test_two_methods_show_on_how_many_problems_each_mean_is(alice: User, stage: Stage, client: Client) -> None:
    html = page(client, played(alice, stage), "compare/")
    assert "100.0 % on 6 problems" in html
    assert "25.0 % on 8 problems" in html
    assert re.search(r"\+100\.0 \(.*\)</span> on 6 problems", html)


def test_a_square_names_the_team(alice: User, stage: Stage, client: Client) -> None:
    teams = [{"name": name, "roles": {"": "served"}} for name in ("one", "two")]
    html = page(client, played(alice, stage, teams=teams))
    assert 'title="sum-1, vote · one: 100 % of 1 scores; 1 finished"' in html
    assert 'title="sum-1, vote · two: 100 % of 1 scores; 1 finished"' in html


def test_sentences_are_of_so_far_while_it_runs(alice: User, stage: Stage, client: Client) -> None:
    experiment = played(alice, stage)
    assert "So far" not in page(client, experiment)
    Experiment.objects.update(state=ExperimentState.PAUSED)
    assert "So far: vote is better by" in page(client, experiment)
    assert "So far: vote is better by" in page(client, experiment, "compare/")
    assert "paired by problem, so far:" in page(client, experiment, "files/methods.md")


def test_the_command_prints_intervals_and_differences(alice: User, stage: Stage) -> None:
    played(alice, stage, budgets=[{"calls": 5}], prices=PRICES)
    said = command("table", "Trial").splitlines()
    assert said[1] == "Budget of a cell: 5 calls."
    assert said[2].startswith("single · served · budget 0: 25.0 % of 8 scores, 95 % interval ")
    assert re.search(r" interval \d+\.\d to \d+\.\d; 1\.0 calls, .* USD a cell$", said[2])
    assert ", 2 unscored; 2.0 calls" in said[3]
    assert said[4] == "Against single, paired by problem:"
    assert said[5].startswith("vote: vote is better by 100.0 points (")
    counted = command("table", "Trial", "--none-as-0")
    assert "vote · served · budget 0: 75.0 % of 8 scores" in counted
    assert "vote: Not decisive" in counted
