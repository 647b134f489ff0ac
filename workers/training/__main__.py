"""`python -m workers.training --job DIR [--resume]`: train one job in its folder (docs/learning_jobs.md)."""

import argparse
import gc
import json
import sys
from pathlib import Path

from workers.training.trackers import keep_here

#: The variable in which torchrun gives the number of processes on this machine.
PROCESSES = "LOCAL_WORLD_SIZE"


def main() -> int:
    """Train a job. Exit status: 0 finished, 3 stopped by a signal, 1 failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m workers.training", description=main.__doc__)
    parser.add_argument("--job", type=Path, required=True, help="folder of the job, with config.json")
    parser.add_argument("--resume", action="store_true", help="continue from the latest complete checkpoint")
    arguments = parser.parse_args()
    if not (arguments.job / "config.json").is_file():
        parser.error(f"{arguments.job} has no config.json")
    keep_here(arguments.job)
    on_cpu = is_on_cpu(arguments.job)
    from accelerate import PartialState
    from accelerate.utils.environment import get_int_from_env

    processes, gpus = get_int_from_env([PROCESSES], 1), _gpus()
    if not on_cpu and processes > gpus:
        parser.error(
            f"{processes} processes were started for {gpus} GPU{'s' * (gpus != 1)}. "
            "Start one process for each GPU, or set “device” to cpu in config.json."
        )

    from workers.training.folder import EXIT
    from workers.training.measuring.watching import StopAsked
    from workers.training.processes.peers import peers_of_this_process
    from workers.training.running import run_job

    stop = StopAsked()
    stop.listen()
    state = PartialState(cpu=on_cpu)
    status = run_job(arguments.job.resolve(), resume=arguments.resume, stop=stop, peers=peers_of_this_process())
    if status != EXIT["failed"]:
        # gloo's threads may still hold tensors; if left to the interpreter's end, they sometimes abort the process. After
        # a failure of one process the others may be inside a collective operation, and this would wait forever.
        gc.collect()
        state.destroy_process_group()
    return status


def is_on_cpu(job: Path) -> bool:
    """Whether the processes of a job exchange data over the CPU. An invalid config.json is reported later, by the job."""
    try:
        device = json.loads((job / "config.json").read_text())["device"]
    except (ValueError, KeyError, TypeError):
        device = "auto"
    return device == "cpu" or not _gpus()


def _gpus() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


if __name__ == "__main__":
    sys.exit(main())
