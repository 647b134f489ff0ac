"""A stage for benchmarks: a private data folder with a migrated database, and runs. The user's data is not touched."""

import atexit
import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.models import Run

MODELS = Path(__file__).with_name("models.toml")


def set_up(**env: str) -> Path:
    """Point the settings at a new folder, set up Django and migrate. Call before importing anything of Django.

    `env` overrides settings of this process and its children. The folder is removed when the process ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="lemmascope-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("DATABASE_URL", "REDIS_URL", "CRASH_AT"):
        os.environ.pop(name, None)
    os.environ.update(
        {
            "DATA_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            "LOG_LEVEL": "ERROR",
            "MODELS_FILE": str(MODELS),
            "PORT": str(free_port()),
            **env,
        }
    )
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return folder


def a_run(spec: "RunSpec | None" = None) -> "Run":
    """A queued run on a new problem, without sending a task."""
    from apps.problems.models import Problem, ProblemVersion, Topic
    from apps.reasoning.domain.generation import Sampling
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
    from apps.runs.services import run_create

    number = Problem.objects.count() + 1
    problem = Problem.objects.create(slug=f"bench-{number}", title="A benchmark", topic=Topic.ALGEBRA)
    version = ProblemVersion.objects.create(problem=problem, number=1, statement="Show that $1 + 1 = 2$.")
    spec = spec or RunSpec(
        problem=ProblemText(id=problem.slug, version=1, title=problem.title, statement=version.statement),
        scaffold="intern_s1_mo",
        roles={"reasoner": RoleSpec(alias="at-once", sampling=Sampling())},
    )
    return run_create(owner=None, problem_version=version, title="A benchmark", spec=spec, start=False)


def a_file(name: str, text: str) -> Path:
    """A file with this text, removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="lemmascope-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / name).write_text(text)
    return folder / name


def free_port() -> int:
    """A port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
