"""A recipe on a real GPU learns as on a CPU, with all weights and with an adapter."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.factory import job, lines
from tests.training.test_learning import last, trained

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="No working GPU on this machine."),
]
COPY = {"rows_per_step": 256, "learning_rate": 2e-3, "last_learning_rate": 2e-3, "loss": {"beta": 0.0}, "device": "cuda"}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_copying_is_learned_on_a_gpu_and_speed_and_memory_are_recorded(
    tmp_path: Path, dtype: str, record_property: Callable[[str, object], None]
) -> None:
    torch.cuda.reset_peak_memory_stats()
    trained(tmp_path / "rl", "turn_grpo", {"toy": "copy"}, 60, dtype=dtype, **COPY)
    assert last(tmp_path / "rl", "toy/solved") >= 0.85
    assert torch.cuda.max_memory_allocated() > 0, "it ran elsewhere"
    record_property("tokens_per_second", last(tmp_path / "rl", "tokens_per_second"))
    record_property("most_memory_bytes", torch.cuda.max_memory_allocated())


def test_an_adapter_is_trained_on_a_gpu(tmp_path: Path) -> None:
    settings: dict[str, Any] = COPY | {"lora": {"rank": 8, "alpha": 16}, "loss": {"beta": 0.01}}
    checkpoint = trained(tmp_path / "rl", "turn_grpo", {"toy": "copy"}, 5, **settings)
    assert (checkpoint / "adapter_model.safetensors").is_file()
    assert all(line["kl"] >= -1e-6 for line in lines(tmp_path / "rl" / "metrics.jsonl"))


def test_more_processes_than_gpus_are_refused(tmp_path: Path) -> None:
    gpus = torch.cuda.device_count()
    done = subprocess.run(
        [sys.executable, "-m", "workers.training", "--job", str(job(tmp_path, device="cuda"))],
        env=os.environ | {"LOCAL_WORLD_SIZE": str(gpus + 1)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert f"{gpus + 1} processes were started for {gpus} GPU" in done.stderr
