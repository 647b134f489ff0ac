"""The panel next to a sealed mark: only what was revealed before, and what may be revealed next."""

import json
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.marks.coordination.coordination import claim_default
from apps.marks.coordination.precedents import Precedents, precedents_of
from apps.marks.graders.families import shown_to
from apps.marks.models import Coordination, Mark, MarkState, Reveal, RevealKind, Suggestion
from apps.marks.sealing.calibration import Agreed, agreed_show
from apps.marks.sealing.revealing import findings_shown, is_decidable, reveal_refusal, stages_shown, suggestions_shown
from apps.marks.selectors import FALLACY_WORDS
from apps.marks.sheets import scheme_of, sheet_of
from apps.marks.suggestions.suggesting import body_of, label_of, suggestions_failed, suggestions_wait
from apps.reasoning.marking.propagation import Propagation, step_notes, step_pairs
from apps.reasoning.marking.revealing import CHANGE_WORDS, Stage, locations, next_stage
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.suggestion import Finding, SuggestionBody, Unplaced


@dataclass(frozen=True)
class FindingRow:
    """A finding with its grader's label and the marker's answer: accepted, rejected or none.

    `is_on_chain`: it is the root of an error chain of its grader, which refers to it by name.
    """

    suggestion: str
    grader: str
    finding: Finding
    fallacy: str
    answer: bool | None
    is_on_chain: bool = False


@dataclass(frozen=True)
class GraderNotes:
    """Further parts of the second stage by one grader: chains, findings without a step, suspicious content, a rewriting."""

    grader: str
    chains: tuple[Propagation, ...]
    unplaced: list[tuple[Unplaced, str]]
    suspicious: tuple[str, ...]
    rewriting: tuple[str, ...]


@dataclass(frozen=True)
class GraderItems:
    """The last stage of one grader: items with reasons, and points with their share in per cent; either may be missing."""

    grader: str
    body: SuggestionBody
    shares: list[tuple[str, int]]
    scale: str
    shown: str


@dataclass(frozen=True)
class RevealPanel:
    """`refusal`: why this mark has no suggestions. `waits`: a suggestion is in progress. `stage`: the next stage.

    `drawn`: JSON for the error chains that chains.js draws on the steps. `failed`: graders that gave no answer, with the
    reason.
    """

    refusal: str
    waits: bool
    exists: bool
    stage: str
    shown: frozenset[str]
    locations: list[int]
    has_findings: bool
    findings: list[FindingRow]
    unanswered: int
    notes: list[GraderNotes]
    drawn: str
    failed: list[tuple[str, str]]
    items: list[GraderItems]
    is_decidable: bool
    state: str
    points: str
    sealed_points: str
    claim: str
    reasons: list[tuple[str, str]]
    agreed: Agreed | None
    precedents: Precedents | None
    has_precedents: bool
    coordination: Coordination | None


def panel_of(mark: Mark) -> RevealPanel:
    """The panel of a sealed mark for its marker."""
    refusal = reveal_refusal(mark)
    suggestions = [] if refusal else suggestions_shown(mark)
    shown = stages_shown(mark)
    findings = _findings(mark) if suggestions else []
    waiting = sum(one.answer is None for one in findings)
    stage = next_stage(shown, open_findings=waiting) if suggestions else None
    bodies = [body_of(row) for row in suggestions]
    seen = Reveal.objects.filter(case=mark.task.case, person=mark.marker, kind=RevealKind.PRECEDENTS).exists()
    precedents = precedents_of(mark)
    return RevealPanel(
        refusal=refusal,
        waits=not refusal and not shown and suggestions_wait(mark),
        exists=bool(suggestions),
        stage=stage.value if stage and mark.state == MarkState.SEALED else "",
        shown=frozenset(one.value for one in shown),
        locations=locations(sheet_of(mark), bodies) if Stage.LOCATIONS in shown else [],
        has_findings=any(body.findings for body in bodies),
        findings=findings,
        unanswered=waiting,
        notes=_notes(suggestions) if Stage.FINDINGS in shown else [],
        drawn=_drawn(bodies) if Stage.FINDINGS in shown else "",
        failed=[] if refusal else [(label_of(row.grader), row.reason) for row in suggestions_failed(mark)],
        items=[_items(row.grader, body_of(row)) for row in suggestions] if Stage.ITEMS in shown else [],
        is_decidable=bool(suggestions) and is_decidable(mark),
        state=mark.state,
        points=points_text(mark.points) if mark.points is not None else "",
        sealed_points=points_text(mark.sealed_points) if mark.sealed_points is not None else "",
        claim=claim_default(mark, scheme_of(mark)),
        reasons=[(reason.value, words) for reason, words in CHANGE_WORDS.items()],
        agreed=agreed_show(mark),
        precedents=precedents if seen else None,
        has_precedents=bool(precedents),
        coordination=mark.task.case.coordinations.filter(marks=mark).order_by("-pk").first(),
    )


def marks_own(user: User) -> QuerySet[Mark]:
    """Marks that this user sealed in contests being marked, newest first."""
    rows = Mark.objects.filter(marker=user, sealed_at__isnull=False, task__case__problem__contest__state=ContestState.MARKING)
    rows = rows.exclude(state__in=(MarkState.DRAFT, MarkState.VOID)).order_by("-sealed_at", "-pk")
    return rows.select_related("task__case__problem__contest", "task__case__version__submission__paper")


def _findings(mark: Mark) -> list[FindingRow]:
    rows = suggestions_shown(mark)
    labels = {str(row.public_id): label_of(row.grader) for row in rows}
    roots = {str(row.public_id): {chain.error for chain in body_of(row).chains} for row in rows}
    return [
        FindingRow(
            one.suggestion,
            labels[one.suggestion],
            one.finding,
            FALLACY_WORDS[one.finding.fallacy],
            answer,
            one.finding.id in roots[one.suggestion],
        )
        for one, answer in findings_shown(mark)
    ]


def _notes(suggestions: list[Suggestion]) -> list[GraderNotes]:
    """Notes of each grader that has any, without repeated warnings about the text."""
    notes: list[GraderNotes] = []
    listed: set[str] = set()
    for row in suggestions:
        body = body_of(row)
        fresh = tuple(words for words in body.suspicious if words not in listed)
        listed |= set(fresh)
        if body.chains or body.unplaced or fresh or body.rewriting:
            unplaced = [(one, FALLACY_WORDS[one.fallacy]) for one in body.unplaced]
            notes.append(GraderNotes(label_of(row.grader), body.chains, unplaced, fresh, body.rewriting))
    return notes


def _drawn(bodies: list[SuggestionBody]) -> str:
    chains = [chain for body in bodies for chain in body.chains]
    if not chains:
        return ""
    return json.dumps({"pairs": step_pairs(chains), "notes": [note._asdict() for note in step_notes(chains)]})


def _items(grader: str, body: SuggestionBody) -> GraderItems:
    shares = [
        (points_text(one.points), round(100 * one.share)) for one in sorted(body.distribution, key=lambda one: one.points)
    ]
    scale = points_text(body.scale) if body.scale is not None else ""
    return GraderItems(label_of(grader), body, shares, scale, shown_to(grader, body.view))
