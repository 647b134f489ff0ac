"""What a grader wrote, read strictly: one JSON object, or entries inside a closing `<grading>`. Half of it is nothing."""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.marking.sheet import WORDS_LENGTH, Fallacy
from apps.reasoning.marking.suggestion import FINDINGS_AT_MOST, Severity
from apps.reasoning.reading.answers import closing_match, read_json, tag_pattern, whole_answer, without

T = TypeVar("T", bound=Value)
#: A schema that lets a text stand for a number is filled with words by small models.
PointsSaid = Annotated[Decimal, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]
ReadTags = dict[str, Any] | Unscored
LONGEST_QUOTE = 2_000
PARTS_AT_MOST = 200

_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)
_QUOTE = tag_pattern("quote")
_NO_GRADING = tag_pattern("no-grading")
_HALF = re.compile(r"<(/?(?:finding|item|part|chain|points))(?![\w-])", re.IGNORECASE)


def _slug(value: Any) -> Any:
    """`Proof by Example` as `proof-by-example`: the same name, however it is written."""
    return re.sub(r"[\s_]+", "-", value.strip().lower()) if isinstance(value, str) else value


def _first_number(value: Any) -> Any:
    """Where several steps are named, the first; no points hang on it."""
    found = re.search(r"\d{1,4}", value) if isinstance(value, str) else None
    return int(found[0]) if found else 0 if isinstance(value, str) else value


class FindingSaid(Value):
    """An error as a grader writes it. `step` 0 names none."""

    id: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,7}$"), BeforeValidator(lambda name: str(name).upper())]
    step: Annotated[int, Field(ge=0)] = 0
    type: Annotated[Fallacy, BeforeValidator(_slug)]
    severity: Annotated[Severity, BeforeValidator(_slug)] = Severity.GAP
    quote: Annotated[str, Field(max_length=LONGEST_QUOTE)] = ""
    comment: Annotated[str, Field(min_length=1, max_length=WORDS_LENGTH)]
    contradicts: bool = False


class ItemSaid(Value):
    """An item of a rubric with the points given for it, or of a scheme with whether it is met."""

    code: str
    points: PointsSaid | None = None
    met: bool | None = None
    reason: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""


class PartSaid(Value):
    """A part of the script's argument: a main step M1, a sub-step S1 of the main step before it, or a claim C1."""

    name: Annotated[str, Field(max_length=40)] = ""
    step: Annotated[int, Field(ge=0), BeforeValidator(_first_number)] = 0
    words: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""


class GradingSaid(Value):
    """The whole answer. `points` is the total, `parts` those of the argument by which `chains` run."""

    findings: Annotated[tuple[FindingSaid, ...], Field(max_length=FINDINGS_AT_MOST)] = ()
    items: tuple[ItemSaid, ...] = ()
    parts: Annotated[tuple[PartSaid, ...], Field(max_length=PARTS_AT_MOST)] = ()
    chains: tuple[str, ...] = ()
    feedback: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""
    points: PointsSaid | None = None


def answer_read(
    final: Final, wrapper: str, shape: type[T], of_tags: Callable[[str], dict[str, Any] | Unscored]
) -> T | Unscored:
    """An answer as JSON or inside its closing `<wrapper>`, in its shape. Anything unknown, missing or off is Unscored."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    value = read_json(answer)
    if value is None:
        block = closing_match(answer, tag_pattern(wrapper), what=f"<{wrapper}>")
        if isinstance(block, Unscored):
            declined = list(_NO_GRADING.finditer(answer))
            return Unscored(reason="it says itself that it cannot") if declined else block
        tags = of_tags(block.group(1))
        if isinstance(tags, Unscored):
            return tags
        value = tags
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(str(part) for part in first["loc"]) or wrapper
        return Unscored(reason=f"{where}: {first['msg'].removeprefix('Value error, ')[:160]}")


def grading_read(final: Final) -> GradingSaid | Unscored:
    """A grader's answer. That its findings have names of their own is part of its form."""
    said = answer_read(final, "grading", GradingSaid, _grading_tags)
    if isinstance(said, Unscored):
        return said
    for what, names in (("finding", [one.id for one in said.findings]), ("item", [one.code for one in said.items])):
        if len(set(names)) != len(names):
            return Unscored(reason=f"a {what} has the name of another")
    return said


def entries(body: str, tag: str) -> list[tuple[dict[str, str], str]]:
    """Every `<tag …>…</tag>` or `<tag …/>` of a body: its attributes by small names, empty ones left out, and what it holds."""
    return [(_attributes(found.group(1)), (found.group(2) or "").strip()) for found in _entry(tag).finditer(body)]


@cache
def _entry(tag: str) -> re.Pattern[str]:
    # `a-tag` is another tag, and one that never ends does not swallow the next.
    inner = without(rf"{tag}(?![\w-])")
    return re.compile(rf"<{tag}(?![\w-])([^<>]{{0,300}}?)(?:/>|>({inner})</{tag}>)", re.IGNORECASE)


def _outside(body: str, *tags: str) -> str:
    """The body without these entries: what is quoted in one, or said to the author, is no judgement."""
    for tag in tags:
        body = _entry(tag).sub(" ", body)
    return body


def _attributes(text: str) -> dict[str, str]:
    found = {name.lower(): (one or other).strip() for name, one, other in _ATTRIBUTE.findall(text)}
    return {name: value for name, value in found.items() if value}


def _grading_tags(body: str) -> ReadTags:
    judged = _outside(body, "finding", "feedback", "quote")
    totals = _outside(judged, "item", "part", "chain")
    # One entry inside another of its kind would else be read in its place: an item in the reason of an item.
    if half := _HALF.search(_outside(totals, "points")):
        return Unscored(reason=f"<{half.group(1).lower()}> is not closed, or stands inside another")
    points = [text for _, text in entries(totals, "points")]
    value: dict[str, Any] = {
        "findings": [_finding(attributes, text) for attributes, text in entries(_outside(body, "feedback"), "finding")],
        "items": [_item(attributes, text) for attributes, text in entries(judged, "item")],
        "parts": [
            {"name": attributes.get("name", ""), "step": attributes.get("step", "0"), "words": text[:WORDS_LENGTH]}
            for attributes, text in entries(judged, "part")
        ],
        "chains": [text for _, text in entries(judged, "chain")],
        "feedback": "\n\n".join(text for _, text in entries(body, "feedback"))[:WORDS_LENGTH],
    }
    # Two totals are no total: the shape then refuses the list.
    return value | ({"points": points[0] if len(points) == 1 else points} if points else {})


def _finding(attributes: dict[str, str], text: str) -> dict[str, Any]:
    quote = _QUOTE.search(text)
    return attributes | {"quote": quote.group(1).strip() if quote else "", "comment": _QUOTE.sub("", text).strip()}


def _item(attributes: dict[str, str], text: str) -> dict[str, Any]:
    return attributes | {"reason": text}


def _part(attributes: dict[str, str], text: str) -> dict[str, Any]:
    # No points hang on a part: what else is said of it makes no answer unreadable.
    return {"name": attributes.get("name", "")[:40], "step": attributes.get("step", ""), "words": text[:WORDS_LENGTH]}
