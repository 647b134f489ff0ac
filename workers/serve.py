"""`python -m workers.serve ALIAS…`: become an inference worker for these aliases of models.toml.

The one command of a machine that joins: queues, threads and Celery's switches follow from the aliases. Needs REDIS_URL and
MODELS_FILE; no database.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

from django.conf import settings

from apps.config.stack import can_be_served_here, inference_threads
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_served
from apps.reasoning.inference.trained import read_also, trained_file


def chosen_aliases(names: Sequence[str], path: Path) -> list[Alias]:
    """The aliases of these names, in their order, each once. Raises `AliasError` for one that is missing or disabled."""
    known = load_served(path)
    for name in names:
        if name not in known or not known[name].enabled:
            there = ", ".join(alias.name for alias in known.values() if alias.enabled)
            raise AliasError(f"{path} has no enabled alias {name}; it has {there}.")
    return [known[name] for name in dict.fromkeys(names)]


def servable(aliases: Sequence[Alias]) -> list[Alias]:
    """Those that this environment can serve; of the others stderr tells. Raises `AliasError` where none is left.

    A worker that took calls which it cannot answer would fail their runs beside one that can.
    """
    found = [alias for alias in aliases if can_be_served_here(alias)]
    missing = ", ".join(alias.name for alias in aliases if alias not in found)
    told = f"{sys.executable} has no vLLM, so it cannot serve {missing}. `make setup-vllm` makes an environment that has it."
    if not found:
        raise AliasError(told)
    if missing:
        sys.stderr.write(f"{told}\n")
    return found


def celery_command(aliases: Sequence[Alias], *, threads: int = 0) -> list[str]:
    """The command line of the worker; `threads` 0 is what the aliases need."""
    queues = ",".join(dict.fromkeys(alias.queue for alias in aliases))
    return [
        sys.executable, "-m", "celery", "--app", "workers.worker", "worker", "--pool=threads",
        f"--concurrency={threads or inference_threads(aliases)}", f"--queues={queues}",
        f"--hostname=inference-{os.getpid()}@%h", "--without-gossip", "--without-mingle", "--without-heartbeat",
        f"--loglevel={settings.LOG_LEVEL}",
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Replace this process by the worker; exit status 2 with a sentence where that cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m workers.serve", description="An inference worker for aliases of models.toml."
    )
    parser.add_argument("aliases", nargs="+", metavar="ALIAS", help="names of tables in models.toml")
    parser.add_argument("--threads", type=int, default=0, help="calls held at a time; by default what the aliases need")
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
