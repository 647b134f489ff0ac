"""Whether a job trains on CUDA. A GPU that torch cannot use is refused, not replaced by the CPU without a word."""

from pathlib import Path

import torch

from workers.training.problems import BadConfig

#: The driver makes it for the first GPU.
NODE = Path("/dev/nvidia0")


def has_cuda(device: str, *, node: Path = NODE) -> bool:
    """`device` is `auto`, `cpu` or `cuda`. Raises `BadConfig` where it cannot be had, or where `auto` would overlook a GPU."""
    if device == "cpu":
        return False
    if torch.cuda.is_available():
        return True
    if device == "cuda":
        raise BadConfig(f"“device” is cuda, and torch {torch.__version__} finds no CUDA device that answers.")
    if node.exists():
        built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built for the CPU only"
        raise BadConfig(
            f"This machine has a GPU ({node}), and torch {torch.__version__}, {built}, cannot use it, so the job would train "
            "on the CPU. Install torch for CUDA in the trainer’s environment (docs/training.md), or set “device” to cpu."
        )
    return False
