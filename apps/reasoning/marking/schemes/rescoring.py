"""The effect of a changed scheme on a sheet made with another version, item by item, computed before it is applied.

A change touches a sheet where an item that changed or went is ticked, or where the frame of the scheme changed: scale, step,
chains, mixing. An untouched sheet is worth the same under both versions (tested for random schemes). A person chooses for
every change; where several touch one sheet, the most careful choice holds: re-mark, then leave, then recompute.
"""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from enum import StrEnum

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.derivation import derivation_line
from apps.reasoning.marking.schemes.evaluation import MixingNotAllowed, evaluate
from apps.reasoning.marking.schemes.lineage import ChangeKind, changes
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem, points_text, points_words
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet, StepVerdict

#: Represents everything in a scheme that is no item.
FRAME = "frame"
#: Changes on which no points depend.
_HARMLESS = frozenset({"wording", "renamed"})


class Choice(StrEnum):
    """The treatment of the sheets that a change touches."""

    RECOMPUTE = "recompute"
    REMARK = "remark"
    LEAVE = "leave"


class Fate(StrEnum):
    """What becomes of one sheet."""

    UNTOUCHED = "untouched"
    RECOMPUTED = "recomputed"
    REMARKED = "remarked"
    LEFT = "left"


class Difference(Value):
    """A change to decide on. `key`: the item's lineage, or `FRAME`; `choices`: what can be chosen for it."""

    key: str
    code: str
    kind: ChangeKind
    fields: tuple[str, ...]
    was: SchemeItem | None
    now: SchemeItem | None
    choices: tuple[Choice, ...]


class Effect(Value):
    """A sheet under the new version. `points` is None where a person must decide, for the reason in `why`.

    `keys`: the differences that touch it. `sheet`: with the new version's codes.
    """

    keys: frozenset[str]
    sheet: MarkSheet
    points: Decimal | None
    derivation: str = ""
    why: str = ""


def differences(old: Scheme, new: Scheme) -> tuple[Difference, ...]:
    """Changes of meaning between two versions, the frame first. No marker has ticked a new item."""
    was, now = ({item.lineage: item for item in scheme.items} for scheme in (old, new))
    found = []
    if fields := _frame_fields(old, new):
        every = (Choice.RECOMPUTE, Choice.REMARK, Choice.LEAVE)
        found.append(Difference(key=FRAME, code="", kind="meaning", fields=fields, was=None, now=None, choices=every))
    for change in changes(old, new):
        if change.kind not in _HARMLESS:
            is_new = change.kind == "added"
            found.append(
                Difference(
                    key=change.lineage,
                    code=change.code,
                    kind=change.kind,
                    fields=change.fields,
                    was=was.get(change.lineage),
                    now=now.get(change.lineage),
                    choices=(Choice.LEAVE, Choice.REMARK) if is_new else (Choice.RECOMPUTE, Choice.REMARK, Choice.LEAVE),
                )
            )
    return tuple(found)


class Rescorer:
    """Two versions made ready, so that thousands of sheets cost little. `step` is the contest's."""

    def __init__(self, old: Scheme, new: Scheme, step: Decimal) -> None:
        self.new = new
        self.step = step
        self.differences = differences(old, new)
        self._lineages = {item.code: item.lineage for item in old.items}
        self._codes = {item.lineage: item.code for item in new.items}
        self._changed = {one.key for one in self.differences if one.kind != "added"}

    def effect(self, sheet: MarkSheet) -> Effect:
        """The sheet under the new version."""
        touched = {lineage for code in sheet.ticks if (lineage := self._lineages.get(code)) in self._changed}
        keys = frozenset(touched | ({FRAME} & self._changed))
        carried = self.carried(sheet)
        if sheet.typed is not None:
            return self._typed(keys, carried, sheet.typed)
        if not sheet.ticks:
            return Effect(keys=keys, sheet=carried, points=None, why="Nothing is ticked on it.")
        try:
            result = evaluate(self.new, carried.ticks, step=self.step, is_mixed=carried.is_mixed)
        except MixingNotAllowed:
            why = "It is a mixed case, which the new version does not allow."
            return Effect(keys=keys, sheet=carried, points=None, why=why)
        if result.choices:
            why = f"Its items give {points_text(result.points)}, which is not on the contest's step."
            return Effect(keys=keys, sheet=carried, points=None, derivation=derivation_line(result), why=why)
        return Effect(keys=keys, sheet=carried, points=result.points, derivation=derivation_line(result))

    def carried(self, sheet: MarkSheet) -> MarkSheet:
        """The sheet with the new version's codes; ticks and links of items that went are left out."""
        verdicts = tuple(one.model_copy(update={"items": self._linked(one)}) for one in sheet.verdicts)
        comments = tuple(one.model_copy(update={"items": self._linked(one)}) for one in sheet.comments)
        ticks = frozenset(self._known(sheet.ticks))
        places = {new: step for code, step in sheet.places.items() for new in self._known([code])}
        return sheet.model_copy(update={"ticks": ticks, "places": places, "verdicts": verdicts, "comments": comments})

    def _linked(self, note: StepVerdict | Comment) -> tuple[str, ...]:
        return tuple(self._known(note.items))

    def _known(self, codes: Iterable[str]) -> list[str]:
        found = (self._codes.get(self._lineages.get(code, "")) for code in codes)
        return [code for code in found if code is not None]

    def _typed(self, keys: frozenset[str], carried: MarkSheet, typed: Decimal) -> Effect:
        if keys and carried.ticks:
            why = f"It was given {points_words(typed)} by hand instead of what the items gave."
            return Effect(keys=keys, sheet=carried, points=None, why=why)
        if typed > self.new.scale or typed % self.step:
            return Effect(
                keys=keys,
                sheet=carried,
                points=None,
                why=f"It was given {points_words(typed)} by hand, which no longer fits the scale.",
            )
        return Effect(keys=keys, sheet=carried, points=typed)


def fate(effect: Effect, choices: Mapping[str, Choice], added: Collection[str] = ()) -> Fate:
    """What becomes of a sheet. `added`: keys of new items; to re-mark for one of them means every sheet.

    Where a person must decide, recomputing becomes re-marking. A difference without a choice is left.
    """
    chosen = {choices.get(key, Choice.LEAVE) for key in effect.keys}
    if Choice.REMARK in chosen or any(choices.get(key) is Choice.REMARK for key in added):
        return Fate.REMARKED
    if not effect.keys:
        return Fate.UNTOUCHED
    if Choice.LEAVE in chosen:
        return Fate.LEFT
    return Fate.RECOMPUTED if effect.points is not None else Fate.REMARKED


def _frame_fields(old: Scheme, new: Scheme) -> tuple[str, ...]:
    pairs: dict[str, tuple[object, object]] = {
        "scale": (old.scale, new.scale),
        "step": (old.step, new.step),
        "mixing": (bool(old.mixing), bool(new.mixing)),
        "chains": (_chains(old), _chains(new)),
    }
    return tuple(name for name, (was, now) in pairs.items() if was != now)


def _chains(scheme: Scheme) -> set[tuple[str, Decimal | None]]:
    return {(chain.name, chain.limit) for chain in scheme.chains}
