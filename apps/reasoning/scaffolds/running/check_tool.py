"""The tool `check_formulas`: a model hands in a text, and reads what the computational verifier finds in its formulas."""

from typing import Any

from pydantic import Field

from apps.reasoning.domain.generation import OfferedTool, Place
from apps.reasoning.domain.tools import MathText
from apps.reasoning.domain.values import Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load, render
from apps.reasoning.reading.turns.actions import Action
from apps.reasoning.scaffolds.running.checking_first import Formulas, finding_words, formulas_of
from apps.reasoning.scaffolds.running.turns import MOST_SHOWN, Done, cut

MOST_ASKED = 6_000
MOST_FINDINGS = 20
USED_UP = "all formula checks of this conversation are used up"


#: Prompt file that describes the tool, and the stop string after its block.
FORM = "checks/forms/tool"
STOP = "</check_formulas>"
FUNCTION = OfferedTool(
    name="check_formulas",
    description="Tests the formulas of a text without a model: refuted, proved, survived or not understood.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The claims in words and TeX, with their conditions."}},
        "required": ["text"],
        "additionalProperties": False,
    },
)


def tool_option(**more: Any) -> Any:
    """The parameter `check_tool` of a scaffold."""
    said = "Most formula checks that a model may request in a conversation. 0 does not offer them."
    return Field(default=0, ge=0, le=16, title="Formula checks", **{"description": said, **more})


def turn_form(turn: int, turns: int, history: str) -> str:
    """The end of a prompt whose speaker may test formulas before it ends; `history` is fenced."""
    values = {
        "tool": load(FORM).system,
        "turn": str(turn),
        "turns": str(turns),
        "last": "This is the last turn: end the round now." if turn == turns else "After a test, another turn follows.",
        "history": history,
    }
    return render(load("checks/forms/turns"), values).text


class _Tested(Value):
    """The response to a model, and the reason why nothing was tested, or ""."""

    response: str
    problem: str = ""
    tool: str = ""


async def check_done(ctx: Context, statement: str, call: str, action: Action, place: Place, *, left: int) -> Done:
    """Test the text of an action in the context of the problem; `left` checks may be requested, this one included."""
    found = await _tested(ctx, statement, f"{call}/check", action.content, place, left=left)
    content, worked = cut(action.content, MOST_SHOWN), not found.problem
    return Done(action="check_formulas", content=content, succeeded=worked, **found.model_dump())


async def _tested(ctx: Context, statement: str, key: str, text: str, place: Place, *, left: int) -> _Tested:
    if left <= 0:
        return _Tested(response=f"Nothing was tested: {USED_UP}.", problem=USED_UP)
    if len(text) > MOST_ASKED:
        problem = f"the text has more than {MOST_ASKED:,} characters"
        return _Tested(response=f"Nothing was tested: {problem}.", problem=problem)
    found = await formulas_of(ctx, key, (MathText(id="text", text=text),), context=statement, place=place)
    if found.unchecked:
        return _Tested(response=f"Nothing was tested: {cut(found.unchecked, 400)}", problem=found.unchecked, tool=key)
    return _Tested(response=f"{_words(found)}\n{_left(left - 1)}", tool=key)


def _words(found: Formulas) -> str:
    if not found.findings:
        return "The text contains no formula that could be tested."
    lines = [f"- {finding_words(one)}" for one in found.findings[:MOST_FINDINGS]]
    more = len(found.findings) - MOST_FINDINGS
    return "\n".join([*lines, *([f"- {more} more formulas are not shown."] if more > 0 else [])])


def _left(left: int) -> str:
    return f"{left} formula check{'s' if left != 1 else ''} left in this conversation."
