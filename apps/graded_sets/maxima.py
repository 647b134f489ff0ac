"""Maximum points of the rows of a graded set.

The row's own maximum comes first, then the one given by the importing person, then the layout's known one. If none exists, or
points exceed it, the whole file is refused, as skipping rows by their points would bias the set.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Self

from apps.files.tables import FileWrong
from apps.files.values import RowWrong, word_of

#: Columns with a row's maximum, ignoring case, spaces and hyphens.
COLUMNS = ("max", "out_of", "max_points", "maximum", "maximum_points", "points_max", "max_score")
_SHOWN = 12
_HINT = "Enter it in “Out of” on the page, with --out-of N in the terminal, or in a column “max” with each row’s maximum."

Values = Mapping[str, Any]
Reader = Callable[[Values], str]


@dataclass(frozen=True)
class Maxima:
    """The maxima of a file. `out_of`: the given maximum for rows without their own."""

    out_of: Decimal | None

    @classmethod
    def of(cls, rows: Iterable[Values], points_of: Reader, known_of: Reader, out_of: Decimal | None) -> Self:
        """Check these rows; `points_of` and `known_of` give points and the layout's maximum. Raises `FileWrong`."""
        found = cls(out_of)
        unknown: list[str] = []
        above: dict[str, list[str]] = {}
        for values in rows:
            try:
                points, own, most = points_of(values), _own(values), found.maximum_of(values, known_of(values))
            except RowWrong:
                continue  # Reading the row later skips it with this reason.
            if points and not most:
                unknown.append(points)
            elif points and not own and (_number(points) or 0) > (_number(most) or 0):
                above.setdefault(most, []).append(points)
        if unknown:
            raise FileWrong(
                f"The maximum points are unknown in {_rows(unknown)} with these points: {_seen(unknown)}. "
                f"Nothing was imported, since a guess would make results wrong. {_HINT}"
            )
        for most, points_above in above.items():
            raise FileWrong(
                f"In {_rows(points_above)} there are more points than the presumed maximum {most}: {_seen(points_above)}. "
                f"Nothing was imported, since skipping these rows would bias the set. {_HINT}"
            )
        return found

    def maximum_of(self, values: Values, known: str) -> str:
        """The maximum of a row, or ""."""
        return _own(values) or (f"{self.out_of:f}" if self.out_of is not None else known)


def _own(values: Values) -> str:
    named = {"_".join(name.casefold().replace("-", " ").replace("_", " ").split()): name for name in values}
    return next((word for column in COLUMNS if column in named and (word := word_of(values, named[column]))), "")


def _number(word: str) -> Decimal | None:
    """A finite number, or None; reading the row later reports the error."""
    try:
        number = Decimal(word)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _rows(points: list[str]) -> str:
    return "1 row" if len(points) == 1 else f"{len(points):,} rows"


def _seen(points: list[str]) -> str:
    different = sorted(set(points), key=lambda one: (_number(one) is None, _number(one) or 0, one))
    return ", ".join(one[:20] for one in different[:_SHOWN]) + (" …" if len(different) > _SHOWN else "")
