"""A trained model and its parent are measured by an experiment; its paired difference is what a promotion shows."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import User
from apps.experiments.models import Experiment, ExperimentState
from apps.learning.jobs.folders import checkpoint_folder
from apps.learning.models import Comparison, ComparisonState, ModelState, TrainedModel
from apps.learning.trained.comparing import NotComparable
from apps.learning.trained.deciding import NotDecided, model_decide
from apps.learning.trained.forms import ProblemsForm
from apps.learning.trained.measuring import measurement_settle
from apps.learning.trained.paired import result_of
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.inference.trained import read_also, trained_file
from apps.runs.models import Run
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import make_problem_set
from tests.reasoning.play import proof
from tests.training_jobs.factory import a_model

pytestmark = pytest.mark.django_db(transaction=True)
ENGINES = '[qwen]\nbackend = "vllm"\ntitle = "Qwen"\nmodel = "Qwen/Qwen3-8B"\n'


class TwoModels(Stage):
    """A stage on which the child is right and the parent is right on every second problem."""

    @property
    def _model(self) -> Any:
        import contextlib

        @contextlib.asynccontextmanager
        async def scripted(run: Run, _journal: Any) -> Any:
            number = int(run.problem_version.problem.slug.removeprefix("sum-"))
            parent = proof("We add.", f"Answer: {number if number % 2 else 0}")
            child = proof("We add.", f"Answer: {number}")
            yield LocalDispatcher({"qwen": _says(parent), "prover": _says(child)})

        return scripted


def _says(text: str) -> ScriptedBackend:
    def answer(_: GenerationRequest) -> str:
        return text

    return ScriptedBackend(answer)


@pytest.fixture(autouse=True)
def _registry(training: Settings, tmp_path: Path) -> Any:
    training.MODELS_FILE = tmp_path / "own.toml"
    training.MODELS_FILE.write_text(ENGINES)
    read_also(trained_file(tmp_path))
    yield
    read_also(None)


@pytest.fixture
def prover(alice: User) -> TrainedModel:
    made = a_model("prover", like="qwen", is_adapter=True)
    model_decide(model=made, state=ModelState.CANDIDATE, reason="Write the registry.", user=alice)
    return made


def asked(model: TrainedModel, **more: Any) -> ProblemsForm:
    values = {"set": "sums", "method": "single_call/quick", "repeats": 2, "scorer": "answer", "seed": 5} | more
    from django.conf import settings

    return ProblemsForm({f"problems-{k}": v for k, v in values.items()}, model=model, known=load_aliases(settings.MODELS_FILE))


def started(model: TrainedModel, user: User, **more: Any) -> Comparison:
    form = asked(model, **more)
    assert form.is_valid(), form.errors
    return form.start(user)


def test_the_runs_differ_only_in_the_model_and_the_difference_supports_a_promotion(
    alice: User, prover: TrainedModel, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    make_problem_set(6)
    stage = TwoModels(monkeypatch, {})
    one = started(prover, alice)
    measurement_settle(one)
    assert one.state == ComparisonState.RUNNING, "the experiment is waited for"
    with pytest.raises(NotDecided, match="no results"):
        model_decide(model=prover, state=ModelState.PROMOTED, reason="Better.", user=alice)
    experiment = stage.play(Experiment.objects.get())
    assert experiment.state == ExperimentState.DONE
    specs = [run.spec for run in Run.objects.order_by("pk")]
    seeds = {(spec["problem"]["title"], spec["roles"]["solver"]["alias"]): spec["seed"] for spec in specs}
    assert all(seeds[title, "qwen"] == seeds[title, "prover"] for title, _ in seeds)
    one.refresh_from_db()
    measurement_settle(one)
    found = result_of(one)
    assert found is not None
    assert (found.parent, found.child, found.better, found.equal) == (0.5, 1.0, 3, 3)
    assert found.low is not None
    record = model_decide(model=prover, state=ModelState.PROMOTED, reason="Better.", user=alice)
    assert record.seen[0]["difference"] == 0.5
    assert record.seen[0]["experiment"] == str(experiment.public_id)
    client.force_login(alice)
    html = client.get(reverse("learning:model", args=["prover"])).content.decode()
    assert f"/experiments/{experiment.public_id}/" in html


def test_a_form_that_is_sent_twice_starts_one_experiment(alice: User, prover: TrainedModel) -> None:
    make_problem_set(2)
    start = "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11"
    assert started(prover, alice, start_id=start) == started(prover, alice, start_id=start)
    assert Experiment.objects.count() == 1


def test_a_cancelled_experiment_ends_the_comparison_with_the_reason(alice: User, prover: TrainedModel) -> None:
    make_problem_set(2)
    one = started(prover, alice)
    Experiment.objects.update(state=ExperimentState.CANCELLED)
    one.refresh_from_db()
    measurement_settle(one)
    assert (one.state, one.message) == (ComparisonState.FAILED, "The experiment was cancelled. Start the comparison again.")


@pytest.mark.parametrize(
    ("more", "field", "message"),
    [
        ({"split": "none"}, "__all__", "No problem is chosen"),
        ({"scorer": "single_turn"}, "grader", "Choose the model that grades"),
        ({"set": "gone"}, "set", "not one of the available choices"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_the_form(
    more: dict[str, str], field: str, message: str, prover: TrainedModel
) -> None:
    make_problem_set(2)
    assert message in asked(prover, **more).errors[field][0]


def test_a_parent_checkpoint_plays_under_its_registered_name_and_an_unregistered_one_is_rejected(alice: User) -> None:
    make_problem_set(1)
    first = a_model("first", like="qwen", is_adapter=True)
    checkpoint = str(checkpoint_folder(first.job.folder, first.step).resolve())
    second = a_model("second", like="qwen", is_adapter=True, parent=checkpoint, parent_title="first job, step 4")
    model_decide(model=second, state=ModelState.CANDIDATE, reason="Write the registry.", user=alice)
    experiment = started(second, alice).experiment
    assert experiment is not None
    assert [team["roles"] for team in (experiment.manifest or {})["teams"]] == [{"": "first"}, {"": "second"}]
    TrainedModel.objects.filter(pk=second.pk).update(parent=f"{checkpoint}0")
    second.refresh_from_db()
    with pytest.raises(NotComparable, match="first job, step 4, is a checkpoint that no engine serves"):
        started(second, alice)


def test_without_an_engine_a_comparison_on_problems_is_rejected(alice: User) -> None:
    make_problem_set(1)
    with pytest.raises(NotComparable, match="No engine serves"):
        started(a_model(), alice)
