"""A worker of vLLM's CPU engine that computes a few steps correctly and then fails in the configured way."""

import os
import time
from typing import Any

import torch
from vllm.v1.worker.cpu_worker import CPUWorker

#: Environment variable, `memory` or `standstill`, read in the process of the worker.
HOW = "FAILING_VLLM_WORKER"
GOOD_STEPS = 4


class FailingWorker(CPUWorker):  # type: ignore[misc]  # vLLM comes without types here.
    """`options.engine_args.worker_cls` of an alias."""

    steps = 0

    def execute_model(self, scheduler_output: Any) -> Any:
        """See `CPUWorker`."""
        self.steps += bool(scheduler_output.total_num_scheduled_tokens)
        if self.steps > GOOD_STEPS:
            if os.environ[HOW] == "memory":
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79.10 GiB in all.")
            time.sleep(3600)
        return super().execute_model(scheduler_output)
