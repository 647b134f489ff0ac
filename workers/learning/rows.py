"""A row: one completion with the prompt it answers, what may be learned from it, and how much. The unit of all learning.

Every algorithm turns trajectories into rows (`workers/recipes/`); a trainer only takes gradients of them (`workers/training/`).
Rows travel as Parquet; `arrow_schema` gives its columns, as docs/learning_jobs.md describes them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from workers.learning.arrays import NotLearnable, finite

TRAIN = "train"
#: Column and type, in Arrow's words; `?` where it may be null.
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
    """Rows that are held back for measuring were about to be learned from."""


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
    """The columns as a schema of pyarrow, which is imported here only."""
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
    """Raises `NotLearnable`, `Leak` for a held-back row, naming `where` and what is wrong; numbers under the mask are free."""
    if row.split != TRAIN:
        raise Leak(f"{where} (problem {row.problem_id or 'unknown'}) belongs to the split “{row.split}”, not to “{TRAIN}”.")
    size = len(row.completion_ids)
    if not row.prompt_ids or not size:
        raise NotLearnable(f"{where}: an empty {'completion' if row.prompt_ids else 'prompt'}.")
    given = {"loss_mask": row.loss_mask, "logprobs": row.logprobs, "token_advantages": row.token_advantages}
    for name, values in given.items():
        if values is not None and len(values) != size:
            raise NotLearnable(f"{where}: {size} tokens, but {len(values)} values of {name}.")
    if any(value not in (0, 1) for value in row.loss_mask):
        raise NotLearnable(f"{where}: the token mask holds something other than 0 and 1.")
    if not any(row.loss_mask):
        raise NotLearnable(f"{where}: none of its tokens is the policy’s own, so nothing can be learned from it.")
    if needs_logprobs and row.logprobs is None:
        raise NotLearnable(
            f"{where} has no log-probabilities: what wrote it reports none, so it can serve supervised learning only."
        )
    if needs_advantage and row.advantage is None and row.token_advantages is None:
        raise NotLearnable(f"{where} has no advantage; rows come from the recipe, which computes them over whole groups.")
    if needs_reward and row.reward is None:
        raise NotLearnable(f"{where} has no reward, from which a value head would make advantages.")
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
    """The rows by group, in the order of their first rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.group_id, []).append(row)
    return found
