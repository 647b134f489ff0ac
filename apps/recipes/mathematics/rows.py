"""Rows, the unit of all learning: one completion with its prompt, mask and advantage.

Every algorithm turns trajectories into rows (`apps/recipes/`); a trainer only computes gradients from them
(`workers/training/`). Rows are stored as Parquet with the columns of `arrow_schema` (docs/learning_jobs.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.recipes.mathematics.arrays import NotLearnable, finite

TRAIN = "train"
#: Column and Arrow type; `?` where it may be null.
COLUMNS = (
    ("run_id", "string"),
    ("problem_id", "string"),
    ("group_id", "string"),
    ("trajectory_id", "string"),
    ("step_index", "int32"),
    ("role", "string"),
    ("policy_version", "int32"),
    ("prompt_ids", "list<int32>"),
    ("completion_ids", "list<int32>"),
    ("loss_mask", "list<int8>"),
    ("logprobs", "list<float32>?"),
    ("finish_reason", "string"),
    ("reward", "float32?"),
    ("advantage", "float32?"),
    ("token_advantages", "list<float32>?"),
    ("verdict_k", "int8?"),
    ("verdict_n", "int8?"),
    ("lemma_ids", "list<string>"),
    ("parent_lemma_ids", "list<string>"),
    ("split", "string"),
    ("licence", "string"),
)


class Leak(NotLearnable):
    """Rows reserved for measuring must not be trained on."""


@dataclass(frozen=True, slots=True)
class Row:
    """One completion. `loss_mask` is 1 for the policy's own tokens; log-probabilities are natural, at temperature 1."""

    prompt_ids: Sequence[int]
    completion_ids: Sequence[int]
    loss_mask: Sequence[int]
    group_id: str
    logprobs: Sequence[float] | None = None
    reward: float | None = None
    advantage: float | None = None
    token_advantages: Sequence[float] | None = None
    role: str = ""
    run_id: str = ""
    problem_id: str = ""
    trajectory_id: str = ""
    step_index: int = 0
    policy_version: int = 0
    finish_reason: str = "stop"
    verdict_k: int | None = None
    verdict_n: int | None = None
    lemma_ids: Sequence[str] = ()
    parent_lemma_ids: Sequence[str] = ()
    split: str = TRAIN
    licence: str = ""


def arrow_schema() -> Any:
    """Arrow schema of the columns. Only this function imports pyarrow."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int8": pa.int8(),
        "int32": pa.int32(),
        "float32": pa.float32(),
        "list<string>": pa.list_(pa.string()),
        "list<int8>": pa.list_(pa.int8()),
        "list<int32>": pa.list_(pa.int32()),
        "list<float32>": pa.list_(pa.float32()),
    }
    fields = [pa.field(name, kinds[kind.rstrip("?")], nullable=kind.endswith("?")) for name, kind in COLUMNS]
    return pa.schema(fields)


def check_row(
    row: Row, where: str, *, needs_logprobs: bool = False, needs_advantage: bool = False, needs_reward: bool = False
) -> None:
    """Check a row; values under the mask are arbitrary.

    Raises `NotLearnable`, or `Leak` for a reserved row, with `where` and the reason.
    """
    if row.split != TRAIN:
        raise Leak(f"{where} (problem {row.problem_id or 'unknown'}) belongs to the split “{row.split}”, not to “{TRAIN}”.")
    size = len(row.completion_ids)
    if not row.prompt_ids or not size:
        raise NotLearnable(f"{where}: the {'completion' if row.prompt_ids else 'prompt'} is empty.")
    given = {"loss_mask": row.loss_mask, "logprobs": row.logprobs, "token_advantages": row.token_advantages}
    for name, values in given.items():
        if values is not None and len(values) != size:
            raise NotLearnable(f"{where}: {size} tokens, but {len(values)} values of {name}.")
    if any(value not in (0, 1) for value in row.loss_mask):
        raise NotLearnable(f"{where}: the token mask has values other than 0 and 1.")
    if not any(row.loss_mask):
        raise NotLearnable(f"{where}: none of its tokens is the policy’s own, so nothing can be learned from it.")
    if needs_logprobs and row.logprobs is None:
        raise NotLearnable(f"{where} has no log-probabilities, so only supervised recipes can use it.")
    if needs_advantage and row.advantage is None and row.token_advantages is None:
        raise NotLearnable(f"{where} has no advantage; the recipe must compute it over whole groups.")
    if needs_reward and row.reward is None:
        raise NotLearnable(f"{where} has no reward, which the value head needs for advantages.")
    _check_numbers(row, where)


def _check_numbers(row: Row, where: str) -> None:
    own = [place for place, allowed in enumerate(row.loss_mask) if allowed]
    for name, values in (("Log-probabilities", row.logprobs), ("Advantages of tokens", row.token_advantages)):
        if values is not None:
            finite([values[place] for place in own], f"{where}: {name}")
    for name, value in (("Its reward", row.reward), ("Its advantage", row.advantage)):
        if value is not None:
            finite([value], f"{where}: {name}")


def groups_of(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by group, in order of appearance."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group_id, []).append(row)
    return found
