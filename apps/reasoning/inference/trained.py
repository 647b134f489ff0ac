"""Aliases of models trained here: a generated file that is read after models.toml and cannot make it invalid."""

import logging
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

#: The file of models trained here, if this process was given one.
_trained: Path | None = None


def trained_file(data: Path) -> Path:
    """Where an installation keeps the aliases of its trained models, below its data folder."""
    return data / "training" / "models.toml"


def read_also(path: Path | None) -> None:
    """From now on `load_aliases` adds the trained models of this file, where it is there."""
    global _trained
    _trained = path


def trained_tables() -> dict[str, Any]:
    """The tables of the file that `read_also` named; none where it is not there or cannot be read."""
    try:
        return tomllib.loads(_trained.read_text(encoding="utf-8")) if _trained else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        logger.warning("the aliases of trained models cannot be read (%s)", error)
        return {}


def with_trained(tables: dict[str, Any], trained: Mapping[str, Any]) -> dict[str, Any]:
    """All tables; those of trained models come last, and only where what they build on is there."""
    found = dict(tables)
    for name, table in trained.items():
        base = tables.get(table.get("adapter_of") or table.get("like"))
        if name in tables or not isinstance(base, dict) or not _can_serve(base, table):
            logger.warning("the trained model %s is left out: models.toml has no place for it", name)
            continue
        if "like" in table:
            others = {key: value for key, value in base.items() if key not in ("title", "revision", "model", "weights")}
            table = others | {key: value for key, value in table.items() if key != "like"}
        found[name] = table
    return found


def _can_serve(base: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    """Whether the table `base` of models.toml has an engine for a trained model; one that follows a job takes no adapters."""
    is_engine = base.get("backend") == "vllm" and base.get("enabled", True)
    return bool(is_engine and ("like" in table or not base.get("weights")))
