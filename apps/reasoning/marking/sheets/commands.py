"""Changes of a mark sheet: a verb with its arguments makes a new sheet, or is refused in a sentence.

| verb | arguments |
|---|---|
| `band` | `band`: solution, beginning or null |
| `points` | `points`: a number or null |
| `tick` | `code`, and `step`: where it was found |
| `untick` | `code` |
| `claim` | `line`: `A c1 !cap5`; takes the place of all ticks |
| `mixed` | `on`, and `reason` |
| `reason`, `approach` | `words` |
| `verdict` | `id`, `step`, `fallacy`, and `role`, `root`, `anchor` or `region`, `words`, `items`; replaces its id |
| `verdict_role` | `id`, `role`, `root` |
| `verdict_remove`, `comment_remove` | `id` |
| `comment` | `id`, `step` (0 for the whole script), `words`, and `anchor` or `region`, `audience`, `items` |
| `grant` | `step`, `on` |
| `link` | `kind`: verdict or comment, `id`, `code`, `on` |
| `clear` | |

`anchor` is a place in the text, `{"start": 3, "end": 9}` in code points; the anchor itself is made here. `region` is a place on
a page, whose step is 10,000 and its number (`pages`). A consequence without a `root` follows from the root error that was said
last.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.faults import validation_faults
from apps.reasoning.marking.schemes.scheme import Scheme, text_clean
from apps.reasoning.marking.sheets.arguments import (
    BandArgs,
    ClaimArgs,
    CodeArgs,
    CommentArgs,
    GrantArgs,
    IdArgs,
    LinkArgs,
    MixedArgs,
    Nothing,
    Place,
    PointsArgs,
    RoleArgs,
    TickArgs,
    VerdictArgs,
    WordsArgs,
)
from apps.reasoning.marking.sheets.claims import ClaimWrong, claim_read
from apps.reasoning.marking.sheets.pages import Region, page_of
from apps.reasoning.marking.sheets.sheet import NOTES_AT_MOST, Comment, MarkSheet, Role, StepVerdict
from apps.reasoning.texts.anchors import Anchor, anchor_make
from apps.reasoning.texts.segmentation import Step
from apps.reasoning.texts.source import PlaceWrong

Note = TypeVar("Note", StepVerdict, Comment)


class CommandRefused(ValueError):
    """A command that cannot be done; the message is one sentence for the marker."""


class Script(Value):
    """What is marked: a text with its steps, and scanned pages by their ids, for places."""

    source: str
    steps: tuple[Step, ...]
    pages: tuple[str, ...] = ()


def sheet_apply(sheet: MarkSheet, verb: str, args: Mapping[str, Any], scheme: Scheme, script: Script) -> MarkSheet:
    """The sheet after a command. Raises `CommandRefused`."""
    if verb not in _VERBS:
        raise CommandRefused(f"There is no command “{verb[:30]}”.")
    shape, change = _VERBS[verb]
    try:
        return change(_Desk(sheet, scheme, script), shape.model_validate(dict(args)))
    except ValidationError as error:
        raise CommandRefused(f"{verb}: {validation_faults(error)[0].message}.") from error


def fields_differing(one: MarkSheet, other: MarkSheet) -> list[str]:
    """The fields in which two sheets differ, in the order of the sheet."""
    return [name for name in MarkSheet.model_fields if getattr(one, name) != getattr(other, name)]


def sheet_json(sheet: MarkSheet) -> dict[str, Any]:
    """A sheet as JSON, sets in order, so that the same sheet is written the same way."""
    value = sheet.model_dump(mode="json")
    return value | {
        "ticks": sorted(sheet.ticks),
        "places": dict(sorted(sheet.places.items())),
        "granted": sorted(sheet.granted),
    }


class _Desk:
    """A sheet with its scheme and script, for looking up places and codes."""

    def __init__(self, sheet: MarkSheet, scheme: Scheme, script: Script) -> None:
        self.sheet, self.scheme, self.script = sheet, scheme, script

    def with_(self, **changes: Any) -> MarkSheet:
        return self.sheet.model_copy(update=changes)

    def codes(self, codes: tuple[str, ...]) -> tuple[str, ...]:
        """The codes once each. Raises `CommandRefused` for one that is no item."""
        known = {item.code for item in self.scheme.items}
        if unknown := [code for code in codes if code not in known]:
            raise CommandRefused(f"{unknown[0][:30]} is no item of this scheme.")
        return tuple(dict.fromkeys(codes))

    def step(self, number: int) -> Step:
        found = next((step for step in self.script.steps if step.number == number), None)
        if found is None:
            raise CommandRefused(f"The script has no step {number}.")
        return found

    def place(self, number: int) -> int:
        """The number of a step or page that exists. Raises `CommandRefused`."""
        page = page_of(number)
        if page is None:
            return self.step(number).number
        if page > len(self.script.pages):
            raise CommandRefused(f"The script has no page {page}.")
        return number

    def region(self, region: Region | None, step: int) -> Region | None:
        """The region, which only pages have. Raises `CommandRefused`."""
        if region is not None and page_of(step) is None:
            raise CommandRefused("Only a page has regions.")
        return region

    def anchor(self, place: Place | None, step: int) -> Anchor | None:
        """The anchor of a place that touches the step; the step is not asked for where it is 0."""
        if place is None:
            return None
        if page_of(step) is not None:
            raise CommandRefused("A page has no words to select: mark a region.")
        try:
            anchor = anchor_make(self.script.source, place.start, place.end)
        except PlaceWrong as error:
            raise CommandRefused("This is no place in the script.") from error
        if step:
            here = self.step(step)
            if anchor.end <= here.start or anchor.start >= here.end:
                raise CommandRefused(f"The selection is not in step {step}.")
        return anchor

    def verdict(self, key: str) -> StepVerdict:
        found = next((one for one in self.sheet.verdicts if one.id == key), None)
        if found is None:
            raise CommandRefused("This verdict is no longer there.")
        return found

    def root(self, key: str, role: Role, root: str) -> str:
        """The verdict that this one follows from, "" where it follows from none or none is known. Raises `CommandRefused`."""
        if role is not Role.CONSEQUENCE:
            return ""
        if not root:
            roots = [one.id for one in self.sheet.verdicts if one.role is Role.ROOT and one.id != key]
            return roots[-1] if roots else ""
        if root == key:
            raise CommandRefused("An error is no consequence of itself.")
        if self.verdict(root).role not in {Role.ROOT, Role.INDEPENDENT}:
            raise CommandRefused("A consequence follows from a root error, not from a consequence or from what is harmless.")
        return root

    def with_verdict(self, verdict: StepVerdict) -> MarkSheet:
        """The sheet with a verdict put in the place of the one of its id, or at the end; what it follows from is a root."""
        verdicts = _put(self.sheet.verdicts, verdict)
        if verdict.role not in {Role.ROOT, Role.INDEPENDENT}:
            verdicts = tuple(_orphan(one) if one.root == verdict.id else one for one in verdicts)
        if verdict.root:
            changed = {"role": Role.ROOT}
            verdicts = tuple(one.model_copy(update=changed) if one.id == verdict.root else one for one in verdicts)
        return self.with_(verdicts=verdicts)


def _orphan(verdict: StepVerdict) -> StepVerdict:
    return verdict.model_copy(update={"root": ""})


def _put(notes: tuple[Note, ...], note: Note) -> tuple[Note, ...]:
    if any(one.id == note.id for one in notes):
        return tuple(note if one.id == note.id else one for one in notes)
    if len(notes) >= NOTES_AT_MOST:
        raise CommandRefused(f"A script has at most {NOTES_AT_MOST} of these.")
    return notes + (note,)  # noqa: RUF005


def _tick(desk: _Desk, args: TickArgs) -> MarkSheet:
    (code,) = desk.codes((args.code,))
    place = {} if args.step is None else {code: desk.place(args.step)}
    return desk.with_(ticks=desk.sheet.ticks | {code}, places={**desk.sheet.places, **place})


def _untick(desk: _Desk, args: CodeArgs) -> MarkSheet:
    return desk.sheet.with_ticks(desk.sheet.ticks - {args.code})


def _claim(desk: _Desk, args: ClaimArgs) -> MarkSheet:
    try:
        claim = claim_read(desk.scheme, args.line)
    except ClaimWrong as error:
        raise CommandRefused(str(error)) from error
    return desk.sheet.with_ticks(claim.ticks, is_mixed=claim.is_mixed)


def _mixed(desk: _Desk, args: MixedArgs) -> MarkSheet:
    if args.on and not desk.scheme.mixing:
        raise CommandRefused("This scheme does not add the points of several chains.")
    reason = desk.sheet.reason if args.reason is None else text_clean(args.reason)
    return desk.with_(is_mixed=args.on, reason=reason)


def _verdict(desk: _Desk, args: VerdictArgs) -> MarkSheet:
    desk.place(args.step)
    root = desk.root(args.id, args.role, args.root)
    anchor = desk.anchor(args.anchor, args.step)
    values = args.model_dump(include={"id", "step", "fallacy", "role"})
    region = desk.region(args.region, args.step)
    words, items = text_clean(args.words), desk.codes(args.items)
    verdict = StepVerdict(**values, root=root, anchor=anchor, region=region, words=words, items=items)
    return desk.with_verdict(verdict)


def _verdict_role(desk: _Desk, args: RoleArgs) -> MarkSheet:
    root = desk.root(args.id, args.role, args.root)
    return desk.with_verdict(desk.verdict(args.id).model_copy(update={"role": args.role, "root": root}))


def _verdict_remove(desk: _Desk, args: IdArgs) -> MarkSheet:
    gone = desk.verdict(args.id)
    rest = (one for one in desk.sheet.verdicts if one is not gone)
    return desk.with_(verdicts=tuple(_orphan(one) if one.root == gone.id else one for one in rest))


def _comment(desk: _Desk, args: CommentArgs) -> MarkSheet:
    if args.step:
        desk.place(args.step)
    words = text_clean(args.words)
    if not words:
        raise CommandRefused("The comment is empty.")
    anchor = desk.anchor(args.anchor, args.step)
    values = args.model_dump(include={"id", "step", "audience"})
    region = desk.region(args.region, args.step)
    comment = Comment(**values, anchor=anchor, region=region, words=words, items=desk.codes(args.items))
    return desk.with_(comments=_put(desk.sheet.comments, comment))


def _comment_remove(desk: _Desk, args: IdArgs) -> MarkSheet:
    rest = tuple(one for one in desk.sheet.comments if one.id != args.id)
    if len(rest) == len(desk.sheet.comments):
        raise CommandRefused("This comment is no longer there.")
    return desk.with_(comments=rest)


def _grant(desk: _Desk, args: GrantArgs) -> MarkSheet:
    desk.place(args.step)
    granted = desk.sheet.granted - {args.step}
    return desk.with_(granted=granted | {args.step} if args.on else granted)


def _link(desk: _Desk, args: LinkArgs) -> MarkSheet:
    (code,) = desk.codes((args.code,))
    field = "verdicts" if args.kind == "verdict" else "comments"
    notes: tuple[StepVerdict | Comment, ...] = getattr(desk.sheet, field)
    note = next((one for one in notes if one.id == args.id), None)
    if note is None:
        raise CommandRefused(f"This {args.kind} is no longer there.")
    items = (*(one for one in note.items if one != code), *((code,) if args.on else ()))
    linked = note.model_copy(update={"items": items})
    return desk.with_(**{field: tuple(linked if one is note else one for one in notes)})


_VERBS: dict[str, tuple[type[Value], Callable[[_Desk, Any], MarkSheet]]] = {
    "band": (BandArgs, lambda desk, args: desk.with_(band=args.band)),
    "points": (PointsArgs, lambda desk, args: desk.with_(typed=args.points)),
    "tick": (TickArgs, _tick),
    "untick": (CodeArgs, _untick),
    "claim": (ClaimArgs, _claim),
    "mixed": (MixedArgs, _mixed),
    "reason": (WordsArgs, lambda desk, args: desk.with_(reason=text_clean(args.words))),
    "approach": (WordsArgs, lambda desk, args: desk.with_(approach=text_clean(args.words))),
    "verdict": (VerdictArgs, _verdict),
    "verdict_role": (RoleArgs, _verdict_role),
    "verdict_remove": (IdArgs, _verdict_remove),
    "comment": (CommentArgs, _comment),
    "comment_remove": (IdArgs, _comment_remove),
    "grant": (GrantArgs, _grant),
    "link": (LinkArgs, _link),
    "clear": (Nothing, lambda desk, args: MarkSheet()),
}
VERBS = frozenset(_VERBS)
