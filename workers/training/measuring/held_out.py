"""Measurement on held-out problems during training: new problems of a toy, or reserved problems of a dataset.

The score of a toy is the share of solved problems; that of a dataset is the mean log-probability of the texts' own tokens, in
nats per token. Each has a 95 % interval from resampling problems.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from accelerate.utils import gather_object

from apps.recipes.mathematics.rows import Row
from workers.training.policy import Policy
from workers.training.problems import BadConfig
from workers.training.rows.batches import tensors_of
from workers.training.rows.sources import Toy
from workers.training.toy_score import ROWS_OF_AN_ITEM

ITEMS = 16
MOST_ROWS = 512
RESAMPLES = 1000
#: Third part of the random seed, which separates held-out problems from those of training steps.
_SALT = 0x4E1D


class HeldOut(Protocol):
    """Held-out problems."""

    def scores(self, trainer: Any) -> list[float]:
        """One score per problem, always of the same problems. Several processes share them; each gets all scores."""
        ...


class HeldOutToy:
    """Held-out problems of a toy, always with the same random numbers."""

    def __init__(self, toy: Toy, name: str, *, seed: int) -> None:
        self._toy, self._rows, self._seed = toy, ROWS_OF_AN_ITEM[name], seed
        if hasattr(toy, "held_out"):
            toy.held_out = True  # It has problems that no step draws.

    def scores(self, trainer: Any) -> list[float]:
        world, rank = trainer.accelerator.num_processes, trainer.accelerator.process_index
        model, found = trainer.accelerator.unwrap_model(trainer.model), []
        for item in range(rank, ITEMS, world):
            random = np.random.default_rng([self._seed, _SALT, item])
            policy = Policy(model, trainer.processing_class, seed=int(random.integers(2**62)))
            self._toy.rollouts(policy, random, self._rows)
            found.append((item, float(self._toy.measures()["solved"])))
        return [score for _, score in sorted(gather_object(found))]


class HeldOutRows:
    """Rows of reserved problems."""

    def __init__(self, rows: Sequence[Row], *, at_once: int) -> None:
        self._rows, self._at_once = rows, at_once

    @torch.no_grad()
    def scores(self, trainer: Any) -> list[float]:
        model = trainer.accelerator.unwrap_model(trainer.model)
        was_training = model.training
        model.eval()
        found: list[tuple[int, float, float]] = []
        for places in self._pieces(trainer.accelerator.num_processes, trainer.accelerator.process_index):
            rows = [self._rows[place] for place in places or [0]]
            batch = tensors_of(rows, pad=trainer.processing_class.pad_token_id, device=trainer.accelerator.device)
            own = batch["tool_mask"] * batch["completion_mask"]
            logprobs, _ = trainer.logprobs(model, batch)
            found += zip(places, (logprobs * own).sum(1).tolist(), own.sum(1).tolist(), strict=False)
        model.train(was_training)
        sums: dict[str, list[float]] = {}
        for place, total, count in sorted(gather_object(found)):
            known = sums.setdefault(self._rows[place].problem_id, [0.0, 0.0])
            sums[self._rows[place].problem_id] = [known[0] + total, known[1] + count]
        return [total / count for total, count in sums.values() if count]

    def _pieces(self, world: int, rank: int) -> list[list[int]]:
        """Rows of each pass of this process; as many passes as the others have, of which the last may be empty."""
        own = list(range(rank, len(self._rows), world))
        most = -(-len(self._rows) // world)
        return [own[start : start + self._at_once] for start in range(0, most, self._at_once)]


def split_problems(problems: Sequence[str], share: float) -> tuple[list[int], list[int]]:
    """Indices of the rows for training and of the held-out rows: whole problems, chosen by the hash of their names.

    Raises `BadConfig` for fewer than two problems.
    """
    names = sorted(set(problems), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    if len(names) < 2:
        raise BadConfig("No problem can be held out, because all rows are of one problem. Remove “held_out”.")
    kept = set(names[: min(len(names) - 1, max(1, round(share * len(names))))])
    places: tuple[list[int], list[int]] = ([], [])
    for place, name in enumerate(problems):
        places[name in kept].append(place)
    return places


def score_metrics(scores: Sequence[float]) -> dict[str, float]:
    """Metrics of the mean score and its interval."""
    values = np.asarray(scores)
    drawn = np.random.default_rng(0).choice(values, (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return {"held_out/score": float(values.mean()), "held_out/low": float(low), "held_out/high": float(high)}
