"""`python -m workers.training --job DIR [--resume]`: train one job in its folder (docs/learning_jobs.md)."""

import argparse
import gc
import sys
from pathlib import Path


def main() -> int:
    """Train a job. Exit status: 0 finished, 3 stopped by a signal, 1 failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m workers.training", description=main.__doc__)
    parser.add_argument("--job", type=Path, required=True, help="folder of the job, with config.json")
    parser.add_argument("--resume", action="store_true", help="continue from the latest complete checkpoint")
    arguments = parser.parse_args()
    if not (arguments.job / "config.json").is_file():
        parser.error(f"{arguments.job} has no config.json")
    import torch
    from accelerate import PartialState

    from workers.training.folder import EXIT
    from workers.training.measuring.watching import StopAsked
    from workers.training.running import run_job

    stop = StopAsked()
    stop.listen()
    state = PartialState(cpu=not torch.cuda.is_available())
    status = run_job(arguments.job.resolve(), resume=arguments.resume, stop=stop, main=state.is_main_process)
    if status != EXIT["failed"]:
        # gloo's threads may still hold tensors; if left to the interpreter's end, they sometimes abort the process. After
        # a failure of one process the others may be inside a collective operation, and this would wait forever.
        gc.collect()
        state.destroy_process_group()
    return status


if __name__ == "__main__":
    sys.exit(main())
