"""The tool `check_formulas`: a model hands in a text, and reads what the computational verifier finds in its formulas."""

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.tools import MathText
from apps.reasoning.domain.values import Value
from apps.reasoning.scaffolds.alpha_apollo.responses import cut
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.checking_first import Formulas, finding_words, formulas_of

MOST_ASKED = 6_000
MOST_FINDINGS = 20
USED_UP = "all formula checks of this conversation are used up"


class Tested(Value):
    """The response to a model, and the reason why nothing was tested, or ""."""

    response: str
    problem: str = ""
    tool: str = ""


async def tested(desk: Desk, key: str, text: str, place: Place, *, left: int) -> Tested:
    """Test a text in the context of the problem; `left` checks may be requested, this one included."""
    if left <= 0:
        return Tested(response=f"Nothing was tested: {USED_UP}.", problem=USED_UP)
    if len(text) > MOST_ASKED:
        problem = f"the text has more than {MOST_ASKED:,} characters"
        return Tested(response=f"Nothing was tested: {problem}.", problem=problem)
    parts = (MathText(id="text", text=text),)
    found = await formulas_of(desk.ctx, key, parts, context=desk.problem.statement, place=place)
    if found.unchecked:
        return Tested(response=f"Nothing was tested: {cut(found.unchecked, 400)}", problem=found.unchecked, tool=key)
    return Tested(response=f"{_words(found)}\n{_left(left - 1)}", tool=key)


def _words(found: Formulas) -> str:
    if not found.findings:
        return "The text contains no formula that could be tested."
    lines = [f"- {finding_words(one)}" for one in found.findings[:MOST_FINDINGS]]
    more = len(found.findings) - MOST_FINDINGS
    return "\n".join([*lines, *([f"- {more} more formulas are not shown."] if more > 0 else [])])


def _left(left: int) -> str:
    return f"{left} formula check{'s' if left != 1 else ''} left in this conversation."
