"""Sweeps: the grid is shown and checked before it starts, and values are added later."""

import shutil
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.jobs import jobs
from apps.learning.jobs.bases import bases
from apps.learning.jobs.configs import form_of
from apps.learning.jobs.forms import JobForm
from apps.learning.models import JobState, Sweep, TrainingJob
from apps.learning.presets import PRESETS
from apps.learning.sweeps.grid import grid_of, sweep_start
from apps.learning.sweeps.settings import names_of, values_read
from tests.training_jobs.factory import a_checkpoint, a_job, a_sweep

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _no_broker(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda: None)
    monkeypatch.setattr("apps.learning.jobs.page.worker_is_missing", lambda: False)


def a_template(user: User, preset: str = "copy", **changes: Any) -> TrainingJob:
    """A job made by the form from a preset."""
    fields = {"keep": 2, "dtype": "auto", "base": "tiny"} | PRESETS[preset].fields | changes
    form = JobForm(fields, user=user)
    assert form.is_valid(), form.errors
    return jobs.job_create(owner=user, draft=form.draft())


def sent(**changes: Any) -> dict[str, Any]:
    return {"start_id": str(uuid.uuid4()), "name_1": "learning_rate", "values_1": "1e-3, 2e-3"} | changes


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1e-3, 0.002", [0.001, 0.002]),
        ("1,2,\n3", [1, 2, 3]),
        ("off, 3", [None, 3]),
        ("seq, token", ["seq", "token"]),
        ("true, false", [True, False]),
        ("0, false", "All values must be of one kind, but these are mixed: false (true or false) and 0 (a number)."),
        ("0.1, fast", "All values must be of one kind, but these are mixed: fast (a word) and 0.1 (a number)."),
        ("1e-3, 0.001", "0.001 is given twice."),
        ("off, null", "null is given twice."),
        (" , ", "Give at least one value. Separate values by commas."),
        ("[1], {", ["[1]", "{"]),
    ],
)
def test_values_are_numbers_words_or_off(text: str, values: list[Any] | str) -> None:
    if isinstance(values, str):
        with pytest.raises(ValidationError) as refusal:
            values_read(text)
        assert refusal.value.messages == [values]
    else:
        assert values_read(text) == values


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"name_1": "speed"}, "name_1", "Unknown setting speed. Valid settings: seed, learning_rate"),
        ({"name_1": ""}, "name_1", "required"),
        ({"values_1": "1e-3, 0.001"}, "values_1", "0.001 is given twice."),
        ({"name_2": "learning_rate", "values_2": "1"}, "name_2", "chosen twice"),
        ({"name_2": "seed"}, "values_2", "at least one value"),
        ({"values_2": "1, 2"}, "name_2", "Choose the setting of these values."),
        ({"values_1": "0.5"}, "__all__", "one job is not a sweep"),
        (
            {"name_1": "seed", "values_1": ",".join(map(str, range(65)))},
            "__all__",
            "This grid has 65 jobs. A sweep has at most 64.",
        ),
        ({"values_1": "0.1, 2"}, "__all__", "learning_rate 2: "),
        ({"name_1": "loss.aggregation", "values_1": "token, mean"}, "__all__", "loss.aggregation must be one of token"),
        ({"values_1": "off, 1e-6, 1e-3"}, "__all__", "learning_rate cannot be off. Only limits can: loss.ratio_cap"),
        ({"name_1": "seed", "values_1": "01, 001"}, "__all__", "seed 01 and seed 001 are the same job."),
        ({"name_1": "loss.ratio_cap", "values_1": "1.1, off"}, "__all__", "Enter a number above 1.2."),
    ],
)
def test_bad_input_is_refused_in_words_and_starts_nothing(
    client_for: ClientFor, alice: User, wrong: dict[str, str], field: str, words: str
) -> None:
    job = a_template(alice)
    page = client_for(alice).post(reverse("learning:sweep_new", args=[job.public_id]), sent(**wrong))
    assert page.status_code == 422
    assert words in str(page.context["form"].errors[field])
    assert not Sweep.objects.exists()


@pytest.mark.parametrize("preset", ["copy", "ask-cold", "lemmas-then", "trio-then"])
def test_the_same_job_can_be_made_again_from_its_configuration(alice: User, preset: str) -> None:
    job = a_template(alice, preset, lora=True, lora_rank=8, trackers="none", dtype="float32")
    again = JobForm(form_of(job, bases()[0]), user=alice)
    assert again.is_valid(), again.errors
    assert {"format": 1, **again.draft().config} == job.config


def test_the_grid_is_shown_before_its_jobs_start(client_for: ClientFor, alice: User) -> None:
    job = a_template(alice)
    client, address = client_for(alice), reverse("learning:sweep_new", args=[job.public_id])
    given = sent(name_2="seed", values_2="0, 1, 2")
    page = client.post(address, given | {"start": ""})
    assert "Start 5 jobs" in page.content.decode(), "the job itself is one of six"
    assert "They run one after another." in page.content.decode()
    assert not Sweep.objects.exists()
    shown = page.context["form"].signature
    page = client.post(address, given | {"start": "", "shown": shown, "values_2": "0, 1"})
    assert page.status_code == 200
    assert not Sweep.objects.exists(), "another grid than the shown one is shown first"
    for _ in range(2):
        page = client.post(address, given | {"start": "", "shown": shown})
    sweep = Sweep.objects.get()
    assert page["Location"] == reverse("learning:sweep", args=[sweep.public_id])
    made = list(sweep.jobs.order_by("pk"))
    found = [(one.config["learning_rate"], one.config["last_learning_rate"], one.config["seed"]) for one in made]
    assert found == [(2e-3, 2e-3, 0), (1e-3, 1e-3, 0), (1e-3, 1e-3, 1), (2e-3, 2e-3, 1), (1e-3, 1e-3, 2), (2e-3, 2e-3, 2)]
    assert made[0] == job, "the last rate follows a constant rate, and each seed has all its jobs first"
    assert made[1].title == "turn_grpo on copy: learning_rate 0.001, seed 0"
    assert {one.state for one in made} == {JobState.QUEUED}
    assert job.config["held_out"] == made[1].config["held_out"] == {"every": 5}


def test_settings_of_every_kind_reach_the_configuration(alice: User) -> None:
    job = a_template(alice, "lemmas-then")
    assert {"loss.ratio_cap", "loss.positive", "recipe.credit", "held_out.every", "seed"} <= set(names_of(job.config))
    grid = grid_of(job, {"loss.ratio_cap": [None, 5], "held_out.every": [10, 20]}, user=alice)
    assert [cell.draft.config["loss"] for cell in grid.cells] == [{"ratio_cap": None}] * 2 + [{"ratio_cap": 5.0}] * 2
    assert [cell.draft.config["held_out"]["every"] for cell in grid.cells] == [10, 20, 10, 20]
    assert all(cell.job is None for cell in grid.cells)
    with pytest.raises(ValidationError, match=r"recipe\.credit no: Other settings: recipe\.credit must be one of"):
        grid_of(job, {"recipe.credit": ["no", "nor"]}, user=alice)


def test_values_are_added_without_running_a_combination_twice(client_for: ClientFor, alice: User) -> None:
    job = a_template(alice)
    client, address = client_for(alice), reverse("learning:sweep_new", args=[job.public_id])
    first = client.post(address, sent())
    client.post(address, sent(start="", shown=first.context["form"].signature))
    sweep = Sweep.objects.get()
    address = reverse("learning:sweep_add", args=[sweep.public_id])
    assert 'value="0.002, 0.001"' in client.get(address).content.decode()
    page = client.post(address, {"values_1": "0.001, 0.002"})
    assert "All of these combinations have a job." in page.content.decode()
    page = client.post(address, {"values_1": "0.001, 0.004"})
    assert "1 more job;" in page.content.decode()
    client.post(address, {"values_1": "0.001, 0.004", "shown": page.context["form"].signature, "start": ""})
    assert [one.config["learning_rate"] for one in sweep.jobs.order_by("pk")] == [0.002, 0.001, 0.004]


def test_values_sent_twice_at_the_same_time_are_added_once(alice: User) -> None:
    job = a_template(alice)
    sweep = a_sweep([job])
    before = grid_of(job, {"learning_rate": [0.002, 0.004]}, user=alice, sweep=sweep)
    for _ in range(2):  # Both requests built their grid before either had started its jobs.
        sweep_start(owner=alice, title="", template=job, grid=before, start_id=None, sweep=sweep)
    assert [one.config["learning_rate"] for one in sweep.jobs.order_by("pk")] == [0.002, 0.004]


def test_a_sweep_from_a_checkpoint_is_extended_after_many_newer_jobs(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    before = a_job()
    place = str(a_checkpoint(before).resolve())
    job = a_template(alice, base=f"job:{before.public_id}:20")
    assert job.config["base"] == place
    monkeypatch.setattr("apps.learning.jobs.bases.MOST_JOBS", 0)
    grid = grid_of(job, {"learning_rate": [1e-3, 2e-3]}, user=alice)
    assert {cell.draft.config["base"] for cell in grid.cells} == {place}
    assert grid.cells[1].job == job, "it is the same run as the template"
    assert grid.cells[0].draft.config["parent"] == job.config["parent"]
    shutil.rmtree(place)
    with pytest.raises(ValidationError, match="does not exist any more"):
        grid_of(job, {"learning_rate": [1e-3, 2e-3]}, user=alice)
