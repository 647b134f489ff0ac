"""Contents of the coordination pages, by reader."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.contests.opening import openings
from apps.marks.access import captain_is
from apps.marks.blindness import problems_shut
from apps.marks.coordination.comparing import COUNTED, NO_FRESH_MARKER, fresh_people
from apps.marks.coordination.coordination import all_claimed, claim_default, level_of, mark_own, marks_of, scheme_now
from apps.marks.coordination.precedents import case_precedents
from apps.marks.leases import DRAFT_LEFT
from apps.marks.models import CaseState, Coordination, CoordinationRemark, Mark, MarkingCase, MarkState, Slot
from apps.marks.page_marks import PageMarked, page_at
from apps.marks.sealing.sealing import cases_settle
from apps.marks.sealing.seeing import sees_all
from apps.marks.selectors import FALLACY_WORDS, ItemSection, ScriptStep, pages_of, sections_of, steps_of
from apps.marks.sheets import sheet_of, step_of
from apps.reasoning.marking.schemes.scheme import SchemeItem, points_text
from apps.reasoning.marking.sheets.positions import (
    ItemDifference,
    Position,
    StepDifference,
    item_differences,
    position_line,
    position_of,
    position_read,
    sheet_at,
    step_differences,
)
from apps.reasoning.marking.sheets.sealing import sheet_points
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet, StepVerdict
from apps.reasoning.texts.latex import shown_of as shown_text
from apps.submissions.models import VersionScan
from apps.ui.markdown import render


@dataclass(frozen=True)
class PositionRow:
    """A marker's position: mark, current claim (empty while sealed for this reader) and sealed points.

    `has_left`: the marker left the contest without a claim and is ignored.
    """

    mark: Mark
    is_own: bool
    has_claimed: bool
    has_left: bool
    claim: str
    points: str


@dataclass(frozen=True)
class StepRow:
    """A typeset step or a page with different verdicts, and the verdicts of each marker."""

    step: ScriptStep
    said: list[list[tuple[StepVerdict, str]]]
    page: PageMarked[StepVerdict] | None = None


@dataclass(frozen=True)
class NoteRow:
    """A verdict or comment that can become part of the grade.

    `is_kept`: included in the current proposal, or there is no proposal.
    """

    mark: Mark
    step: int
    id: str
    words: str
    kind: str
    is_kept: bool


@dataclass(frozen=True)
class CoordinationPage:
    """The page as one reader sees it.

    `is_open`: claims and notes may be shown. `proposed`: the notes of the current proposal. `script`, `pages` and `sections`:
    the text with its steps, its scans, and the scheme. `points`: what each claim is worth, in the order of the positions; empty
    if all are equal. `lacks_fresh`: the points differ widely and no third coach was left; markers learn it after all claims.
    """

    positions: list[PositionRow]
    own: Mark | None
    is_open: bool
    default_claim: str
    items: list[tuple[SchemeItem, ItemDifference]]
    points: list[tuple[Mark, str]]
    script: list[ScriptStep]
    pages: list[VersionScan]
    sections: list[ItemSection]
    steps: list[StepRow]
    notes: list[NoteRow]
    proposed: list[NoteRow]
    remarks: list[CoordinationRemark]
    level: str
    proposal_points: str
    proposal_claim: str
    signatories: list[User]
    has_signed: bool
    may_ledger: bool
    lacks_fresh: bool


def page_of(coordination: Coordination, user: User) -> CoordinationPage:
    """The page for this reader now."""
    marks, own, scheme = marks_of(coordination), mark_own(coordination, user), scheme_now(coordination)
    is_open = all_claimed(coordination)
    claims = coordination.claims
    # For a marker who left without a claim, the sealed claim counts.
    lines = [claims.get(str(mark.public_id)) or claim_default(mark, scheme) for mark in marks] if is_open else []
    held = [position_read(scheme, line) for line in lines]
    by_code = {item.code: item for item in scheme.items}
    level = level_of(coordination, user)
    signed = list(coordination.signatories.all())
    notes = _notes(marks, _kept(coordination)) if is_open else []
    return CoordinationPage(
        positions=[_position(mark, own, claims, is_open=is_open) for mark in marks],
        own=own,
        is_open=is_open,
        default_claim=claims.get(str(own.public_id)) or claim_default(own, scheme) if own else "",
        items=[(by_code[row.code], row) for row in item_differences(scheme, held)],
        points=_points(coordination, marks, held),
        script=steps_of(coordination.case.version),
        pages=pages_of(coordination.case.version),
        sections=sections_of(scheme, frozenset()),
        steps=_steps(coordination, step_differences(map(sheet_of, marks))) if is_open else [],
        notes=notes,
        proposed=[note for note in notes if note.is_kept] if coordination.sheet is not None else [],
        remarks=list(coordination.remarks.select_related("person")) if is_open else [],
        level=level.value if level else "",
        proposal_points=points_text(coordination.points) if coordination.points is not None else "",
        proposal_claim=_claim(coordination),
        signatories=signed,
        has_signed=user in signed,
        may_ledger=sees_all(user, coordination.case),
        lacks_fresh=bool(is_open or level) and coordination.case.audit.filter(verb=NO_FRESH_MARKER).exists(),
    )


def coordination_rows(user: User) -> dict[str, Any]:
    """The lists of a user: `own` to settle, `ruled` by them, `settled`, and `fresh` cases that wait for a fresh mark.

    `fresh` says for each case whether a coach is eligible. `without` lists unreleased cases for which no coach was eligible.
    `led`: problems that the user leads. `shut`: those left out of `ruled` while the user's own marks there are open.
    """
    problems = list(
        ContestProblem.objects.filter(contest__coaches__person=user, contest__state=ContestState.MARKING).select_related(
            "contest"
        )
    )
    for contest in {problem.contest for problem in problems}:
        cases_settle(contest)
    rows = Coordination.objects.filter(case__problem__in=problems).select_related(
        "case__problem__contest", "case__problem__problem", "case__version__submission__paper"
    )
    mine = rows.filter(marks__marker=user).distinct()
    led = [problem for problem in problems if captain_is(user, problem)]
    shut = problems_shut(user, led)
    ruled = rows.filter(case__problem__in=[problem for problem in led if problem.pk not in shut])
    ruled = ruled.exclude(pk__in=mine.values("pk"))
    ruled = ruled.exclude(case__in=user.marking_tasks.filter(done_at=None).values("case"))
    cases = MarkingCase.objects.filter(problem__in=led).exclude(tasks__in=user.marking_tasks.filter(done_at=None))
    cases = cases.select_related("problem__contest", "version__submission__paper")
    waiting = cases.filter(tasks__slot=Slot.THIRD, tasks__done_at=None)
    without = cases.filter(audit__verb=NO_FRESH_MARKER, state__in=(CaseState.SETTLED, CaseState.DISPUTED))
    without = without.exclude(coordinations__outcome__gt="")
    return {
        "own": [(row, len(row.claims), user in row.signatories.all()) for row in mine.filter(outcome="")],
        "ruled": list(ruled.filter(outcome="")),
        "settled": list(rows.filter(Q(pk__in=mine.values("pk")) | Q(pk__in=ruled.values("pk"))).exclude(outcome="")[:50]),
        "fresh": [(case, fresh_people(case).exists()) for case in waiting],
        "without": list(without.exclude(problem__in=shut).exclude(pk__in=mine.filter(outcome="").values("case"))),
        "led": led,
        "shut": [problem for problem in led if problem.pk in shut],
    }


def ledger_of(case: MarkingCase) -> dict[str, Any]:
    """Everything on record about a case, oldest first, except drafts."""
    marks = (
        Mark.objects.filter(task__case=case).exclude(state=MarkState.DRAFT).select_related("marker", "task", "scheme_version")
    )
    version = case.problem.setup.scheme.versions.order_by("-number").first() if case.problem.setup.scheme else None
    return {
        "marks": list(marks.order_by("sealed_at", "pk")),
        "early": list(case.version.submission.early_reveals.select_related("person")),
        "opened": list(openings().filter(paper=case.version.submission.paper_id).select_related("by")),
        "reveals": list(case.reveals.select_related("person", "suggestion", "mark__marker")),
        "events": [event for event in case.audit.select_related("actor") if event.verb != DRAFT_LEFT],
        "grades": list(case.grades.select_related("mark__marker", "coordination", "by")),
        "coordinations": list(case.coordinations.all()),
        "precedents": list(case_precedents(case)),
        "items": list(version.items.all()) if version else [],
        "fallacies": [(one.value, words) for one, words in FALLACY_WORDS.items()],
        "is_settled": case.state in (CaseState.SETTLED, CaseState.RELEASED),
        "counted": COUNTED,
    }


def _position(mark: Mark, own: Mark | None, claims: dict[str, str], *, is_open: bool) -> PositionRow:
    is_own = mark == own
    claim = claims.get(str(mark.public_id), "")
    points = points_text(mark.points) if mark.points is not None and (is_own or is_open) else ""
    return PositionRow(mark, is_own, bool(claim), is_open and not claim, claim if is_own or is_open else "", points)


def _points(coordination: Coordination, marks: list[Mark], held: list[Position]) -> list[tuple[Mark, str]]:
    """What each claim is worth; empty if all are worth the same."""
    scheme, step = scheme_now(coordination), step_of(coordination.case.problem.contest)
    worth = [sheet_points(sheet_at(MarkSheet(), one), scheme, step).points for one in held]
    shown = [points_text(one) if one is not None else "" for one in worth]
    return list(zip(marks, shown, strict=True)) if len(set(shown)) > 1 else []


def _claim(coordination: Coordination) -> str:
    if coordination.sheet is None:
        return ""
    return position_line(scheme_now(coordination), position_of(MarkSheet.model_validate(coordination.sheet)))


def _steps(coordination: Coordination, differences: list[StepDifference]) -> list[StepRow]:
    version = coordination.case.version
    texts = {row.number: row for row in version.steps.all()}
    rows = []
    for one in differences:
        row = texts.get(one.step)
        text = version.source[row.start : row.end] if row else ""
        html = render(shown_text(text, version.format))
        step = ScriptStep(one.step, row.kind if row else "", row.start if row else 0, row.end if row else 0, text, html)
        said = [[(verdict, FALLACY_WORDS[verdict.fallacy]) for verdict in verdicts] for verdicts in one.said]
        rows.append(StepRow(step, said, page_at(version, one.step, [verdict for some in one.said for verdict in some])))
    return rows


def _kept(coordination: Coordination) -> set[str] | None:
    """Ids of the notes in the current proposal; None if there is no proposal."""
    if coordination.sheet is None:
        return None
    sheet = MarkSheet.model_validate(coordination.sheet)
    return {verdict.id for verdict in sheet.verdicts} | {comment.id for comment in sheet.comments}


def _notes(marks: list[Mark], kept: set[str] | None) -> list[NoteRow]:
    rows = []
    for mark in marks:
        sheet = sheet_of(mark)
        verdicts = [(one.step, one.id, one.words, FALLACY_WORDS[one.fallacy]) for one in sheet.verdicts]
        comments = [(one.step, one.id, one.words, _kind(one)) for one in sheet.comments]
        rows += [NoteRow(mark, *note, kept is None or note[1] in kept) for note in (*verdicts, *comments)]
    return sorted(rows, key=lambda row: (row.step, row.mark.pk))


def _kind(comment: Comment) -> str:
    return "comment" if comment.audience == "student" else "note to markers"
