"""Callbacks around the optimiser's steps: metrics, samples, checkpoints, stops by a signal, and checks for NaN."""

import json
import shutil
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback

from apps.recipes.mathematics.rows import Row
from workers.training import checkpoints, model_card
from workers.training.config import JobConfig
from workers.training.folder import JobFolder, replace_file
from workers.training.measuring.held_out import HeldOut, score_metrics
from workers.training.measuring.machine import machine_facts
from workers.training.models import is_adapter
from workers.training.problems import NotANumber
from workers.training.processes.sharding import own_share
from workers.training.trackers import Tracked, Trackers, chosen

#: Our names of TRL's metrics.
NAMES = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "entropy": "entropy",
    "kl": "kl",
    "value_loss": "value_loss",
    "mastered": "mastered",
    "capped": "capped",
    "masked_rows": "masked_rows",
    "token_rm_loss": "token_rm_loss",
    "clip_ratio/low_mean": "clip_low",
    "clip_ratio/high_mean": "clip_high",
}
#: Metric of the time without rows, by kind of source; stored rows need no waiting.
WITHOUT_ROWS = {"toy": "time/rollout", "stream": "time/idle"}
LONGEST_SAMPLE = 20_000


class StopAsked:
    """Request to stop, set by SIGTERM or SIGINT; the trainer checks it between steps."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def listen(self) -> None:
        """Handle both signals from now on. Only the main thread may call this."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._asked.set())

    def ask(self) -> None:
        """Request a stop, like a signal."""
        self._asked.set()

    @property
    def asked(self) -> bool:
        """Whether the job should stop after the current step."""
        return self._asked.is_set()


class Watch(TrainerCallback):
    """Writes the job's folder during training. On several devices only the main process has a folder."""

    def __init__(self, config: JobConfig, folder: JobFolder | None, stop: StopAsked, facts: Mapping[str, Any]) -> None:
        self.config, self.folder, self.stop, self.facts = config, folder, stop, facts
        self.trainer: Any = None
        self._seen: dict[str, float] = {}
        self._rows: Sequence[Row] = ()
        self._trackers: Trackers | None = None
        self.held_out: HeldOut | None = None
        self.is_stopping = False
        self._measured_at, self._measured_s = -1, 0.0
        self._since: tuple[float, int] = time.monotonic(), 0

    def seen(self, step: int, rows: Sequence[Row], measures: dict[str, float]) -> None:
        """Store the rows of a step before it runs."""
        self._rows, self._seen = rows, measures

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Open the trackers, record the machine, and delete policies that an earlier attempt published after the first step."""
        self._since = time.monotonic(), self.trainer.tokens_trained
        if self.folder is not None:
            self._begin(self.folder)
        if self.config.source.get("kind") == "stream" and self.trainer.agreed(self._lacks_policy(state.global_step)):
            self._publish(state.global_step)

    def _lacks_policy(self, step: int) -> bool:
        """Whether the policy of this step must be published. Deletes those that an earlier attempt published after it."""
        if self.folder is None:
            return False
        for left in (self.folder.path / "policy").glob("*"):
            if left.name.startswith(".") or (left.name.isdecimal() and int(left.name) > step):
                shutil.rmtree(left)
        # The engine has only the model without the adapter, or the model of its alias, which may be another than the base.
        is_new = self.config.lora is None or is_adapter(Path(self.facts["base"]))
        return bool(step or is_new) and not (self.folder.path / "policy" / str(step)).exists()

    def _begin(self, folder: JobFolder) -> None:
        replace_file(folder.path / "machine.json", json.dumps(machine_facts(self.trainer), ensure_ascii=False) + "\n")
        job = Tracked(folder.path, folder.state.attempt, self.config.as_json())
        self._trackers = Trackers(chosen(getattr(self.config, "trackers", None)), job)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Save a checkpoint where one is due, and stop on request."""
        due = state.global_step % self.config.save_every == 0 or state.global_step >= self.config.steps
        self.is_stopping = self.trainer.agreed(self.stop.asked)
        if self.is_stopping:
            control.should_training_stop = True
            due = True
        if self.folder is not None:
            self.folder.write_state(step=state.global_step, state="saving" if due else "running")
        control.should_save = due
        if self.config.source.get("kind") == "stream":
            self._publish(state.global_step)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Raise `NotANumber` for a gradient that is not finite, before it reaches the weights."""
        for name, weights in model.named_parameters():
            if weights.grad is not None and not bool(torch.isfinite(own_share(weights.grad)).all()):
                raise NotANumber(
                    f"The gradient of {name} in step {state.global_step + 1} is not a number. No weight was changed."
                )

    def _publish(self, step: int) -> None:
        """Publish the weights for the engine that makes the rows, by version number; the latest two are kept.

        All processes take part, because weights may be spread over them; the main one writes.
        """
        weights = self.trainer.whole_weights()
        if self.folder is None:
            return
        policies = self.folder.path / "policy"
        temporary = policies / f".{step}"
        model = self.trainer.accelerator.unwrap_model(self.trainer.model)
        model.save_pretrained(temporary, state_dict=weights)
        self.trainer.processing_class.save_pretrained(temporary)
        temporary.rename(policies / str(step))
        for old in sorted((path for path in policies.iterdir() if path.name.isdecimal()), key=lambda path: int(path.name))[:-2]:
            shutil.rmtree(old)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Write one line of metrics, and the same numbers for the trackers."""
        found = {ours: float(logs[theirs]) for theirs, ours in NAMES.items() if logs and logs.get(theirs) is not None}
        if "loss" not in found:  # The final summary.
            return
        found |= self._held_out_metrics(state.global_step)
        if self.folder is None:
            return
        found |= self.trainer.drift.report()
        values = found | self._speed() | self._seen
        self.folder.write_metrics(state.global_step, values)
        self.folder.write_samples(state.global_step, self._samples())
        if self._trackers is not None:
            self._trackers.log(state.global_step, values)

    def _held_out_metrics(self, step: int) -> dict[str, float]:
        """Held-out score, where one is due. Every process takes part, because a model may be spread over all of them."""
        every = self.config.held_out.every if self.config.held_out else 1
        if self.held_out is None or (step // every == self._measured_at and step < self.config.steps):
            return {}
        self._measured_at = step // every
        began = time.monotonic()
        if self.folder is not None:
            before = self.folder.state.state
            self.folder.write_state(state="measuring")
        found = score_metrics(self.held_out.scores(self.trainer))
        if self.folder is not None:
            self.folder.write_state(state=before)
        self._measured_s += time.monotonic() - began
        return found

    def _speed(self) -> dict[str, float]:
        """Tokens, tokens per second, and shares of the time since the last line."""
        now, tokens = time.monotonic(), self.trainer.tokens_trained
        passed_s, trained = max(now - self._since[0], 1e-9), tokens - self._since[1]
        self._since = now, tokens
        without, self.trainer.without_rows_s = self.trainer.without_rows_s, 0.0
        measuring, self._measured_s = self._measured_s, 0.0
        shares = {name: without / passed_s for kind, name in WITHOUT_ROWS.items() if kind == self.config.source.get("kind")}
        shares |= {"time/held_out": measuring / passed_s} if self.held_out is not None else {}
        shares |= {"time/train": max(0.0, 1 - sum(shares.values()))} if shares else {}
        speed = {"tokens_per_second": trained / max(passed_s - measuring, 1e-9), "useful_tokens": self.trainer.useful()}
        return {"tokens": float(tokens), **speed, **shares}

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Seal the checkpoint when all processes have written their files, and delete old ones."""
        self.trainer.accelerator.wait_for_everyone()
        if self.folder is not None:
            self._seal(self.folder, state.global_step)

    def _seal(self, folder: JobFolder, step: int) -> None:
        path = folder.checkpoints / f"{checkpoints.PREFIX}{step}"
        trained = {"rows_trained": self.trainer.rows_trained, "tokens_trained": self.trainer.tokens_trained}
        place = getattr(self.trainer.source, "place", None)
        model_card.write(path, folder.path, self.facts, self.trainer.rows_trained, self.trainer.tokens_trained)
        checkpoints.seal(path, {**self.facts, "step": step, **trained, "source_place": place})
        checkpoints.prune(folder.checkpoints, self.config.keep)
        folder.write_state(checkpoint=str(path.relative_to(folder.path)), state="running")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Close the trackers."""
        if self._trackers is not None:
            self._trackers.end()

    def _samples(self) -> list[dict[str, Any]]:
        tokenizer = self.trainer.processing_class

        def text(ids: Sequence[int]) -> str:
            return str(tokenizer.decode(list(ids), skip_special_tokens=False))[:LONGEST_SAMPLE]

        names = ("group_id", "trajectory_id", "problem_id", "role", "policy_version", "reward", "advantage", "finish_reason")
        return [
            {name: getattr(row, name) for name in names}
            | {"chosen": why, "prompt": text(row.prompt_ids), "completion": text(row.completion_ids)}
            for why, row in chosen_rows(self._rows, self.config.samples)
        ]


def chosen_rows(rows: Sequence[Row], count: int) -> list[tuple[str, Row]]:
    """At most `count` rows to show, with the reason: the highest, lowest and median reward, then the first others.

    In the order of the rewards; rows without a reward are the first ones.
    """
    ranked = sorted((row for row in rows if row.reward is not None), key=lambda row: row.reward or 0.0, reverse=True)
    extremes = [("highest reward", 0), ("lowest reward", len(ranked) - 1), ("median reward", (len(ranked) - 1) // 2)]
    known: dict[int, tuple[int, str]] = {}
    for why, place in extremes if ranked else ():
        known.setdefault(id(ranked[place]), (place, why))
    found = [(place, why, ranked[place]) for place, why in known.values()][:count]
    others = [row for row in rows if id(row) not in {id(row) for _, _, row in found}]
    rest = [(len(rows) + number, "", row) for number, row in enumerate(others)][: count - len(found)]
    return [(why, row) for _, why, row in sorted(found + rest, key=lambda one: one[0])]
