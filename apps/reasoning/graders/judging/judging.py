"""Gradings from a grader's answer: totals that equal the sum of their items, findings at their places, chains."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grading import SEVEN, Grading, Located, Part
from apps.reasoning.graders.judging.asked_again import AskedAgain, tokens_for
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.judging.judgements import (
    NO_TOTAL,
    GradingRead,
    answer_of,
    findings_read,
    grading_read,
    items_in_lines,
)
from apps.reasoning.graders.judging.locating import located
from apps.reasoning.graders.judging.propagation import propagation_read
from apps.reasoning.graders.judging.said import FindingSaid, GradingSaid
from apps.reasoning.graders.judging.totals import total_again
from apps.reasoning.marking.schemes.scheme import points_text, points_words
from apps.reasoning.marking.suggestion import ItemGiven
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.schemas import choice_schema, decisions, object_schema
from apps.reasoning.scaffolds.running.hearing import SHORT, ending

HALF, WHOLE = Decimal("0.5"), Decimal(1)


class Worth(Value):
    """An item worth points. Points for it are multiples of `grid`."""

    code: str
    title: str
    points: Decimal
    grid: Decimal = HALF


@dataclass(frozen=True)
class TotalReading:
    """Read answers with a total from 0 to `scale` on the grid. Unreadable findings do not invalidate the total.

    Without a grid only the scale is checked. `shown`: the texts shown to the grader, whose words are no judgement.
    """

    steps: int
    scale: Decimal = SEVEN
    grid: Decimal | None = WHOLE
    shown: str = ""

    def __call__(self, final: Final) -> GradingRead | Unscored:
        said = grading_read(final, self.scale, shown=self.shown)
        return said if isinstance(said, Unscored) else self.checked(said)

    def checked(self, said: GradingRead) -> GradingRead | Unscored:
        """The answer, if its total is valid."""
        if said.points is None:
            return Unscored(reason=said.no_total or said.broken or NO_TOTAL)
        if self.grid is not None and said.points % self.grid:
            at = points_text(self.grid)
            return Unscored(reason=f"the points are {said.points}, not a multiple of {at} from 0 to {points_text(self.scale)}")
        return within_steps(said, self.steps)

    @property
    def again(self) -> AskedAgain[GradingRead]:
        """The second question, for the total only; a grader may answer that it cannot judge the script."""
        schema, values = choice_schema("score", *self.allowed, None), {"scale": points_text(self.scale)}
        bound = ending("points", *self.allowed)
        return AskedAgain(
            self._with_total, asks="points", schema=schema, tokens=SHORT, values=values, ending=bound, examines=True
        )

    @property
    def allowed(self) -> tuple[float, ...]:
        """The valid totals."""
        return grid_of(self.scale, self.grid or HALF)

    def _with_total(self, second: Final, first: Final) -> GradingRead | Unscored:
        """The first answer with the total of the second one, or the second answer if it is complete."""
        whole, answer = self(second), whole_answer(second)
        if isinstance(whole, GradingRead) or isinstance(answer, Unscored):
            return merged(first, whole, self.steps, self.shown)
        total = total_again(answer, self.scale, self.shown)
        if isinstance(total, Unscored):
            return total
        return self.checked(findings_read(first, self.shown).model_copy(update={"points": total}))


def grid_of(most: Decimal, grid: Decimal) -> tuple[float, ...]:
    """The points from 0 to `most` in steps of `grid`."""
    return tuple(_plain(grid * place) for place in range(int(most / grid) + 1))


def _plain(points: Decimal) -> float:
    return int(points) if points == int(points) else float(points)


def total_read(desk: GraderDesk, scale: Decimal = SEVEN, grid: Decimal | None = WHOLE) -> TotalReading:
    """The reading of a total for the desk's script."""
    return TotalReading(len(desk.material.steps), scale, grid, desk.shown)


@dataclass(frozen=True)
class ItemsReading:
    """Read answers with points for every item, once each, and a total equal to their sum."""

    steps: int
    items: tuple[Worth, ...]
    scale: Decimal = SEVEN
    shown: str = ""

    def __call__(self, final: Final) -> GradingRead | Unscored:
        most = {item.code: item.points for item in self.items}
        said = every_item(final, grading_read(final, self.scale, most), most)
        if isinstance(said, Unscored):
            return said
        return Unscored(reason=said.no_total) if said.no_total else _summed(said, self._worth, self.steps)

    @property
    def _worth(self) -> dict[str, Worth]:
        return {item.code: item for item in self.items}

    @property
    def again(self) -> AskedAgain[GradingRead]:
        """The second question, for the points of every item."""
        allowed = {item.code: grid_of(item.points, item.grid) for item in self.items}
        listed = "\n".join(f"{code}: {', '.join(f'{one:g}' for one in points)}" for code, points in allowed.items())
        values = {"items": listed, "example": fields_shown(allowed, "k")}
        schema = object_schema({"items": decisions(allowed)})
        tokens = tokens_for(len(allowed))
        return AskedAgain(self._with_items, asks="items", schema=schema, tokens=tokens, values=values, examines=True)

    def _with_items(self, second: Final, first: Final) -> GradingRead | Unscored:
        return merged(first, self(second), self.steps, self.shown)


def items_read(desk: GraderDesk, items: Sequence[Worth], scale: Decimal = SEVEN) -> ItemsReading:
    """The reading of points for the items of the desk's script."""
    return ItemsReading(len(desk.material.steps), tuple(items), scale, desk.shown)


def fields_shown(names: Iterable[str], value: str) -> str:
    """An object of JSON with a field of each name, as a question shows it."""
    return "{" + ", ".join(f'"{name}": {value}' for name in names) + "}"


def merged(first: Final, said: GradingRead | Unscored, steps: int, shown: str) -> GradingRead | Unscored:
    """Combine items and points of the second answer with the findings and feedback of the first one."""
    if isinstance(said, Unscored) or said.findings:
        return said
    kept = within_steps(findings_read(first, shown), steps)
    return kept.model_copy(update={"items": said.items, "points": said.points})


def every_item(
    final: Final, said: GradingRead | Unscored, worth: Mapping[str, Decimal] | None = None, codes: Sequence[str] = ()
) -> GradingRead | Unscored:
    """The answer with reliable items: those of its structure or, without one, of lines that name them."""
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
            has = "no points" if one.points is None else points_words(one.points)
            return Unscored(reason=f"{one.code} has {has}; {allowed} are possible")
    total = sum((one.points or Decimal(0) for one in said.items), Decimal(0))
    if said.points is not None and said.points != total:
        return Unscored(reason=f"the total is {said.points}, the items sum to {total}")
    return within_steps(said.model_copy(update={"points": total}), steps)


def within_steps(said: GradingRead, steps: int) -> GradingRead:
    """The answer without findings at nonexistent steps."""
    beyond = [one.step for one in said.findings if one.step > steps]
    if not beyond:
        return said
    kept = tuple(one for one in said.findings if one.step <= steps)
    lost = f"{len(beyond)} of {len(said.findings)} finding{'s' * (len(said.findings) > 1)} (step {beyond[0]} of {steps})"
    return said.model_copy(update={"findings": kept, "lost": (*said.lost, lost)})


def graded(desk: GraderDesk, workflow: str, said: GradingRead | Unread, items: Sequence[Worth] = ()) -> Grading:
    """The grading of an answer with points; for an unreadable answer unscored, with the raw text."""
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
    """The grading with located findings, chains, and remarks on their unreadable parts."""
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
    """The parts of the argument with a unique name and words; a nonexistent step counts as none."""
    found: dict[str, Part] = {}
    for one in said.parts:
        name = re.fullmatch(r"([CSM])0*(\d{1,3})", one.name.strip().upper())
        if name and one.words.strip():
            part = Part(name=name[1] + name[2], step=one.step if one.step <= steps else 0, words=one.words.strip())
            found.setdefault(part.name, part)
    return tuple(found.values())


def _located(desk: GraderDesk, said: FindingSaid) -> Located:
    """The finding at its place. A finding that quotes a neutral rewriting has a step but no place in the script."""
    source, steps = desk.material.source, desk.material.steps
    if not desk.rewriting:
        return located(source, steps, said)
    at_step = located(source, steps, said.model_copy(update={"quote": ""}))
    return at_step.model_copy(update={"quote": said.quote, "lost": "it quotes the neutral rewriting"})


def published(desk: GraderDesk, name: str, grading: Grading) -> Grading:
    """Emit the event of a grading under `name`, and return the grading."""
    event = GradingReached(
        name=name,
        points=float(grading.points) if grading.points is not None else None,
        unscored=grading.unscored,
        grading=grading.model_dump(mode="json"),
    )
    desk.desk.ctx.emit(f"grading/{name}", event)
    return grading
