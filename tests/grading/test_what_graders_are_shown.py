"""Views of graders: the same choice in terminal, form, experiment and suggestion; recorded, displayed, and parsed again."""

import json
import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.cards import cards_for
from apps.graders.batches.jobs import Job
from apps.graders.planning.naming import VARIANTS, variant_asked
from apps.graders.planning.plans import GradingPlan, run_name
from apps.graders.planning.settings import settings_key
from apps.graders.planning.shown import ViewShown, shown_of, shown_read, views_summary
from apps.graders.starting import models_for_grading
from apps.marks.models import Suggestion
from apps.marks.suggestions.answering import FAMILIES, suggestions_work
from apps.marks.workspace.panel import _items
from apps.preparation.quality import difficulty_spec, question_id
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.graders.view import View
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.runs.models import Run
from tests.graders.grade import PROBLEM, REFERENCES, grading
from tests.graders.schemes import CHAINS
from tests.grading import suggesting as suggested
from tests.grading import test_grade_command as command
from tests.grading.suggesting import Model, sealed_with
from tests.grading.test_grade_command import MODELS
from tests.grading.test_pages_of_gradings import graded, page
from tests.problems.factory import make_problem

ClientFor = Callable[[User | None], Client]
pytestmark = pytest.mark.django_db
table, scripts, model = command.table, command.scripts, suggested.model
WORDS = "Only for markers: award 3 points for the factorisation."


@pytest.fixture
def guided(scripts: Path) -> Path:
    """Scripts in a file with guidelines for markers."""
    rows = [json.loads(line) | {"words": WORDS} for line in scripts.read_text().splitlines()]
    scripts.write_text("\n".join(map(json.dumps, rows)))
    return scripts


@pytest.fixture
def asked(table: command.Table) -> list[str]:
    """All prompts to the model, which gives 2 points."""
    prompts: list[str] = []

    def answer(request: GenerationRequest) -> str:
        prompts.append("\n".join(message.content for message in request.messages))
        return grading(2)

    table["grade*"] = answer
    return prompts


@pytest.mark.parametrize(
    ("workflow", "shows", "text"),
    [
        ("single_turn", False, "View of the grader: the problem, in addition to the script."),
        (
            "single_turn+guidelines",
            True,
            "View of the grader: the problem and the guidelines for markers, in addition to the script.",
        ),
        ("ref3", False, "Use --workflow ref3+guidelines to show them."),
        ("ref3+guidelines", True, "grader: the problem, a reference solution and the guidelines for markers"),
    ],
)
def test_the_terminal_shows_guidelines_to_a_grader_on_request_and_reports_the_view(
    asked: list[str], guided: Path, tmp_path: Path, workflow: str, shows: bool, text: str
) -> None:
    out = tmp_path / "out.jsonl"
    columns = ("--guidelines", "words", "--reference", "one")
    assert text in command.run(guided, out, *columns, workflow=workflow)
    assert [WORDS in prompt for prompt in asked] == [shows] * 3
    assert {(row["workflow"], "guidelines" in row["view"]) for row in command.rows(out)} == {(workflow, shows)}


@pytest.mark.parametrize(
    ("more", "workflow", "why"),
    [
        ((), "ref5_plain+guidelines", "Rubric cannot be shown the guidelines for markers: its prompts have no place for that"),
        (("--set", 'view={"reference":true}'), "single_turn", "The view is part of the grader's name"),
        ((), "single_turn+guidelines", "Name their column with --guidelines"),
        ((), "single_turn+everything", "has no variant “everything”"),
    ],
)
def test_an_impossible_view_is_refused_before_any_call(
    asked: list[str], guided: Path, tmp_path: Path, more: tuple[str, ...], workflow: str, why: str
) -> None:
    with pytest.raises(CommandError, match=why.replace("+", r"\+")):
        command.run(guided, tmp_path / "out.jsonl", *more, workflow=workflow)
    assert asked == []


def printed(file: Path, *more: str) -> str:
    written = StringIO()
    call_command("agreement", str(file), "--human", "mark", "--draws", "0", *more, stdout=written)
    return written.getvalue()


def test_agreement_reports_different_views_above_its_tables(asked: list[str], guided: Path, tmp_path: Path) -> None:
    lists = {}
    for name, workflow in (("plain", "single_turn"), ("guided", "single_turn+guidelines")):
        command.run(guided, tmp_path / name, "--guidelines", "words", workflow=workflow)
        lists[name] = command.rows(tmp_path / name)
    (tmp_path / "both.json").write_text(json.dumps(lists))
    output = printed(tmp_path / "both.json", "--rows", "*", "--predicted", "points")
    assert output.startswith("These graders had different views, which may explain differences between them.\n")
    assert "plain: the problem.\nguided: the problem and the guidelines for markers.\n" in output
    one = printed(tmp_path / "plain", "--predicted", "points")
    assert one.startswith("View of points: the problem, in addition to the script.\n")
    kept = json.loads(printed(tmp_path / "both.json", "--rows", "*", "--predicted", "points", "--json"))
    assert kept["views"] == {"plain": ["problem"], "guided": ["problem, guidelines"]}


def job(**material: Any) -> Job:
    given = {"script": "It is so.", "references": list(REFERENCES), "guidelines": WORDS, "scheme": CHAINS}
    return Job("P1", PROBLEM, given | material)


def test_a_view_equal_to_the_former_one_keeps_the_name_of_a_grading(table: command.Table) -> None:
    served = {"": models_for_grading()["served"]}
    for variant in (
        VARIANTS[name] for name in ("ref5_plain", "scheme", "single_turn", "single_turn+guidelines", "ref3", "jury")
    ):
        spec = GradingPlan(variant.grader.name, served, variant.overrides).spec(job())
        before = spec.model_copy(update={"params": {name: value for name, value in spec.params.items() if name != "view"}})
        is_as_before = variant.view == variant.grader.seen_before(variant.grader.read_params({"script": "x"}))  # type: ignore
        assert spec.params["view"] == variant.view.model_dump()
        assert (run_name(spec) == run_name(before)) is is_as_before
        roles = {name: role.model_dump(mode="json") for name, role in spec.roles.items()}
        keys = [settings_key(one.scaffold, one.params, roles, one.prompt_hashes) for one in (spec, before)]
        assert (keys[0] == keys[1]) is is_as_before


def test_a_longer_context_keeps_the_name_of_a_grading(table: command.Table) -> None:
    served = models_for_grading()["served"]
    spec, longer = (
        GradingPlan("single_turn", {"": alias}).spec(job())
        for alias in (served, served.model_copy(update={"context_tokens": 4 * served.context_tokens}))
    )
    assert {role.context_tokens for role in spec.roles.values()} == {served.context_tokens}
    limits = {name: role.model_copy(update={"sampling": spec.roles[name].sampling}) for name, role in longer.roles.items()}
    assert run_name(longer.model_copy(update={"roles": limits})) == run_name(spec)
    problem = make_problem()
    one, other = (
        difficulty_spec(problem, {"solver": served, "grader": served}, 4, "ref5_plain").model_copy(update={"roles": roles})
        for roles in (spec.roles, limits)
    )
    assert question_id(problem, one) == question_id(problem, other)


def test_another_set_of_prompts_changes_the_name_of_a_grading(table: command.Table) -> None:
    served = models_for_grading()["served"]
    small = served.model_copy(update={"prompts": "small"})
    spec, other = (GradingPlan("single_turn", {"": alias}).spec(job()) for alias in (served, small))
    assert run_name(spec) != run_name(other)
    problem = make_problem()
    one, two = (difficulty_spec(problem, {"solver": a, "grader": a}, 4, "ref5_plain") for a in (served, small))
    assert question_id(problem, one) != question_id(problem, two)


def test_a_difficulty_run_keeps_its_former_name_unless_its_view_differs(table: command.Table) -> None:
    problem, served = make_problem(), models_for_grading()["served"]
    for workflow, is_same in (("ref5_plain", True), ("single_turn", False)):
        spec = difficulty_spec(problem, {"solver": served, "grader": served}, 4, workflow)
        before = spec.model_copy(update={"params": {name: value for name, value in spec.params.items() if name != "view"}})
        assert spec.params["view"] is not None
        assert (question_id(problem, spec) == question_id(problem, before)) is is_same


@pytest.fixture
def served(settings: LazySettings, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_grading_shows_the_recorded_view_or_that_of_its_version(
    served: None, alice: User, client_for: ClientFor
) -> None:
    client, problem = client_for(alice), make_problem()
    run = graded(alice, problem, "single_turn", {"*": grading(2)})
    assert "View of the grader, in addition to the script: the problem." in page(client, run)
    spec = run.spec | {"params": {name: value for name, value in run.spec["params"].items() if name != "view"}}
    Run.objects.filter(pk=run.pk).update(spec=spec)
    text = page(client, run)
    assert "in addition to the script: as recorded before views: the problem and the guidelines for markers" in text
    assert "Single turn with guidelines" in text


@pytest.mark.parametrize(
    ("workflow", "status", "words"),
    [("single_turn+guidelines", 302, ""), ("single_turn", 302, ""), ("ref5_plain+guidelines", 200, "Select a valid choice")],
)
def test_the_form_offers_the_same_views(
    served: None, alice: User, client_for: ClientFor, workflow: str, status: int, words: str
) -> None:
    problem = make_problem()
    address = reverse("graders:start", args=[problem.slug])
    data = {"workflow": workflow, "alias": "served", "script": "It is so.", "start_id": str(uuid.uuid4())}
    response = client_for(alice).post(address, data)
    assert response.status_code == status
    assert words in response.content.decode()
    if status == 302:
        assert variant_asked("single_turn", Run.objects.get().spec["params"]).name == workflow


@pytest.mark.parametrize(("manner", "parts"), [("", ("problem",)), ("+guidelines", ("problem", "guidelines"))])
def test_a_suggestion_records_and_shows_the_view_of_its_grader(
    bob: User, model: Model, manner: str, parts: tuple[str, ...]
) -> None:
    model.answers["grade"] = grading(2)
    sealed_with(bob, f"workflow:single_turn{manner}@served")
    suggestions_work(FAMILIES)
    body = SuggestionBody.model_validate(Suggestion.objects.get().body)
    assert body.view == parts
    name = Suggestion.objects.get().grader
    assert _items(name, body).shown == View().also(*parts).words
    old = body.model_copy(update={"view": ()})
    assert _items(name, old).shown == "as recorded before views: the problem and the guidelines for markers"


@pytest.mark.django_db(transaction=True)
def test_different_views_have_separate_cards(served: None, alice: User, client_for: ClientFor) -> None:
    problem = make_problem()
    for _ in range(2):
        run = graded(alice, problem, "single_turn", {"*": grading(2)})
    Run.objects.filter(pk=run.pk).update(spec=run.spec | {"params": run.spec["params"] | {"view": None}})
    found = {card.shown: card for card in cards_for(alice)}
    assert set(found) == {"the problem", "the problem and the guidelines for markers"}
    assert [found[words].before_views for words in sorted(found)] == [0, 1]
    text = client_for(alice).get(reverse("agreement:cards")).content.decode()
    assert "the problem and the guidelines for markers, in addition to the script" in text
    assert "as recorded before views" in text


def test_the_text_of_a_view_is_parsed_to_the_same_view() -> None:
    for shown in (ViewShown(view=View(guidelines=True)), ViewShown(view=View(reference=True), is_recorded=False)):
        assert shown_read(shown.text) == shown
    for text in ("", None, 7, "the problem", "problem, answer"):
        assert shown_read(text) is None
    assert shown_of("scheme", {}).words == "as recorded before views: the problem and the marking scheme"
    assert shown_of("ensemble", {"members": ["ref5_plain", "ref5_hybrid"]}).view == View(reference=True)


def test_equal_views_are_summarised_in_one_line() -> None:
    same, other = ViewShown(view=View()), ViewShown(view=View(), is_recorded=False)
    assert views_summary({"a": (same,), "b": (same,)}, {}).lines == (
        "View of every grader: the problem, in addition to the script.",
    )
    assert "(as recorded before views)" in views_summary({"a": (other,), "b": (same,)}, {}).lines[0]
    assert views_summary({"a": (), "b": ()}, {}).lines == ()
    mixed = views_summary({"a": (same,), "b": ()}, {"a": "Anna"})
    assert (mixed.differ, mixed.lines[1:]) == (True, ("Anna: the problem.", "b: not recorded."))
