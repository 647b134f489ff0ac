"""Choice of the device. A GPU that torch cannot use is an error; there is no silent fallback to the CPU."""

from pathlib import Path

import torch

from workers.training.problems import BadConfig

#: Device file of the first GPU, created by its driver.
NODE = Path("/dev/nvidia0")


def has_cuda(device: str, *, node: Path = NODE) -> bool:
    """Whether to use CUDA for `device` (`auto`, `cpu` or `cuda`).

    Raises `BadConfig` where the device is unavailable, or where `auto` would ignore a GPU.
    """
    if device == "cpu":
        return False
    if torch.cuda.is_available():
        return True
    if device == "cuda":
        raise BadConfig(f"“device” is cuda, but torch {torch.__version__} finds no working CUDA device.")
    if node.exists():
        built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built for the CPU only"
        raise BadConfig(
            f"This machine has a GPU ({node}), but torch {torch.__version__}, {built}, cannot use it, so the job would train "
            "on the CPU. Install torch for CUDA in the trainer’s environment (docs/training.md), or set “device” to cpu."
        )
    return False
