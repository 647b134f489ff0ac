"""What the page of a baseline shows: the only solution, votes by answer, points and the duel."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.candidates.solutions import solutions
from apps.explorations.progress import Progress
from apps.explorations.words import ending
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run
from apps.runs.selectors import event_page
from tests.explorations.test_solutions_of_a_run import played
from tests.graders.grade import finding, grading
from tests.reasoning.candidates import better, named
from tests.reasoning.play import proof
from tests.runs.driving import drive, with_model
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
Pages = Callable[[User | None], Client]


def page(client: Client, run: Run) -> str:
    return client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()


def best(request: GenerationRequest) -> str:
    match request.role:
        case "grader":
            points = {"c1.1": grading(3, finding()), "c1.2": grading(5), "c1.3": grading(5)}
            return points[request.key.split("/")[1]]
        case "judge":
            return better("A" if request.key.endswith("/1") else "B")
        case _:
            return named(request)


def test_a_single_call_shows_its_solution_and_that_nothing_judged_it(alice: User, client_for: Pages) -> None:
    run = played("single_call", "quick", named)
    assert ending(run) == "not judged"
    text = page(client_for(alice), run)
    assert "The solution of the only call. It was not judged." in text
    assert 'badge--good">selected<' in text


def test_points_and_the_duel_of_equals_are_shown(alice: User, client_for: Pages) -> None:
    run = played("best_of", "quick", best)
    found = solutions(run)
    first = {one.id: one for one in found.rounds[0].solutions}
    assert {name: one.mean for name, one in first.items()} == {"c1.1": 3, "c1.2": 5, "c1.3": 5}
    assert "proof-by-example" in first["c1.1"].opinions[0].text
    assert found.selected in ("c1.2", "c1.3")
    assert len(found.duels) == 1
    assert set(run.steps.values_list("round", flat=True)) == {1}, "a proof is graded in its round"
    text = page(client_for(alice), run)
    assert "won the duel among 2 solutions with 5 of 7 points" in text
    assert "Knock-out" in text
    call = reverse("explorations:call", args=[run.public_id, "grade/c1.1/grade"])
    assert call in text
    assert client_for(alice).get(call).status_code == 200


def voting(answers: dict[str, str]) -> Callable[[GenerationRequest], str]:
    return lambda request: proof("We see it.", f"So it is.\nAnswer: {answers[request.key]}")


def test_votes_are_shown_by_answer_with_who_gave_it(alice: User, client_for: Pages) -> None:
    answers = {"solve/1": "$3$", "solve/2": "$1/2$", "solve/3": "$0.5$", "solve/4": "$\\frac12$"}
    scaffold = SCAFFOLDS["majority_vote"]
    run = make_run(
        scaffold="majority_vote",
        preset="quick",
        params={"solutions": 4},
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
        problem=ProblemText(id="one-and-one", version=1, title="One and one", statement="Halve 1.", answer="0.5"),
    )
    assert drive(run, with_model(ScriptedBackend(voting(answers)))) == "finished"
    run.refresh_from_db()
    found = solutions(run)
    assert found.votes == [("$3$", ("c1.1",)), ("$1/2$", ("c1.2", "c1.3", "c1.4"))]
    assert (found.votes_cast, found.chosen, found.selected) == (4, 1, "c1.2")
    text = page(client_for(alice), run)
    assert "Votes by final answer" in text
    assert "Votes of 4" in text
    assert "3 of 4 votes are for" in text
    assert text.count("most votes") == 1
    assert "judged most likely correct" not in text


def test_the_terminal_shows_solutions_points_the_duel_and_the_winner() -> None:
    run = played("best_of", "quick", best)
    progress = Progress()
    lines = [line for event in event_page(run, 0) if (line := progress.take(event))]
    assert [line for line in lines if line.startswith("solution")] == [f"solution c1.{number} written" for number in (1, 2, 3)]
    assert "c1.1: 3 of 7" in lines
    assert any(" against " in line and line.endswith("by both orders") for line in lines)
    assert "won the duel among 2 solutions with 5 of 7 points" in lines[-1]
    assert len(progress.story.candidates.by_id) == 3
