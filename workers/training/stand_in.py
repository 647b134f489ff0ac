"""A trainer without torch that follows the whole contract of a job's folder, for tests of the driver.

It is configured as a launcher (`TRAIN_LAUNCHER="-m workers.training.stand_in --pace 0.05"`) but launches nothing. Its model is
one number that gradient descent moves towards 1. Files, states, signals and exit statuses are real, written by the trainer's
own modules. It does not test learning.
"""

import argparse
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from workers.training import checkpoints
from workers.training.config import JobConfig, read_config
from workers.training.folder import EXIT, JobFolder, replace_file
from workers.training.problems import NotANumber, OtherArchitecture, explain
from workers.training.rows.texts import tokenise_job

ARCHITECTURE = {"model_type": "stand-in"}


def main() -> int:
    """Run the stand-in; exit statuses are those of the trainer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pace", type=float, default=0.0, help="seconds per step or text")
    parser.add_argument("--nan-at", type=int, help="step with a loss of NaN")
    parser.add_argument("--full-at", type=int, help="step at which the disk is full")
    parser.add_argument("--lost-at", type=int, help="step at which the device is lost")
    parser.add_argument("--deaf", action="store_true", help="ignore signals")
    parser.add_argument("--no-template", action="store_true", help="use a tokenizer without a chat template")
    parser.add_argument("--mute", action="store_true", help="end with status 1 before writing any state")
    parser.add_argument("-m", dest="module", default="", help="module that a launcher would launch (ignored)")
    parser.add_argument("--job", type=Path, required=True)
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    if not (arguments.job / "config.json").is_file():
        parser.error(f"{arguments.job} has no config.json")
    if arguments.mute:
        print("Something is wrong with this machine.", file=sys.stderr)  # noqa: T201
        return 1
    return _StandIn(arguments).run()


class _Characters:
    """Tokenizer for `write_texts` with one token per character."""

    eos_token_id = 0

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.chat_template = "" if arguments.no_template else "each text with its role"
        self._pace = arguments.pace

    def apply_chat_template(self, messages: list[dict[str, str]], **_: bool) -> str:
        time.sleep(self._pace)
        return "".join(f"{one['role']}: {one['content']}\n" for one in messages)

    def __call__(self, text: str, **_: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(sign) for sign in text]}


class _StandIn:
    """One attempt."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, self.folder = arguments, JobFolder(arguments.job)
        self.asked, self.number, self.step = False, 0.0, 0
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = not self.arguments.deaf

    def run(self) -> int:
        """Like `workers.training.running.run_job`."""
        try:
            self.folder.start_heartbeat()
            self.folder.write_state()
            ended: Any = self._train(read_config(self.folder.path / "config.json"))
            self.folder.write_state(state=ended, message="")
            return EXIT[ended]
        except BaseException as error:
            traceback.print_exc()
            reason, message = explain(error)
            self.folder.write_state(state="failed", reason=reason, message=message)
            return EXIT["failed"]
        finally:
            self.folder.stop_heartbeat()

    def _train(self, config: JobConfig) -> str:
        if config.source["kind"] == "texts":
            tokenizer = _Characters(self.arguments)
            if not tokenise_job(self.folder, tokenizer, asked=lambda: self.asked):
                return "stopped"
        begin = checkpoints.latest(self.folder.checkpoints) if self.arguments.resume else None
        if begin is not None:
            self._restore(begin)
        self.folder.write_state(state="running", steps=config.steps, step=self.step)
        while self.step < config.steps and not self.asked:
            self._learn(config)
            if self.step % config.save_every == 0 or self.step == config.steps or self.asked:
                self._save(config)
        if self.asked and self.step < config.steps:
            return "stopped"
        return "finished"

    def _restore(self, begin: Path) -> None:
        broken = checkpoints.broken_files(begin)
        if broken:
            raise OtherArchitecture(f"{begin.name} is damaged: {broken[0]} does not match its hash.")
        kept = json.loads((begin / "model.safetensors").read_text())
        self.number, self.step = kept["number"], kept["step"]

    def _learn(self, config: JobConfig) -> None:
        self.step += 1
        time.sleep(self.arguments.pace)
        loss = float("nan") if self.step == self.arguments.nan_at else (1 - self.number) ** 2
        if loss != loss:
            raise NotANumber(f"The loss of step {self.step} is not a number. The step was discarded.")
        if self.step == self.arguments.full_at:
            raise OSError(28, "No space left on device", "checkpoint")
        if self.step == self.arguments.lost_at:
            raise RuntimeError("CUDA error: device-side assert triggered")
        self.number += 2 * config.learning_rate * (1 - self.number)
        self.folder.write_metrics(self.step, {"loss": loss, "reward": self.number, "tokens": 100.0 * self.step})
        sample = {"group_id": "g", "trajectory_id": str(self.step), "problem_id": "p", "role": "", "policy_version": self.step}
        texts = {"prompt": "1=", "completion": f"{self.number:.4f}", "finish_reason": "stop"}
        self.folder.write_samples(self.step, [{**sample, **texts, "reward": self.number, "advantage": 0.0}])
        self.folder.write_state(step=self.step)

    def _save(self, config: JobConfig) -> None:
        self.folder.write_state(state="saving")
        place = self.folder.checkpoints / f"{checkpoints.PREFIX}{self.step}"
        place.mkdir(parents=True, exist_ok=True)
        replace_file(place / "model.safetensors", json.dumps({"number": self.number, "step": self.step}))
        facts = {
            "step": self.step,
            "parent": config.parent,
            "base": str(config.base),
            "recipe": config.recipe,
            "dataset": config.dataset,
            "config": config.as_json(),
            "seed": config.seed,
            "architecture": ARCHITECTURE,
            "adapter": config.lora is not None,
            "rows_trained": self.step * config.rows_per_step,
            "tokens_trained": 100 * self.step,
        }
        checkpoints.seal(place, facts)
        checkpoints.prune(self.folder.checkpoints, config.keep)
        self.folder.write_state(state="running", checkpoint=str(place.relative_to(self.folder.path)), pid=os.getpid())


if __name__ == "__main__":
    sys.exit(main())
