"""A model is compared on problems it was not trained on; a user may include the others, and the page marks them."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.datasets.models import DatasetVersion
from apps.learning.jobs.folders import checkpoint_folder
from apps.learning.models import ModelState, TrainedModel
from apps.learning.rollouts.plan import RolloutPlan
from apps.learning.trained.deciding import model_decide
from apps.learning.trained.forms import ProblemsForm
from apps.learning.trained.taught import problems_learned
from apps.problem_sets.importing import named_of
from apps.problem_sets.models import ProblemSet
from apps.problem_sets.services import set_create
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.trained import read_also, trained_file
from tests.training_jobs.factory import a_job, a_model

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _registry(training: Settings, tmp_path: Path) -> Any:
    training.MODELS_FILE = tmp_path / "own.toml"
    training.MODELS_FILE.write_text('[qwen]\nbackend = "vllm"\ntitle = "Qwen"\nmodel = "Qwen/Qwen3-8B"\n')
    read_also(trained_file(tmp_path))
    yield
    read_also(None)


def a_problem(name: str, statement: str = "") -> Problem:
    problem = Problem.objects.create(slug=name, title=f"Problem {name}", topic=Topic.NUMBER_THEORY)
    ProblemVersion.objects.create(problem=problem, number=1, statement=statement or f"Show that {name} is even.")
    return problem


def from_dataset(*problems: Problem) -> TrainedModel:
    """A model from a dataset version with rows of these problems; their runs are deleted."""
    values: dict[str, Any] = {"name": "d", "version": 1, "path": "datasets/d-1", "hash": "ab" * 32, "recipe": "turn_sft"}
    made = DatasetVersion.objects.create(rows_count=1, has_logprobs=False, has_tokens=True, **values)
    made.folder.mkdir(parents=True)
    named = [{"problem_id": f"{problem.public_id}@1", "title": problem.title} for problem in problems]
    (made.folder / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in named))
    return a_model("prover", like="qwen", is_adapter=True, job=a_job(dataset=made))


def asked(model: TrainedModel, problems: list[Problem], **more: Any) -> ProblemsForm:
    """The form that compares on a set of these problems."""
    title = " and ".join(problem.title for problem in problems)
    known = ProblemSet.objects.filter(title=title).first()
    found = known or set_create(title=title, items=named_of(problems), by=None).problem_set
    values = {"set": found.slug, "method": "single_call/quick", "repeats": 2, "seed": 1}
    values |= {"scorer": "single_turn", "grader": "qwen"}
    data = {f"problems-{name}": value for name, value in (values | more).items()}
    return ProblemsForm(data, model=model, known=load_aliases(_file()))


def _file() -> Path:
    from django.conf import settings

    return Path(settings.MODELS_FILE)


def test_a_problem_of_its_dataset_is_rejected_unless_it_is_included(alice: User) -> None:
    learned, other = a_problem("a"), a_problem("b")
    model = from_dataset(learned)
    model_decide(model=model, state=ModelState.CANDIDATE, reason="Write the registry.", user=alice)
    form = asked(model, [learned, other])
    assert "was trained on 1 of these: Problem a. Choose another split" in form.errors["set"][0]
    fresh, wanted = asked(model, [other]), asked(model, [learned, other], with_learned="on")
    assert fresh.is_valid()
    assert wanted.is_valid()
    assert wanted.start(alice).plan["learned_from"] == ["Problem a"], "page and record list it"
    assert fresh.start(alice).plan["learned_from"] == []


def test_a_copy_of_a_problem_is_the_same_problem(alice: User) -> None:
    model = from_dataset(a_problem("a", "Show that $n^2$ is even."))
    copy = a_problem("copy", "Show  that\n$n^2$ is even.")
    assert problems_learned(model, [copy, a_problem("c")]) == [copy]


def test_problems_that_a_job_played_itself_count_as_learned(alice: User) -> None:
    learned = a_problem("a")
    plan = RolloutPlan(problems=("a",), scaffold="solver_verifier_corrector", preset="quick", alias="qwen")
    model = a_model("player", job=a_job(rollouts=plan.model_dump(mode="json")))
    assert problems_learned(model, [learned, a_problem("b")]) == [learned]


def test_problems_of_its_ancestors_count_as_learned(alice: User) -> None:
    """Ancestors are found by a job's checkpoint, and by a registered model's name."""
    learned = a_problem("a")
    first = from_dataset(learned)
    checkpoint = str(checkpoint_folder(first.job.folder, 20).resolve())
    second = a_model("second", job=a_job(config={"base": checkpoint}))
    third = a_model("third", job=a_job(config={"base": str(second.folder.resolve())}))
    assert problems_learned(third, [learned]) == [learned]
    assert problems_learned(a_model("fresh"), [learned]) == []
