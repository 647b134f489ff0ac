"""Engines that follow a training job: a folder in models.toml that ends in `/*` is the newest numbered folder in it.

It is the folder of an adapter (`adapter`), or of the whole weights of an engine of its own (`weights`).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from apps.reasoning.inference.options import VllmOptions

if TYPE_CHECKING:
    from apps.reasoning.inference.aliases import Alias

NEWEST = "/*"
_NOT_WITH_WEIGHTS = ("worker_extension_cls", "speculative_config")


def followed_folder(path: str) -> Path | None:
    """The folder of a job's versions; None for one folder that does not change, and for none."""
    return Path(path.removesuffix(NEWEST)).expanduser() if path.endswith(NEWEST) else None


def followed_by(alias: "Alias") -> Path | None:
    """The folder of a job's versions that an alias plays with; None for fixed weights."""
    return followed_folder(alias.weights or alias.adapter)


def mistake_in_weights(alias: "Alias") -> str:
    """Why an engine could not exchange or restore the weights of an alias; empty if it can."""
    options = alias.options
    if isinstance(options, VllmOptions) and alias.adapters and options.sleep_after_s and options.sleep_level == 2:
        return "options.sleep_level = 2 crashes engines with adapters (vllm-project/vllm#39934); use 1"
    if not alias.weights:
        return ""
    if not isinstance(options, VllmOptions):
        return "weights are followed by engines of the backend vllm only"
    if not alias.weights.endswith(NEWEST):
        return "weights ends in /*, for the newest numbered folder there; a folder that does not change is the model"
    if options.quantization:
        return "the weights of a training job are not quantised; leave options.quantization out"
    for name in _NOT_WITH_WEIGHTS:
        if name in options.engine_args:
            return f"an engine that follows whole weights cannot have options.engine_args.{name}"
    return ""
