"""Trials of a model: started on a page or the command line, grouped by revision, exported, shown on the start form."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.problems.holding import _RULES, Text
from apps.problems.models import Problem
from apps.problems.samples import first_steps
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import Run, RunStatus
from apps.trials.report import trial_table
from apps.trials.selectors import answer_rows, read_at_once, trials_of, weak_roles
from apps.trials.services import TrialPlan, trial_problems, trial_start
from tests.runs.driving import drive, with_model
from tests.trials.conftest import MODELS

pytestmark = pytest.mark.django_db(transaction=True)
OTHER = """
[other]
backend = "openai_http"
title = "Other"
base_url = "http://127.0.0.1:9/v1"
model = "other"
"""


def says(request: GenerationRequest) -> str:
    """Answers decisions in the right form, and everything else with prose that is too short to be readable."""
    prompt = "\n".join(message.content for message in request.messages)
    return "I looked at it.\n<decision>pass</decision>" if "<decision>" in prompt else "I like turtles."


def tried(settings: Settings, *, problems: int = 1, methods: tuple[str, ...] = ("self_check",)) -> list[Run]:
    """The runs of a finished trial."""
    plan = TrialPlan(load_aliases(settings.MODELS_FILE)["prover"], problems, methods)
    runs = trial_start(user=None, plan=plan, start=False)
    backend = ScriptedBackend(says)
    for run in runs:
        assert drive(run, with_model(backend, name="prover")) == RunStatus.FINISHED
    return runs


def test_the_page_of_a_trial_shows_readable_answers_and_judgements_per_role(
    settings: Settings, client_for: Callable[[User | None], Client], alice: User
) -> None:
    tried(settings, problems=2)
    page = client_for(alice).get(reverse("trials:trial", args=["prover"])).content.decode()
    (trial,) = trials_of(alice, "prover")
    rates = {one.role: one for one in trial.roles}
    assert (rates["verifier"].read.count, rates["verifier"].read.of) == (6, 6)
    assert (rates["verifier"].specificity.count, rates["verifier"].sensitivity.count) == (2, 0), "it accepts everything"
    assert rates["solver"].unread == 2
    for shown in ("answers were read", "Self-Check", "Verifier", "6/6", "too short to be read as a whole", "on 2 problems"):
        assert shown in page


def test_the_newest_run_of_a_problem_counts_and_revisions_are_compared(
    settings: Settings, models: Callable[[str], None], client_for: Callable[[User | None], Client], alice: User
) -> None:
    tried(settings)
    tried(settings)
    newest = Run.objects.latest("pk")
    models("two")
    tried(settings)
    two, one = trials_of(alice, "prover")
    assert (two.revision, one.revision, one.runs) == ("two", "one", [newest])
    tried(settings, methods=("nomos",))
    assert {rates.method for rates in trials_of(alice, "prover")[0].roles} == {"self_check", "nomos"}, "other roles are kept"
    page = client_for(alice).get(reverse("trials:trial", args=["prover"])).content.decode()
    run = client_for(alice).get(reverse("explorations:run_detail", args=[two.runs[0].public_id])).content.decode()
    assert reverse("trials:trial", args=["prover"]) in run
    assert "This run produced no" not in run
    assert "No solution could be read" not in run
    assert page.index("two</span>") < page.index("one</span>")
    assert "before" in page


def test_a_call_of_a_trial_shows_its_reading_per_role(
    settings: Settings, client_for: Callable[[User | None], Client], alice: User
) -> None:
    (run,) = tried(settings)
    for role, words in (("verifier", "read at once; it accepts the solution"), ("solver", "not read")):
        event = run.events.filter(kind="role.tried", body__role=role).first()
        assert event is not None
        page = client_for(alice).get(reverse("explorations:call", args=[run.public_id, event.body["call"]])).content.decode()
        assert f"Answer as {role.capitalize()} of Self-Check to a right solution" in page
        assert words in page


def test_a_role_readable_at_once_needs_no_grammar_if_the_trial_had_none(settings: Settings) -> None:
    runs = tried(settings, problems=10)
    assert read_at_once("prover", "self_check", "verifier"), "30 answers were read"
    assert not read_at_once("prover", "self_check", "solver")
    assert not read_at_once("other", "self_check", "verifier")
    for run in runs:
        run.spec["roles"]["model"]["closing"] = "grammar"
        run.save(update_fields=["spec"])
    assert not read_at_once("prover", "self_check", "verifier")


def test_the_form_starts_one_run_per_problem_once(client_for: Callable[[User | None], Client], bob: User) -> None:
    client, url = client_for(bob), reverse("trials:trial", args=["prover"])
    form = client.get(url).context["form"]
    data = {
        "problems": "4",
        "methods": ["self_check", "single_turn"],
        "limit": "300",
        "start_id": str(form["start_id"].value()),
    }
    assert client.post(url, data).status_code == 302
    assert client.post(url, data).status_code == 302
    runs = Run.objects.filter(preset="trial")
    assert runs.count() == 4, "a form sent twice starts one trial"
    assert {run.spec["roles"]["model"]["sampling"]["max_new_tokens"] for run in runs} == {300}
    assert Problem.objects.filter(level="First steps").count() == 12
    assert not runs.first().is_attempt  # type: ignore[union-attr]


def test_a_disabled_model_is_not_tried(settings: Settings, client_for: Callable[[User | None], Client], bob: User) -> None:
    Path(settings.MODELS_FILE).write_text(MODELS.format(revision="one") + "enabled = false\n" + OTHER)
    data = {"problems": "1", "start_id": "0" * 32}
    page = client_for(bob).post(reverse("trials:trial", args=["prover"]), data).content.decode()
    assert not Run.objects.exists()
    assert "Start trial" not in page


def test_a_problem_with_held_back_solutions_is_left_out(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    names = list(first_steps())
    assert [problem.external_id for problem in trial_problems(2, bob)] == names[:2]

    def first(user: User | None) -> QuerySet[Problem]:
        return Problem.objects.filter(external_id=names[0])

    monkeypatch.setitem(_RULES, Text.SOLUTIONS, [first])
    assert [problem.external_id for problem in trial_problems(2, bob)] == names[1:3]


def test_a_wrong_number_is_rejected_next_to_its_field(client_for: Callable[[User | None], Client], bob: User) -> None:
    url = reverse("trials:trial", args=["prover"])
    page = client_for(bob).post(url, {"problems": "4", "limit": "3", "start_id": "0" * 32}).content.decode()
    assert "greater than or equal to 16" in page
    assert not Run.objects.exists()


def test_an_unknown_model_and_a_student_get_no_page(
    client_for: Callable[[User | None], Client], alice: User, charlie: User
) -> None:
    assert client_for(alice).get(reverse("trials:trial", args=["oracle"])).status_code == 404
    assert client_for(charlie).get(reverse("trials:trial", args=["prover"])).status_code == 404


def test_answers_are_exported_with_their_prompts_and_texts(
    settings: Settings, client_for: Callable[[User | None], Client], alice: User
) -> None:
    tried(settings)
    answer = client_for(alice).get(reverse("trials:answers", args=["prover"]))
    rows = [json.loads(line) for line in answer.getvalue().decode().splitlines()]
    (trial,) = trials_of(alice, "prover")
    assert rows == list(answer_rows(trial))
    verifier = next(row for row in rows if row["role"] == "verifier")
    assert verifier["calls"][0]["text"].endswith("<decision>pass</decision>")
    assert "midpoints" in rows[0]["problem"] or rows[0]["problem"]
    assert client_for(alice).get(reverse("trials:answers", args=["prover"]) + "?revision=none").status_code == 404


def test_roles_with_few_readable_answers_are_named(settings: Settings) -> None:
    tried(settings)
    assert {one.role for one in weak_roles("prover", "self_check")} == {"solver", "improver", "corrector"}
    assert weak_roles("prover", "nomos") == [], "untried methods get no warning"


def test_the_start_form_warns_about_weak_roles(
    settings: Settings, client_for: Callable[[User | None], Client], alice: User
) -> None:
    (run,) = tried(settings)
    url = reverse("explorations:start", args=[run.problem_version.problem.slug])
    page = client_for(alice).get(f"{url}?scaffold=self_check&alias=prover").content.decode()
    assert "Few of this model’s answers could be read" in page
    assert "Solver: 0 of 1 read" in page
    assert "Verifier: " not in page
    assert "Few of this" not in client_for(alice).get(f"{url}?scaffold=nomos&alias=prover").content.decode()


def test_the_table_has_one_row_per_role(settings: Settings) -> None:
    tried(settings)
    lines = trial_table(trials_of(None, "prover")[0]).splitlines()
    assert lines[0].startswith("prover (one): 3 of 6 answers read")
    assert sum(line.startswith("| self_check |") for line in lines) == 4


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["oracle"], "No usable model oracle in models.toml. Available: prover"),
        (["prover", "--problems", "0"], "--problems must be from 1 to 12"),
        (["prover", "--method", "oracle"], "Unknown scaffold or grader oracle. Available: "),
        (["prover", "--report"], "has not been tried yet"),
    ],
)
def test_the_command_rejects_invalid_arguments(arguments: list[str], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("try_model", *arguments)


def test_the_command_prints_the_last_trial_and_writes_its_answers(settings: Settings, tmp_path: Path) -> None:
    tried(settings)
    out = io.StringIO()
    call_command("try_model", "prover", "--report", "--answers", str(tmp_path / "answers.jsonl"), stdout=out)
    assert "| self_check | verifier | 3 | 1.00 |" in out.getvalue()
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 6
