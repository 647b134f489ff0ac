"""Checkpoints of a job: complete once they have a manifest, which is written last."""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workers.training.folder import replace_file
from workers.training.problems import OtherArchitecture

MANIFEST = "manifest.json"
PREFIX = "checkpoint-"
DAMAGED = "damaged-"
#: The variable with the commit of the code: the trainer's own folder need not be a repository.
COMMIT = "LEMMASCOPE_COMMIT"
PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "numpy")


def complete(folder: Path) -> list[Path]:
    """The complete checkpoints below a folder, oldest first."""
    found = [path for path in folder.glob(f"{PREFIX}*") if (path / MANIFEST).exists() and _step(path) is not None]
    return sorted(found, key=lambda path: _step(path) or 0)


def latest(folder: Path) -> Path | None:
    """The latest complete one; half-written ones are removed. For the beginning of a resumed job."""
    kept = complete(folder)
    for path in folder.glob(f"{PREFIX}*"):
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)
    return kept[-1] if kept else None


def latest_whole(folder: Path, *, main: bool = True) -> tuple[Path | None, str]:
    """The latest whose files are what its manifest says, and a sentence about later ones that are not.

    Those are set aside by the `main` process of several; the others come to the same answer, whether it was quicker or not.
    Raises `OtherArchitecture` where there are complete ones and every one is damaged.
    """
    if main:
        latest(folder)
    damaged: dict[Path, str] = {}
    for path in reversed(complete(folder)):
        broken = broken_files(path)
        if broken:
            damaged[path] = f"{path.name} is damaged: {broken[0]} is not what it should be."
            continue
        for other in damaged if main else ():
            aside = other.with_name(f"{DAMAGED}{other.name}")
            shutil.rmtree(aside, ignore_errors=True)
            other.rename(aside)
        return path, " ".join([*damaged.values(), f"Went on from {path.name}."]) if damaged else ""
    if damaged:
        raise OtherArchitecture(" ".join(damaged.values()))
    return None, ""


def prune(folder: Path, keep: int) -> None:
    """Removes all but the latest `keep`, and damaged ones that a later checkpoint has made superfluous.

    The manifest goes first, so that a half-removed checkpoint counts as none.
    """
    kept = complete(folder)
    for path in kept[:-keep]:
        (path / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(path, ignore_errors=True)
    latest_step = max((_step(path) or 0 for path in kept), default=0)
    for path in folder.glob(f"{DAMAGED}{PREFIX}*"):
        if (_step(path.with_name(path.name.removeprefix(DAMAGED))) or 0) <= latest_step:
            shutil.rmtree(path, ignore_errors=True)


def seal(folder: Path, facts: Mapping[str, Any]) -> None:
    """Writes the manifest with the hashes of all files: from here on the checkpoint is complete."""
    files = {path.relative_to(folder).as_posix(): file_hash(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    known = {"versions": versions(), "commit": os.environ.get(COMMIT, "")}
    manifest = {"format": 1, **facts, **known, "files": files, "created": time.time()}
    replace_file(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a complete checkpoint."""
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return found


def broken_files(folder: Path) -> list[str]:
    """The files that are gone or no longer what the manifest says; the manifest itself where it cannot be read."""
    try:
        files = dict(read_manifest(folder)["files"])
        return [name for name, said in files.items() if file_hash(folder / name) != said]
    except FileNotFoundError as gone:
        return [Path(gone.filename).name]
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Of Python and of what decides about a result."""
    found = {"python": sys.version.split()[0]}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _step(path: Path) -> int | None:
    number = path.name.removeprefix(PREFIX)
    return int(number) if number.isdecimal() else None
