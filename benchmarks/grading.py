"""An experiment over 1,000 scripts by one grader whose model answers at once: the stack alone, from start to last row.

This process only creates and watches the experiment. Valkey, the orchestrator with its conductor and the inference worker are
separate processes, with the limits of an installation (GRADING_AT_ONCE, USER_RUNS).
"""

import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Figure

if TYPE_CHECKING:
    from apps.experiments.models import Experiment

SCRIPTS, QUICK_SCRIPTS = 1_000, 50
PROBLEMS = 10
ALIAS = "grader"
LOOK_S = 0.25
WITHIN_S = 900
ANSWER = """I read it.
<grading>
<finding id="E1" step="2" type="proof-by-example" severity="critical"><quote>so it is even</quote>It proves nothing.</finding>
<feedback>Look again at the second step.</feedback><points>3</points></grading>"""
TEXT = "We have $n^2+n=n(n+1)$, two neighbours.\n\nFor $n={n}$ it is even, so it is even for all $n$.\n\nHence done."


def figures(quick: bool = False) -> list[Figure]:
    """Seconds from the start to the last row, and the orchestrator's memory after a quarter and at the end."""
    from benchmarks import stage

    scripts = QUICK_SCRIPTS if quick else SCRIPTS
    folder = stage.set_up(MODELS_FILE=str(Path(__file__).with_name("grading.toml")), SANDBOX="off")
    from benchmarks.processes import Processes

    with Processes("valkey", "inference", "orchestrator", folder=folder) as processes:
        _wait_until_done(_experiment("Warm", 8))
        before = processes.cpu_s()
        began = time.monotonic()
        experiment = _experiment("Measured", scripts)
        _wait_until(experiment, scripts // 4)
        quarter = processes.greatest_memory_mb("orchestrator")
        _wait_until_done(experiment)
        took = time.monotonic() - began
        end = processes.greatest_memory_mb("orchestrator")
        cpu = sum(after - before[name] for name, after in processes.cpu_s().items())
    _check(experiment, scripts)
    return [
        Figure(f"{scripts:,} scripts × 1 workflow", took, "s", 60 * scripts / SCRIPTS),
        Figure("CPU a script, all processes", 1000 * cpu / scripts, "ms"),
        Figure("memory of the orchestrator after a quarter", quarter, "MB"),
        Figure("… and what it grew by until the end", end - quarter, "MB", 20),
    ]


def _experiment(title: str, count: int) -> "Experiment":
    from apps.accounts.models import Role, User
    from apps.experiments.scripts import Chosen
    from apps.experiments.services import ExperimentDraft, experiment_create
    from apps.graded_sets.models import GradedScript, GradedSet
    from apps.problems.drafts import ProblemDraft, SolutionDraft
    from apps.problems.services import problem_create

    owner, _ = User.objects.get_or_create(username="bench", defaults={"role": Role.RESEARCHER})
    solutions = (SolutionDraft("Of two neighbours one is even."),)
    statements = [f"Prove that $n^2+n+{2 * number}$ is even." for number in range(PROBLEMS)]
    drafts = [ProblemDraft(f"{title} {number}", "N", one, solutions=solutions) for number, one in enumerate(statements)]
    problems = [problem_create(draft=draft) for draft in drafts]
    made = GradedSet.objects.create(title=title, shape="ours", credit="", licence="", digest=title.ljust(64, "0")[:64])
    versions = [problem.current for problem in problems]
    rows = []
    for number in range(count):
        text = TEXT.replace("{n}", str(number))
        digest = hashlib.sha256(text.encode()).hexdigest()
        rows.append(
            GradedScript(
                graded_set=made, position=number, name=f"S{number}", problem=versions[number % PROBLEMS],
                problem_name=f"P{number % PROBLEMS}", text=text, digest=digest,
            )
        )  # fmt: skip
    GradedScript.objects.bulk_create(rows, batch_size=500)
    draft = ExperimentDraft(title, Chosen(graded_set=made), ["single_turn"], [ALIAS], at_once=64)
    return experiment_create(owner=owner, draft=draft)


def _wait_until_done(experiment: "Experiment") -> None:
    _wait_until(experiment, experiment.cells.count())
    until = time.monotonic() + 30
    while experiment.state != "done" and time.monotonic() < until:
        time.sleep(LOOK_S)
        experiment.refresh_from_db()
    if experiment.state != "done":
        raise SystemExit(f"the experiment is {experiment.state}: {experiment.state_reason}")


def _wait_until(experiment: "Experiment", ended: int) -> None:
    until = time.monotonic() + WITHIN_S
    while experiment.cells.exclude(ended_at=None).count() < ended:
        experiment.refresh_from_db()
        if time.monotonic() > until or experiment.state == "paused":
            raise SystemExit(f"the experiment is {experiment.state}: {experiment.state_reason}")
        time.sleep(LOOK_S)


def _check(experiment: "Experiment", scripts: int) -> None:
    """Check that every script has its points from one call."""
    from apps.experiments.models import CellState

    good = experiment.cells.filter(state=CellState.SCORED, points=3, findings=1, calls=1).count()
    if good != scripts:
        raise SystemExit(f"only {good} of {scripts} scripts were graded correctly")
