"""Out of how many points both sides of a file are, where columns say so: experiments write `human_of` and `scale`."""

from apps.grading.columns import Columns
from apps.grading.kept_columns import siblings
from apps.grading.mark_files import Row, column_names, value_of
from apps.problems.importing.files import FileWrong
from apps.reasoning.agreement.scales import CLOSE


def maxima_checked(rows: list[Row], predicted: str, columns: Columns) -> None:
    """Raises `FileWrong` where points of two maxima would be compared as if they were of one."""
    of_human = f"{columns.human}_of"
    if all(value_of(row, of_human) is None for row in rows):
        return
    of_grader = siblings(column_names(rows), "scale", columns.human).get(predicted, "")
    people = {most for row in rows if value_of(row, columns.human) not in (None, "") and (most := _number(row, of_human))}
    if len(people) > 1:
        told = " and ".join(f"{most:g}" for most in sorted(people))
        raise FileWrong(
            f"The person's points are out of {told} (column {of_human}); scales are not pooled. Make a file of each."
        )
    for most in people:
        if abs(most - columns.scale.highest) > CLOSE:
            raise FileWrong(
                f"The person's points are out of {most:g} (column {of_human}), and the scale goes up to "
                f"{columns.scale.highest:g}. Give the scale {columns.scale.lowest:g}:{most:g}."
            )
        given = {one for row in rows if of_grader and (one := _number(row, of_grader))}
        for other in sorted(given):
            if abs(other * columns.times - most) > 1e-6 * most:
                raise FileWrong(
                    f"The person's points are out of {most:g} and the grader's out of {other:g} "
                    f"(columns {of_human}, {of_grader}): as they are they cannot be compared. "
                    f"Multiply the grader's points by {most / other:.12g} (--times)"
                    + (", in a file of each such maximum." if len(given) > 1 else ".")
                )


def _number(row: Row, column: str) -> float | None:
    """None where the column says no number above 0."""
    try:
        number = float(str(value_of(row, column)))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
