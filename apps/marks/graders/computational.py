"""The computational verifier as a grader: steps with a formula that is false at a point. It gives no points and no ticks.

The check runs in a child process with limits on time and memory (docs/mathcheck.md). A formula that passes proves nothing
about its step, so only refutations become findings.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from apps.lemmas.formula_checks import formulas_of_answer
from apps.marks.graders.port import GraderFailed, GraderStep, Question
from apps.marks.graders.warm_verifier import VerifierFailed, answer_of
from apps.reasoning.domain.tools import Execution, MathFinding, MathFindings, MathJob, MathText
from apps.reasoning.graders.judging.suspicion import suspicious_in
from apps.reasoning.graders.material import Span
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, Fallacy
from apps.reasoning.marking.suggestion import FINDINGS_AT_MOST, Finding, Severity, SuggestionBody
from apps.reasoning.texts.anchors import anchor_make

COMPUTATIONAL = "computational"


@dataclass(frozen=True)
class ComputationalGrader:
    """Runs the verifier on every step, with the problem's statement as context."""

    name: str = COMPUTATIONAL
    label: str = "Formula check, computed without a model"
    revision: str = "4"
    needs_scheme: bool = False

    def answer(self, question: Question) -> SuggestionBody:
        """The refuted formulas as findings, each with its counterexample. Raises `GraderFailed`."""
        steps = {f"step {step.number}": step for step in question.steps}
        if not steps:
            return SuggestionBody(remarks="There is no text to check.", suspicious=_suspicious(question))
        texts = tuple(MathText(id=name, text=question.source[step.start : step.end]) for name, step in steps.items())
        found = math_findings(MathJob(texts=texts, context=question.statement))
        refuted = [one for one in found if one.outcome == "refuted" and one.text_id in steps]
        proved, survived = (sum(one.outcome == outcome for one in found) for outcome in ("proved", "survived"))
        if stopped := sum(one.outcome == "stopped" for one in found):
            raise GraderFailed(
                f"The time limit stopped the tests of {stopped} formulas. Nothing was kept; the next request repeats them."
            )
        return SuggestionBody(
            findings=tuple(
                _finding(number, one, steps[one.text_id], question) for number, one in enumerate(refuted[:FINDINGS_AT_MOST], 1)
            ),
            remarks=_remarks(len(found), len(refuted), proved, survived),
            suspicious=_suspicious(question),
        )


def math_findings(job: MathJob) -> tuple[MathFinding, ...]:
    """The verifier's findings for a job, from a child process. Raises `GraderFailed`."""
    try:
        return MathFindings.model_validate_json(answer_of(job.model_dump_json())).findings
    except VerifierFailed as error:
        raise GraderFailed(str(error)) from error
    except ValidationError as error:
        raise GraderFailed("The output of the formula check could not be read.") from error


def _finding(number: int, refuted: MathFinding, step: GraderStep, question: Question) -> Finding:
    start, end = step.start + refuted.anchor.start, step.start + refuted.anchor.end
    return Finding(
        id=f"f{number}",
        step=step.number,
        anchor=anchor_make(question.source, start, end),
        fallacy=Fallacy.CALCULATION,
        severity=Severity.CRITICAL,
        words=_words(refuted),
    )


def _words(refuted: MathFinding) -> str:
    """`claims $…$; at $a=1$ the sides are …`: the wording of refuted formulas on pages."""
    printed = MathFindings(findings=(refuted,)).model_dump_json()
    formula = formulas_of_answer(Execution(stdout=printed).model_dump_json())[0]
    return f"Claims {formula.tex}; {formula.detail}"


def _suspicious(question: Question) -> tuple[str, ...]:
    spans = [Span(start=step.start, end=step.end) for step in question.steps]
    return tuple(words[:REASON_LENGTH] for words in suspicious_in(question.source, spans))


def _remarks(tested: int, refuted: int, proved: int, survived: int) -> str:
    if not tested:
        return "No formula could be tested."
    unread = tested - refuted - proved - survived
    passed = f"{proved} {'was' if proved == 1 else 'were'} proved, {survived} passed tests"
    return f"Of {tested} formulas, {refuted} failed at a point, {passed} and {unread} were not understood."
