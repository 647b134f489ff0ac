"""Trackers of experiments: each gets the numbers of `metrics.jsonl`. All write below the job's folder, without a network.

Libraries are optional. Trackers run in one thread of their own, so that training never waits for them, and their errors are
counted in `trackers.json` instead of ending the job.
"""

import atexit
import importlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from workers.training.folder import replace_file

#: Environment variable with the default names, separated by commas.
VARIABLE = "LEMMASCOPE_TRACKERS"
DEFAULT = "tensorboard"
#: Lines that wait for slow trackers; later ones are dropped and counted.
WAITING = 1000
#: Seconds that the end of a job waits for its trackers.
PATIENCE_S = 30.0
PROJECT = "lemmascope"
#: Longest parameter that MLflow takes.
MLFLOW_LONGEST = 6000
#: Variables that would send trackio's numbers to a server.
TRACKIO_ELSEWHERE = tuple(f"TRACKIO_{name}" for name in ("SPACE_ID", "SERVER_URL", "BUCKET_ID", "DATASET_ID", "WEBHOOK_URL"))


class Tracker(Protocol):
    """One open tracker."""

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Write the numbers of a step."""
        ...

    def end(self) -> None:
        """Write what is left and close."""
        ...


@dataclass(frozen=True)
class Tracked:
    """The job that trackers get: its folder, its attempt, and its complete configuration."""

    folder: Path
    attempt: int
    config: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Name of the attempt."""
        return f"{self.folder.name}-{self.attempt}"


@dataclass
class Report:
    """What the page says about a tracker."""

    state: Literal["starting", "open", "missing", "unknown", "failed"] = "starting"
    errors: int = 0
    last: str = ""


class TensorBoard:
    """Event files in `tensorboard/`."""

    def __init__(self, job: Tracked) -> None:
        writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter
        self._writer: Any = writer(str(job.folder / "tensorboard"))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def end(self) -> None:
        self._writer.close()


class Wandb:
    """Offline runs in `wandb/`, to be uploaded with `wandb sync`."""

    def __init__(self, job: Tracked) -> None:
        wandb = importlib.import_module("wandb")
        settings = wandb.Settings(console="off", disable_git=True, silent=True)
        names = {"project": PROJECT, "id": job.title, "name": job.title, "group": job.folder.name}
        self._run: Any = wandb.init(
            **names, dir=str(job.folder), mode="offline", config=dict(job.config), save_code=False, settings=settings
        )

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def end(self) -> None:
        self._run.finish()


class Mlflow:
    """A file store in `mlflow/`, to be shown with `mlflow ui --backend-store-uri`."""

    def __init__(self, job: Tracked) -> None:
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # MLflow 3 asks for this.
        client = importlib.import_module("mlflow.tracking").MlflowClient
        self._entities: Any = importlib.import_module("mlflow.entities")
        self._client: Any = client(tracking_uri=(job.folder / "mlflow").resolve().as_uri())
        found = self._client.get_experiment_by_name(PROJECT)
        experiment = found.experiment_id if found else self._client.create_experiment(PROJECT)
        self._run: str = self._client.create_run(experiment, run_name=job.title).info.run_id
        for name, value in job.config.items():
            self._client.log_param(self._run, name, str(value)[:MLFLOW_LONGEST])

    def log(self, step: int, values: Mapping[str, float]) -> None:
        now = time.time_ns() // 1_000_000
        metrics = [self._entities.Metric(name, value, now, step) for name, value in values.items()]
        self._client.log_batch(self._run, metrics=metrics)

    def end(self) -> None:
        self._client.set_terminated(self._run)


class Trackio:
    """A local database in `trackio/`, to be shown with `trackio show`."""

    def __init__(self, job: Tracked) -> None:
        keep_here(job.folder)
        self._trackio: Any = importlib.import_module("trackio")
        place = importlib.import_module("trackio.utils").TRACKIO_DIR
        if Path(place).resolve() != (job.folder / "trackio").resolve():
            raise RuntimeError(f"trackio was imported before its folder was set, and would write into {place}")
        names = {"project": PROJECT, "name": job.title, "group": job.folder.name}
        self._trackio.init(**names, config=dict(job.config), embed=False, auto_log_cpu=False, auto_log_gpu=False)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._trackio.log(dict(values), step=step)

    def end(self) -> None:
        self._trackio.finish()


KNOWN: dict[str, Callable[[Tracked], Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": Wandb,
    "mlflow": Mlflow,
    "trackio": Trackio,
}
#: Packages to install into the trainer's environment.
PACKAGES = {"tensorboard": "tensorboard", "wandb": "wandb", "mlflow": "mlflow-skinny", "trackio": "trackio"}


def keep_here(job: Path) -> None:
    """Make trackio write into a job's folder only. Call this before it, or TRL, which imports it, is imported."""
    for name in TRACKIO_ELSEWHERE:
        os.environ.pop(name, None)
    os.environ["TRACKIO_DIR"] = str((job / "trackio").resolve())


def chosen(given: Sequence[str] | None) -> list[str]:
    """Names of a job's trackers: its own list, or the default of the environment variable."""
    names = os.environ.get(VARIABLE, DEFAULT).split(",") if given is None else given
    return list(dict.fromkeys(filter(None, (name.strip() for name in names))))


class Trackers:
    """All trackers of a job, opened and written by one thread."""

    def __init__(self, names: Sequence[str], job: Tracked) -> None:
        self.reports = {name: Report() for name in names}
        self._job = job
        self._open: dict[str, Tracker] = {}
        self._lines: queue.Queue[tuple[int, dict[str, float]] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="trackers", daemon=True)
        self._thread.start()
        atexit.register(self.end)  # A job that fails ends without its callbacks.

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Hand the numbers of a step to all trackers, without waiting for them."""
        try:
            self._lines.put_nowait((step, dict(values)))
        except queue.Full:
            for name in self.reports:
                self._count(name, "It is too slow; numbers were dropped.")

    def end(self) -> None:
        """Close all trackers, for at most `PATIENCE_S`."""
        atexit.unregister(self.end)
        with suppress(queue.Full):
            self._lines.put(None, timeout=PATIENCE_S)
        self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        for name in self.reports:
            self._begin(name)
        self._write()
        while (line := self._lines.get()) is not None:
            for name, tracker in self._open.items():
                self._try(name, tracker.log, *line)
        for name, tracker in self._open.items():
            self._try(name, tracker.end)

    def _begin(self, name: str) -> None:
        report = self.reports[name]
        if name not in KNOWN:
            report.state, report.last = "unknown", f"Valid trackers: {', '.join(KNOWN)}."
        else:
            try:
                self._open[name] = KNOWN[name](self._job)
                report.state = "open"
            except ImportError:
                package = PACKAGES[name]
                report.state = "missing"
                report.last = f"Install it in the trainer’s environment: .venv-train/bin/pip install {package}"
            except Exception as error:
                report.state = "failed"
                self._count(name, _words(error))
        if report.state != "open":
            print(f"tracker {name}: {report.state}. {report.last}", flush=True)  # noqa: T201  (into the job's log)

    def _try(self, name: str, do: Callable[..., None], *given: Any) -> None:
        try:
            do(*given)
        except Exception as error:
            self._count(name, _words(error))

    def _count(self, name: str, words: str) -> None:
        report = self.reports[name]
        report.errors, report.last = report.errors + 1, words
        if report.errors == 1:
            print(f"tracker {name}: {words} Training continues.", flush=True)  # noqa: T201  (into the job's log)
        self._write()

    def _write(self) -> None:
        found = {name: asdict(report) for name, report in self.reports.items()}
        with suppress(OSError):  # A full disk ends the job at its next checkpoint, with a reason.
            replace_file(self._job.folder / "trackers.json", json.dumps(found, ensure_ascii=False) + "\n")


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip()[:500]
