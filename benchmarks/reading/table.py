"""The table of what became of answers, source by source, and a line for each that is wrong or unread."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table

from benchmarks.reading.measured import Measured, by_source

_COLUMNS = ("source", "answers", "equal", "unread", "wrong", "either", "not recorded", "share", "95 %")


def show(measured: Sequence[Measured], file: TextIO) -> None:
    """Print the table to `file`, and below it what was not read as it should be."""
    console = Console(file=file, width=128)
    table = Table(*_COLUMNS, title="Readings next to their labels", title_justify="left")
    for one in by_source(measured):
        low, high = one.interval
        counts = (one.of + one.either + one.unrecorded, one.equal, one.unread, one.wrong, one.either, one.unrecorded)
        table.add_row(one.source, *map(str, counts), f"{one.share:.3f}", f"{low:.3f} to {high:.3f}")
    console.print(table)
    for answer in (answer for answer in measured if answer.outcome in ("wrong", "unread")):
        lost = ", lost" if answer.is_lost else ""
        console.print(f"{answer.outcome}{lost}: {answer.name}: {answer.said[:90]!r}", markup=False, soft_wrap=True)
