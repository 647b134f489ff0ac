"""Tasks: a problem, the reward of a rollout, and its figures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf

from apps.reasoning.answers.points import NOTHING, answer_points
from lemmascope_verifiers.played import OURS
from lemmascope_verifiers.problems import SAMPLE, ProofData, problems_of

NOT_JUDGED = "the scaffold did not judge its proof"
NO_VERDICT = "no verdict on its proof could be read"

RewardName = Literal["final_answer", "accepted", "verdicts"]


class Unscored(Exception):
    """A rollout has no reward, with the reason. It is never silently 0."""


class ProofTaskConfig(vf.TaskConfig):
    """How a rollout is rewarded."""

    reward: RewardName = "final_answer"
    """`final_answer`: 1 if it equals the problem's answer, 0 if it differs. `accepted`: 1 or 0 as the scaffold judged its
    proof. `verdicts`: the share of passes, or of points, that the scaffold's verdicts gave the proof."""
    unscored: Literal["error", "zero"] = "error"
    """A rollout without a reward: `error` ends it with the reason, `zero` gives it 0. Both set the metric `unscored`."""


def reward_of(ours: dict[str, Any], answer: str, name: RewardName, stopped: str = "") -> float:
    """The reward of a rollout from what its run left. Raises `Unscored`."""
    if "proof" not in ours:
        raise Unscored(f"the rollout was stopped ({stopped or 'no result'})")
    if name == "final_answer":
        found = answer_points(ours["proof"], answer)
        if found.points is not None:
            return float(found.points)
        raise Unscored(_nothing(ours) if found.unscored == NOTHING else found.unscored)
    if not ours["proof"]:
        raise Unscored(_nothing(ours))
    if name == "accepted":
        if ours["accepted"] is None:
            raise Unscored(NOT_JUDGED)
        return float(ours["accepted"])
    if ours["verdicts"]["share"] is None:
        raise Unscored(NO_VERDICT)
    return float(ours["verdicts"]["share"])


def _nothing(ours: dict[str, Any]) -> str:
    """Nothing was handed in; if calls failed, with the reason of the last."""
    return f"{NOTHING}, and a call failed: {ours['failed'][-1]['reason']}" if ours["failed"] else NOTHING


class ProofTask(vf.Task[ProofData, vf.State, ProofTaskConfig]):
    """A problem to solve."""

    def _points(self, trace: vf.Trace) -> float:
        ours = trace.info.get(OURS, {})
        return reward_of(ours, self.data.answer, self.config.reward, trace.stop_condition or "")

    @vf.reward
    async def reward(self, trace: vf.Trace) -> dict[str, float]:
        """The chosen reward under its own name."""
        try:
            return {self.config.reward: self._points(trace)}
        except Unscored:
            if self.config.unscored == "error":
                raise
            return {self.config.reward: 0.0}

    @vf.metric
    async def figures(self, trace: vf.Trace) -> dict[str, float]:
        """Counts of the rollout; `accepted` and `verdicts` only where there are some."""
        ours = trace.info.get(OURS, {})
        found = {
            "unscored": 0.0,
            "unread": float(len(ours.get("unread", ()))),
            "failed_calls": float(len(ours.get("failed", ()))),
        }
        found["steps"] = float(len(ours.get("steps", ())))
        try:
            self._points(trace)
        except Unscored as error:
            found["unscored"] = 1.0
            trace.info.setdefault(OURS, {})["unscored"] = str(error)
        if ours.get("accepted") is not None:
            found["accepted"] = float(ours["accepted"])
        if (ours.get("verdicts") or {}).get("share") is not None:
            found["verdict_share"] = float(ours["verdicts"]["share"])
        return found


class ProofTasksetConfig(vf.TasksetConfig):
    """Where the problems come from."""

    task: ProofTaskConfig = ProofTaskConfig()
    problems: Path | list[dict[str, Any]] = SAMPLE
    """A JSON or JSONL file, or in Python a list of rows with `question`, `answer` and `info`. Unset: four sample problems."""


class ProofTaskset(vf.Taskset[ProofTask, ProofTasksetConfig]):
    """The problems of a file or a list."""

    def load(self) -> Iterator[ProofTask]:
        """Each problem in the order of the file. Raises `ValueError` for one that cannot be read."""
        for data in problems_of(self.config.problems):
            yield ProofTask(data, self.config.task)
