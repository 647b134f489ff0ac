"""Recorded runs for datasets: driven through the real execution and journal, with scripted answers."""

import json
from collections.abc import Callable

from apps.datasets.models import DatasetVersion
from apps.explorations import worked_example
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.models import Run
from apps.runs.services import run_create
from tests.reasoning.candidates import FAIL, PASS, named
from tests.runs.driving import drive, with_model

Answer = Callable[[GenerationRequest], str]


def version_of(slug: str = "even-number", *, statement: str = "", answer: str = "", origin: str = "") -> ProblemVersion:
    defaults = {"title": slug.replace("-", " ").capitalize(), "topic": Topic.ALGEBRA, "origin": origin}
    problem, _ = Problem.objects.get_or_create(slug=slug, defaults=defaults)
    text = {"statement": statement or f"Show that the number of {slug} is even.", "answer": answer}
    version, _ = ProblemVersion.objects.get_or_create(problem=problem, number=1, defaults=text)
    return version


def queued(
    version: ProblemVersion, scaffold: str = "solver_verifier_corrector", *, capture: bool = True, params: object = None
) -> Run:
    """A queued run with scripted roles, of the scaffold's quick preset or with `params`."""
    method = SCAFFOLDS[scaffold]
    stated = ProblemText(id=version.problem.slug, version=1, title=version.problem.title, statement=version.statement)
    spec = RunSpec(
        problem=stated,
        scaffold=scaffold,
        params=params or method.presets["quick"].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in method.roles},
        prompt_hashes=method.prompts,
        capture=capture,
    )
    return run_create(owner=None, problem_version=version, title=version.problem.title, spec=spec, start=False)


def driven(run: Run, answer: Answer) -> Run:
    """Drive the run to its end with a scripted model."""
    assert drive(run, with_model(ScriptedBackend(answer))) == "finished"
    run.refresh_from_db()
    return run


def judged(verdict: str, *, written: Answer = named) -> Answer:
    """A model that writes solutions and gives every one the same verdict."""
    return lambda request: verdict if request.key.startswith("check/") else written(request)


def passed(version: ProblemVersion, *, capture: bool = True) -> Run:
    """A finished run whose first solution passes all checks: the solver's call and two verifiers'."""
    return driven(queued(version, capture=capture), judged(PASS))


def failed(version: ProblemVersion, *, capture: bool = True) -> Run:
    """A finished run whose three solutions all fail their checks."""
    return driven(queued(version, capture=capture), judged(FAIL))


def explored(version: ProblemVersion, *, capture: bool = True, rollouts: int = 1, answer: str = "") -> Run:
    """A finished run with rounds and lemmas, with the worked example's texts.

    With `answer`, every proof ends with that answer line.
    """
    script, method = worked_example.script(), SCAFFOLDS[worked_example.SCAFFOLD]
    params = method.read_params(worked_example.PARAMS | {"rollouts": rollouts}).model_dump(mode="json")
    run = queued(version, worked_example.SCAFFOLD, capture=capture, params=params)

    def scripted(request: GenerationRequest) -> str:
        ending = f"\nAnswer: ${answer}$</step>\n</proof>" if answer else "</step>\n</proof>"
        return script[request.key].replace("</step>\n</proof>", ending)

    return driven(run, scripted)


def a_dataset() -> dict[str, object]:
    """Create a version of texts with one row, and its files; return the arguments of its address."""
    version, _ = DatasetVersion.objects.get_or_create(
        name="small",
        version=1,
        defaults={
            "path": "datasets/small-v1", "hash": "0" * 64, "recipe": "sft_proofs", "rows_count": 1, "has_logprobs": False,
            "has_tokens": False, "counts": {"rows": 1, "groups": 1, "problems": 1, "trajectories": 1},
        },
    )  # fmt: skip
    version.folder.mkdir(parents=True, exist_ok=True)
    messages = [{"role": "user", "content": "Show it."}, {"role": "assistant", "content": "It is shown."}]
    (version.folder / "texts.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    (version.folder / "prompts.jsonl").write_text("")
    manifest = {"counts": version.counts, "left": [], "files": {}, "runs": [], "notes": [], "options": {}}
    (version.folder / "manifest.json").write_text(json.dumps(manifest))
    return {"name": version.name, "version": version.version}
