"""All settings of a job are shown, those that differ are marked, and two jobs are compared. Settings of memory have fields."""

import json
import re
from pathlib import Path

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.learning.jobs.configs import fields_of
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.hyperparameters import GROUPS, TRAINER, settings_in_force
from apps.learning.models import TrainingJob
from tests.training_jobs.factory import a_job, an_ended_job
from tests.training_jobs.test_pages import ClientFor, _no_broker, a_dataset, fields  # noqa: F401  (a fixture)
from workers.training.config import config_of

pytestmark = pytest.mark.django_db


def test_settings_of_memory_and_of_rows_of_other_policies_have_fields(client_for: ClientFor, alice: User) -> None:
    given = {"micro_tokens": 512, "packing": "no", "any_template": "on", "ratio_cap": 3, "correction_cap": 2, "mask_above": 0.5}
    page = client_for(alice).post(reverse("learning:job_new"), fields(**given, settings="loss.old = recompute"))
    assert page.status_code == 302, page.context["form"].errors
    config = TrainingJob.objects.get().config
    assert {name: config[name] for name in ("micro_tokens", "packing", "any_template")} == {
        "micro_tokens": 512,
        "packing": False,
        "any_template": True,
    }
    assert config["loss"] == {"ratio_cap": 3.0, "correction_cap": 2.0, "mask_above": 0.5, "old": "recompute"}
    config_of(config)
    again = fields_of(TrainingJob.objects.get())
    assert {name: again[name] for name in given} == given | {"any_template": True}


@pytest.mark.parametrize(("kind", "scored", "warns"), [("raw", "1", True), ("sampled", "0.6", False)])
def test_rows_drawn_at_another_temperature_than_they_are_scored_at_are_warned_of(
    client_for: ClientFor, alice: User, tmp_path: Path, kind: str, scored: str, warns: bool
) -> None:
    made = a_dataset(tmp_path)
    manifest = json.loads((made.folder / "manifest.json").read_text())
    sampling = [{"alias": "a", "role": "prover", "temperature": 0.6, "top_p": 1.0}]
    manifest |= {"sampling": sampling, "logprobs_of": [kind], "counts": {"roles": {"prover": 3}}}
    (made.folder / "manifest.json").write_text(json.dumps(manifest))
    page = client_for(alice).get(reverse("learning:job_new"))
    both, warning = page.context["temperatures"]["datasets"][f"dataset:{made.pk}"]
    assert both == f"Rows are drawn at temperature 0.6. Their log-probabilities are recorded and scored at {scored}."
    assert ("another distribution" in warning) == warns
    job = a_job(dataset=made, config={"source": {"kind": "rows"}, "temperature": float(scored)})
    text = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    assert both in text
    assert ("another distribution" in text) == warns


def test_a_jobs_page_shows_the_settings_in_force_and_marks_those_that_differ(
    client_for: ClientFor, alice: User, tmp_path: Path
) -> None:
    job = an_ended_job(tmp_path, config={"loss": {"beta": 0.5}, "dataset": {"name": "proofs-1", "hash": "ab" * 32}})
    (job.folder / "machine.json").write_text(
        json.dumps({"hardware": "NVIDIA H100", "commit": "c0ffee", "versions": {"torch": "2.9"}})
    )
    text = client_for(alice).get(reverse("learning:job", args=[job.public_id])).content.decode()
    found = [" ".join(row.split()) for row in text.split("<tr>")]
    for title, value, is_marked in (
        ("KL weight β", "0.5", True),
        ("Learning rate", "0.05", True),
        ("Gradient clip", "1", False),
        ("Tokens at once", "16,384", False),
        ("Ratio cap", "off", False),
    ):
        (row,) = [row for row in found if f">{title}</th>" in row]
        assert f'<td class="num">{value}' in row
        assert ("badge" in row) == is_marked, row
    for words in ("ab" * 32, "proofs-1", "NVIDIA H100", "c0ffee", "torch 2.9"):
        assert words in text


def test_the_source_of_a_job_that_makes_its_own_runs_is_in_words() -> None:
    source = {"kind": "stream", "wait": 86_400.0, "recipe_options": {"credit": "turn"}}
    known = settings_in_force(a_job(config={"source": source}).config)["Rows and saving"]
    (found,) = [one.value for one in known if one.name == "source"]
    assert found == 'The job’s own runs; the trainer waits up to 24 h, recipe_options {"credit": "turn"}'


def test_a_setting_has_one_name_in_the_form_and_in_the_table(alice: User) -> None:
    titles = {name.removeprefix("loss."): title for names in GROUPS.values() for name, title in names.items()}
    fields_shown = JobForm(user=alice).fields
    for name in ("mask_above", "any_template", "ratio_cap", "correction_cap", "micro_rows", "warmup_steps"):
        assert fields_shown[name].label == titles[name]


def test_trackers_that_do_not_work_are_named(client_for: ClientFor, alice: User, tmp_path: Path) -> None:
    job = an_ended_job(tmp_path)
    address = reverse("learning:job", args=[job.public_id])
    known = {"tensorboard": {"state": "open", "errors": 0, "last": ""}}
    (job.folder / "trackers.json").write_text(json.dumps(known))
    assert "trackers" not in client_for(alice).get(address).content.decode().split('id="curves"')[0]
    known["mlflow"] = {"state": "open", "errors": 2, "last": "OSError: it is down"}
    known["wandb"] = {"state": "missing", "errors": 0, "last": "Install it."}
    (job.folder / "trackers.json").write_text(json.dumps(known))
    text = client_for(alice).get(address).content.decode()
    for words in ("mlflow: 2 errors, the last: OSError: it is down", "wandb is missing. Install it."):
        assert words in text


def test_the_differences_of_two_jobs_are_a_table(client_for: ClientFor, alice: User) -> None:
    one, other = a_job(title="One"), a_job(title="Other", config={"learning_rate": 0.1, "loss": {"low": 0.1}})
    address = reverse("learning:job_settings", args=[one.public_id])
    text = client_for(alice).get(address, {"with": str(other.public_id)}).content.decode()
    table = text.split("<tbody>")[1].split("</tbody>")[0]
    rows = [re.findall(r"<t[hd][^>]*>([^<]*)", row) for row in table.split("<tr>")[1:]]
    assert rows == [["Learning rate", "0.05", "0.1"], ["Clip below ε", "0.2", "0.1"]]
    assert "have the same settings" in client_for(alice).get(address, {"with": str(a_job().public_id)}).content.decode()


def test_the_trainers_defaults_are_those_of_the_trainer() -> None:
    given = {"recipe": "turn_grpo", "base": "b", "source": {"kind": "rows"}, "steps": 20}
    complete = config_of(given).as_json()
    assert {name: complete[name] for name in TRAINER} == TRAINER
    loss = [name.removeprefix("loss.") for name in GROUPS["Loss"]]
    assert sorted(loss) == sorted(complete["loss"])
    named = {name for names in GROUPS.values() for name in names if "." not in name}
    assert named - {"trackers"} == set(complete) - {"format", "recipe", "base", "parent", "dataset", "loss", "trackers"}
