"""The formula check of a text: while it is written, and of a handed-in version. It finds formulas that are false at a point.

The same check gives suggestions to markers (`apps.marks.graders.computational`). It proves nothing right.
"""

import threading
from dataclasses import dataclass

from django.core.cache import caches

from apps.contests.models import ContestProblem
from apps.marks.graders import GraderFailed, GraderStep, Question
from apps.marks.graders.computational import ComputationalGrader
from apps.marks.graders.warm_verifier import make_ready
from apps.practice.models import Remark, RemarkOrigin, Settlement
from apps.practice.remarks import settlement_decide
from apps.reasoning.texts.latex_steps import steps_of
from apps.reasoning.texts.segmentation import digest_of
from apps.reasoning.texts.source import source_of
from apps.submissions.models import SubmissionVersion

#: A longer text is checked after handing in only.
LIVE_LENGTH = 12_000
KEPT_S = 3_600
#: Checks at once in this process; each needs a child process for about a second.
AT_ONCE = 2
#: How long the check of a handed-in version waits for a place. A draft does not wait: its page asks again.
WAIT_S = 20.0
_PLACES = threading.BoundedSemaphore(AT_ONCE)


class CheckBusy(Exception):
    """Too many checks are running. The page asks again after a moment."""


@dataclass(frozen=True)
class FormulaFinding:
    """A formula that is false at a point: its step, its text, and the values at which its sides differ."""

    step: int
    quote: str
    words: str


@dataclass(frozen=True)
class Checked:
    """The findings, and how many formulas were tested, in words."""

    findings: list[FormulaFinding]
    words: str


def text_checked(problem: ContestProblem, text: str, text_format: str) -> Checked:
    """The findings in a draft. Raises `CheckBusy`, and `GraderFailed` if the check did not end."""
    source = source_of(text)
    steps = tuple(GraderStep(one.number, one.start, one.end) for one in steps_of(source, text_format))
    return _findings(problem, source, steps, wait_s=0)


def version_checked(version: SubmissionVersion) -> Checked:
    """The findings in a version; waits for a free place. Raises as `text_checked`."""
    steps = tuple(GraderStep(step.number, step.start, step.end) for step in version.steps.all())
    return _findings(version.submission.problem, version.source, steps, wait_s=WAIT_S)


def settlements_checked(version: SubmissionVersion) -> int:
    """Confirm the claims that this version settles remarks of the formula check; returns how many.

    A claim is confirmed if the check finds nothing false any more with the remark's formula, and nothing at all at its step.
    """
    rows = Settlement.objects.filter(version=version, holds=None, remark__origin=RemarkOrigin.FORMULA).select_related("remark")
    if not (claims := list(rows)):
        return 0
    found = version_checked(version).findings
    false = {(one.quote, one.words) for one in found}
    for claim in claims:
        settlement_decide(settlement=claim, holds=not _repeated(claim.remark, false), by=None)
    return len(claims)


def remarks_from_check(version: SubmissionVersion) -> list[Remark]:
    """Store the findings in a handed-in version as remarks, once; returns them. Raises as `text_checked`."""
    known = list(version.remarks.filter(origin=RemarkOrigin.FORMULA))
    if known:
        return known
    found = version_checked(version).findings
    return Remark.objects.bulk_create(
        Remark(version=version, origin=RemarkOrigin.FORMULA, step=one.step, pointer=one.quote, words=one.words) for one in found
    )


def _repeated(remark: Remark, false: set[tuple[str, str]]) -> bool:
    return any(quote == remark.pointer or words == remark.words for quote, words in false)


def _findings(problem: ContestProblem, source: str, steps: tuple[GraderStep, ...], *, wait_s: float) -> Checked:
    if not steps:
        return Checked([], "There is no text to check.")
    statement = problem.version.statement
    key = f"practice-check:{digest_of(statement)}:{digest_of(source)}"
    kept: Checked | None = caches["local"].get(key)
    if kept is not None:
        return kept
    if not _PLACES.acquire(timeout=wait_s):
        raise CheckBusy
    try:
        body = ComputationalGrader().answer(Question(digest_of(source), source, steps, statement))
    finally:
        _PLACES.release()
    findings = [FormulaFinding(one.step, one.anchor.quote if one.anchor else "", one.words) for one in body.findings]
    found = Checked(findings, body.remarks)
    caches["local"].set(key, found, KEPT_S)
    return found


__all__ = [
    "CheckBusy",
    "GraderFailed",
    "make_ready",
    "remarks_from_check",
    "settlements_checked",
    "text_checked",
    "version_checked",
]
