"""Machine and code of a job, which `machine.json` keeps."""

import os
from typing import Any

import torch

from workers.training import checkpoints


def machine_facts(trainer: Any) -> dict[str, Any]:
    """Hardware and versions, for the job's page."""
    device, processes = trainer.accelerator.device, trainer.accelerator.num_processes
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, threads: {torch.get_num_threads()}"
    shared = ", weights divided (FSDP2)" if trainer.is_sharded else ""
    return {
        "hardware": f"{processes} × {name}{shared}" if processes > 1 else name,
        "arithmetic": "bfloat16" if trainer.args.bf16 else "float32",
        "versions": checkpoints.versions(),
        "commit": os.environ.get(checkpoints.COMMIT) or "unknown",
    }
