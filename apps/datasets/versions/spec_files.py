"""Input of the export program: one line per problem with its trajectories and their texts."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apps.datasets.recorded.groups import problem_id
from apps.datasets.recorded.recorded import recorded_of
from apps.datasets.recorded.settled import settled_calls
from apps.datasets.recorded.trajectories import LeftOut, trajectories_of
from apps.datasets.rewards import Given, Judge
from apps.datasets.versions.choosing import Chosen, content_hash
from apps.recipes.recipe import Training
from apps.runs.journal.texts import texts_get
from apps.runs.models import Run, RunStatus


def problems_write(path: Path, chosen: Chosen, recipe: Training, judge: Judge, left: LeftOut) -> Iterator[int]:
    """Write the lines; yield the number of finished runs after each run."""
    done = 0
    with path.open("w", encoding="utf-8") as file:
        for runs in chosen.by_problem.values():
            line = _head(runs[0])
            for run in runs:
                recorded = recorded_of(run)
                line["problem_id"] = problem_id(recorded)
                found = trajectories_of(recorded, recipe, judge, left)
                if not found:
                    left.add("a run without any trajectory", f"{run.title} ({run.public_id})")
                line["trajectories"] += [_with_texts(one) for one in found]
                done += 1
                yield done
            if line["trajectories"]:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _head(run: Run) -> dict[str, Any]:
    version = run.problem_version
    return {
        "problem_id": "",
        "title": version.problem.title,
        "statement": version.statement,
        "answer": version.answer,
        "content_hash": content_hash(version.statement),
        "split": "train",
        "licence": version.problem.origin or "not stated",
        "trajectories": [],
    }


def _with_texts(one: dict[str, Any]) -> dict[str, Any]:
    """Replace hashes by messages and texts: the first part of a prompt is the system's, the rest the user's."""
    wanted = [sha for turn in one["turns"] for sha in (*turn["prompt_shas"], *turn["text_shas"]) if sha]
    texts = texts_get(wanted)
    for turn in one["turns"]:
        parts = [texts.get(sha, "") for sha in turn.pop("prompt_shas")]
        reasoning, text = (texts.get(sha, "") for sha in turn.pop("text_shas"))
        turn["messages"] = messages_of(parts)
        turn["text"], turn["reasoning"] = text, reasoning
    return one


def line_for_stream(
    run: Run, recipe: Training, judge: Judge, left: LeftOut, given: Mapping[str, Given] | None = None
) -> dict[str, Any]:
    """Trajectories of one run as a line of a feed (docs/datasets.md), without texts; only settled calls of a live run.

    `given`: rewards by a grader.
    """
    recorded = recorded_of(run)
    recorded.given = given or {}
    line = _head(run) | {"problem_id": problem_id(recorded)}
    settled = None if run.status == RunStatus.FINISHED else settled_calls(recorded, judge)
    for one in trajectories_of(recorded, recipe, judge, left):
        if settled is not None:
            one |= {"finished": False, "turns": [turn for turn in one["turns"] if turn["call"] in settled]}
        for turn in one["turns"]:
            del turn["prompt_shas"], turn["text_shas"]
            turn["text"] = turn["reasoning"] = ""
        line["trajectories"].append(one)
    return line


def messages_of(parts: list[str]) -> list[dict[str, str]]:
    """Messages of a recorded prompt."""
    if len(parts) == 1:
        return [{"role": "user", "content": parts[0]}]
    return [{"role": "system", "content": parts[0]}, {"role": "user", "content": "".join(parts[1:])}]
