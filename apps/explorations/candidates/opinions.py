"""Opinions on a solution for pages: reports with scores, and judgements."""

from dataclasses import dataclass

from apps.reasoning.domain.candidate_events import CandidateJudged, CandidateScored, Issue
from apps.reasoning.scaffolds.page import Page
from apps.reasoning.story.candidates import Candidate, Report


@dataclass(frozen=True)
class Opinion:
    """One report or judgement on a solution: `verdict` in words, `state` good, bad or empty if unreadable.

    `dropped` is the reason why it no longer counts, or "".
    """

    call: str
    verdict: str
    state: str
    text: str = ""
    issues: tuple[Issue, ...] = ()
    dropped: str = ""

    @property
    def found(self) -> str:
        """The verdict without the name of its evaluator, which the page shows separately."""
        return self.verdict.partition(": ")[2] if self.verdict.startswith("Evaluator ") else self.verdict


def opinions_on(candidate: Candidate, page: Page) -> list[Opinion]:
    """The reports on a candidate, in order."""
    return [_opinion(report, candidate, page) for _, report in candidate.reports]


def _opinion(report: Report, candidate: Candidate, page: Page) -> Opinion:
    if report.unscored:
        return Opinion(report.call, f"not read: {report.unscored}", "", dropped=_dropped(report, candidate))
    return _scored(report, candidate, page) if isinstance(report, CandidateScored) else _judged(report)


def _dropped(report: Report, candidate: Candidate) -> str:
    if report.index not in candidate.dropped or isinstance(report, CandidateJudged):
        return ""
    return candidate.dropped[report.index] or "a check found it unfounded"


def _scored(report: CandidateScored, candidate: Candidate, page: Page) -> Opinion:
    score = report.score or 0
    verdict = page.score_words(report.index, score) if page.score_words else f"{score:g} of {report.scale:g}"
    state = "good" if score == report.scale else "bad" if not score else ""
    return Opinion(report.call, verdict, state, report.report, dropped=_dropped(report, candidate))


def _judged(report: CandidateJudged) -> Opinion:
    """A pass or a fail with the resulting streak."""
    word, state, streak = ("pass", "good", report.passes) if report.passed else ("fail", "bad", report.failures)
    verdict = f"{word}, {streak} in a row" if streak else word
    verdict += " (“pass” next to a critical error or gap)" if report.overruled else ""
    return Opinion(report.call, verdict, state, report.summary, report.issues)
