"""The shapes in which a grader answers: findings, items, parts, chains and a total. `judgements.py` reads them."""

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.sheets.sheet import WORDS_LENGTH, Fallacy
from apps.reasoning.marking.suggestion import FINDINGS_AT_MOST, Severity

#: Small models write words if a schema accepts text for a number.
PointsSaid = Annotated[Decimal, Field(ge=0), WithJsonSchema({"type": "number", "minimum": 0})]
LONGEST_QUOTE = 2_000
PARTS_AT_MOST = 200

_MET = {"met": True, "not-met": False, "unmet": False, "is-met": True, "is-not-met": False}


def slug(value: Any) -> Any:
    """`Proof by Example` as `proof-by-example`: the same name, however it is written."""
    return re.sub(r"[\s_]+", "-", value.strip().lower()) if isinstance(value, str) else value


def _met(value: Any) -> Any:
    """`not met` as no; what pydantic takes for a truth value stays as it is."""
    return _MET.get(slug(value), value) if isinstance(value, str) else value


def _first_number(value: Any) -> Any:
    """Where several steps are named, the first; no points hang on it."""
    found = re.search(r"\d{1,4}", value) if isinstance(value, str) else None
    return int(found[0]) if found else 0 if isinstance(value, str) else value


class FindingSaid(Value):
    """An error as a grader writes it. `step` 0 names none."""

    id: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,7}$"), BeforeValidator(lambda name: str(name).upper())]
    step: Annotated[int, Field(ge=0), BeforeValidator(_first_number)] = 0
    type: Annotated[Fallacy, BeforeValidator(slug)]
    severity: Annotated[Severity, BeforeValidator(slug)] = Severity.GAP
    quote: Annotated[str, Field(max_length=LONGEST_QUOTE)] = ""
    comment: Annotated[str, Field(min_length=1, max_length=WORDS_LENGTH)]
    contradicts: bool = False


class ItemSaid(Value):
    """An item of a rubric with the points given for it, or of a scheme with whether it is met."""

    code: str
    points: PointsSaid | None = None
    met: Annotated[bool | None, BeforeValidator(_met)] = None
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
