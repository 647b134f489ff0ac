"""Check the maxima of both sides of a file, from columns such as `human_of` and `scale` of experiment exports."""

from apps.agreement.sources.columns import Columns
from apps.files.kept_columns import siblings
from apps.files.mark_files import Row, column_names, value_of
from apps.files.tables import FileWrong
from apps.reasoning.agreement.scales import CLOSE


def maxima_check(rows: list[Row], predicted: str, columns: Columns) -> None:
    """Refuse to compare points with different maxima. Raises `FileWrong`."""
    of_human = f"{columns.human}_of"
    if all(value_of(row, of_human) is None for row in rows):
        return
    of_grader = siblings(column_names(rows), "scale", columns.human).get(predicted, "")
    people = {most for row in rows if value_of(row, columns.human) not in (None, "") and (most := _number(row, of_human))}
    if len(people) > 1:
        maxima = " and ".join(f"{most:g}" for most in sorted(people))
        raise FileWrong(
            f"The person's points are out of {maxima} (column {of_human}); scales are not pooled. Make one file per maximum."
        )
    for most in people:
        if abs(most - columns.scale.highest) > CLOSE:
            raise FileWrong(
                f"The person's points are out of {most:g} (column {of_human}), but the scale goes up to "
                f"{columns.scale.highest:g}. Set the scale to {columns.scale.lowest:g}:{most:g}."
            )
        given = {one for row in rows if of_grader and (one := _number(row, of_grader))}
        for other in sorted(given):
            if abs(other * columns.times - most) > 1e-6 * most:
                raise FileWrong(
                    f"The person's points are out of {most:g} and the grader's out of {other:g} "
                    f"(columns {of_human}, {of_grader}), so they cannot be compared directly. "
                    f"Multiply the grader's points by {most / other:.12g} (--times)"
                    + (", with one file per maximum." if len(given) > 1 else ".")
                )


def _number(row: Row, column: str) -> float | None:
    """The number in a column; None unless positive and finite."""
    try:
        number = float(str(value_of(row, column)))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
