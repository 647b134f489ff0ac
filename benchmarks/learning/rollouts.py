"""A training job with 1,024 of its own runs under way at once, one scripted sample each: memory and CPU of the stack.

Valkey, the orchestrator, the inference worker, the web and the train worker are separate processes, started as in an
installation. The train worker drives a stand-in trainer and the producer of its rows. This process only looks at them.
"""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure

if TYPE_CHECKING:
    from apps.learning.models import TrainingJob
    from benchmarks.processes import Processes

SAMPLES, QUICK_SAMPLES = 1_024, 64
RUNS_A_GROUP = 8
#: Seconds that the scripted engine takes for an answer. All samples are under way together for the rest of this time.
ANSWER_S, QUICK_ANSWER_S = 150, 15
#: Seconds for which the load of waiting samples is measured.
WAITING_S, QUICK_WAITING_S = 30, 3
LOOK_S = 0.5
WITHIN_S = 900
PROCESSES = ("valkey", "inference", "orchestrator", "web", "trainer")
ALIAS, WARM = "rollouts", "rollouts-warm"


def figures(quick: bool = False) -> list[Figure]:
    """Memory above the idle state, CPU of a sample, and the load while samples wait for their model."""
    from benchmarks import stage

    samples = QUICK_SAMPLES if quick else SAMPLES
    answer_s, waiting_s = (QUICK_ANSWER_S, QUICK_WAITING_S) if quick else (ANSWER_S, WAITING_S)
    folder = stage.set_up(
        MODELS_FILE=str(Path(__file__).with_name("rollouts.toml")),
        SANDBOX="off",
        ORCHESTRATOR_RUNS=str(samples),
        ROLLOUTS_AT_ONCE=str(samples),
        ROLLOUT_ANSWER_S=str(answer_s),
        TRAIN_LAUNCHER="-m workers.training.stand_in --pace 0.5",
        TRAIN_PYTHON=sys.executable,
    )
    from benchmarks.processes import Processes

    with Processes(*PROCESSES, folder=folder) as processes:
        _play(_job("Warm", WARM, 16), processes)
        time.sleep(2)
        idle, cpu = _memory(processes), processes.cpu_s()
        seen = _play(_job("Measured", ALIAS, samples), processes, wanted=samples, waiting_s=waiting_s)
        spent = {name: seconds - cpu[name] for name, seconds in processes.cpu_s().items()}
    grown = {name: seen["memory"][name] - idle[name] for name in PROCESSES}
    if not seen["load"]:
        raise SystemExit(f"only {seen['most']} of {samples} samples were under way at once")
    load = sum(seen["load"].values())
    return [
        Figure("samples under way at once", seen["most"], "", samples, "at least"),
        Figure("memory of all processes above idle", sum(grown.values()), "MB", 1_024, "at most"),
        *(Figure(f"… of {name}", grown[name], "MB") for name in PROCESSES),
        Figure("CPU per sample, all processes", 1000 * sum(spent.values()) / samples, "ms"),
        *(Figure(f"… of {name}", 1000 * spent[name] / samples, "ms") for name in PROCESSES),
        Figure("CPU while all samples wait for their model", load, "cores", 1, "at most"),
        *(Figure(f"… of {name}", seen["load"][name], "cores") for name in PROCESSES),
        Figure("from the start of the job until all are under way", seen["reached_s"], "s"),
    ]


def _job(title: str, alias: str, samples: int) -> "TrainingJob":
    """A queued job that plays each problem once with a group of single calls."""
    from django.utils import timezone

    from apps.accounts.models import Role, User
    from apps.learning.models import TrainingJob
    from apps.learning.rollouts.plan import RolloutPlan
    from apps.problems.models import Problem, ProblemVersion, Topic

    owner, _ = User.objects.get_or_create(username="bench", defaults={"role": Role.RESEARCHER})
    slugs = []
    for number in range(samples // RUNS_A_GROUP):
        slug = f"{title.lower()}-{number}"
        problem = Problem.objects.create(slug=slug, title=f"{title} {number}", topic=Topic.ALGEBRA)
        ProblemVersion.objects.create(problem=problem, number=1, statement=f"Find the sum {number} of {title}.", answer="7")
        slugs.append(slug)
    plan = RolloutPlan(
        problems=tuple(slugs), scaffold="single_call", preset="quick", alias=alias, judge="answer",
        runs_a_group=RUNS_A_GROUP, visits=1, at_once=samples,
    )  # fmt: skip
    config = {"format": 1, "recipe": "turn_grpo", "base": {"tiny": {}}, "source": {"kind": "stream"}, "steps": 1_000_000}
    return TrainingJob.objects.create(
        title=title, owner=owner, recipe="turn_grpo", base_title="Tiny", config=config, steps=1_000_000,
        rollouts=plan.model_dump(mode="json"), queued_at=timezone.now(),
    )  # fmt: skip


def _play(job: "TrainingJob", processes: "Processes", *, wanted: int | None = None, waiting_s: float = 0.0) -> dict[str, Any]:
    """Wait until the job's stream has ended, then stop it; look at the processes in the meantime."""
    from django.utils import timezone

    from apps.learning.models import TrainingJob

    began, seen = time.monotonic(), {"most": 0, "memory": dict.fromkeys(PROCESSES, 0.0), "load": {}, "reached_s": 0.0}
    while not (job.folder / "rows" / "END").exists():
        time.sleep(LOOK_S)
        _look(seen, processes, began, wanted, waiting_s)
        job.refresh_from_db()
        if time.monotonic() - began > WITHIN_S or job.state in ("failed", "lost"):
            raise SystemExit(f"the job is {job.state}: {job.message}")
    TrainingJob.objects.filter(pk=job.pk).update(stop_asked_at=timezone.now())
    while job.is_live:
        time.sleep(LOOK_S)
        job.refresh_from_db()
    return seen


def _look(seen: dict[str, Any], processes: "Processes", began: float, wanted: int | None, waiting_s: float) -> None:
    under_way = _under_way()
    seen["most"] = max(seen["most"], under_way)
    now = _memory(processes)
    if sum(now.values()) > sum(seen["memory"].values()):
        seen["memory"] = now
    if wanted is not None and under_way >= wanted and not seen["load"]:
        seen["reached_s"] = time.monotonic() - began
        time.sleep(3)
        before, at = processes.cpu_s(), time.monotonic()
        time.sleep(waiting_s)
        took = time.monotonic() - at
        seen["load"] = {name: (seconds - before[name]) / took for name, seconds in processes.cpu_s().items()}


def _under_way() -> int:
    """Calls that the inference worker is answering."""
    from apps.processes.streams import heartbeats, sync_client

    return sum(len(beat["active"]) for beat in heartbeats(sync_client()))


def _memory(processes: "Processes") -> dict[str, float]:
    """Memory of each process with all its descendants, in MB."""
    return {name: processes.memory_mb(name) for name in PROCESSES}
