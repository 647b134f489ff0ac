"""Paths of model files: in the file system, or inside an installed Python package."""

import importlib.util
from pathlib import Path

from apps.reasoning.domain.errors import BackendUnavailable


def model_path(model: str) -> Path:
    """The file or folder of an alias' `model`: a path, or `package:NAME/FILE` inside an installed Python package.

    Raises `BackendUnavailable`, which names what to install or correct.
    """
    if not model.startswith("package:"):
        path = Path(model).expanduser()
        if not path.exists():
            raise BackendUnavailable(f"There is no model at {path}. Correct `model` in models.toml.")
        return path
    package, _, name = model.removeprefix("package:").partition("/")
    spec = importlib.util.find_spec(package)  # Not imported: such packages import tools that are not needed here.
    if spec is None or spec.origin is None:
        raise BackendUnavailable(f"The Python package {package}, which holds the model, is not installed. Run `make setup`.")
    path = Path(spec.origin).parent / name
    if not path.exists():
        raise BackendUnavailable(f"The package {package} has no file {name}. Correct `model` in models.toml.")
    return path
