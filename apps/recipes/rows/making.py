"""Files of rows from the lines of problems, one problem at a time; only counts stay in memory.

The folder `out/` appears atomically: it is written as `out.partial/` and renamed at the end.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rows import Leak, Row
from apps.recipes.registry import OF_TURNS, RECIPES
from apps.recipes.rows.counting import Counts, LeftOut
from apps.recipes.rows.reading import ProblemLine, problems_read
from apps.recipes.rows.tokens import Shards, has_own
from apps.recipes.rows.writing import ROWS_A_FILE, RowWriter, files_of
from apps.recipes.tallies import added, tally_of

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Order:
    """Order of a dataset. `options` are passed to the recipe's `rows`."""

    recipe: str
    problems: Path
    tokens: Path
    options: dict[str, Any] = field(default_factory=dict)
    benchmarks: frozenset[str] = frozenset()
    rows_a_file: int = ROWS_A_FILE


def dataset_make(order: Order, folder: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Make `folder/out` and return its summary. Raises `NotLearnable` (`Leak`, `BrokenShard`) and then leaves no files."""
    partial, out = folder / "out.partial", folder / "out"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    made = _Builder(order, partial)
    try:
        for done, line in enumerate(
            problems_read(order.problems, Shards(order.tokens), order.benchmarks, order.options.get("form", "logodds")), 1
        ):
            made.take(line)
            if progress is not None:
                progress(done, made.counts.rows)
        summary = made.end()
        partial.rename(out)
        return summary
    finally:
        made.close()
        shutil.rmtree(partial, ignore_errors=True)


class _Builder:
    def __init__(self, order: Order, folder: Path) -> None:
        self._recipe = RECIPES[order.recipe]
        self._order = order
        self._folder = folder
        needs = self._recipe.training
        self._needs = {
            "needs_logprobs": needs.needs_logprobs,
            "needs_advantage": needs.needs_advantage,
            "needs_reward": needs.needs_reward,
        }
        self._rows: RowWriter | None = None
        self._texts = (folder / "texts.jsonl").open("w", encoding="utf-8")
        self._prompts = (folder / "prompts.jsonl").open("w", encoding="utf-8")
        self._has_tokens: bool | None = None
        self.counts, self.left = Counts(), LeftOut()

    def take(self, line: ProblemLine) -> None:
        """Make the rows of one problem. Raises `NotLearnable` naming the problem."""
        if self._has_tokens is None:
            self._has_tokens = line.has_tokens
        if line.has_tokens != self._has_tokens:
            raise NotLearnable(f"{line.title}: some of its turns have tokens and others have only texts.")
        try:
            rows = self._recipe.rows(line.trajectories, **self._order.options)
        except NothingToLearn as nothing:
            self._add_tally(line)
            self.left.add(str(nothing), f"{line.title} ({len(line.trajectories)} trajectories)")
            return
        except Leak:
            raise
        except NotLearnable as problem:
            raise NotLearnable(f"{line.title}: {problem}") from problem
        self._add_tally(line)
        made, rows = len(rows), self._with_own(rows, line)
        silent = sum(len(one.turns) for one in line.trajectories) - made
        if silent > 0:
            self.left.add("turns without a row", f"{line.title} ({silent})", silent)
        self._write(line, rows)

    def _with_own(self, rows: list[Row], line: ProblemLine) -> list[Row]:
        """Rows with tokens of the policy's own; a trainer rejects the others."""
        own = [row for row in rows if has_own(row)]
        if lost := len(rows) - len(own):
            self.left.add("answers without the policy's own tokens", f"{line.title} ({lost})", lost)
        return own

    def _add_tally(self, line: ProblemLine) -> None:
        self.counts.tally = added(self.counts.tally, tally_of(self._order.recipe, line.trajectories, self._order.options))

    def _write(self, line: ProblemLine, rows: list[Row]) -> None:
        if line.has_tokens:
            self._rows = self._rows or RowWriter(self._folder / "rows", rows_a_file=self._order.rows_a_file, **self._needs)
            for row in rows:
                self._rows.add(row)
        elif self._recipe.training.needs_logprobs:
            raise NotLearnable(
                f"{line.title}: only texts were recorded, but {self._recipe.training.title} needs log-probabilities."
            )
        self.counts.take(rows, has_tokens=line.has_tokens, by_turn=self._order.recipe in OF_TURNS)
        for row in rows:
            _json_line(self._texts, _as_text(row, line))
        prompt = {"prompt": [{"role": "user", "content": line.statement}], "answer": line.answer}
        _json_line(self._prompts, prompt | {"problem_id": line.problem_id, "title": line.title, "licence": line.licence})

    def end(self) -> dict[str, Any]:
        """Finish the files and return the summary. Raises `NotLearnable` without any row."""
        if self._rows is not None:
            self._rows.end()
        self.close()
        if not self.counts.rows:
            reasons = " ".join(f"{row['count']} × {row['reason']}" for row in self.left.rows)
            raise NotLearnable(f"No rows could be made. {reasons}" if reasons else "There are no trajectories.")
        return {
            "counts": self.counts.as_json(),
            "left": self.left.rows,
            "has_tokens": bool(self._has_tokens),
            "has_logprobs": self.counts.with_logprobs == self.counts.rows,
            "files": files_of(self._folder),
        }

    def close(self) -> None:
        """Close all files, complete or not."""
        self._texts.close()
        self._prompts.close()
        if self._rows is not None:
            self._rows.close()


def _as_text(row: Row, line: ProblemLine) -> dict[str, Any]:
    turn = line.turns[row.trajectory_id, row.step_index]
    found: dict[str, Any] = {
        "messages": [*turn["messages"], {"role": "assistant", "content": turn["text"]}],
        "run_id": row.run_id,
        "problem_id": row.problem_id,
        "group_id": row.group_id,
        "trajectory_id": row.trajectory_id,
        "step_index": row.step_index,
        "role": row.role,
        "reward": row.reward,
        "advantage": row.advantage,
        "verdict_k": row.verdict_k,
        "verdict_n": row.verdict_n,
        "finish_reason": row.finish_reason,
        "split": row.split,
        "licence": row.licence,
    }
    return found | ({"reasoning": turn["reasoning"]} if turn["reasoning"] else {})


def _json_line(file: TextIO, values: dict[str, Any]) -> None:
    file.write(json.dumps(values, ensure_ascii=False) + "\n")
