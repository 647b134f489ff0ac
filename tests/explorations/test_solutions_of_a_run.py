"""What the page of a scaffold of candidates shows: solutions with lineage, opinions, groups, the knock-out and states."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.candidates.lineage import lineage_data
from apps.explorations.candidates.solutions import solutions
from apps.explorations.timeline import timeline
from apps.lemmas.selectors import proof_detail
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run
from tests.explorations.test_conversations_of_a_run import played as played_agents
from tests.reasoning.candidates import FAIL, PASS, better, named, score
from tests.reasoning.play import proof
from tests.runs.driving import drive, with_model
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def played(method: str, preset: str, answer: Callable[[GenerationRequest], str]) -> Run:
    """A finished run of the scaffold with a scripted model."""
    scaffold = SCAFFOLDS[method]
    run = make_run(
        scaffold=method,
        preset=preset,
        params=scaffold.presets[preset].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
    )
    assert drive(run, with_model(ScriptedBackend(answer))) == "finished"
    run.refresh_from_db()
    return run


def nomos(request: GenerationRequest) -> str:
    match request.role:
        case "solver":
            return named(request)
        case "grader":
            return {"mark/c1.2": score(7), "mark/c1.1": score(5)}.get(request.key, "no mark")
        case "consolidator":
            return 'Two conclusions.\n<group number="1">1, 2</group>\n<group number="2">3</group>\n<likeliest>1</likeliest>'
        case _:
            return better("A")


def test_the_page_shows_how_far_the_judge_of_a_knock_out_follows_the_order(
    alice: User, client_for: Callable[[User | None], Client]
) -> None:
    run = played("nomos", "quick", nomos)
    found = solutions(run).order
    assert found.first_won is not None
    assert found.first_won.count == found.first_won.of == found.comparisons > 0
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "Both orders gave the same winner in 0 of" in page


def test_the_fold_knows_marks_groups_pairs_and_the_winner() -> None:
    found = solutions(played("nomos", "quick", nomos))
    first = found.rounds[0].solutions
    assert found.selected == first[0].id == "c1.2"
    assert (first[0].mean, first[0].scale) == (7, 7)
    assert first[2].mean is None
    assert "not read" in first[2].opinions[0].verdict
    assert found.groups[found.chosen] == ("c1.2", "c1.1")
    assert [(duel.winner, duel.by) for duel in found.duels] == [("c1.2", "score")]
    assert [order.better for order in found.duels[0].orders] == [order.first for order in found.duels[0].orders]
    assert [solution.kept for solution in first] == [True, True, True, False]


def test_the_fold_knows_streaks_and_lineage() -> None:
    answers = {"check/1": FAIL, "check/2": PASS, "check/3": PASS}
    run = played("solver_verifier_corrector", "quick", lambda request: answers.get(request.key) or named(request))
    found = solutions(run)
    first, corrected = (round_.solutions[0] for round_ in found.rounds)
    assert first.children == [corrected.id]
    assert corrected.parents == (first.id,)
    assert [opinion.verdict for opinion in corrected.opinions] == ["pass, 1 in a row", "pass, 2 in a row"]
    assert first.opinions[0].issues[0].comment == "It does not follow."


def test_of_two_solutions_with_one_text_the_named_one_is_selected() -> None:
    marks = {"examine/c1.2/1": 1, "examine/c1.2/2": 0.5}

    def answer(request: GenerationRequest) -> str:
        if request.role == "evaluator":
            return score(marks.get(request.key, 0.5 if request.key.startswith("examine/c2") else 0))
        return f"{proof('It holds.')}\n<own-score>1</own-score>"

    run = played("deepseek_math", "quick", answer)
    assert run.outcome is not None
    assert "of c1.2 is 0.75" in run.outcome["reason"]
    assert solutions(run).selected == lineage_data(run)["selected_proof"] == "c1.2"
    detail = proof_detail(run, "1")
    assert detail is not None
    assert detail.standing.solution == "c1.2"


def test_evaluators_of_an_agent_say_correct_or_not_and_a_turn_is_written_from_a_state() -> None:
    first = solutions(played_agents()).rounds[0].solutions[0]
    assert [opinion.verdict for opinion in first.opinions] == ["Evaluator 1: incorrect", "Evaluator 2: incorrect"]
    assert not first.shows_mean
    cached = solutions(played("reasoning_cache", "paper", lambda request: named(request)))
    assert [round_.solutions[0].how for round_ in cached.rounds][:2] == [
        "written from scratch", "written from the state after"
    ]  # fmt: skip


def test_a_turn_shows_its_final_state_next_to_the_previous_one() -> None:
    def answer(request: GenerationRequest) -> str:
        return f"<state>After {request.key}.</state>" if request.role == "summarizer" else named(request)

    found = solutions(played("reasoning_cache", "paper", answer))
    states = [round_.state for round_ in found.rounds]
    assert states[0] is not None
    assert states[1] is not None
    assert (states[0].before, states[1].before) == ("", "After turn/1/summarise.")
    assert states[2] is None


def test_verdicts_of_a_group_have_no_streak_and_a_correction_knows_its_solution() -> None:
    def answer(request: GenerationRequest) -> str:
        if not request.role.startswith("verifier"):
            return named(request)
        return FAIL if request.key.endswith("/1") else PASS

    run = played("grouped_agents", "quick", answer)
    found = solutions(run)
    assert [round_.title for round_ in found.rounds] == ["Round 1", "Round 2", "Round 3"]
    judged = [solution for solution in found.rounds[0].solutions if solution.opinions]
    assert [sorted(opinion.verdict for opinion in solution.opinions) for solution in judged] == [
        ["fail", "pass", "pass", "pass"]
    ]
    assert {tuple(solution.parents) for solution in found.rounds[1].solutions} == {(judged[0].id,)}
    assert found.selected in {solution.id for round_ in found.rounds[:2] for solution in round_.solutions if solution.opinions}


def test_attempts_at_states_stand_apart_from_the_turns_and_say_where_they_began() -> None:
    def answer(request: GenerationRequest) -> str:
        return f"<state>After {request.key}.</state>" if request.role == "summarizer" else named(request)

    run = played("reasoning_cache", "learning", answer)
    found = solutions(run)
    assert [round_.title for round_ in found.rounds] == ["Turn 1", "Turn 2", "Turn 3", "States tried again"]
    assert found.rounds[-1].hidden == 2 * 16 - len(found.rounds[-1].solutions)
    began = {solution.how for solution in found.rounds[-1].solutions}
    known = {"written from the empty state", *(f"written from the state after turn {turn}" for turn in (1, 2, 3))}
    assert len(began) == 2
    assert began <= known
    assert found.selected == "c3.1"
    assert timeline(run, []).columns == ["Turn 1", "Turn 2", "Turn 3", "States tried again"]


def test_the_page_shows_solutions_instead_of_a_lemma_graph(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played("nomos", "quick", nomos)
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert 'id="run-solutions"' in page
    assert "judged most likely correct" in page
    assert 'badge--good">selected<' in page
    assert 'data-noun="lemma"' not in page
    assert "?tab=lemma" not in page


def test_the_part_is_given_to_htmx_alone(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played("rsa", "quick", lambda request: better("B") if request.role == "judge" else named(request))
    address = reverse("explorations:run_solutions", args=[run.public_id])
    assert client_for(alice).get(address).status_code == 302
    part = client_for(alice).get(address, headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith("<section")
    assert "made from" in part
    assert "Knock-out" in part


def test_the_knock_out_follows_the_rounds_of_the_timeline() -> None:
    run = played("rsa", "quick", lambda request: better("B") if request.role == "judge" else named(request))
    shown_timeline = timeline(run, [])
    in_rounds = {bar.role for row in shown_timeline.rows for cell in row.cells for bar in cell.bars}
    assert in_rounds == {"solver", "aggregator"}
    assert [(title, [bar.role for bar in cell.bars]) for title, cell in shown_timeline.last_cells] == [("Knock-out", ["judge"])]
    assert shown_timeline.knock_out.bars[0].done == run.steps.filter(role="judge").count()


def test_a_proof_says_what_judged_the_solution_that_it_is(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played(
        "solver_verifier_corrector", "quick", lambda request: PASS if request.role.startswith("verifier") else named(request)
    )
    assert run.outcome is not None
    assert run.outcome["accepted"]
    address = reverse("explorations:run_detail", args=[run.public_id])
    page = client_for(alice).get(address, {"tab": "proof"}).content.decode()
    assert '#c1.1">c1.1</a>; see the solutions. The proof itself has no votes.' in page
    assert "Selected proof. " + run.outcome["reason"] in page
    for words in ("not yet judged", "not yet verified", "No votes yet"):
        assert words not in page


def test_a_proof_that_nothing_judged_says_so(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played("rsa", "quick", lambda request: better("B") if request.role == "judge" else named(request))
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id]), {"tab": "proof"}).content.decode()
    assert "won the knock-out" in page
    assert "not judged" in page
    assert "not yet" not in page.split('data-proof="proof/1"')[1].split("</article>")[0]


def test_a_model_that_follows_no_format_has_no_solution(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = played("deepseek_math", "quick", lambda _: "I like turtles.")
    assert solutions(run).rounds == []
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "No solution could be read." in page


def test_the_start_form_follows_the_scaffold_it_is_asked_for(client_for: Callable[[User | None], Client], alice: User) -> None:
    problem = make_run().problem_version.problem
    address = reverse("explorations:start", args=[problem.slug])
    page = client_for(alice).get(address, {"scaffold": "reasoning_cache"}).content.decode()
    assert "Three turns." in page
    assert 'name="role_summarizer"' in page
    assert 'name="role_theorem_verifier"' not in page
    assert "Two rounds, two votes" in client_for(alice).get(address, {"scaffold": "no_such"}).content.decode()
