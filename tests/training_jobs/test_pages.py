"""Pages of training: access, starting a job, and the content of a job's page."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.datasets.models import DatasetVersion
from apps.learning.jobs import driving, jobs
from apps.learning.jobs.configs import fields_of
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.hyperparameters import settings_in_force
from apps.learning.jobs.more_fields import TRACKERS
from apps.learning.models import JobState, TrainingJob
from tests.training_jobs.factory import a_job, an_ended_job, lines
from workers.training.config import config_of
from workers.training.trackers import KNOWN

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _no_broker(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda: None)
    monkeypatch.setattr("apps.learning.views.jobs.worker_is_missing", lambda: False)
    monkeypatch.setattr("apps.learning.jobs.page.worker_is_missing", lambda: False)


def fields(**changes: object) -> dict[str, object]:
    given = {"recipe": "turn_grpo", "source": "toy:copy", "base": "tiny", "steps": 20, "seed": 1, "save_every": 5, "keep": 2}
    return given | {"device": "cpu", "dtype": "auto"} | changes


def a_dataset(tmp_path: Path, **changes: object) -> DatasetVersion:
    values: dict[str, object] = {"name": "proofs", "version": 1, "path": "datasets/proofs-1", "hash": "ab" * 32}
    values |= {"recipe": "turn_grpo", "rows_count": 3, "has_logprobs": True}
    made = DatasetVersion.objects.create(**(values | changes))
    (made.folder / "rows").mkdir(parents=True)
    (made.folder / "rows" / "000.parquet").write_bytes(b"PAR1")
    files = {"rows/000.parquet": "cd" * 32, "texts.jsonl": "ef" * 32}
    manifest = {"tokenizer": "t1", "chat_template": "c1", "files": files}
    (made.folder / "manifest.json").write_text(json.dumps(manifest))
    return made


def test_only_researchers_see_jobs(client_for: ClientFor, alice: User, bob: User, tmp_path: Path) -> None:
    job = an_ended_job(tmp_path)
    for name in ("job", "job_curves", "job_samples"):
        address = reverse(f"learning:{name}", args=[job.public_id])
        assert client_for(alice).get(address).status_code == 200
        assert client_for(bob).get(address).status_code == 404
    stop = reverse("learning:job_command", args=[job.public_id, "stop"])
    assert client_for(bob).post(stop).status_code == 404
    assert client_for(alice).get(reverse("learning:job", args=[uuid.uuid4()])).status_code == 404


def test_a_dataset_prefills_the_form(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    made = a_dataset(tmp_path, recipe="rc_rl")
    page = client_for(alice).get(reverse("learning:job_new"), {"source": f"dataset:{made.pk}", "recipe": "rc_rl"})
    assert f'<option value="dataset:{made.pk}" selected>' in page.content.decode()
    assert '<option value="rc_rl" selected>' in page.content.decode()


def test_a_form_submitted_twice_queues_one_job(client_for: ClientFor, alice: User) -> None:
    client, sent = client_for(alice), fields(start_id=str(uuid.uuid4()), beta="0", learning_rate="0.002", lora="on")
    pages = [client.post(reverse("learning:job_new"), sent) for _ in range(2)]
    job = TrainingJob.objects.get()
    assert [page["Location"] for page in pages] == [reverse("learning:job", args=[job.public_id])] * 2
    assert (job.state, job.steps, job.title, job.owner) == (JobState.QUEUED, 20, "turn_grpo on copy", alice)
    assert job.config["loss"] == {"beta": 0.0}
    assert job.config["lora"] == {"rank": 16, "alpha": 32, "targets": "all-linear"}
    assert "rows_per_step" not in job.config, "an empty field takes the recipe's value"
    assert job.config["base"] == {"tiny": {}}


@pytest.mark.parametrize(
    ("given", "stored", "shown"),
    [
        ({}, None, None),
        ({"trackers": "wandb, tensorboard,wandb"}, ["wandb", "tensorboard"], "wandb, tensorboard"),
        ({"trackers": "none"}, [], "none"),
    ],
)
def test_a_job_has_its_own_trackers(alice: User, given: dict[str, str], stored: list[str] | None, shown: str | None) -> None:
    form = JobForm(fields(**given), user=alice)
    assert form.is_valid(), form.errors
    assert 'placeholder="tensorboard"' in str(form["trackers"])
    job = jobs.job_create(owner=alice, draft=form.draft())
    assert job.config.get("trackers") == stored
    assert fields_of(job).get("trackers") == shown


def test_the_forms_trackers_are_those_of_the_trainer() -> None:
    assert set(TRACKERS) == set(KNOWN)


def test_the_trio_as_one_chain_is_for_recipes_over_turns(alice: User) -> None:
    form = JobForm(fields(source="toy:trio", settings="toy.single = true"), user=alice)
    assert form.is_valid(), form.errors
    assert form.draft().config["source"] == {"kind": "toy", "toy": "trio", "options": {"single": True}}


def test_a_limit_of_the_recipe_is_switched_off(alice: User) -> None:
    form = JobForm(fields(recipe="orealh", source="toy:lemmas", ratio_cap="off"), user=alice)
    assert form.is_valid(), form.errors
    job = jobs.job_create(owner=alice, draft=form.draft())
    assert job.config["loss"] == {"ratio_cap": None}
    assert config_of({**job.config, "base": "b"}).loss.ratio_cap is None
    (cap,) = [one for one in settings_in_force(job.config)["Loss"] if one.name == "loss.ratio_cap"]
    assert (cap.value, cap.usual) == ("off", "3")
    again = JobForm(fields_of(job) | {"base": "tiny"}, user=alice)
    assert again.is_valid(), again.errors
    assert again.draft().config["loss"] == {"ratio_cap": None}


def test_a_job_on_a_dataset_names_it_and_links_its_rows(alice: User, training: Settings, tmp_path: Path) -> None:
    made = a_dataset(tmp_path)
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "config.json").write_text("{}")
    form = JobForm(fields(source=f"dataset:{made.pk}", base="folder:small"), user=alice)
    assert form.is_valid(), form.errors
    job = jobs.job_create(owner=alice, draft=form.draft())
    facts = {
        "name": "proofs-1",
        "hash": "ab" * 32,
        "tokenizer": "t1",
        "chat_template": "c1",
        "temperature": 1.0,
        "shards": {"000.parquet": "cd" * 32},
    }
    assert (job.config["dataset"], job.config["parent"]) == (facts, "small")
    training.TRAIN_LAUNCHER += " --nan-at 1"
    driving.training_work()
    assert (job.folder / "rows" / "000.parquet").samefile(made.folder / "rows" / "000.parquet")


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"steps": "0"}, "steps", "greater than or equal to 1"),
        ({"learning_rate": "nan"}, "learning_rate", "Enter a number"),
        ({"recipe": "magic"}, "recipe", "Select a valid choice"),
        ({"base": "folder:../../etc"}, "base", "Select a valid choice"),
        ({"recipe": "turn_sft"}, "demonstrations", "teacher"),
        ({"demonstrations": "on"}, "demonstrations", "supervised recipe"),
        ({"rows_per_step": "10", "micro_rows": "4"}, "micro_rows", "Enter a divisor"),
        ({"recipe": "marsrl"}, "source", "Choose “Solver, Verifier, Corrector”"),
        ({"recipe": "orealh"}, "source", "Choose “Lemmas in order”"),
        ({"recipe": "turn_dapo", "source": "toy:trio"}, "source", "Choose “Copy a digit” or “Ask a tool”"),
        ({"recipe": "turn_dapo", "source": "toy:trio", "settings": "toy.single = no"}, "source", "Choose “Copy a digit”"),
        ({"recipe": "orealh_cold_start", "demonstrations": "on"}, "source", "rounds with lemmas"),
        ({"ratio_cap": "1.1"}, "ratio_cap", "above 1.2"),
        ({"correction_cap": "2"}, "correction_cap", "loss.old = recompute"),
        ({"ratio_cap": "none of them"}, "ratio_cap", "Enter a number"),
        ({"trackers": "tensorboard, moon"}, "trackers", "Unknown tracker moon. Valid trackers: tensorboard, wandb"),
        ({"trackers": "tensorboard, none"}, "trackers", "“none” cannot be combined with others."),
        ({"ratio_cap": "much"}, "ratio_cap", "Enter a number or “off”."),
        ({"recipe": "turn_sft", "demonstrations": "on", "mask_above": "2"}, "mask_above", "no ratios"),
    ],
)
def test_values_that_the_trainer_would_reject_are_reported_at_their_field(
    client_for: ClientFor, alice: User, wrong: dict[str, str], field: str, words: str
) -> None:
    page = client_for(alice).post(reverse("learning:job_new"), fields(**wrong))
    assert page.status_code == 422
    assert words in str(page.context["form"].errors[field])
    assert not TrainingJob.objects.exists()


@pytest.mark.parametrize(
    ("dataset", "more", "field"),
    [
        ({"has_logprobs": False}, {}, "source"),
        ({"has_tokens": False}, {}, "source"),
        ({"recipe": "marsrl"}, {}, "recipe"),
        ({}, {"base": "tiny"}, "base"),
    ],
)
def test_unsuitable_rows_are_rejected(
    alice: User, tmp_path: Path, dataset: dict[str, object], more: dict[str, str], field: str
) -> None:
    made = a_dataset(tmp_path, **dataset)
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "config.json").write_text("{}")
    form = JobForm(fields(source=f"dataset:{made.pk}", base="folder:small") | more, user=alice)
    assert set(form.errors) == {field}


def test_without_the_trainers_environment_no_job_is_created(client_for: ClientFor, alice: User, training: Settings) -> None:
    training.TRAIN_PYTHON, training.EMBEDDED = "/nowhere/python", True
    page = client_for(alice).post(reverse("learning:job_new"), fields())
    assert page.status_code == 422
    assert "make setup-train" in page.content.decode()
    assert not TrainingJob.objects.exists()


def test_a_jobs_page_shows_metrics_log_and_end(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    job = an_ended_job(tmp_path, state=JobState.FAILED, reason="disk_full", message="No space is left.")
    text = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    for words in ("No space is left.", "Free disk space, then resume.", "Metrics of step 3", "ended\n", "Resume"):
        assert words in text
    assert 'hx-trigger="every 2s"' not in text
    live = a_job(state=JobState.RUNNING, started_at=timezone.now())
    text = client_for(alice).get(reverse("learning:job", args=[live.public_id])).content.decode()
    assert "every 2s" in text
    assert "Save and stop" in text


def test_the_heartbeat_of_the_previous_attempt_does_not_make_a_resumed_job_silent(client_for: ClientFor, alice: User) -> None:
    job = a_job(state=JobState.STARTING, started_at=timezone.now())
    job.folder.mkdir(parents=True, exist_ok=True)
    (job.folder / "heartbeat.json").write_text(json.dumps({"time": time.time() - 1000}))
    address = reverse("learning:job", args=[job.public_id])
    assert "No heartbeat from the trainer" not in client_for(alice).get(address).content.decode()
    TrainingJob.objects.update(started_at=timezone.now() - timedelta(seconds=900))
    assert "No heartbeat from the trainer" in client_for(alice).get(address).content.decode()


@pytest.mark.parametrize(("reason", "is_first"), [("disk_full", True), ("bad_config", False), ("nothing_to_learn", False)])
def test_resume_is_the_primary_button_only_where_it_can_help(
    client_for: ClientFor, alice: User, reason: str, is_first: bool
) -> None:
    job = a_job(state=JobState.FAILED, reason=reason, message="It ended.")
    text = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    assert ('button--primary">Resume' in text) == is_first


def test_curves_are_sent_as_figures_and_only_after_new_metrics(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    job, other = an_ended_job(tmp_path), an_ended_job(tmp_path, title="Another")
    client, address = client_for(alice), reverse("learning:job_curves", args=[job.public_id])
    found = client.get(address).json()
    assert not found["live"]
    assert {chart["name"] for chart in found["charts"]} == {"reward", "passrate", "silent", "rates", "votes"}
    assert client.get(address, {"seen": found["seen"]}).status_code == 204
    both = client.get(address, {"with": str(other.public_id), "seen": found["seen"], "x": "tokens", "smooth": "1"}).json()
    names = [trace["name"] for trace in both["charts"][0]["figure"]["data"] if trace.get("showlegend", True)]
    assert names == ["reward · Copy a digit", "solver · Copy a digit", "reward · Another", "solver · Another"]
    assert client.get(address, {"x": "moon"}).status_code == 422


def test_rows_of_the_nearest_step_are_shown_as_escaped_text(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    job = an_ended_job(tmp_path)
    text = client_for(alice).get(reverse("learning:job_samples", args=[job.public_id]), {"step": "19"}).content.decode()
    assert "nearest step with rows to 19" in text
    assert "&lt;b&gt;7" in text
    assert "<b>7" not in text


def test_chosen_jobs_have_a_page(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    one, two = an_ended_job(tmp_path), an_ended_job(tmp_path)
    page = client_for(alice).get(reverse("learning:job_list"), {"job": [str(one.public_id), str(two.public_id), "nonsense"]})
    assert page["Location"] == reverse("learning:runs") + f"?job={one.public_id}&job={two.public_id}"
    assert "Copy a digit" in client_for(alice).get(reverse("learning:job_list")).content.decode()


@pytest.mark.parametrize(
    ("sort", "titles"),
    [("-reward", "bca"), ("reward", "cba"), ("rate", "acb"), ("-steps", "abc"), ("title", "abc"), ("moon", "cba")],
)
def test_jobs_are_sorted_by_a_column(client_for: ClientFor, alice: User, sort: str, titles: str) -> None:
    for title, rate, steps, rewards in (("a", 0.01, 30, []), ("b", 0.2, 20, [0.1, 0.9]), ("c", 0.1, 10, [0.5])):
        job = a_job(title=title, config={"learning_rate": rate, "steps": steps})
        lines(
            job.folder / "metrics.jsonl", [{"step": n, "time": n, "attempt": 1, "reward": one} for n, one in enumerate(rewards)]
        )
    page = client_for(alice).get(reverse("learning:job_list"), {"sort": sort})
    assert [job.title for job, _, _ in page.context["rows"]] == list(titles)
    text = page.content.decode()
    assert "0.900" in text
    assert text.count("aria-sort") == 1


def test_the_buttons_stop_and_resume_a_job(client_for: ClientFor, alice: User) -> None:
    job, client = a_job(state=JobState.RUNNING), client_for(alice)
    client.post(reverse("learning:job_command", args=[job.public_id, "stop"]))
    job.refresh_from_db()
    assert job.is_stopping
    client.post(reverse("learning:job_command", args=[job.public_id, "resume"]))
    job.refresh_from_db()
    assert job.state == JobState.RUNNING, "a running job cannot be resumed"
    TrainingJob.objects.update(state=JobState.LOST)
    client.post(reverse("learning:job_command", args=[job.public_id, "resume"]))
    job.refresh_from_db()
    assert (job.state, job.stop_asked_at) == (JobState.QUEUED, None)
    assert client.post(reverse("learning:job_command", args=[job.public_id, "explode"])).status_code == 404
