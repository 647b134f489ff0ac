"""Two runs side by side: what two cells of one problem and repeat handed in, with scores, costs and ending."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.accounts.models import User
from apps.experiments.models import Experiment, SolvingCell
from apps.experiments.solving.comparing.endings import with_ending, words_of
from apps.experiments.solving.scoring import handed_in
from apps.experiments.solving.tables import Row
from apps.runs.access import run_visible_to

NO_CELL = "This row has no cell on the problem in this repeat."
NOT_YOURS = "You may not see this run."


@dataclass(frozen=True)
class Side:
    """A cell and the answer that it handed in. `why`: the reason if there is no text. `run_id`: only if visible."""

    name: str
    cell: SolvingCell | None = None
    ending: str = ""
    text: str = ""
    why: str = ""
    run_id: str = ""
    scores: tuple[tuple[str, str], ...] = ()


def sides_of(
    user: User, experiment: Experiment, problem: str, repeat: int, rows: Sequence[tuple[str, Row]]
) -> tuple[Side, ...]:
    """The sides of these rows, each with its name on the page. `problem` must be visible to the user."""
    cells = with_ending(experiment.solving_cells.filter(item__name=problem, repeat=repeat))
    found = {
        (cell.method, cell.team, cell.budget): cell
        for cell in cells.select_related("run", "item__problem__problem").prefetch_related("scores")
    }
    runs = [cell.run_id for cell in found.values() if cell.run_id]
    visible = set(run_visible_to(user).filter(pk__in=runs).values_list("pk", flat=True))
    return tuple(_side(name, found.get(row.key), visible) for name, row in rows)


def _side(name: str, cell: SolvingCell | None, visible: set[int]) -> Side:
    if cell is None:
        return Side(name, why=NO_CELL)
    final = sorted((score for score in cell.scores.all() if score.answer == cell.answer), key=lambda score: score.pk)
    scores = tuple(
        (
            score.scorer,
            f"{score.points.normalize():f} of {score.scale.normalize():f}"
            if score.points is not None and score.scale is not None
            else score.unscored or score.trouble or score.get_state_display(),
        )
        for score in final
    )
    is_visible = cell.run is not None and cell.run.pk in visible
    text = handed_in(cell, cell.answer) if cell.run is None or is_visible else ""
    why = "" if text else cell.trouble or _why_none(cell, is_visible)
    run_id = str(cell.run.public_id) if cell.run is not None and is_visible else ""
    return Side(name, cell, words_of(getattr(cell, "ending", "")), text, why, run_id, scores)


def _why_none(cell: SolvingCell, is_visible: bool) -> str:
    if cell.run is None:
        return "There is no text: its run was deleted, or a log had none."
    return "Nothing was handed in." if is_visible else NOT_YOURS
