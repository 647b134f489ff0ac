"""Executables that print what a proof assistant would."""

import stat
from pathlib import Path

LEAN = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "Lean (version 4.9.0, x86_64)"; exit 0; fi
grep -q "import Mathlib" "$1" || exit 3
{answer}
"""


def fake_lean(folder: Path, answer: str) -> Path:
    """A program for LEAN_BIN that gives `answer`, shell code, to every file."""
    path = folder / "lean"
    path.write_text(LEAN.replace("{answer}", answer), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
