"""Out of how many points a row of a graded set was graded.

What a row tells of itself goes first, then what the person who imports says, then what the layout is known to use. Where none
does, or points lie above what was presumed, the whole file is asked about: to leave rows out by their points would bias it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Self

from apps.problems.importing.files import FileWrong
from apps.problems.importing.values import RowWrong, text_of

#: Columns that tell a row's maximum; capitals, spaces and hyphens make no difference.
COLUMNS = ("max", "out_of", "max_points", "maximum", "maximum_points", "points_max", "max_score")
_SHOWN = 12
_SAY = "Say so: in “Out of” on the page, with --out-of N in the terminal, or by a column “max” with the maximum of each row."

Values = Mapping[str, Any]
Told = Callable[[Values], str]


@dataclass(frozen=True)
class Maxima:
    """`out_of`: what the person says of rows that do not tell it."""

    out_of: Decimal | None

    @classmethod
    def of(cls, rows: Iterable[Values], points_of: Told, known_of: Told, out_of: Decimal | None) -> Self:
        """For these rows, with their points and the maximum known of the layout. Raises `FileWrong` with what is open."""
        found = cls(out_of)
        unknown: list[str] = []
        above: dict[str, list[str]] = {}
        for values in rows:
            try:
                points, own, most = points_of(values), _own(values), found.told(values, known_of(values))
            except RowWrong:
                continue  # The row is left out with this reason when it is read.
            if points and not most:
                unknown.append(points)
            elif points and not own and (_number(points) or 0) > (_number(most) or 0):
                above.setdefault(most, []).append(points)
        if unknown:
            raise FileWrong(
                f"The file does not tell out of how many points its points are, in {_rows(unknown)} with the points: "
                f"{_seen(unknown)}. Nothing was imported, since a guess would make figures wrong. {_SAY}"
            )
        for most, points_above in above.items():
            raise FileWrong(
                f"In {_rows(points_above)} there are more points than {most}, which the file was taken to be out of: "
                f"{_seen(points_above)}. Nothing was imported, since without these rows the set would be biased. {_SAY}"
            )
        return found

    def told(self, values: Values, known: str) -> str:
        """The maximum of a row, or ""."""
        return _own(values) or (f"{self.out_of:f}" if self.out_of is not None else known)


def word_of(values: Values, name: str) -> str:
    """A short value that may be a number in JSON."""
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return text_of(values, name)


def _own(values: Values) -> str:
    named = {"_".join(name.casefold().replace("-", " ").replace("_", " ").split()): name for name in values}
    return next((word for column in COLUMNS if column in named and (word := word_of(values, named[column]))), "")


def _number(word: str) -> Decimal | None:
    """None for what is no number; its row says so."""
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
