"""Formula checks that a scaffold asks for itself: before votes, for the prompts of verifiers, and as a tool of models.

Each is a tool call of the run (`Context.tool`), recorded under a key of its own. So a replay asks nothing again, and what a
scaffold does after a check follows from its record. Checks alongside a run (formula_checks.py) are apart from these.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.tools import MathFinding, MathJob, MathText, ToolAnswer, read_findings
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load

#: Prompt texts of checks, shared by all methods.
METHOD = "checks"
#: Parameters of scaffolds that use these prompts.
OPTIONS = frozenset({"verifier_marks", "check_tool"})
REFUTED = "refuted by the formula check; no votes were spent"
MOST_WORDS = 12
_TESTABLE = re.compile(r"[$\\\d]")
_LONGEST_QUOTE = 300


def marks_option() -> Any:
    """The parameter `verifier_marks` of a scaffold."""
    return Field(
        default=False,
        title="Marks for verifiers",
        description="Show verifiers the formulas of the text that the formula check proved or refuted.",
    )


class Formulas(Value):
    """The findings in one text, or `unchecked`, the reason why there are none."""

    findings: tuple[MathFinding, ...] = ()
    unchecked: str = ""
    is_off: bool = False

    @property
    def refuted(self) -> tuple[MathFinding, ...]:
        """The refuted formulas."""
        return tuple(one for one in self.findings if one.outcome == "refuted")

    @property
    def marked(self) -> tuple[MathFinding, ...]:
        """The refuted formulas, then the proved ones, each once."""
        marked = (one for one in (*self.refuted, *self.findings) if one.outcome in ("proved", "refuted"))
        return tuple({finding_words(one): one for one in marked}.values())


def statement_part(text: str) -> MathText:
    """A lemma's statement as a part of a check."""
    return MathText(id="statement", text=text)


def step_parts(steps: Sequence[str]) -> tuple[MathText, ...]:
    """The steps of a proof as parts of a check."""
    return tuple(MathText(id=f"step {number}", text=text) for number, text in enumerate(steps, 1))


def is_testable(parts: Sequence[MathText]) -> bool:
    """Whether any part may contain a formula."""
    return any(_TESTABLE.search(part.text) for part in parts)


async def formulas_of(ctx: Context, key: str, parts: Sequence[MathText], *, context: str, place: Place) -> Formulas:
    """Check the parts of one text, in the context of the problem's statement. A text without formulas is not sent."""
    if not is_testable(parts):
        return Formulas()
    job = MathJob(texts=tuple(part.model_copy(update={"group": "text"}) for part in parts), context=context)
    answer = await ctx.tool(key, job="check_math", content=job.model_dump_json(), place=place)
    return read_formulas(answer, parts)


def read_formulas(answer: ToolAnswer, parts: Sequence[MathText]) -> Formulas:
    """The findings of an answer about these parts; findings at other places are left out."""
    found = read_findings(answer)
    if isinstance(found, Unscored):
        return Formulas(unchecked=found.reason, is_off=answer.is_off)
    texts = {part.id: part.text for part in parts}
    kept = (one for one in found if texts.get(one.text_id, "")[one.anchor.start : one.anchor.end] == one.anchor.quote)
    return Formulas(findings=tuple(one.model_copy(update={"group": ""}) for one in kept))


def marks(formulas: Formulas, fenced: Callable[[str], str]) -> str:
    """The proved and refuted formulas in words for the prompt of a verifier; "" if there are none.

    `fenced` puts a text of models between delimiters: the quotes are theirs.
    """
    return marks_of({"": formulas}, fenced)


def marks_of(texts: Mapping[str, Formulas], fenced: Callable[[str], str]) -> str:
    """The same of several texts, each under its heading."""
    blocks = [
        f"{heading}\n{fenced(lines)}".strip() for heading, formulas in texts.items() if (lines := _marked_lines(formulas))
    ]
    return "\n\n".join([load("checks/forms/marks").system, *blocks]) if blocks else ""


def _marked_lines(formulas: Formulas) -> str:
    shown = [finding_words(one) for one in formulas.marked]
    left = [f"- {len(shown) - MOST_WORDS} more marked formulas are not shown."] if len(shown) > MOST_WORDS else []
    return "\n".join([*(f"- {words}" for words in shown[:MOST_WORDS]), *left])


def finding_words(finding: MathFinding) -> str:
    """One finding: where, the formula, its outcome, and the counterexample, the method of the proof, or the reason."""
    quote = " ".join(finding.anchor.quote.split())
    quote = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]} …"
    return f"{finding.text_id}: `{quote}` {_outcome_words(finding)}"


def _outcome_words(finding: MathFinding) -> str:
    match finding.outcome:
        case "refuted":
            return f"is refuted{_counterexample_words(finding)}."
        case "proved" if finding.certificate is not None:
            known = finding.certificate
            said = [known.method, f"assuming {', '.join(known.assumptions)}" if known.assumptions else "", known.where]
            return f"is proved ({'; '.join(filter(None, said))})."
        case "proved":
            return "is proved."
        case "survived":
            tried = f" ({finding.tried})" if finding.tried else ""
            return f"survived {finding.tests} test{'s' if finding.tests != 1 else ''}{tried}. This proves nothing."
        case "stopped":
            return "has no result: the time limit ended the test."
        case _:
            return f"was not understood{f': {finding.reason}' if finding.reason else ''}."


def _counterexample_words(finding: MathFinding) -> str:
    example = finding.counterexample
    if example is None:
        return ""
    point = ", ".join(f"{name} = {value}" for name, value in example.values.items())
    sides = f"{example.left} against {example.right}" if example.right else example.left
    return f" (at {point}: {sides})" if point else f" ({sides})"
