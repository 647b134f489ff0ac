"""The files of an experiment by name, with what each holds."""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from apps.experiments.models import Experiment
from apps.experiments.solving.files.inspect_logs import Log, log_write, logs_of
from apps.experiments.solving.files.method_tables import MethodTable, latex_of, markdown_of
from apps.experiments.solving.files.rows import CellRow, ScoreRow, cell_rows, score_rows
from apps.experiments.solving.files.tables import csv_of, parquet_write
from apps.experiments.solving.files.toml_files import toml_of
from apps.experiments.solving.services import manifest_stored

Write = Callable[[BinaryIO], None]


@dataclass(frozen=True)
class File:
    """A file to download. `write` writes its bytes; `holds` is one sentence."""

    name: str
    kind: str
    holds: str
    write: Write


def files_of(
    experiment: Experiment, hidden: Set[int], scorer: str, *, calls: bool = False, counts_none: bool = False
) -> list[File]:
    """All files, without the cells on the items `hidden`. `calls`: Inspect logs have the texts of all model calls.

    `counts_none`: the tables of methods count cells without an answer as 0.
    """
    cells = "One row a cell: its place, state, costs and run."
    scores = "One row a score of an answer: points, scale and share, or the reason why there are none."
    csv, parquet = "text/csv; charset=utf-8", "application/vnd.apache.parquet"

    def cell_lines() -> Iterator[CellRow]:
        return cell_rows(experiment, hidden)

    def score_lines() -> Iterator[ScoreRow]:
        return score_rows(experiment, hidden)

    def log_file(log: Log) -> File:
        holds = f"{log.method}, {log.team}, budget {log.budget}: a log for inspect-ai."
        write = partial(log_write, experiment, log, hidden=hidden, calls=calls)
        return File(f"{log.stem}.eval", "application/octet-stream", holds, write)

    table = MethodTable(experiment, scorer, counts_none)
    by = (f" by {scorer}" if scorer else "") + (", where no answer counts as 0" if counts_none else "")
    return [
        File("cells.csv", csv, cells, lambda out: _texts(csv_of(CellRow, cell_lines()), out)),
        File("scores.csv", csv, scores, lambda out: _texts(csv_of(ScoreRow, score_lines()), out)),
        File("cells.parquet", parquet, "The same cells with types.", lambda out: parquet_write(CellRow, cell_lines(), out)),
        File("scores.parquet", parquet, "The same scores with types.", lambda out: parquet_write(ScoreRow, score_lines(), out)),
        File("methods.tex", "application/x-tex; charset=utf-8", f"The table of methods{by}, for the package booktabs.",
             lambda out: _texts([latex_of(table)], out)),
        File("methods.md", "text/markdown; charset=utf-8", f"The table of methods{by}, with differences from the baseline.",
             lambda out: _texts([markdown_of(table)], out)),
        File("manifest.toml", "application/toml; charset=utf-8", "The manifest, which starts or continues the experiment.",
             lambda out: _texts([toml_of(manifest_stored(experiment))], out)),
        File("inspect.zip", "application/zip", "All of the Inspect logs below.",
             partial(logs_write, experiment, hidden=hidden, calls=calls)),
        *(log_file(log) for log in logs_of(experiment)),
    ]  # fmt: skip


def logs_write(experiment: Experiment, out: BinaryIO, hidden: Set[int], *, calls: bool) -> None:
    """All Inspect logs of an experiment in one ZIP; they are compressed already."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for log in logs_of(experiment):
            with tempfile.TemporaryFile() as one, archive.open(f"{log.stem}.eval", "w", force_zip64=True) as member:
                log_write(experiment, log, one, hidden, calls=calls)
                one.seek(0)
                shutil.copyfileobj(one, member)


def _texts(texts: Iterable[str], out: BinaryIO) -> None:
    for text in texts:
        out.write(text.encode())
