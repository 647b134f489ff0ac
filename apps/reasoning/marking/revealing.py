"""The rules for revealing suggestions after sealing: in stages, in a random order, and on some papers never.

First come locations without a remark of the marker, then types and reasons, last items and points. Nothing is preselected.
"""

import hashlib
from collections.abc import Collection, Iterable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from apps.reasoning.marking.sheets.pages import place_words
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.marking.suggestion import Finding, SuggestionBody

#: Differences of this size, on a scale of `OF`, go to a marker who has seen no suggestion.
FRESH_FROM, OF = Decimal(2), Decimal(7)


class Stage(StrEnum):
    """What is shown, in this order; each only after the one before it."""

    LOCATIONS = "locations"
    FINDINGS = "findings"
    ITEMS = "items"


class ChangeReason(StrEnum):
    """Why points change after suggestions were seen. There is no other reason."""

    MISSED = "missed"
    SEVERITY = "severity"
    SCHEME = "scheme"
    SLIP = "slip"


CHANGE_WORDS = {
    ChangeReason.MISSED: "I missed it",
    ChangeReason.SEVERITY: "The suggestion is right on how much it matters",
    ChangeReason.SCHEME: "The scheme is unclear",
    ChangeReason.SLIP: "A slip of mine",
}


class Shown(NamedTuple):
    """A finding with the suggestion it belongs to."""

    suggestion: str
    finding: Finding


def next_stage(shown: Collection[Stage], *, open_findings: int) -> Stage | None:
    """The stage that may be shown now; None where all were, or where findings are still to be answered."""
    for stage in Stage:
        if stage not in shown:
            return None if stage is Stage.ITEMS and open_findings else stage
    return None


def locations(sheet: MarkSheet, bodies: Iterable[SuggestionBody]) -> list[int]:
    """The steps where a grader sees something and the marker has neither a verdict nor granted the step."""
    own = {verdict.step for verdict in sheet.verdicts} | set(sheet.granted)
    return sorted({finding.step for body in bodies for finding in body.findings} - own)


def drawn_order(findings: Iterable[Shown], seed: str) -> list[Shown]:
    """Findings in an order drawn from the seed, so that markers see different ones first."""
    return sorted(findings, key=lambda one: _drawn(f"{seed}/{one.suggestion}/{one.finding.id}"))


def is_without_reveal(seed: int, case: str, percent: int) -> bool:
    """Whether a paper is in the share for which no marker sees suggestions."""
    return int(_drawn(f"{seed}/without reveal/{case}")[:8], 16) % 100 < percent


def is_large(difference: Decimal, scale: Decimal) -> bool:
    """Whether points differ by two of seven or more, on any scale."""
    return abs(difference) * OF >= FRESH_FROM * scale


def change_faults(
    *, before: Decimal, after: Decimal, reason: str, step: int | None, steps: Collection[int], is_changed: bool
) -> list[str]:
    """What is missing before points may change after a reveal, one sentence each."""
    faults = []
    if not is_changed:
        faults.append("Nothing is different. Keep your mark instead.")
    if reason not in set(ChangeReason):
        faults.append("Choose one of the four reasons.")
    if after < before and step is None:
        faults.append("Name the step or page for which the points go down.")
    if step is not None and step not in steps:
        faults.append(f"There is no {place_words(step)}.")
    return faults


def _drawn(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
