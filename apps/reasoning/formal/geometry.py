"""Let a model write a statement of geometry in JGEX. The reader is the caller's; what it refuses is requested once more."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.formal.asking import DRAFTER, FAILED, FormalModel, Unread
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.closings import json_within
from apps.reasoning.reading.schemas import object_schema
from apps.reasoning.scaffolds.running.hearing import Reading

MOST_CLAUSES, MOST_GOALS = 20, 4
_POINT = "[a-z][a-z0-9]?"
_ARGUMENT = rf"({_POINT}|[0-9]{{1,3}}(o|pi/[0-9]{{1,2}}|/[0-9]{{1,2}})?)"


@dataclass(frozen=True)
class Drafted:
    """A statement as a model wrote it, and why it cannot be read; without any text, why there is none."""

    text: str
    refusal: str = ""


def statement_schema(constructions: Sequence[str], predicates: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a statement: each clause and each goal names a construction or predicate that exists."""
    made = rf"({'|'.join(map(re.escape, constructions))})( {_ARGUMENT}){{0,8}}"
    clause = {"type": "string", "pattern": rf"^{_POINT}( {_POINT}){{0,4}} = {made}(, {made})?$"}
    goal = {"type": "string", "pattern": rf"^({'|'.join(map(re.escape, predicates))})( {_ARGUMENT}){{1,8}}$"}
    return object_schema(
        {
            "clauses": {"type": "array", "items": clause, "minItems": 1, "maxItems": MOST_CLAUSES},
            "goals": {"type": "array", "items": goal, "maxItems": MOST_GOALS},
        }
    )


async def draft_statement(
    model: FormalModel, words: str, language: str, schema: dict[str, Any], refused: Callable[[str], str]
) -> Drafted:
    """A statement for a problem in words. Raises `Unread` if a call was not answered.

    `language` explains the constructions and goals. `refused` says why a statement cannot be read, or "".
    """
    desk, last = model.desk(words), ""

    def read(final: Final, _: str = "") -> Drafted | Unscored:
        nonlocal last
        answer = whole_answer(final)
        if isinstance(answer, Unscored):
            return answer
        value = json_within(answer, "clauses", "goals") or {}
        clauses, goals = (_lines(value.get(name)) for name in ("clauses", "goals"))
        if not clauses:
            return Unscored(reason="there is no JSON object with clauses")
        last = f"{'; '.join(clauses)}{' ? ' + '; '.join(goals) if goals else ''}"
        refusal = refused(last)
        return Unscored(reason=refusal) if refusal else Drafted(last)

    form = load("formal/forms/statement").system
    again = {"answer_form": form, "answer_form_json": form}
    reading = Reading[Drafted](read, "form", read, schema, asks_json="form_json", values=again)
    heard = await desk.hear(
        "draft",
        role=DRAFTER,
        prompt="formal/drafter",
        values={"answer_form": form, "language": language},
        place=Place(subject="statement"),
        reading=reading,
        schema=schema,
    )
    if isinstance(heard.value, Drafted):
        return heard.value
    if heard.value.reason.startswith(FAILED):
        raise Unread(heard.value.reason.removeprefix(FAILED))
    return Drafted(last, heard.value.reason)


def _lines(said: object) -> list[str]:
    """The texts of a list without empty ones; signs that separate clauses become spaces."""
    lines = (
        [" ".join(re.sub(r"[;?\n]", " ", one).split()) for one in said if isinstance(one, str)]
        if isinstance(said, list)
        else []
    )
    return [line for line in lines if line]
