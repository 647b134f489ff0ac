"""Checkpoints of a job; the manifest is written last and marks a checkpoint as complete."""

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
#: A checkpoint's card (workers/training/model_card.py), and those that PEFT writes for adapters.
CARD = "README.md"
#: Environment variable with the commit of the code, because the trainer's folder need not be a repository.
COMMIT = "LEMMASCOPE_COMMIT"
PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "numpy")


def complete(folder: Path) -> list[Path]:
    """Complete checkpoints below a folder, oldest first."""
    found = [path for path in folder.glob(f"{PREFIX}*") if (path / MANIFEST).exists() and _step(path) is not None]
    return sorted(found, key=lambda path: _step(path) or 0)


def latest(folder: Path) -> Path | None:
    """Latest complete checkpoint, for a resumed job; incomplete ones are deleted."""
    kept = complete(folder)
    for path in folder.glob(f"{PREFIX}*"):
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)
    return kept[-1] if kept else None


def latest_whole(folder: Path, *, main: bool = True) -> tuple[Path | None, str]:
    """Latest checkpoint whose files match its manifest, with a message about later damaged ones.

    The `main` process renames damaged ones; other processes get the same result, before or after the renaming. Raises
    `OtherArchitecture` where all complete checkpoints are damaged.
    """
    if main:
        latest(folder)
    damaged: dict[Path, str] = {}
    for path in reversed(complete(folder)):
        broken = broken_files(path)
        if broken:
            damaged[path] = f"{path.name} is damaged: {broken[0]} does not match its hash."
            continue
        for other in damaged if main else ():
            aside = other.with_name(f"{DAMAGED}{other.name}")
            shutil.rmtree(aside, ignore_errors=True)
            other.rename(aside)
        return path, " ".join([*damaged.values(), f"Continued from {path.name}."]) if damaged else ""
    if damaged:
        raise OtherArchitecture(" ".join(damaged.values()))
    return None, ""


def prune(folder: Path, keep: int) -> None:
    """Delete all but the latest `keep` checkpoints, and damaged ones that a later checkpoint has replaced.

    The manifest is deleted first, so that a partly deleted checkpoint is incomplete.
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
    """Write the manifest with the hashes of all files but the card, which makes the checkpoint complete."""
    hashed = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != CARD]
    files = {path.relative_to(folder).as_posix(): file_hash(path) for path in hashed}
    known = {"versions": versions(), "commit": os.environ.get(COMMIT) or "unknown"}
    manifest = {"format": 1, **facts, **known, "files": files, "created": time.time()}
    replace_file(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Manifest of a complete checkpoint."""
    found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return found


def broken_files(folder: Path) -> list[str]:
    """Files that are missing or differ from the manifest; the manifest itself where it is unreadable."""
    try:
        files = dict(read_manifest(folder)["files"])
        return [name for name, recorded in files.items() if file_hash(folder / name) != recorded]
    except FileNotFoundError as missing:
        return [Path(missing.filename).name]
    except (OSError, ValueError, KeyError, TypeError):
        return [MANIFEST]


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that affect results."""
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
