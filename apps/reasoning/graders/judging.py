"""From what a grader wrote to a grading: totals that must be the sum of their items, findings at their places, chains."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.asking import GraderDesk, Unread
from apps.reasoning.graders.grading import SEVEN, Grading, Located, Part
from apps.reasoning.graders.locating import located
from apps.reasoning.graders.propagation import propagation_read
from apps.reasoning.graders.said import FindingSaid, GradingSaid, grading_read
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.suggestion import ItemGiven

HALF, WHOLE = Decimal("0.5"), Decimal(1)


class Worth(Value):
    """An item that points may be given for: how much it is worth, and what its points are multiples of."""

    code: str
    title: str
    points: Decimal
    grid: Decimal = HALF


def total_read(steps: int, scale: Decimal = SEVEN, grid: Decimal = WHOLE) -> Callable[[Final], GradingSaid | Unscored]:
    """Reads answers with a total from 0 to `scale` on the grid, and no items."""

    def read(final: Final) -> GradingSaid | Unscored:
        said = grading_read(final)
        return said if isinstance(said, Unscored) else _checked(said, steps, scale, grid)

    return read


def items_read(steps: int, items: Sequence[Worth], scale: Decimal = SEVEN) -> Callable[[Final], GradingSaid | Unscored]:
    """Reads answers that give points for every item, once each, and whose total is their sum."""
    worth = {item.code: item for item in items}

    def read(final: Final) -> GradingSaid | Unscored:
        said = grading_read(final)
        if isinstance(said, Unscored):
            return said
        if {one.code for one in said.items} != worth.keys():
            return Unscored(reason=f"points are wanted for exactly {', '.join(worth)}")
        for one in said.items:
            most = worth[one.code]
            if one.points is None or one.points > most.points or one.points % most.grid:
                allowed = f"multiples of {points_text(most.grid)} from 0 to {points_text(most.points)}"
                return Unscored(reason=f"{one.code} has {one.points} points; {allowed} are possible")
        total = sum((one.points or Decimal(0) for one in said.items), Decimal(0))
        if said.points is not None and said.points != total:
            return Unscored(reason=f"the total is {said.points}, the items sum to {total}")
        return _checked(said.model_copy(update={"points": total}), steps, scale, None)

    return read


def _checked(said: GradingSaid, steps: int, scale: Decimal, grid: Decimal | None) -> GradingSaid | Unscored:
    """Without a grid only the scale is looked at: sums of items that are each on their own grid may lie on none."""
    if said.points is None:
        return Unscored(reason="there are no points")
    if not said.points.is_finite() or said.points > scale or (grid is not None and said.points % grid):
        return Unscored(reason=f"the points are {said.points}, not {f'a multiple of {grid} ' if grid else ''}from 0 to {scale}")
    return steps_checked(said, steps)


def steps_checked(said: GradingSaid, steps: int) -> GradingSaid | Unscored:
    """The answer, unless it speaks of a step that is not there."""
    beyond = next((one.step for one in said.findings if one.step > steps), None)
    return said if beyond is None else Unscored(reason=f"it names step {beyond} of {steps}")


def graded(desk: GraderDesk, workflow: str, said: GradingSaid | Unread, items: Sequence[Worth] = ()) -> Grading:
    """The grading behind an answer with points; unscored, with the raw text, where there is none."""
    if isinstance(said, Unread):
        return Grading(workflow=workflow, unscored=said.reason, raw=said.raw, suspicious=desk.suspicious)
    worth = {item.code: item for item in items}
    given = tuple(
        ItemGiven(code=one.code, title=worth[one.code].title, points=one.points or Decimal(0), most=worth[one.code].points,
                  reason=one.reason)
        for one in said.items if one.code in worth
    )  # fmt: skip
    return with_notes(desk, Grading(workflow=workflow, points=said.points, items=given), said)


def with_notes(desk: GraderDesk, grading: Grading, said: GradingSaid) -> Grading:
    """The grading with its findings at their places, its chains, and what of them could not be read."""
    steps = desk.material.steps
    names = {one.id for one in said.findings}
    read = [propagation_read(chain, names, len(steps)) for chain in said.chains]
    unread = [one.reason for one in read if isinstance(one, Unscored)]
    return grading.model_copy(
        update={
            "findings": tuple(_located(desk, one) for one in said.findings),
            "parts": parts_read(said, len(steps)),
            "chains": tuple(one for one in read if not isinstance(one, Unscored)),
            "feedback": said.feedback,
            "remarks": " ".join([grading.remarks, *(f"Not read: {reason}." for reason in unread)]).strip(),
            "suspicious": desk.suspicious,
        }
    )


def parts_read(said: GradingSaid, steps: int) -> tuple[Part, ...]:
    """The parts of the argument that have a name of their own and words; a step that is not there is none."""
    found: dict[str, Part] = {}
    for one in said.parts:
        name = re.fullmatch(r"([CSM])0*(\d{1,3})", one.name.strip().upper())
        if name and one.words.strip():
            part = Part(name=name[1] + name[2], step=one.step if one.step <= steps else 0, words=one.words.strip())
            found.setdefault(part.name, part)
    return tuple(found.values())


def _located(desk: GraderDesk, said: FindingSaid) -> Located:
    """The finding at its place. What quotes a neutral rewriting has a step of the script and no place in it."""
    source, steps = desk.material.source, desk.material.steps
    if not desk.rewriting:
        return located(source, steps, said)
    at_step = located(source, steps, said.model_copy(update={"quote": ""}))
    return at_step.model_copy(update={"quote": said.quote, "lost": "it quotes the neutral rewriting"})


def told(desk: GraderDesk, name: str, grading: Grading) -> Grading:
    """Tell the grading under its name, and hand it on."""
    event = GradingReached(
        name=name,
        points=float(grading.points) if grading.points is not None else None,
        unscored=grading.unscored,
        grading=grading.model_dump(mode="json"),
    )
    desk.desk.ctx.emit(f"grading/{name}", event)
    return grading
