"""Trajectories from the application's lines, one line per problem; tokens stay in their shards."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.recipes.mathematics.conjugate_reward import conjugate_reward
from apps.recipes.mathematics.rows import TRAIN, Leak
from apps.recipes.rows.tokens import Shards
from apps.recipes.trajectory import Trajectory, Turn

#: Placeholder for the tokens of a completion recorded as text only.
UNREAD_TOKENS = (0,)


@dataclass(frozen=True)
class ProblemLine:
    """One problem. `turns`: the plain turns (messages and text) by trajectory and place."""

    title: str
    statement: str
    answer: str
    problem_id: str
    licence: str
    trajectories: Sequence[Trajectory]
    turns: dict[tuple[str, int], dict[str, Any]]
    has_tokens: bool


def problems_read(path: Path, shards: Shards, benchmarks: frozenset[str], form: str) -> Iterator[ProblemLine]:
    """Read all problems. Raises `BrokenShard`, and `Leak` naming a reserved problem and its rows."""
    with path.open(encoding="utf-8") as file:
        for text in file:
            yield problem_read(json.loads(text), shards, benchmarks, form)


def problem_read(line: dict[str, Any], shards: Shards, benchmarks: frozenset[str], form: str) -> ProblemLine:
    """Read one line. Raises `Leak` and `BrokenShard`."""
    found = line["trajectories"]
    if line["split"] != TRAIN or line["content_hash"] in benchmarks:
        why = f"has the split “{line['split']}”" if line["split"] != TRAIN else "is in a benchmark"
        names = [f"{one['id']} step {place}" for one in found for place in range(len(one["turns"]))]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise Leak(
            f"The problem “{line['title']}” ({line['problem_id']}) {why}; these rows would leak: {', '.join(names[:10])}{more}."
        )
    turns = {(one["id"], place): turn for one in found for place, turn in enumerate(one["turns"])}
    return ProblemLine(
        title=line["title"],
        statement=line["statement"],
        answer=line["answer"],
        problem_id=line["problem_id"],
        licence=line["licence"],
        trajectories=[_trajectory(one, line, shards, form) for one in found],
        turns=turns,
        has_tokens=all(turn["shard"] for turn in turns.values()),
    )


def _trajectory(one: dict[str, Any], line: dict[str, Any], shards: Shards, form: str) -> Trajectory:
    return Trajectory(
        id=one["id"],
        problem_id=line["problem_id"],
        turns=[_turn(turn, one, shards, form) for turn in one["turns"]],
        reward=float(one["reward"] or 0.0),
        is_judged=one["reward"] is not None,
        votes=tuple(one["votes"]) if one["votes"] else None,
        answer_ok=one.get("answer_ok"),
        derived=frozenset((parent, child) for parent, child in one.get("derived", ())),
        used=frozenset(one.get("used", ())),
        run_id=one["run_id"],
        split=line["split"],
        licence=line["licence"],
    )


def _turn(turn: dict[str, Any], one: dict[str, Any], shards: Shards, form: str) -> Turn:
    reward = turn["reward"]
    if turn.get("kind") == "revision":
        votes = turn["votes"]
        reward = conjugate_reward(*votes, answer_ok=one.get("answer_ok"), form=form) if votes else None  # type: ignore[arg-type]
    known = {
        "role": turn["role"],
        "kind": turn.get("kind", "turn"),
        "reward": reward,
        "group": turn.get("group", ""),
        "passed": turn.get("passed"),
        "invalid": turn.get("invalid", False),
        "tool_ok": turn.get("tool_ok"),
        "unread": turn.get("unread", False),
        "lemmas": turn.get("lemmas", ()),
        "parents": turn.get("parents", ()),
        "well_formed": turn.get("well_formed", True),
        "policy_version": turn.get("policy_version", 0),
        "finish_reason": turn["finish_reason"],
    }
    if not turn["shard"]:
        written = UNREAD_TOKENS if turn["text"].strip() or turn["reasoning"].strip() else ()
        return Turn(prompt_ids=UNREAD_TOKENS, completion_ids=written, **known)
    shard, row = shards.get(turn["shard"], turn["sha256"]), turn["row"]
    return Turn(
        prompt_ids=shard.column("prompt_ids", row) or (),
        completion_ids=shard.column("completion_ids", row) or (),
        loss_mask=shard.column("loss_mask", row),
        logprobs=shard.column("logprobs", row),
        **known,
    )
