"""From a checkpoint to a decision: registration, comparison with the parent, promotion or rejection with a record."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.jobs import driving
from apps.learning.models import Comparison, ComparisonState, JobState, ModelDecision, ModelState, TrainedModel
from apps.learning.trained import comparing
from apps.learning.trained.card import card_of
from apps.learning.trained.comparing import NotComparable, toy_compare
from apps.learning.trained.deciding import NotDecided, model_decide
from apps.learning.trained.paired import paired, result_of
from apps.learning.trained.registering import NotRegistered, model_register
from apps.reasoning.inference.aliases import load_aliases, load_usable
from apps.reasoning.inference.trained import read_also, trained_file
from tests.training_jobs.factory import a_checkpoint, a_job, a_model

pytestmark = pytest.mark.django_db
ENGINES = '[qwen]\nbackend = "vllm"\ntitle = "Qwen"\nmodel = "Qwen/Qwen3-8B"\n'
ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def _registry(training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "own.toml").write_text(ENGINES)
    training.MODELS_FILE = tmp_path / "own.toml"
    read_also(trained_file(tmp_path))
    monkeypatch.setattr(comparing, "nudge", lambda: None)
    yield
    read_also(None)


def measured(model: TrainedModel, items: list[list[Any]] | None = None) -> Comparison:
    found = items or [[f"item {n}", 0.1, 0.9 + 0.01 * (n % 2 - 0.5)] for n in range(20)]
    return Comparison.objects.create(model=model, toy="copy", plan={"seed": 1}, state=ComparisonState.DONE, items=found)


def test_a_checkpoint_becomes_a_candidate_without_the_trainers_own_files(alice: User, training: Settings) -> None:
    job = a_job()
    place = a_checkpoint(job)
    made = model_register(user=alice, job=job, step=20, name="copier")
    assert made.state == ModelState.CANDIDATE
    assert {path.name for path in made.folder.iterdir()} == {
        "README.md",
        "config.json",
        "manifest.json",
        "model.safetensors",
        "tokenizer.json",
    }
    (place / "model.safetensors").unlink()
    assert (made.folder / "model.safetensors").exists()
    assert "copier" not in load_aliases(training.MODELS_FILE), "no engine serves it"


CARD = """---
license: other
---

# turn_grpo, step 20

## Settings

| | |

## Limits

- It was not compared.

## How to load it

Lines.
"""


@pytest.mark.parametrize("text", [CARD, ""])
def test_a_registered_models_card_has_its_comparisons_and_the_decision(alice: User, client_for: ClientFor, text: str) -> None:
    job = a_job()
    place = a_checkpoint(job)
    if text:
        (place / "README.md").write_text(text)
    made = model_register(user=alice, job=job, step=20, name="copier")
    assert "The model was not compared with its parent (Tiny)." in card_of(made)
    one = measured(made)
    Comparison.objects.update(state=ComparisonState.RUNNING)
    comparing.comparison_end(one, ComparisonState.DONE, items=one.items)
    model_decide(model=made, state=ModelState.PROMOTED, reason="It\ncopies.", user=alice)
    found = card_of(made)
    assert "| toy “copy” | 20 | 0.100 | 0.900 | 0.800 | 0." in found
    assert "It was promoted on 2" in found
    assert ": It copies." in found
    titles = re.findall("^## (.*)$", found, re.M)
    assert titles == (["Settings"] if text else []) + ["Compared with its parent", "Limits", "How to load it"]
    assert "This says nothing about mathematics." in found
    assert "alice" not in found
    assert found.startswith("---\nlicense: other" if text else "---\nlibrary_name: transformers")
    assert not text or (place / "README.md").read_text() == text, "the checkpoint's own card stays"
    page = client_for(alice).get(reverse("learning:model", args=["copier"])).content.decode()
    assert "Compared with its parent" in page


def test_an_adapter_is_served_under_its_name_and_offered_once_it_is_promoted(alice: User, training: Settings) -> None:
    job = a_job()
    a_checkpoint(job, adapter=True)
    made = model_register(user=alice, job=job, step=20, name="prover", like="qwen")
    known = load_aliases(training.MODELS_FILE)
    assert (known["prover"].engine, known["prover"].adapter) == ("qwen", str(made.folder))
    assert "prover" not in load_usable(training.MODELS_FILE)
    measured(made)
    model_decide(model=made, state=ModelState.PROMOTED, reason="Better.", user=alice)
    assert "prover" in load_usable(training.MODELS_FILE)
    model_decide(model=made, state=ModelState.REJECTED, reason="It copies only.", user=alice)
    assert "prover" not in load_aliases(training.MODELS_FILE)


@pytest.mark.parametrize(
    ("name", "like", "words"),
    [
        ("Bad Name", "", "lower-case letters"),
        ("qwen", "", "already exists"),
        ("copier", "gone", "not an alias of the backend vllm"),
    ],
)
def test_unsuitable_names_and_engines_are_rejected(alice: User, name: str, like: str, words: str) -> None:
    job = a_job()
    a_checkpoint(job)
    with pytest.raises(NotRegistered, match=words):
        model_register(user=alice, job=job, step=20, name=name, like=like)
    assert not TrainedModel.objects.exists()


def test_a_damaged_checkpoint_and_another_architecture_are_rejected_without_leftovers(
    alice: User, training: Settings, tmp_path: Path
) -> None:
    job = a_job()
    place = a_checkpoint(job)
    own = tmp_path / "base"
    own.mkdir()
    (own / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": 32_000}))
    training.MODELS_FILE.write_text(ENGINES.replace("Qwen/Qwen3-8B", str(own)))
    with pytest.raises(NotRegistered, match="vocab_size 48, but the model of qwen has 32000"):
        model_register(user=alice, job=job, step=20, name="copier", like="qwen")
    (place / "model.safetensors").write_text("torn")
    with pytest.raises(NotRegistered, match=r"model\.safetensors does not match its hash"):
        model_register(user=alice, job=job, step=20, name="copier")
    with pytest.raises(NotRegistered, match="no complete checkpoint of step 7"):
        model_register(user=alice, job=job, step=7, name="copier")
    assert not (tmp_path / "training" / "models").exists() or not list((tmp_path / "training" / "models").iterdir())


def test_a_toy_is_played_by_the_trainers_environment(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The player here is a program that checks its input and solves two more of four items for the child."""
    player = (
        "import json, pathlib, sys; path = pathlib.Path(sys.argv[1]); spec = json.loads(path.read_text());"
        "assert spec['parent'] == {'tiny': {}, 'seed': 0} and spec['items'] == 4 and spec['seed'] == 7;"
        "items = [{'parent': {'solved': n / 4}, 'child': {'solved': min(1, n / 4 + 0.5)}} for n in range(4)];"
        "path.with_name('results.json').write_text(json.dumps({'format': 1, 'items': items}))"
    )
    monkeypatch.setattr(comparing, "player_command", lambda spec: [sys.executable, "-c", player, str(spec)])
    one = toy_compare(model=a_model(), toy="copy", items=4, seed=7, user=alice, start_id=None)
    assert driving.has_waiting_work()
    driving.training_work()
    one.refresh_from_db()
    found = result_of(one)
    assert one.state == ComparisonState.DONE, one.message
    assert found is not None
    assert (found.problems, found.parent, found.child, found.difference) == (4, 0.375, 0.8125, 0.4375)
    assert (found.better, found.equal, found.worse) == (4, 0, 0)


def test_a_comparison_behind_a_job_shows_what_it_waits_for(client_for: ClientFor, alice: User) -> None:
    model = a_model()
    toy_compare(model=model, toy="copy", items=4, seed=7, user=alice, start_id=None)
    address = reverse("learning:model", args=[model.name])
    assert "waiting for the train worker" not in client_for(alice).get(address).content.decode()
    a_job(state=JobState.RUNNING, title="The long one")
    assert "busy with The long one." in client_for(alice).get(address).content.decode()


def test_a_toy_that_cannot_be_played_fails_with_the_reason(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('There is no model in /gone.')"]
    monkeypatch.setattr(comparing, "player_command", lambda spec: command)
    one = toy_compare(model=a_model(), toy="copy", items=4, seed=7, user=alice, start_id=None)
    driving.training_work()
    one.refresh_from_db()
    assert (one.state, one.message) == (ComparisonState.FAILED, "There is no model in /gone.")
    with pytest.raises(NotComparable, match="no toy chess"):
        toy_compare(model=a_model(), toy="chess", items=4, seed=7, user=alice, start_id=None)


def test_the_interval_covers_the_differences_and_needs_some_problems() -> None:
    found = paired([(str(n), 0.5, 0.5 + (0.2 if n % 4 else 0.0)) for n in range(40)])
    assert found is not None
    assert found.difference == pytest.approx(0.15)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.15 < found.high < 0.3
    assert "Better" in found.verdict
    alone = paired([("a", 0.1, 0.9), ("b", None, 0.5)])
    assert alone is not None
    assert (alone.low, alone.unscored) == (None, 1)
    assert "too few" in alone.verdict
    even = paired([(str(n), n % 2, 1 - n % 2) for n in range(6)])
    assert even is not None
    assert "cannot" in even.verdict
    points = paired([(str(n), 2.0, 5.0 + n % 2) for n in range(8)])
    assert points is not None
    assert (points.difference, points.better) == (3.5, 8)
    assert paired([("a", None, 1.0)]) is None


@pytest.mark.parametrize(("gain", "word"), [(1.0, "Better"), (-1.0, "Worse")])
def test_five_problems_never_show_that_a_model_is_better_and_six_do(gain: float, word: str) -> None:
    five, six = (paired([(str(n), 0.5 - gain / 2, 0.5 + gain / 2) for n in range(count)]) for count in (5, 6))
    assert five is not None
    assert six is not None
    assert five.low is not None
    assert five.high is not None
    assert five.low * five.high > 0, "the interval alone excludes 0"
    assert "cannot be distinguished from chance" in five.verdict
    assert six.verdict == f"{word} than its parent on problems like these."
    assert (five.as_json()["is_decisive"], six.as_json()["is_decisive"]) == (False, True)


def test_the_page_calls_no_difference_of_five_problems_decisive(alice: User, client_for: ClientFor) -> None:
    made = a_model()
    measured(made, [[f"item {n}", 0.0, 1.0] for n in range(5)])
    model_decide(model=made, state=ModelState.REJECTED, reason="Too few.", user=alice)
    text = client_for(alice).get(reverse("learning:model", args=[made.name])).content.decode()
    assert "cannot be distinguished from chance" in text
    assert "), not decisive" in text
    assert "Better than its parent" not in text


def test_a_promotion_needs_a_comparison_and_a_reason(alice: User) -> None:
    made = a_model()
    with pytest.raises(NotDecided, match="Compare it"):
        model_decide(model=made, state=ModelState.PROMOTED, reason="I like it.", user=alice)
    measured(made)
    with pytest.raises(NotDecided, match="reason"):
        model_decide(model=made, state=ModelState.PROMOTED, reason=" ", user=alice)
    record = model_decide(model=made, state=ModelState.PROMOTED, reason="Better on all items.", user=alice)
    assert (record.decided_by, record.seen[0]["toy"], record.seen[0]["difference"]) == (alice, "copy", pytest.approx(0.8))
    made.refresh_from_db()
    assert made.state == ModelState.PROMOTED


def test_the_pages_cover_registration_comparison_and_decision(client_for: ClientFor, alice: User, bob: User) -> None:
    job, client = a_job(), client_for(alice)
    a_checkpoint(job)
    register = reverse("learning:model_register", args=[job.public_id, 20])
    assert client_for(bob).get(register).status_code == 404
    assert client.get(register).status_code == 200
    assert client.post(register, {"name": "Bad Name"}).status_code == 422
    assert client.post(register, {"name": "copier"})["Location"] == reverse("learning:model", args=["copier"])
    page = reverse("learning:model", args=["copier"])
    assert client_for(bob).get(page).status_code == 404
    text = client.get(page).content.decode()
    assert "No engine serves this model" in text
    compare = reverse("learning:model_compare", args=["copier", "toy"])
    assert client.post(compare, {"toy-toy": "copy", "toy-items": "1", "toy-seed": "1"}).status_code == 422
    assert client.post(compare, {"toy-toy": "copy", "toy-items": "4", "toy-seed": "1"}).status_code == 302
    assert client.post(reverse("learning:model_compare", args=["copier", "problems"]), {}).status_code == 404
    decide = reverse("learning:model_decision", args=["copier"])
    early = client.post(decide, {"state": "promoted", "reason": "Yes."})
    assert early.status_code == 422
    assert "Compare it with its parent first" in early.content.decode()
    measured(TrainedModel.objects.get())
    assert client.post(decide, {"state": "promoted", "reason": "Yes <b>."}).status_code == 302
    text = client.get(page).content.decode()
    assert "Better than its parent" in text
    assert "Yes &lt;b&gt;." in text
    assert 'value="promoted"' not in text, "it is already promoted"
    assert "a promotion is only recorded" in text
    again = client.post(decide, {"state": "promoted", "reason": "Once more."})
    assert again.status_code == 422
    assert "copier is already promoted" in again.content.decode()
    assert client.post(decide, {"state": "rejected", "reason": "No."}).status_code == 302
    assert "This model is rejected: no engine serves it" in client.get(page).content.decode()
    assert [one.reason for one in ModelDecision.objects.order_by("pk")] == ["Yes <b>.", "No."]
    assert "copier" in client.get(reverse("learning:model_list")).content.decode()
