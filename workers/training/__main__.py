"""`python -m workers.training --job DIR [--resume]`: trains one job. docs/learning_jobs.md describes the folder."""

import argparse
import gc
import sys
from pathlib import Path


def main() -> int:
    """The exit status: 0 finished, 3 stopped by a signal, 1 failed, 2 bad usage."""
    parser = argparse.ArgumentParser(prog="python -m workers.training", description=main.__doc__)
    parser.add_argument("--job", type=Path, required=True, help="the job's folder, with config.json")
    parser.add_argument("--resume", action="store_true", help="go on from the latest complete checkpoint")
    arguments = parser.parse_args()
    if not (arguments.job / "config.json").is_file():
        parser.error(f"{arguments.job} has no config.json")
    import torch
    from accelerate import PartialState

    from workers.training.folder import EXIT
    from workers.training.running import run_job
    from workers.training.watching import StopAsked

    stop = StopAsked()
    stop.listen()
    state = PartialState(cpu=not torch.cuda.is_available())
    status = run_job(arguments.job.resolve(), resume=arguments.resume, stop=stop, main=state.is_main_process)
    if status != EXIT["failed"]:
        # gloo's threads may still hold tensors; left to the interpreter's end, they abort the process now and then. Where
        # one of several failed the others may be within a collective, and this would wait for them for ever.
        gc.collect()
        state.destroy_process_group()
    return status


if __name__ == "__main__":
    sys.exit(main())
