"""Findings of the computational verifier in lemmas, proofs and candidates, from the run's events.

The findings are separate from the votes and have no confidence.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString

from apps.lemmas.later.reading import later_checks, later_outcomes, unfinished_words, why_not_later
from apps.reasoning.domain.check_events import FormulasChecked
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.tools import (
    MathCertificate,
    MathCounterexample,
    MathFinding,
    ToolAnswer,
    read_execution,
    read_findings,
)
from apps.reasoning.domain.values import Unscored
from apps.runs.models import Run, RunEvent
from apps.runs.selectors import run_story
from apps.ui.marking import render_marked

_OUTCOMES = {
    "proved": "proved",
    "refuted": "refuted",
    "survived": "survived",
    "not_understood": "not understood",
    "stopped": "stopped",
}
#: Least number of survived tests for underlining a formula in its text.
LEAST_UNDERLINED = 30
_WEAKEST_FIRST = {"refuted": 0, "survived": 2, "proved": 3}
_TABS = re.compile(r"(?<!\\)&|\\\\(?:\[[^\]]*\])?|\\tag\{[^}]*\}|\\(?:label|ref)\{[^}]*\}")
_COMPARED = {
    **dict.fromkeys(("arithmetic", "identity", "inequality", "congruence", "derivative"), "the sides are"),
    "divisibility": "the numbers are",
    "monotonicity": "the values are",
}


@dataclass(frozen=True)
class CheckedFormula:
    """A formula for a page. `tex` fits one line; `detail` has the method, counterexample, number of tests or reason.

    `certificate` is the proof, if there is one.
    """

    where: str
    tex: str
    outcome: str
    word: str
    detail: str
    start: int
    end: int
    tests: int = 0
    certificate: MathCertificate | None = None
    is_partial: bool = False
    #: Answers of proof assistants (`KernelCheck`), and the tools that may be asked (apps.lemmas.kernel).
    kernel: tuple[Any, ...] = ()
    kernel_tools: tuple[str, ...] = ()

    @property
    def is_kernel_waiting(self) -> bool:
        return any(row.state != "done" for row in self.kernel)

    @property
    def is_refuted(self) -> bool:
        return self.outcome == "refuted"

    @property
    def is_underlined(self) -> bool:
        """Whether the formula is refuted, proved with its whole chain, or survived `LEAST_UNDERLINED` tests."""
        proved = self.outcome == "proved" and not self.is_partial
        return self.is_refuted or proved or (self.outcome == "survived" and self.tests >= LEAST_UNDERLINED)


@dataclass(frozen=True)
class FormulaCheck:
    """The formula check of one subject.

    `outcome` is refuted, survived, not_understood, or stopped if a time limit left formulas untested. It is empty without a
    check. `unread` counts the formulas that were not understood.
    """

    outcome: str
    words: str
    formulas: tuple[CheckedFormula, ...] = ()
    call: str = ""
    #: Made after the import of the run, and not by the recorded run.
    is_later: bool = False
    unread: int = 0

    def of(self, where: str) -> list[CheckedFormula]:
        """The formulas of one part: `statement`, `step 3`."""
        return [formula for formula in self.formulas if formula.where == where]

    def refuted_at(self, where: str) -> list[CheckedFormula]:
        return [formula for formula in self.of(where) if formula.is_refuted]

    def marked(self, where: str, text: str) -> SafeString:
        """The text of a part as HTML, with marks on formulas as in `is_underlined`.

        If there are several claims in one formula, its mark is that of the weakest: refuted, survived, proved.
        """
        ordered = sorted(self.of(where), key=lambda formula: _WEAKEST_FIRST.get(formula.outcome, 1))
        return render_marked(text, [(one.start, one.end, one.outcome) for one in ordered if one.is_underlined])


def check_of(run: Run, subject: str, until: int | None = None) -> FormulaCheck:
    """The check of a lemma version, proof or candidate, with `until` as of that event; without a check, the reason."""
    keys = [f"check/{subject}/{ending}" for ending in ("told", "stopped", "late")]
    bodies = {event.key: event.body for event in _until(RunEvent.objects.filter(run=run, key__in=keys), until)}
    if bodies:
        return _check(FormulasChecked.model_validate(next(bodies[key] for key in keys if key in bodies)))
    if until is not None:
        return FormulaCheck("", "Not checked by then.")
    if later := later_checks(run, [subject]):
        return replace(_check(later[subject]), is_later=True)
    return FormulaCheck("", f"Not checked: {why_unchecked(run)}")


def checks_of(run: Run, subjects: Iterable[str]) -> dict[str, FormulaCheck]:
    """The checks of several subjects."""
    wanted = set(subjects)
    checks = run_story(run, {Kind.FORMULAS_CHECKED}).checks.of
    later = later_checks(run, wanted)
    found = {subject: replace(_check(one), is_later=True) for subject, one in later.items()}
    found |= {subject: _check(checks[subject][1]) for subject in wanted & checks.keys()}
    if wanted <= found.keys():
        return found
    missing = FormulaCheck("", f"Not checked: {why_unchecked(run)}")
    return {subject: found.get(subject, missing) for subject in wanted}


def formulas_of_answer(text: str) -> list[CheckedFormula]:
    """All formulas of a recorded check, including those not understood; `text` is the tool's answer."""
    found = read_findings(ToolAnswer(job="check_math", execution=read_execution(text)))
    return [] if isinstance(found, Unscored) else [formula_shown(one) for one in found]


def check_outcomes(run: Run, until: int | None = None) -> dict[str, tuple[str, int]]:
    """Outcome and event number by subject, for the whole run or until an event, without findings."""
    rows = _until(RunEvent.objects.filter(run=run, kind=Kind.FORMULAS_CHECKED).order_by("seq"), until)
    later = later_outcomes(run) if until is None else {}
    recorded = rows.values_list("body__subject", "body__outcome", "seq")
    return later | {subject: (outcome, seq) for subject, outcome, seq in recorded}


def why_unchecked(run: Run) -> str:
    """Reason why a subject of this run has no check."""
    if off := _off(run):
        return off
    if run.is_live:
        return "the check is under way, or there is no formula in it."
    if RunEvent.objects.filter(run=run, kind=Kind.FORMULAS_CHECKED).exists():
        return "there is no formula in it."
    if run.is_imported:
        return why_not_later(run)
    return "this run was recorded without the formula check."


@dataclass(frozen=True)
class RunChecks:
    """Number of texts of a run by outcome. `off` is the reason why others were not checked.

    `is_later`: an imported run, checked after the import; `unfinished` is why these checks have not ended, or "".
    """

    refuted: int
    survived: int
    not_understood: int
    unchecked: int
    stopped: int
    off: str
    is_later: bool = False
    unfinished: str = ""

    @property
    def total(self) -> int:
        return self.refuted + self.survived + self.not_understood + self.unchecked + self.stopped


def run_checks(run: Run, until: int | None = None) -> RunChecks:
    """Results of the checks of a run; with `until`, as of that event."""
    counts = Counter(outcome for outcome, _ in check_outcomes(run, until).values())
    return RunChecks(
        refuted=counts["refuted"],
        survived=counts["survived"],
        not_understood=counts["not_understood"],
        unchecked=counts["unchecked"],
        stopped=counts["stopped"],
        off=_off(run, until),
        is_later=run.is_imported,
        unfinished=unfinished_words(run) if until is None else "",
    )


def _off(run: Run, until: int | None = None) -> str:
    """The reason why no more formulas are checked, or ""."""
    wanted = Q(kind=Kind.FORMULAS_OFF)
    return run_story(run, wanted if until is None else Q(wanted, seq__lte=until)).checks.off


def _until(rows: QuerySet[RunEvent], until: int | None) -> QuerySet[RunEvent]:
    return rows if until is None else rows.filter(seq__lte=until)


def _check(event: FormulasChecked) -> FormulaCheck:
    if event.outcome == "unchecked":
        return FormulaCheck("", f"Not checked: {event.unchecked}.", call=event.call)
    if event.outcome == "stopped" and not event.stopped:
        return FormulaCheck("", f"Check stopped: {event.unchecked}.")
    formulas = tuple(formula_shown(finding) for finding in event.findings)
    return FormulaCheck(event.outcome, _words(event, formulas), formulas, event.call, unread=event.not_understood)


def _words(event: FormulasChecked, formulas: Iterable[CheckedFormula]) -> str:
    refuted, survived, unread = event.refuted, event.survived, event.not_understood
    said = []
    if refuted:
        places = dict.fromkeys(
            formula.where.replace("statement", "the statement") for formula in formulas if formula.is_refuted
        )
        said.append(f"{_count(refuted, 'formula')} refuted, in {' and '.join(places)}")
    if proved := event.proved:
        said.append(f"{_count(proved, 'formula')} proved")
    if survived:
        said.append(f"{_count(survived, 'formula')} survived {'its' if survived == 1 else 'their'} tests")
    if unread:
        said.append(f"{unread} not understood")
    if stopped := event.stopped:
        said.append(
            f"{stopped} stopped by the last guard on time; asked again, {'it' if stopped == 1 else 'they'} may be tested"
        )
    words = "; ".join(said) or "There is no formula to test"
    return f"{words}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def formula_shown(finding: MathFinding) -> CheckedFormula:
    """The finding for a page."""
    detail = finding.reason or _count(finding.tests, "test")
    if finding.certificate is not None:
        detail = finding.certificate.method
    elif finding.tried:
        detail = f"{detail}: {finding.tried}"
    if finding.outcome == "refuted":
        detail = _counterexample(finding)
    return CheckedFormula(
        where=finding.text_id,
        tex=one_line(finding.anchor.quote),
        outcome=finding.outcome,
        word=_OUTCOMES[finding.outcome],
        detail=detail,
        start=finding.anchor.start,
        end=finding.anchor.end,
        tests=finding.tests,
        certificate=finding.certificate,
        is_partial=finding.partial,
    )


def _counterexample(finding: MathFinding) -> str:
    """`at $a=1$, $b=2$ the sides are $3$ and $4$.`, with numbers as TeX."""
    example = finding.counterexample or MathCounterexample(values={}, left="", right="")
    point = ", ".join(f"${name}={value}$" if len(name) < 5 else f"{name} ${value}$" for name, value in example.values.items())
    left, right = _value(example.left), _value(example.right)
    if finding.kind == "counting":
        said = f"it is {left}, not {right}"
    elif finding.kind in _COMPARED and right.startswith("$"):
        said = f"{_COMPARED[finding.kind]} {left} and {right}"
    elif finding.kind == "convexity":
        said = f"the value in the middle is {left}, the mean of the values at the ends {right}"
    else:
        said = f"{left} against {right}"
    return f"at {point} {said}." if point else f"{said}."


def _value(text: str) -> str:
    return text if re.search(r"[A-Za-z]{2}", text.replace("sqrt", "")) else f"${text}$"


def one_line(quote: str) -> str:
    """A quote as standalone TeX in dollars; quotes with words or open brackets stay unchanged."""
    tex = " ".join(_TABS.sub(" ", quote).split())
    if "$" in quote or "\\(" in quote or "\\[" in quote:
        return quote
    balanced = tex.count("{") == tex.count("}") and tex.count("\\left") == tex.count("\\right") and "\\begin" not in tex
    return f"${tex}$" if balanced and tex else f"`{quote}`"
