"""From what a grader wrote to a grading: totals that must be the sum of their items, findings at their places, chains."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.asking import GraderDesk, TotalAsked, Unread
from apps.reasoning.graders.grading import SEVEN, Grading, Located, Part
from apps.reasoning.graders.judgements import NO_TOTAL, GradingRead, answer_of, grading_read, items_in_lines
from apps.reasoning.graders.locating import located
from apps.reasoning.graders.propagation import propagation_read
from apps.reasoning.graders.said import FindingSaid, GradingSaid
from apps.reasoning.graders.totals import total_again
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.suggestion import ItemGiven
from apps.reasoning.reading.echoes import own_text

HALF, WHOLE = Decimal("0.5"), Decimal(1)


class Worth(Value):
    """An item that points may be given for: how much it is worth, and what its points are multiples of."""

    code: str
    title: str
    points: Decimal
    grid: Decimal = HALF


@dataclass(frozen=True)
class TotalReading:
    """Reads answers with a total from 0 to `scale` on the grid. Findings that cannot be read are lost, the total stands.

    Without a grid only the scale is looked at. `shown`: the texts that the grader was shown, whose words are no judgement.
    """

    steps: int
    scale: Decimal = SEVEN
    grid: Decimal | None = WHOLE
    shown: str = ""

    def __call__(self, final: Final) -> GradingRead | Unscored:
        said = grading_read(final, self.scale, shown=self.shown)
        return said if isinstance(said, Unscored) else self.checked(said)

    def checked(self, said: GradingRead) -> GradingRead | Unscored:
        """The answer with a total that is possible."""
        if said.points is None:
            return Unscored(reason=said.no_total or said.broken or NO_TOTAL)
        if self.grid is not None and said.points % self.grid:
            at = points_text(self.grid)
            return Unscored(reason=f"the points are {said.points}, not a multiple of {at} from 0 to {points_text(self.scale)}")
        return within_steps(said, self.steps)

    @property
    def asked_again(self) -> TotalAsked[GradingRead]:
        """The question for the total alone, where an answer judges and has none."""
        grid = self.grid or HALF
        allowed = tuple(_plain(grid * place) for place in range(int(self.scale / grid) + 1))
        return TotalAsked(allowed, self._lacks, self._with)

    def _lacks(self, final: Final) -> bool:
        said = grading_read(final, self.scale, shown=self.shown)
        if isinstance(said, Unscored):
            return False
        return bool(said.findings) or not isinstance(own_text(answer_of(final), self.shown), Unscored)

    def _with(self, first: Final, second: str) -> GradingRead | Unscored:
        said, total = grading_read(first, self.scale, shown=self.shown), total_again(second, self.scale, self.shown)
        if isinstance(said, Unscored):
            return said
        if isinstance(total, Unscored):
            return total
        return self.checked(said.model_copy(update={"points": total, "no_total": ""}))


def _plain(points: Decimal) -> float:
    return int(points) if points == int(points) else float(points)


def total_read(desk: GraderDesk, scale: Decimal = SEVEN, grid: Decimal | None = WHOLE) -> TotalReading:
    """Reads a total for the desk's script."""
    return TotalReading(len(desk.material.steps), scale, grid, desk.shown)


def items_read(steps: int, items: Sequence[Worth], scale: Decimal = SEVEN) -> Callable[[Final], GradingRead | Unscored]:
    """Reads answers that give points for every item, once each, and whose total is their sum."""
    worth = {item.code: item for item in items}
    most = {item.code: item.points for item in items}

    def read(final: Final) -> GradingRead | Unscored:
        said = every_item(final, grading_read(final, scale, most), most)
        if isinstance(said, Unscored):
            return said
        return Unscored(reason=said.no_total) if said.no_total else _summed(said, worth, steps)

    return read


def every_item(
    final: Final, said: GradingRead | Unscored, worth: Mapping[str, Decimal] | None = None, codes: Sequence[str] = ()
) -> GradingRead | Unscored:
    """The answer with items that can be relied on: those of its structure, or, where it has none, lines that name them."""
    if isinstance(said, Unscored):
        return said
    if not said.items and (said.broken or said.points is not None or said.no_total):
        in_lines = items_in_lines(answer_of(final), worth, codes)
        if isinstance(in_lines, GradingRead):
            return in_lines.model_copy(update={"points": said.points, "feedback": said.feedback, "no_total": said.no_total})
    return Unscored(reason=said.broken) if said.broken else said


def _summed(said: GradingRead, worth: Mapping[str, Worth], steps: int) -> GradingRead | Unscored:
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
    return within_steps(said.model_copy(update={"points": total}), steps)


def within_steps(said: GradingRead, steps: int) -> GradingRead:
    """The answer without findings at steps that are not there."""
    beyond = [one.step for one in said.findings if one.step > steps]
    if not beyond:
        return said
    kept = tuple(one for one in said.findings if one.step <= steps)
    lost = f"{len(beyond)} of {len(said.findings)} finding{'s' * (len(said.findings) > 1)} (step {beyond[0]} of {steps})"
    return said.model_copy(update={"findings": kept, "lost": (*said.lost, lost)})


def graded(desk: GraderDesk, workflow: str, said: GradingRead | Unread, items: Sequence[Worth] = ()) -> Grading:
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


def with_notes(desk: GraderDesk, grading: Grading, said: GradingRead) -> Grading:
    """The grading with its findings at their places, its chains, and what of them could not be read."""
    steps = desk.material.steps
    names = {one.id for one in said.findings}
    read = [propagation_read(chain, names, len(steps)) for chain in said.chains]
    unread = [*said.lost, *(one.reason for one in read if isinstance(one, Unscored))]
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
