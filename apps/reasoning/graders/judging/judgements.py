"""Reading of a grader's answer: findings, items and a total, each separately, in any unambiguous form.

An unreadable finding costs no points and is listed in `lost`. Workflows that need every item check `broken`. Two different
totals count as none. Words of the script, repeated by the grader, are no judgement.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grading import SEVEN
from apps.reasoning.graders.judging.answers import after_block, entries, outside, structure_in
from apps.reasoning.graders.judging.said import FindingSaid, GradingSaid, ItemSaid, PartSaid
from apps.reasoning.graders.judging.totals import TOTALS, points_said, total_closing, total_in_words
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.sheet import WORDS_LENGTH
from apps.reasoning.marking.suggestion import FINDINGS_AT_MOST
from apps.reasoning.reading.answers import answer_part, plain, read_json, tag_pattern, whole_answer
from apps.reasoning.reading.closings import Closing, Said, is_taken_back, json_within
from apps.reasoning.reading.echoes import own_text

WRAPPER = "grading"
CUT_OFF = "the text was cut off at its token limit"
NO_TOTAL = "there are no points"
NO_FORM, CUT_END = "its findings, which have no form", "the end of the answer, which was cut off"
_FIELDS = tuple(GradingSaid.model_fields)
_QUOTE = tag_pattern("quote")
_HALF = re.compile(r"<(/?(?:finding|item|part|chain|points))(?![\w-])", re.IGNORECASE)
_LAST_POINTS = re.compile(r"<points(?:\s[^<>]{0,80})?>[ \t]*([^<\n]{1,40})\s*\Z", re.IGNORECASE)
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_OBJECTS_AT_MOST = 20
_MET = {False: re.compile(r"(?:no|not\s+met|unmet|false)(?![\w-])", re.I), True: re.compile(r"(?:yes|met|true)(?![\w-])", re.I)}
_DOUBT = re.compile(r"\b(?:or|partly|partially|unless|but)\b|\?", re.IGNORECASE)
V = TypeVar("V", bound=Value)
Worths = Mapping[str, Decimal]


class GradingRead(GradingSaid):
    """An answer as read. `lost`: its unreadable parts. `broken`: why its items are unreliable. `no_total`: what is wrong with
    its total, if it has one."""

    lost: tuple[str, ...] = ()
    broken: str = ""
    no_total: str = ""


def grading_read(final: Final, scale: Decimal = SEVEN, worth: Worths | None = None, shown: str = "") -> GradingRead | Unscored:
    """Read an answer, with points out of `scale`, and out of `worth` for an item. `shown`: the texts shown to the grader.

    Unscored where there is no answer, or where it was cut off before its total was complete.
    """
    answer = whole_answer(final)
    is_cut = isinstance(answer, Unscored) and final.finish_reason == "length"
    if is_cut:
        answer = answer_part(final.text)
    if isinstance(answer, Unscored):
        return answer
    fields = _fields(answer)
    if isinstance(fields, Unscored):
        return Unscored(reason=CUT_OFF) if is_cut else _without_structure(answer, fields.reason, scale, shown)
    total = _total(fields, answer, scale, shown, is_cut)
    if is_cut and not isinstance(total, Decimal):
        return Unscored(reason=CUT_OFF)
    return _read(fields, total, worth or {}, (CUT_END,) if is_cut else ())


def findings_read(final: Final, shown: str = "") -> GradingRead:
    """Read everything but the points of an answer, even a truncated one: findings, or prose as feedback to the author."""
    answer = answer_of(final)
    fields = _fields(answer)
    cut = (CUT_END,) if final.finish_reason == "length" else ()
    if not isinstance(fields, Unscored):
        read = _read(fields, None, {}, cut)
        return read.model_copy(update={"items": (), "broken": "", "no_total": ""})
    prose = own_text(answer, shown)
    if isinstance(prose, Unscored):
        return GradingRead(lost=("an examination, for there is none",))
    return GradingRead(feedback=prose[:WORDS_LENGTH], lost=(NO_FORM, *cut))


def answer_of(final: Final) -> str:
    """The text without thinking; "" where there is none."""
    answer = answer_part(final.text)
    return answer if isinstance(answer, str) else ""


def _fields(answer: str) -> dict[str, Any] | Unscored:
    found = structure_in(answer, WRAPPER, (*_FIELDS, *TOTALS), _of_tags)
    if isinstance(found, Unscored) and any(entries(answer, tag) for tag in ("finding", "item")):
        return _of_tags(answer)
    return found


def _without_structure(answer: str, reason: str, scale: Decimal, shown: str) -> GradingRead:
    """Read prose, with its total if it has one. Repetitions of the prompt are no feedback."""
    found = total_in_words(answer, scale, shown)
    prose = own_text(found.before if isinstance(found, Said) else answer, shown)
    return GradingRead(
        points=found.value if isinstance(found, Said) else None,
        feedback="" if isinstance(prose, Unscored) else prose[:WORDS_LENGTH],
        lost=(NO_FORM,),
        broken=reason,
        no_total=found.reason if isinstance(found, Unscored) else "",
    )


def items_in_lines(answer: str, worth: Worths | None = None, codes: Sequence[str] = ()) -> GradingRead | Unscored:
    """Points for every item of `worth`, or whether each of `codes` is met, from lines such as `M1: 2/3`."""
    items = []
    for code in worth or codes:
        parse = met_said if worth is None else partial(points_said, of=worth[code])
        found = Closing(code, f"decision on {code}", parse, (code.lower(), f"item {code.lower()}")).read(answer)
        if isinstance(found, Unscored):
            return found
        said = {"met": found.value} if worth is None else {"points": found.value}
        items.append(ItemSaid.model_validate({"code": code} | said))
    return GradingRead(items=tuple(items), lost=(NO_FORM,))


def met_said(written: str) -> bool | None:
    """`yes`, `not met because …` as whether an item is met; None for what is neither, or both."""
    said = plain(written)
    found = next((met for met, pattern in _MET.items() if pattern.match(said)), None)
    return None if found is None or _DOUBT.search(said) else found


def _total(fields: dict[str, Any], answer: str, scale: Decimal, shown: str, is_cut: bool) -> Decimal | Unscored | None:
    """The total, what is wrong with it, or None where there is none."""
    given = [one for name in TOTALS for one in _several(fields.get(name)) if one not in (None, "")]
    read = [points_said(one, scale) for one in given]
    if None in read:
        return Unscored(reason=f"the points are {str(given[read.index(None)])[:40]!r}, not from 0 to {points_text(scale)}")
    totals = {one for one in [*read, *_in_other_objects(answer, scale)] if one is not None} if read else set()
    if len(totals) > 1:
        return Unscored(reason=f"it gives different points: {' and '.join(points_text(one) for one in sorted(totals))}")
    if totals:
        (total,) = totals
        rest = after_block(answer, WRAPPER) or answer[answer.rfind("}") + 1 :]
        later = total_closing(scale).all(rest)
        is_other = any(one != total for one in later) or is_taken_back(rest)
        return Unscored(reason="what follows its points contradicts them") if is_other else total
    found = None if is_cut else total_in_words(answer, scale, shown)
    return found if found is None or isinstance(found, Unscored) else found.value


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _in_other_objects(answer: str, scale: Decimal) -> list[Decimal | None]:
    """The totals of earlier JSON objects in prose."""
    if read_json(answer) is not None:
        return []
    starts = [match.start() for match in _OBJECT.finditer(answer)][-_OBJECTS_AT_MOST:]
    found = [json_within(answer[:start], *TOTALS) for start in starts[1:]]
    return [points_said(one[name], scale) for one in found if one for name in TOTALS if one.get(name) not in (None, "")]


def _read(fields: dict[str, Any], total: Decimal | Unscored | None, worth: Worths, lost: tuple[str, ...]) -> GradingRead:
    findings, unread = _each(FindingSaid, _named(fields.get("findings")))
    parts, _ = _each(PartSaid, _objects(fields.get("parts")))
    items, wrong = _each(ItemSaid, [_item(one, worth) for one in _coded(fields.get("items"))])
    broken = str(fields.get("broken", "")) or (f"an item cannot be read: {wrong[0]}" if wrong else "")
    if len({one.code for one in items}) < len(items):
        broken = broken or "an item has the name of another"
    if unread:
        count = len(findings) + len(unread)
        lost = (*lost, f"{len(unread)} of {count} finding{'s' * (count > 1)} ({unread[0]})")
    if fields.get("broken"):
        lost = (*lost, str(fields["broken"]))
    return GradingRead(
        findings=tuple(findings[:FINDINGS_AT_MOST]),
        items=tuple(items),
        parts=tuple(parts),
        chains=tuple(one for one in _several(fields.get("chains")) if isinstance(one, str)),
        feedback=str(fields.get("feedback") or "")[:WORDS_LENGTH],
        points=total if isinstance(total, Decimal) else None,
        no_total=total.reason if isinstance(total, Unscored) else "",
        broken=broken,
        lost=lost,
    )


def _each(shape: type[V], given: Sequence[dict[str, Any]]) -> tuple[list[V], list[str]]:
    """Those that have the shape, and what is wrong with each of the others. Fields that the shape has not are left out."""
    found, wrong = [], []
    for one in given:
        try:
            found.append(shape.model_validate({name: value for name, value in one.items() if name in shape.model_fields}))
        except ValidationError as error:
            first = error.errors()[0]
            wrong.append(f"{' '.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')[:120]}")
    return found, wrong


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in _several(value) if isinstance(one, dict)]


def _named(value: Any) -> list[dict[str, Any]]:
    """Findings with names of their own: a name that is missing, or that another one has, is replaced by a free one."""
    given, taken = _objects(value), set[str]()
    for number, one in enumerate(given, 1):
        name = str(one.get("id", "")).strip().upper()
        if name in taken or not re.fullmatch(r"[A-Z][A-Z0-9]{0,7}", name):
            name = next(free for at in range(number, 2 * len(given) + 1) if (free := f"E{at}") not in taken)
        taken.add(name)
        one["id"] = name
    return given


def _coded(value: Any) -> list[dict[str, Any]]:
    """Items, also from an object that has them by their codes."""
    if isinstance(value, dict):
        return [
            {"code": code} | (one if isinstance(one, dict) else {"met" if isinstance(one, bool) else "points": one})
            for code, one in value.items()
        ]
    return _objects(value)


def _item(one: dict[str, Any], worth: Worths) -> dict[str, Any]:
    """The item with its points as a number, where they are written as `2/3`."""
    said = one.get("points")
    if not isinstance(said, str):
        return one
    read = points_said(said, worth.get(str(one.get("code")), SEVEN))
    return one | {"points": said if read is None else read}


def _of_tags(body: str) -> dict[str, Any]:
    judged = outside(body, "finding", "feedback", "quote")
    totals = outside(judged, "item", "part", "chain")
    points = [text for _, text in entries(totals, "points")] or _LAST_POINTS.findall(totals)
    rest = _LAST_POINTS.sub("", outside(totals, "points"))
    # One entry inside another of its kind would else be read in its place: an item in the reason of an item.
    half = _HALF.search(rest)
    return {
        "findings": [_finding(given, text) for given, text in entries(outside(body, "feedback"), "finding")],
        "items": [given | {"reason": text} for given, text in entries(judged, "item")],
        # No points hang on a part: what else is said of it makes no answer unreadable.
        "parts": [
            {"name": given.get("name", "")[:40], "step": given.get("step", "0"), "words": text[:WORDS_LENGTH]}
            for given, text in entries(judged, "part")
        ],
        "chains": [text for _, text in entries(judged, "chain")],
        "feedback": "\n\n".join(text for _, text in entries(body, "feedback")),
        "points": points,
        "broken": f"<{half.group(1).lower()}> is not closed, or is inside another" if half else "",
    }


def _finding(given: dict[str, str], text: str) -> dict[str, Any]:
    quote = _QUOTE.search(text)
    return given | {"quote": quote.group(1).strip() if quote else "", "comment": _QUOTE.sub("", text).strip()}
