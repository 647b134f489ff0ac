"""`python -m workers.serve ALIAS…`: run an inference worker for these aliases of models.toml.

A machine that joins needs only this command: queues, threads and Celery's options follow from the aliases. Needs REDIS_URL and
MODELS_FILE; no database.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

from django.conf import settings

from apps.config.stack import inference_threads, is_servable_here
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_served
from apps.reasoning.inference.trained import read_also, trained_file


def chosen_aliases(names: Sequence[str], path: Path) -> list[Alias]:
    """The aliases of these names in order, without duplicates. Raises `AliasError` for a missing or disabled one."""
    known = load_served(path)
    for name in names:
        if name not in known or not known[name].enabled:
            enabled = ", ".join(alias.name for alias in known.values() if alias.enabled)
            raise AliasError(f"{path} has no enabled alias {name}; it has {enabled}.")
    return [known[name] for name in dict.fromkeys(names)]


def servable(aliases: Sequence[Alias]) -> list[Alias]:
    """The aliases that this environment can serve; stderr lists the others. Raises `AliasError` when none is left.

    A worker that took calls it cannot answer would fail their runs while another worker could answer them.
    """
    found = [alias for alias in aliases if is_servable_here(alias)]
    missing = ", ".join(alias.name for alias in aliases if alias not in found)
    message = f"{sys.executable} has no vLLM, so it cannot serve {missing}. `make setup-vllm` makes an environment that has it."
    if not found:
        raise AliasError(message)
    if missing:
        sys.stderr.write(f"{message}\n")
    return found


def celery_command(aliases: Sequence[Alias], *, threads: int = 0) -> list[str]:
    """The command line of the worker; `threads` 0 means as many as the aliases need."""
    queues = ",".join(dict.fromkeys(alias.queue for alias in aliases))
    return [
        sys.executable, "-m", "celery", "--app", "workers.worker", "worker", "--pool=threads",
        f"--concurrency={threads or inference_threads(aliases)}", f"--queues={queues}",
        f"--hostname=inference-{os.getpid()}@%h", "--without-gossip", "--without-mingle", "--without-heartbeat",
        f"--loglevel={settings.LOG_LEVEL}",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Replace this process by the worker. Exits with status 2 and an explanation if it cannot."""
    parser = argparse.ArgumentParser(
        prog="python -m workers.serve", description="Run an inference worker for aliases of models.toml."
    )
    parser.add_argument("aliases", nargs="+", metavar="ALIAS", help="names of tables in models.toml")
    parser.add_argument("--threads", type=int, default=0, help="calls held at a time (default: as many as the aliases need)")
    options = parser.parse_args(arguments)
    read_also(trained_file(settings.DATA_DIR))
    try:
        aliases = servable(chosen_aliases(options.aliases, settings.MODELS_FILE))
    except AliasError as error:
        parser.error(str(error))
    command = celery_command(aliases, threads=options.threads)
    os.execv(command[0], command)  # noqa: S606  (our own command line)


if __name__ == "__main__":
    main()
