"""Making of a dataset version: from the chosen runs to an immutable folder with its manifest.

Everything is written to `DATA_DIR/datasets/.making/<build>` and renamed in one step together with the insertion into the
database. A separate process of `apps/recipes/rows` makes the rows.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.datasets.models import DatasetBuild, DatasetVersion
from apps.datasets.rewards import Judge
from apps.datasets.tokens.shards import tokens_folder
from apps.datasets.versions import card
from apps.datasets.versions.choosing import Chosen, NothingToMake, benchmark_hashes, runs_chosen
from apps.datasets.versions.commit import git_commit
from apps.datasets.versions.manifest import manifest_of
from apps.datasets.versions.spec_files import problems_write
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run

MANIFEST = "manifest.json"
READ_ONLY = 0o444
TRIES = 5
Export = Callable[[Path], int]
Report = Callable[[str, int, int], None]
"""Callback for progress: activity, amount done, total."""


def datasets_folder() -> Path:
    """Folder of all versions."""
    return Path(settings.DATA_DIR) / "datasets"


def making_folder(build: DatasetBuild) -> Path:
    """Folder of a version while it is made."""
    return datasets_folder() / ".making" / str(build.public_id)


def export_program(folder: Path) -> int:
    """Run the export program and return its exit status."""
    command = [sys.executable, "-m", "apps.recipes.rows", str(folder)]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.run(command, cwd=settings.BASE_DIR, stdout=log, stderr=log, check=False).returncode  # noqa: S603


def build_make(build: DatasetBuild, *, export: Export = export_program, report: Report | None = None) -> DatasetVersion:
    """Make the version of `build` and record the outcome. Raises `NothingToMake` and then leaves no files behind."""
    try:
        version = _make(build, export, report or (lambda *_: None))
    except NothingToMake as nothing:
        _end(build, DatasetBuild.State.FAILED, message=str(nothing))
        raise
    except OSError as error:
        reason = f"The files could not be written: {error.strerror or error} ({error.filename or datasets_folder()})."
        _end(build, DatasetBuild.State.FAILED, message=reason)
        raise NothingToMake(reason) from error
    except Exception as error:
        _end(
            build,
            DatasetBuild.State.FAILED,
            message=f"The export stopped on an internal error ({type(error).__name__}: {error}).",
        )
        raise
    finally:
        shutil.rmtree(making_folder(build), ignore_errors=True)
    _end(build, DatasetBuild.State.READY, version=version)
    return version


def _make(build: DatasetBuild, export: Export, report: Report) -> DatasetVersion:
    recipe, options = TRAININGS[build.recipe], dict(build.options)
    judge = cast("Judge", options.pop("judge", "verifiers"))
    folder = making_folder(build)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    chosen = runs_chosen(_runs(build), recipe)
    for done in problems_write(folder / "problems.jsonl", chosen, recipe, judge, chosen.left):
        report("runs read", done, len(chosen.runs))
    with (folder / "problems.jsonl").open("rb") as file:
        lines = sum(1 for _ in file)
    if not lines:
        why = "; ".join(f"{row['count']} × {row['reason']}" for row in chosen.left.rows)
        raise NothingToMake(f"The chosen runs contain no trajectory to learn from: {why}.")
    order = {
        "recipe": build.recipe,
        "options": options,
        "tokens": str(tokens_folder().resolve()),
        "benchmarks": sorted(benchmark_hashes()),
        "problems_count": lines,
    }
    (folder / "order.json").write_text(json.dumps(order))
    report("making rows", 0, lines)
    if export(folder):
        raise NothingToMake(_error(folder))
    summary = json.loads((folder / "summary.json").read_text())
    return _keep(build, chosen, summary, folder / "out")


def _runs(build: DatasetBuild) -> list[Run]:
    found = Run.objects.filter(public_id__in=build.runs).select_related("problem_version__problem", "forked_from")
    by_id = {str(run.public_id): run for run in found}
    missing = [name for name in build.runs if name not in by_id]
    if missing:
        raise NothingToMake(f"{len(missing)} of the chosen runs no longer exist, for example {missing[0]}. Choose runs again.")
    return [by_id[name] for name in build.runs]


def _error(folder: Path) -> str:
    try:
        return str(json.loads((folder / "error.json").read_text())["message"])
    except OSError:
        pass
    try:
        log = (folder / "log.txt").read_text(errors="replace").strip().splitlines()
    except OSError:
        log = []
    return f"The export program stopped: {log[-1] if log else 'its log is empty; it may have been killed'}."


def _keep(build: DatasetBuild, chosen: Chosen, summary: dict[str, Any], out: Path) -> DatasetVersion:
    """Number the version, write its manifest, rename the folder and insert the version."""
    for _ in range(TRIES):
        number = _next_number(build.name)
        manifest = manifest_of(build, number, chosen, summary, commit=git_commit())
        data = json.dumps(manifest, ensure_ascii=False, indent=1).encode()
        _put_manifest(out / MANIFEST, data)
        (out / card.NAME).write_text(card.card_of(manifest, hashlib.sha256(data).hexdigest()), encoding="utf-8")
        target = datasets_folder() / f"{build.name}-v{number}"
        try:
            return _named(build, number, summary, out, target, hashlib.sha256(data).hexdigest())
        except (IntegrityError, FileExistsError):
            continue  # Another build of that name was faster.
    raise NothingToMake(f"Other builds of {build.name} took the version number {TRIES} times. Try again, or change the name.")


@transaction.atomic
def _named(build: DatasetBuild, number: int, summary: dict[str, Any], out: Path, target: Path, digest: str) -> DatasetVersion:
    counts = summary["counts"]
    version = DatasetVersion.objects.create(
        name=build.name,
        version=number,
        path=target.relative_to(settings.DATA_DIR).as_posix(),
        hash=digest,
        recipe=build.recipe,
        options=build.options,
        counts=counts,
        rows_count=counts["rows"],
        has_logprobs=summary["has_logprobs"] and summary["has_tokens"],
        has_tokens=summary["has_tokens"],
        created_by=build.started_by,
    )
    if target.exists():
        raise FileExistsError(target)
    for path in out.rglob("*"):
        if path.is_file():
            path.chmod(READ_ONLY)
    out.rename(target)
    return version


def _next_number(name: str) -> int:
    known = DatasetVersion.objects.filter(name=name).order_by("-version").values_list("version", flat=True).first() or 0
    while (datasets_folder() / f"{name}-v{known + 1}").exists():
        known += 1  # Left by a process that died between the rename and the commit.
    return known + 1


def _put_manifest(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _end(build: DatasetBuild, state: str, *, message: str = "", version: DatasetVersion | None = None) -> None:
    build.state, build.message, build.version, build.ended = state, message, version, timezone.now()
    build.save(update_fields=["state", "message", "version", "ended"])
