"""Jobs that make their own rollouts: the form, its errors, and the job's page."""

import json
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.jobs import jobs
from apps.learning.jobs.forms import JobForm
from apps.learning.models import JobState, Rollout, TrainingJob
from apps.learning.rollouts.forms import fields_of_plan
from apps.learning.rollouts.plan import plan_of
from apps.learning.sweeps.grid import grid_of
from apps.preparation.models import BenchmarkText
from apps.problem_sets.importing import named_of
from apps.problem_sets.services import set_create
from apps.runs.models import Run, RunStatus
from tests.cast import person
from tests.datasets.factory import queued, version_of
from tests.training_jobs.factory import a_job

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]

MODELS = """
[big]
backend = "vllm"
title = "Big"
model = "big"

[learner]
adapter_of = "big"
title = "Learner"
adapter = "/shared/live/learner/*"

[whole]
backend = "vllm"
title = "Whole"
model = "big"
weights = "/shared/live/whole/*"

[words]
backend = "openvino"
title = "Words"
model = "words"
"""


@pytest.fixture(autouse=True)
def _models(training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda: None)
    monkeypatch.setattr("apps.learning.views.jobs.worker_is_missing", lambda: False)
    monkeypatch.setattr("apps.learning.jobs.page.worker_is_missing", lambda: False)
    training.MODELS_FILE = tmp_path / "models.toml"
    training.MODELS_FILE.write_text(MODELS)
    base = tmp_path / "models" / "big"
    base.mkdir(parents=True)
    (base / "config.json").write_text("{}")


def fields(**changes: object) -> dict[str, object]:
    given: dict[str, object] = {"recipe": "marsrl", "source": "rollouts", "base": "folder:big", "steps": 20, "seed": 1}
    given |= {"save_every": 5, "keep": 2, "device": "cpu", "dtype": "auto", "lora": "on", "player": "learner"}
    given |= {"problems": ["even-number"], "scaffold": "solver_verifier_corrector:quick", "judge": "verifiers"}
    return given | {"runs_a_group": 4, "visits": 3, "at_once": 2, "most_lag": 5} | changes


def test_a_valid_form_becomes_a_job_that_plays(client_for: ClientFor, alice: User) -> None:
    version_of()
    given = fields(start_id=str(uuid.uuid4()), overrides="corrections = 2", segment_tokens=512)
    page = client_for(alice).post(reverse("learning:job_new"), given)
    assert page.status_code == 302
    job = TrainingJob.objects.get()
    assert job.config["source"]["kind"] == "stream"
    assert (job.config["most_lag"], job.config["lora"]["rank"]) == (5, 16)
    plan = plan_of(job.rollouts)
    assert (plan.problems, plan.scaffold, plan.preset, plan.alias) == (
        ("even-number",), "solver_verifier_corrector", "quick", "learner",
    )  # fmt: skip
    assert (plan.runs, plan.overrides, plan.segment_tokens) == (12, {"corrections": 2}, 512)


def test_a_model_that_follows_all_weights_plays_for_a_job_that_trains_them(alice: User) -> None:
    version_of()
    form = JobForm(fields(lora="", player="whole", segment_tokens=512), user=alice)
    assert form.is_valid(), form.errors
    draft = form.draft()
    assert draft.rollouts is not None
    assert (draft.config.get("lora"), draft.rollouts.alias) == (None, "whole")


def test_the_form_offers_new_rollouts_where_a_model_can_play(client_for: ClientFor, alice: User, training: Settings) -> None:
    version_of()
    page = client_for(alice).get(reverse("learning:job_new")).content.decode()
    assert "New rollouts</summary>" in page
    assert "Learner: follows the job" in page
    assert "need a model whose tokens are recorded" not in page
    assert "Agreement of the final answer with the problem’s answer" in page
    training.MODELS_FILE.write_text(MODELS.split("[learner]")[0].replace("vllm", "openvino"))
    page = client_for(alice).get(reverse("learning:job_new")).content.decode()
    assert "New rollouts" not in page
    assert "A job’s own runs need a model whose tokens are recorded: an alias of the backend vllm" in page


def test_only_models_with_recorded_tokens_can_play_and_followers_come_first(alice: User, training: Settings) -> None:
    written = '\n[worked-example]\nbackend = "scripted"\ntitle = "Authored"\noptions.script = "worked_example"\n'
    training.MODELS_FILE.write_text(training.MODELS_FILE.read_text() + written)
    found = dict(JobForm(user=alice).fields["player"].choices)  # type: ignore[attr-defined]
    assert list(found.items()) == [
        ("learner", "Learner: follows the job"),
        ("whole", "Whole: follows the job, all weights"),
        ("big", "Big: fixed weights"),
    ]


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"problems": []}, "problems", "Choose at least one"),
        ({"player": ""}, "player", "Choose one"),
        ({"scaffold": ""}, "scaffold", "Choose one"),
        ({"lora": ""}, "lora", "follows adapters only"),
        ({"player": "whole"}, "lora", "follows all weights. Leave this unticked"),
        ({"lora_rank": 64}, "lora_rank", "accepts adapters up to rank 32"),
        ({"player": "big", "segment_tokens": 512}, "segment_tokens", "its policy never changes"),
        ({"segment_tokens": 100_000}, "segment_tokens", "Choose a shorter segment"),
        ({"segment_tokens": 600, "answer_tokens": 600}, "segment_tokens", "at most 600 tokens"),
        ({"segment_tokens": 3}, "segment_tokens", "greater than or equal to 16"),
        ({"base": "tiny"}, "base", "plays toys only"),
        ({"judge": "answer"}, "problems", "has no answer to compare with"),
        ({"scaffold": "grouped_agents:adaptive"}, "problems", "no answer to choose inputs by"),
        ({"scaffold": "majority_vote:quick"}, "problems", "there is nothing to vote on"),
        ({"recipe": "orealh"}, "scaffold", "Choose Intern-S1-MO"),
        (
            {"recipe": "orealh", "scaffold": "intern_s1_mo:quick", "overrides": "rollouts = 2"},
            "overrides",
            "needs a single line of rounds",
        ),
        ({"recipe": "grpo_rubric", "scaffold": "intern_s1_mo:quick"}, "scaffold", "no two answers share a prompt"),
        ({"temperature": 0}, "temperature", "greater than or equal to 0.01"),
        ({"recipe": "rc_rl"}, "scaffold", "Choose Reasoning Cache"),
        ({"recipe": "rc_rl", "scaffold": "reasoning_cache:paper"}, "scaffold", "These runs repeat no state"),
        (
            {"recipe": "rc_rl", "scaffold": "reasoning_cache:paper", "overrides": "states = 2"},
            "judge",
            "No verifier judges these attempts",
        ),
        ({"overrides": "corrections 2"}, "overrides", "This line has no ="),
        ({"overrides": "correctiosn = 2"}, "overrides", "correctiosn"),
        ({"overrides": "corrections = many"}, "overrides", "write a whole number"),
        ({"visits": 10_000, "runs_a_group": 1024}, "visits", "at most 100,000"),
    ],
)
def test_choices_that_cannot_give_rows_are_rejected_at_their_field(
    alice: User, changes: dict[str, object], field: str, sentence: str
) -> None:
    version_of()
    form = JobForm(fields(**changes), user=alice)
    assert not form.is_valid()
    assert sentence in str(form.errors[field])


@pytest.mark.parametrize(("asked", "drawn_at"), [({}, 0.85), ({"temperature": 0.6}, 0.6)])
@pytest.mark.parametrize("kind", ["raw", "sampled"])
def test_runs_are_sampled_at_the_recipes_temperature_and_scored_at_that_of_their_log_probabilities(
    alice: User, training: Settings, asked: dict[str, object], drawn_at: float, kind: str
) -> None:
    version_of()
    Path(training.MODELS_FILE).write_text(MODELS.replace('model = "big"', f'model = "big"\noptions.logprobs_of = "{kind}"', 1))
    form = JobForm(fields(**asked), user=alice)
    assert form.is_valid(), form.errors
    draft = form.draft()
    assert draft.rollouts is not None
    assert draft.rollouts.temperature == drawn_at
    assert draft.config.get("temperature", 1.0) == (drawn_at if kind == "sampled" else 1.0)


def test_benchmark_problems_and_a_model_that_follows_another_job_are_rejected(alice: User) -> None:
    version = version_of()
    BenchmarkText.objects.create(text=version.statement, collection="a set", name="1")
    other = a_job(rollouts={"alias": "learner"}, state=JobState.RUNNING, title="The other one")
    form = JobForm(fields(), user=alice)
    assert not form.is_valid()
    assert "reserved for measuring" in str(form.errors["problems"])
    assert f"This model is following {other.title}" in str(form.errors["player"])


def test_a_jobs_page_shows_its_own_runs(client_for: ClientFor, alice: User) -> None:
    version = version_of()
    form = JobForm(fields(segment_tokens=1024), user=alice)
    assert form.is_valid(), form.errors
    job = jobs.job_create(owner=alice, draft=form.draft())
    for number, status in enumerate((RunStatus.FINISHED, RunStatus.FAILED, RunStatus.RUNNING)):
        run = queued(version)
        Run.objects.filter(pk=run.pk).update(status=status)
        Rollout.objects.create(job=job, number=number, problem="even-number", run=run)
    job.folder.mkdir(parents=True)
    (job.folder / "stream.json").write_text(json.dumps({"state": "running", "rows": 1234, "dropped": 5}))
    page = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    assert "in segments of 1,024 tokens" in page
    for words in ("1 of 12 finished", "1 under way", "1 failed", "1,234 rows", "5 dropped as too old"):
        assert words in page
    assert page.index("Run 3: even-number") < page.index("Run 1: even-number")


def test_runs_of_a_sweep_play_the_same_plan(alice: User) -> None:
    version_of()
    form = JobForm(fields(overrides="corrections = 2", segment_tokens=512, temperature=0.7), user=alice)
    assert form.is_valid(), form.errors
    job = jobs.job_create(owner=alice, draft=form.draft())
    grid = grid_of(job, {"most_lag": [5, 9], "lora.rank": [8, 16]}, user=alice)
    assert [cell.job for cell in grid.cells] == [None, job, None, None]
    assert {cell.draft.rollouts == plan_of(job.rollouts) for cell in grid.cells} == {True}
    assert [(one.draft.config["most_lag"], one.draft.config["lora"]["rank"]) for one in grid.new] == [(5, 8), (9, 8), (9, 16)]


def test_a_set_is_chosen_from_and_a_grader_gives_the_rewards() -> None:
    researcher = person("alice")
    problems = [version_of(slug).problem for slug in ("even-number", "odd-number")]
    set_create(title="Two", items=named_of(problems), by=None)
    given = fields(problems=[], problem_set="two@1", order="mixed", judge="grader", reward_workflow="single_turn")
    form = JobForm(given, user=researcher)
    assert set(form.errors) == {"reward_alias"}
    form = JobForm(given | {"reward_alias": "words", "reward_within": 60, "rest_solved": "on"}, user=researcher)
    assert not form.errors
    plan = form.draft().rollouts
    assert plan is not None
    assert (sorted(plan.problems), plan.chosen["kept"], plan.rest_solved) == (["even-number", "odd-number"], 2, True)
    assert (plan.judge, plan.reward_workflow, plan.reward_alias, plan.reward_within_s) == (
        "grader",
        "single_turn",
        "words",
        60.0,
    )
    again = JobForm(given | fields_of_plan(plan), user=researcher)
    assert not again.errors
    assert again.draft().rollouts == plan


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"problem_set": "two@1", "lowest_rate": 0.1}, "attempts_by"),
        ({"problem_set": "two@1", "lowest_rate": 0.1, "attempts_by": "words"}, "problem_set"),
        ({"problem_set": "two@1", "lowest_rate": 0.7, "highest_rate": 0.1, "attempts_by": "words"}, "highest_rate"),
        ({"judge": "grader", "reward_workflow": "ref5_plain", "reward_alias": "words", "problems": ["odd-number"]},
         "reward_workflow"),
    ],
)  # fmt: skip
def test_a_choice_without_problems_and_a_grader_without_material_are_rejected(changes: dict[str, object], field: str) -> None:
    problems = [version_of(slug).problem for slug in ("even-number", "odd-number")]
    set_create(title="Two", items=named_of(problems), by=None)
    form = JobForm(fields(problems=[]) | changes, user=person("alice"))
    assert set(form.errors) == {field}
