"""Settings without a field are lines named by their part of `config.json`; an unknown name is rejected with the valid ones."""

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.jobs import jobs
from apps.learning.jobs.settings import CHOICES, OF_LOSS, OF_TOYS, Learner, lines_of, settings_read
from apps.learning.models import JobState, TrainingJob
from apps.learning.presets import FIRST, PRESETS, next_preset
from apps.recipes.recipe import LossSettings
from apps.recipes.registry import RECIPES, TRAININGS
from apps.recipes.rows.stream_order import order_of
from tests.browser.marking_pages import ClientFor
from tests.training_jobs.factory import a_checkpoint, a_job


def read(text: str, *, recipe: str = "turn_dapo", **more: Any) -> dict[str, Any]:
    return vars(settings_read(text, Learner(recipe, **more)))


def test_every_line_goes_to_its_part() -> None:
    text = "loss.aggregation = seq\n\nloss.mastered_below=0.2\nrecipe.longest = 8192\nrecipe.baseline = rows\n"
    assert read(text) == {
        "loss": {"aggregation": "seq", "mastered_below": 0.2},
        "recipe": {"longest": 8192, "baseline": "rows"},
        "toy": {},
        "held_out": {},
    }
    assert read("toy.strategy = adaptive", recipe="marsrl", toy="trio")["toy"] == {"strategy": "adaptive"}
    assert read("toy.planted = false", recipe="marsrl", toy="trio")["toy"] == {"planted": False}
    assert read("recipe.credit = printed\nrecipe.form = unit", recipe="orealh")["recipe"] == {
        "credit": "printed",
        "form": "unit",
    }
    credit = read("recipe.scope = round\nrecipe.gamma = 0.9", recipe="orealh", toy="lemmas")
    assert credit["recipe"] == {"scope": "round", "gamma": 0.9}
    assert read("held_out.every = 5", toy="copy")["held_out"] == {"every": 5}
    assert read("held_out.every = 5\nheld_out.share = 0.2", recipe="turn_sft", makes_rows=False)["held_out"]["share"] == 0.2
    assert read("loss.old = recompute")["loss"] == {"old": "recompute"}
    assert read("") == read("loss.mastered_below = null") == {"loss": {}, "recipe": {}, "toy": {}, "held_out": {}}


@pytest.mark.parametrize(
    ("text", "more", "sentence"),
    [
        ("loss.agregation = seq", {}, "Unknown setting loss.agregation. Valid settings: loss.aggregation"),
        ("loss.beta = 1", {}, "loss.beta has a field of its own"),
        ("loss.aggregation = mean", {}, "loss.aggregation must be one of token, seq, fixed, sum"),
        ("loss.aggregation: seq", {}, "This line has no =: loss.aggregation: seq"),
        ("loss.aggregation = seq\nloss.aggregation = sum", {}, "loss.aggregation is set twice"),
        ("loss.aggregation = fixed", {}, "together with loss.aggregation = fixed"),
        ("loss.longest = 7", {}, "together with loss.aggregation = fixed"),
        ("loss.aggregation = fixed\nloss.longest = 2.5", {}, "a whole number of tokens"),
        ("loss.positive = 5", {}, "Unknown setting loss.positive"),
        ("loss.aggregation = seq", {"recipe": "orealh"}, "Valid settings: loss.positive, loss.negative"),
        ("loss.mastered_below = 0.2", {"recipe": "turn_sft"}, "Unknown setting loss.mastered_below"),
        ("loss.mastered_below = 0.2", {"recipe": "orealh_cold_start"}, "This job has no other settings."),
        ("recipe.scope = turn", {"recipe": "turn_grpo", "toy": "copy"}, "Unknown setting recipe.scope"),
        ("recipe.margin = 5", {}, "cannot exceed it"),
        ("recipe.gamma = 1.5", {"recipe": "orealh"}, "recipe.gamma must be at most 1"),
        ("loss.old = again", {}, "loss.old must be one of stored, recompute"),
        ("held_out.every = 5", {}, "Unknown setting held_out.every"),
        ("held_out.share = 0.2", {"recipe": "turn_sft", "makes_rows": False}, "needs held_out.every"),
        ("held_out.every = 5\nheld_out.share = 0.7", {"recipe": "turn_sft", "makes_rows": False}, "at most 0.5"),
        ("held_out.every = 0.5", {"toy": "copy"}, "a whole number of steps"),
        ("toy.strategy = adaptive", {"recipe": "turn_sft", "toy": "trio", "has_teacher": True}, "Unknown setting toy.strategy"),
        ("loss.mastered_below = much", {}, "loss.mastered_below must be a number"),
        ("loss.mastered_below = -1", {}, "a number, 0 or more"),
        ("loss.mastered_below = NaN", {}, "a number, 0 or more"),
        ("recipe.longest = 0.5", {}, "a whole number of tokens"),
        ("toy.strategy = " + "[" * 1900, {"toy": "trio"}, "toy.strategy must be one of random"),
        ("loss.mastered_below = true", {}, "must be a number"),
        ("recipe.longest = 10", {"makes_rows": False}, "Unknown setting recipe.longest"),
        ("toy.strategy = adaptive", {}, "Unknown setting toy.strategy"),
        ("toy.single = 1", {"toy": "ask"}, "toy.single must be one of true, false"),
        ("nonsense", {}, "This line has no =: nonsense"),
    ],
)
def test_invalid_lines_are_rejected_with_a_reason(text: str, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        read(text, **more)
    assert sentence in " ".join(refused.value.messages)


def test_the_names_are_parameters_of_the_recipes() -> None:
    for name, recipe in RECIPES.items():
        takes = {one.name for one in inspect.signature(recipe.rows).parameters.values() if one.kind == one.KEYWORD_ONLY}
        named = {option.name for option in recipe.training.options}
        assert named <= takes, name
    assert {card.objective for card in TRAININGS.values()} == set(OF_LOSS)
    assert all(set(names) <= {one.name for one in fields(LossSettings)} for names in OF_LOSS.values())
    assert set(OF_TOYS["trio"]["strategy"]) == {"random", "balanced", "adaptive"}
    assert set(OF_TOYS["trio"]) == {"strategy", "planted", "single"}
    assert {card.loss_settings.aggregation for card in TRAININGS.values()} <= set(CHOICES["aggregation"])


def test_a_jobs_settings_can_be_read_back_as_lines() -> None:
    config = {
        "loss": {"beta": 0.5, "aggregation": "seq"},
        "source": {"recipe_options": {"longest": 100}, "options": {"single": True}},
        "held_out": {"every": 5},
    }
    assert lines_of(config) == "loss.aggregation = seq\nrecipe.longest = 100\ntoy.single = true\nheld_out.every = 5"
    assert lines_of({"source": {"kind": "rows"}}) == ""


@pytest.mark.django_db
def test_a_form_passes_the_lines_on_and_reports_errors_at_their_field(
    client_for: ClientFor,
    alice: User,
    training: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda: None)
    monkeypatch.setattr("apps.learning.views.jobs.worker_is_missing", lambda: False)
    given = {"recipe": "marsrl", "source": "toy:trio", "base": "tiny", "steps": 5, "seed": 0, "save_every": 5, "keep": 2}
    given |= {"device": "cpu", "dtype": "auto", "settings": "toy.strategie = adaptive"}
    page = client_for(alice).post(reverse("learning:job_new"), given)
    assert page.status_code == 422
    assert "Unknown setting toy.strategie." in page.content.decode()
    given |= {"settings": "toy.strategy = adaptive\nloss.aggregation = seq", "beta": 0.5}
    assert client_for(alice).post(reverse("learning:job_new"), given).status_code == 302
    config = TrainingJob.objects.get().config
    assert config["source"] == {"kind": "toy", "toy": "trio", "options": {"strategy": "adaptive"}}
    assert config["loss"] == {"beta": 0.5, "aggregation": "seq"}


def test_a_stream_makes_its_rows_with_the_recipes_options(tmp_path: Path) -> None:
    config = {"recipe": "orealh", "source": {"kind": "stream", "recipe_options": {"credit": "printed"}}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert order_of(tmp_path).options == {"credit": "printed"}


@pytest.mark.parametrize(
    ("recipe", "toy", "then"),
    [("turn_sft", "ask", "turn_grpo"), ("orealh_cold_start", "lemmas", "orealh"), ("turn_sft", "trio", "marsrl")],
)
def test_a_cold_start_has_a_next_preset(recipe: str, toy: str, then: str) -> None:
    found = next_preset(recipe, toy)
    assert found is not None
    assert (found.fields["recipe"], found.fields["source"]) == (then, f"toy:{toy}")
    assert found not in FIRST
    assert PRESETS[found.after].fields["source"] == found.fields["source"]


def test_other_jobs_have_no_next_preset() -> None:
    assert next_preset("turn_grpo", "copy") is None
    assert next_preset("marsrl", "trio") is None


@pytest.mark.django_db
def test_continuing_any_other_job_copies_its_settings(
    client_for: ClientFor,
    alice: User,
    training: Settings,
) -> None:
    config = {"source": {"kind": "toy", "toy": "copy"}, "rows_per_step": 250, "learning_rate": 0.002}
    config |= {"loss": {"beta": 0.0, "aggregation": "seq"}, "lora": {"rank": 8, "alpha": 24, "targets": "all-linear"}}
    job = a_job(config=config)
    a_checkpoint(job)
    page = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    assert "Other settings: <code>loss.aggregation = seq</code>" in page
    link = page.split("Continue in a new job")[0].rpartition('href="')[2].split('"')[0].replace("&amp;", "&")
    form = client_for(alice).get(link).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    assert (shown["recipe"], shown["source"], shown["base"]) == ("turn_grpo", "toy:copy", f"job:{job.public_id}:20")
    assert (shown["steps"], shown["rows_per_step"], shown["learning_rate"], shown["beta"]) == (20, 250, 0.002, 0.0)
    assert (shown["lora"], shown["lora_rank"], shown["lora_alpha"]) == (True, 8, 24)
    assert shown["settings"] == "loss.aggregation = seq"


@pytest.mark.django_db
def test_the_page_of_a_cold_start_links_to_its_prefilled_second_half(
    client_for: ClientFor,
    alice: User,
    training: Settings,
) -> None:
    config = {"recipe": "turn_sft", "source": {"kind": "toy", "toy": "trio", "demonstrations": True}}
    job = a_job(state=JobState.FINISHED, config=config, checkpoint="checkpoints/checkpoint-20")
    a_checkpoint(job)
    page = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    link = page.split("Continue in a new job")[0].rpartition('href="')[2].split('"')[0].replace("&amp;", "&")
    assert "preset=trio-then" in link
    form = client_for(alice).get(link).content.decode()
    assert '<option value="marsrl" selected>' in form
    assert f'<option value="job:{job.public_id}:20" selected>' in form
