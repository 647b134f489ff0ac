"""Rows of the table in addresses and words, and the difference of two of them, paired by problem."""

from collections.abc import Sequence

import numpy as np

from apps.experiments.solving.tables import Row
from apps.reasoning.statistics.differences import Difference, difference
from apps.reasoning.statistics.intervals import Interval, Undefined
from apps.reasoning.statistics.metrics import average
from apps.reasoning.statistics.scores import Scores

NO_COMMON = Undefined(reason="no problem has a score in both rows")
#: Between method, team and number of the budget. No name has it.
_BETWEEN = "~"


def word_of(row: Row) -> str:
    """A row in an address."""
    return _BETWEEN.join(map(str, row.key))


def compared(problems: Sequence[str], left: Row, right: Row, comparisons: int = 1) -> Difference | Undefined:
    """Difference of the mean scores on the problems that have a score in both rows. `comparisons`: size of the family."""
    both = np.flatnonzero(~np.isnan(left.scores).all(axis=1) & ~np.isnan(right.scores).all(axis=1))
    if not len(both):
        return NO_COMMON
    names = [problems[number] for number in both.tolist()]
    one, other = (average(Scores.of(names, row.scores[both])) for row in (left, right))
    if isinstance(one, Undefined) or isinstance(other, Undefined):
        return NO_COMMON
    return difference(one, other, comparisons=comparisons)


def ratio_words(left: float, right: float) -> str:
    """A cost as a multiple of another; "–" without both."""
    return f"{left / right:.2f} ×" if left and right else "–"


def interval_words(found: Difference | Undefined) -> str:
    """A difference with its interval in percentage points: "+6.1 (1.2 to 11.4)"."""
    if isinstance(found, Undefined):
        return "–"
    value = f"{100 * found.value:+.1f}"
    if isinstance(found.interval, Interval):
        value = f"{value} ({100 * found.interval.low:.1f} to {100 * found.interval.high:.1f})"
    return value.replace("-", "−")
