"""The version of the code: in a checkout the first version heading of CHANGELOG.md, else that of the installed package."""

import importlib.metadata
import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def _version() -> str:
    # An image has no pyproject.toml, and what a wheel is built from need not have the application.
    if not any((CHECKOUT / name).exists() for name in ("pyproject.toml", "manage.py")):
        return importlib.metadata.version("lemmascope")
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE)
    return found.group(1) if found else "0.0.0"


VERSION = _version()
