"""Readings of a turn and of its second request: first strictly by tags, then in words, then as one JSON object.

A submitted report or solution must itself be readable. An ambiguous turn counts as unreadable.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.loader import RenderedPrompt, load
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.echoes import SHORTEST_WHOLE, own_text
from apps.reasoning.reading.proofs import ReadProof, read_steps
from apps.reasoning.reading.turns.actions import (
    TOOLS,
    Action,
    Kind,
    Report,
    judged,
    read_action,
    read_handed_in,
    read_judgement_again,
    read_report,
    read_report_in_words,
)
from apps.reasoning.reading.turns.turn_forms import TurnForm, read_turn_form, turn_schema, without_loop
from apps.reasoning.scaffolds.running.hearing import Reading
from apps.reasoning.scaffolds.running.turns import Conversation, Turn

Finishing = Literal["answer", "report"]
_ASKS_JSON: dict[Finishing, str] = {"answer": "turn_json", "report": "examination_json"}
#: Signs that an examination tried to use a tool: it may still use one. Otherwise only its judgement is requested again.
_TOOL = re.compile(
    r"<(?:python_code|local_rag|check_formulas|tool_call|tools)\b|^[ \t]*```|\"(?:arguments|parameters)\"",
    re.IGNORECASE | re.MULTILINE,
)
_BOTH = "it ends the conversation and uses a tool, and a turn has one action"


#: A turn of AlphaApollo: it may submit a solution or a report.
Taken = Turn[ReadProof | Report]
Talk = Conversation[ReadProof | Report]


def reading_of(
    finishing: Finishing, prompt: RenderedPrompt, stops: Sequence[str], *, is_last: bool, tools: tuple[Kind, ...] = TOOLS
) -> Reading[Taken]:
    """The reading of a turn that may end with `finishing`; the last turn must. `tools`: those that are offered."""

    def read(final: Final) -> Taken | Unscored:
        action = read_action(final, finishing, stops, tools=tools)
        if isinstance(action, Action) and action.kind == finishing:
            return _handed_in(action)
        ending = _ending_in_words(final, finishing, prompt.text, is_last=is_last)
        if ending is None:
            return action if isinstance(action, Unscored) else Turn(action)
        return Unscored(reason=_BOTH) if isinstance(action, Action) and not is_last else ending

    def again(second: Final, first: str) -> Taken | Unscored:
        form = read_turn_form(second)
        if form is not None:
            return form if isinstance(form, Unscored) else _of_form(form, finishing, first, prompt)
        found, said = read(second), whole_answer(second)
        if finishing == "answer" or isinstance(found, Turn) or isinstance(said, Unscored):
            return found
        report = read_judgement_again(said, first)
        return found if isinstance(report, Unscored) else _reported(report)

    schema = turn_schema(finishing, is_last=is_last)
    if finishing == "answer":
        return Reading[Taken](read, "turn", again, schema, asks_json="turn_json")
    examining = Reading[Taken](read, "examination", again, schema, asks_json="examination_json")
    ended = turn_schema(finishing, is_last=True)
    closing = replace(examining, schema=ended, asks_json="report_json", examined=again)
    return replace(examining, instead=lambda first: examining if _TOOL.search(first.text) else closing)


def _handed_in(action: Action) -> Taken | Unscored:
    """The turn of a final block; `Unscored` if its content is unreadable."""
    found = read_steps(action.content) if action.kind == "answer" else read_report(action.content)
    return found if isinstance(found, Unscored) else Turn(action, found)


def _ending_in_words(final: Final, finishing: Finishing, prompt: str, *, is_last: bool) -> Taken | None:
    """The turn of a solution or report outside a block; None if there is none."""
    found = read_handed_in(final, prompt, is_last=is_last) if finishing == "answer" else read_report_in_words(final, prompt)
    return None if isinstance(found, Unscored) else Turn(Action(kind=finishing, content=found.text), found)


def _of_form(form: TurnForm, finishing: Finishing, first: str, prompt: RenderedPrompt) -> Taken | Unscored:
    """The turn described by a JSON object; the `first` answer has the examination behind its judgement."""
    if form.repeats(f"{prompt.messages[0].content} {load(f'shared/again/{_ASKS_JSON[finishing]}').system}"):
        return Unscored(reason="it only repeats words of the question")
    if form.field == "code":
        return Turn(Action(kind="python_code", content=form.code, called=True))
    if form.field == "steps" and finishing == "answer":
        proof = ReadProof(steps=form.steps, way=form.way)
        if len(proof.text) < SHORTEST_WHOLE:
            return Unscored(reason="it is too short for a solution")
        return Turn(Action(kind="answer", content=proof.text, called=True), proof)
    if form.field == "judgement" and finishing == "report" and form.correct is not None:
        own = own_text(first, prompt.text)
        report = judged(form.correct, without_loop(own) if isinstance(own, str) else "")
        return report if isinstance(report, Unscored) else _reported(report)
    return Unscored(reason=f'"{form.field}" does not end this conversation')


def _reported(report: Report) -> Taken:
    return Turn(Action(kind="report", content=report.text, called=True), report)
