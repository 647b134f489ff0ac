"""File of the trained models' aliases, which the registry reads after models.toml."""

import json
import os
from pathlib import Path

from django.conf import settings

from apps.learning.models import ModelState, TrainedModel
from apps.reasoning.inference.trained import trained_file


def aliases_write() -> Path:
    """Rewrite the file with every model that an engine serves and that is not rejected. Processes read it at start."""
    path = trained_file(Path(settings.DATA_DIR))
    served = TrainedModel.objects.exclude(like="").exclude(state=ModelState.REJECTED).order_by("name")
    text = "# Written by Lemmascope from its trained models; changes here are lost.\n" + "".join(map(_table, served))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
    return path


def _table(model: TrainedModel) -> str:
    where = {"adapter_of": model.like, "adapter": str(model.folder)} if model.is_adapter else {
        "like": model.like, "model": str(model.folder)
    }  # fmt: skip
    keys = {**where, "title": f"{model.name} (trained from {model.parent_title})", "revision": model.manifest[:16]}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    candidate = ["candidate = true"] if model.is_candidate else []
    return "\n".join(["", f"[{model.name}]", *lines, *candidate, ""])
