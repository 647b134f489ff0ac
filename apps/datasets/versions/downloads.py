"""Downloads of a version: its files, and views of its rows for reading, TRL and verl, generated during the transfer."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from apps.datasets.models import DatasetVersion
from apps.datasets.versions import layouts
from apps.datasets.versions.card import card_of

BATCH = 256
READ_BYTES = 1 << 20
Lines = Iterator[bytes]


def file_of(version: DatasetVersion, name: str) -> Path | None:
    """File of a version by its path inside the version's folder; None for any other name."""
    folder = version.folder.resolve()
    path = (folder / name).resolve()
    is_inside = path.is_relative_to(folder) and path.is_file()
    return path if is_inside else None


def file_pieces(path: Path) -> Lines:
    """Bytes of a file, in pieces."""
    with path.open("rb") as file:
        while piece := file.read(READ_BYTES):
            yield piece


def rows_as_lines(version: DatasetVersion) -> Lines:
    """Every row of `rows/*.parquet` with all columns, as JSON."""
    for path in sorted((version.folder / "rows").glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    yield _line(_without_nan(row))


def messages_as_lines(version: DatasetVersion) -> Lines:
    """TRL, conversations: `messages`."""
    for row in _texts(version):
        yield _line({"messages": row["messages"]})


def completions_as_lines(version: DatasetVersion) -> Lines:
    """TRL, prompt and completion: both as messages."""
    for row in _texts(version):
        yield _line({"prompt": row["messages"][:-1], "completion": row["messages"][-1:]})


def prompts_as_lines(version: DatasetVersion) -> Lines:
    """TRL, online: `prompt` and `answer` of each problem."""
    for row in _prompts(version):
        yield _line({"prompt": row["prompt"], "answer": row["answer"], "problem_id": row["problem_id"]})


def verl_prompts(version: DatasetVersion) -> Lines:
    """verl, online: a Parquet file of prompts with the input of its reward functions."""
    buffer = pa.BufferOutputStream()
    pq.write_table(layouts.verl_prompts(version.name, _prompts(version)), buffer, compression="zstd")
    yield buffer.getvalue().to_pybytes()


def card_as_lines(version: DatasetVersion) -> Lines:
    """README.md of the version's folder, also of a version that was made without one."""
    manifest = json.loads((version.folder / "manifest.json").read_text(encoding="utf-8"))
    yield card_of(manifest, version.hash).encode()


#: By name: file extension, content type, description, whether it needs recorded tokens, and generator.
VIEWS: dict[str, tuple[str, str, str, bool, Callable[[DatasetVersion], Lines]]] = {
    "rows": ("jsonl", "application/x-ndjson", "Every row with all columns, including tokens", True, rows_as_lines),
    "trl-messages": ("jsonl", "application/x-ndjson", "TRL: conversations", False, messages_as_lines),
    "trl-completions": ("jsonl", "application/x-ndjson", "TRL: prompt and completion", False, completions_as_lines),
    "trl-prompts": ("jsonl", "application/x-ndjson", "TRL, online: prompt and answer of each problem", False, prompts_as_lines),
    "verl-prompts": (
        "parquet",
        "application/vnd.apache.parquet",
        "verl, online: prompts and ground truths",
        False,
        verl_prompts,
    ),
    "card": ("md", "text/markdown", "Dataset card: README.md for Hugging Face's datasets", False, card_as_lines),
}


def views_of(version: DatasetVersion) -> list[tuple[str, str, str]]:
    """Name, file name and description of a version's views."""
    return [
        (name, f"{version.name}-v{version.version}-{name}.{ending}", words)
        for name, (ending, _, words, needs_tokens, _) in VIEWS.items()
        if version.has_tokens or not needs_tokens
    ]


def _texts(version: DatasetVersion) -> Iterator[dict[str, Any]]:
    with (version.folder / "texts.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _prompts(version: DatasetVersion) -> Iterator[dict[str, Any]]:
    with (version.folder / "prompts.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN (log-probabilities under the mask) by null, because JSON has no NaN."""
    if row["logprobs"] is not None:
        row["logprobs"] = [value if value == value else None for value in row["logprobs"]]
    return row


def _line(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode()
