"""Points for a settled script of a contest: sealed marks with their contamination, suggestions, imported points.

The ledger decides what was independent. A mark is contaminated if its marker was shown anything of the script before sealing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Max, QuerySet

from apps.agreement.sources.sources import NO_POINTS
from apps.experiments.cell_graders import (
    cells_by,
    cells_compared,
    failure_note,
    grader_names,
    meanings_of,
    replay_note,
    seeds_of,
    views_of,
)
from apps.experiments.models import ExperimentCell
from apps.graders.planning.shown import ViewShown, shown_suggested
from apps.marks.models import EarlyReveal, Mark, MarkingCase, MarkState, Reveal, RevealKind, Slot, Suggestion, SuggestionState
from apps.reasoning.domain.values import Unscored
from apps.schemes.models import SchemeVersion
from apps.submissions.models import ForeignJudgement

SLOTS = (Slot.FIRST, Slot.SECOND, Slot.THIRD)
#: Prefix of a marker as a choice, followed by the user name.
MARKER = "marker-"
SCALE_WITHOUT_SCHEME = Decimal(7)
_SEEN = {
    RevealKind.COLLEAGUE: "sealed after a colleague's mark was seen",
    RevealKind.PRECEDENTS: "sealed after precedents were seen",
    RevealKind.HINTS: "sealed after hints about the text were seen",
}
_SUGGESTED = "sealed after a suggestion was seen"
OTHER_SCHEME = "judged under two versions of the scheme"
_ASSISTED = "made with suggestions visible"
Points = Decimal | Unscored
Cases = QuerySet[MarkingCase]


@dataclass(frozen=True)
class Given:
    """One judgement. `meaning`: of its marking scheme, "" without one; `why`: the reason if it is contaminated.

    `mark`: the primary key of the mark, if it is one; `slot`: the slot of that mark.
    """

    points: Points
    by: str = ""
    meaning: str = ""
    why: str = ""
    scale: Decimal = SCALE_WITHOUT_SCHEME
    mark: int | None = None
    slot: str = ""


def marks_of(cases: Cases) -> QuerySet[Mark]:
    """The sealed marks of these cases that may count, oldest first."""
    rows = Mark.objects.filter(task__case__in=cases, task__slot__in=SLOTS, sealed_points__isnull=False)
    return rows.exclude(state__in=(MarkState.DRAFT, MarkState.VOID)).order_by("sealed_at", "pk")


def marks_given(
    cases: Cases, human: str, schemes: Mapping[int, SchemeVersion], scales: Mapping[str, Decimal]
) -> tuple[dict[int, Given], dict[int, list[Given]]]:
    """By case: the mark of the chosen slot or marker, and the first and second marks of other markers.

    Third marks are requested only after a disagreement. Including them would understate the agreement of two people.
    """
    shown = reveals_of(cases)
    chosen: dict[int, Given] = {}
    others: dict[int, list[Given]] = defaultdict(list)
    rows = marks_of(cases).values_list(
        "pk", "task__case", "task__slot", "marker", "marker__username", "sealed_points", "sealed_at", "is_assisted",
        "scheme_version",
    )  # fmt: skip
    for mark, case, slot, marker, by, points, at, is_assisted, scheme in rows:
        if points is None or at is None:
            continue  # For the type checker: `marks_of` excludes them.
        meaning = schemes[scheme].meaning_hash if scheme is not None else ""
        given = Given(
            points=points,
            by=by,
            meaning=meaning,
            why=taint(shown.get((case, marker), []), at, is_assisted=is_assisted),
            scale=scales.get(meaning, SCALE_WITHOUT_SCHEME),
            mark=mark,
            slot=slot,
        )
        if human in (slot, MARKER + by):
            chosen[case] = given
        elif slot != Slot.THIRD:
            others[case].append(given)
    return chosen, {case: given for case, given in others.items() if case not in chosen or chosen[case].slot != Slot.THIRD}


def reveals_of(cases: Cases) -> dict[tuple[int, int], list[tuple[datetime, str]]]:
    """By case and person: when the person was shown what of the case, according to the ledger."""
    shown: dict[tuple[int, int], list[tuple[datetime, str]]] = defaultdict(list)
    rows = Reveal.objects.filter(case__in=cases, person__isnull=False)
    for case, person, kind, at in rows.values_list("case", "person", "kind", "at"):
        shown[case, person].append((at, kind))
    early = EarlyReveal.objects.filter(submission__versions__case__in=cases, person__isnull=False)
    for case, person, kind, at in early.values_list("submission__versions__case", "person", "kind", "at"):
        shown[case, person].append((at, kind))
    return shown


def taint(shown: Collection[tuple[datetime, str]], sealed_at: datetime, *, is_assisted: bool) -> str:
    """Why a mark is not independent, or "": the first thing its marker was shown about the script before sealing."""
    before = sorted(one for one in shown if one[0] <= sealed_at)
    if not before:
        return _ASSISTED if is_assisted else ""
    return _SEEN.get(RevealKind(before[0][1]), _SUGGESTED)


@dataclass(frozen=True, slots=True)
class Answer:
    """A grader's answer on a text, with primary key and meaning of its scheme version; None and "" without a scheme."""

    scheme: int | None
    state: str
    reason: str
    body: dict[str, Any]
    meaning: str


def answers_by_case(cases: Cases, grader: str) -> dict[int, list[Answer]]:
    """By case: all answers of a grader on its text, including pending ones, oldest first."""
    found: dict[int, list[Answer]] = defaultdict(list)
    rows = Suggestion.objects.filter(version__case__in=cases, grader=grader).order_by("pk")
    values = rows.values_list("version__case", "scheme_version", "scheme_version__meaning_hash", "state", "reason", "body")
    for case, scheme, meaning, state, reason, body in values:
        found[case].append(Answer(scheme, state, reason, body, meaning or ""))
    return found


def answer_for(answers: Sequence[Answer], meaning: str) -> Answer | None:
    """The newest answer under this meaning of the scheme, or without a scheme; stale ones count if under this meaning."""
    return next((one for one in reversed(answers) if _fits(one, meaning)), None)


def _fits(answer: Answer, meaning: str) -> bool:
    if not answer.meaning:
        return answer.state != SuggestionState.STALE
    return answer.meaning == meaning and (answer.state != SuggestionState.STALE or bool(answer.body))


def answer_given(answers: Sequence[Answer], mark: Given) -> Given:
    """A grader's points to compare with a mark, on its scale: the proposed points, else the mean of the distribution."""
    answer = answer_for(answers, mark.meaning)
    if answer is None:
        return Given(Unscored(reason="graded under another version of the scheme only"), scale=mark.scale)
    return Given(_points(answer, mark.scale), meaning=answer.meaning, scale=mark.scale)


def _points(answer: Answer, scale: Decimal) -> Points:
    if answer.state == SuggestionState.FAILED:
        return Unscored(reason=answer.reason or "the grader failed")
    if answer.state in (SuggestionState.QUEUED, SuggestionState.RUNNING):
        return Unscored(reason="no answer yet")
    body = answer.body
    points = _of_body(body)
    if points is None:
        return Unscored(reason=body.get("unscored") or NO_POINTS)
    return points * scale / Decimal(str(body["scale"])) if body.get("scale") else points


def _of_body(body: Mapping[str, Any]) -> Decimal | None:
    """Like `SuggestionBody.expected`, without validating the body, as a page has thousands of them."""
    if body.get("proposed") is not None:
        return Decimal(str(body["proposed"]))
    if not body.get("distribution"):
        return None
    return sum((Decimal(str(one["points"])) * Decimal(str(one["share"])) for one in body["distribution"]), Decimal(0))


def cell_grader_names(cases: Cases) -> list[tuple[str, str]]:
    """Names and labels of the graders with finished experiment gradings of these texts."""
    return grader_names(_cells(cases))


def cell_views(cases: Cases, name: str) -> tuple[ViewShown, ...]:
    """The views of a grader of experiments."""
    return views_of(_cells(cases), name)


def suggested_views(cases: Cases, grader: str) -> tuple[ViewShown, ...]:
    """The views of a grader of suggestions on these scripts, newest first."""
    rows = Suggestion.objects.filter(version__case__in=cases, grader=grader, state=SuggestionState.DONE)
    views = rows.values("body__view").annotate(newest=Max("pk")).order_by("-newest")
    kept = dict.fromkeys(tuple(one["body__view"] or ()) for one in views)
    found = (shown_suggested(grader.partition(":")[2], parts) for parts in kept)
    return tuple(shown for shown in found if shown is not None)


def cell_failure_note(cases: Cases) -> str:
    """The number of failed experiment gradings of these texts as a sentence with a leading space, or ""."""
    return failure_note(ExperimentCell.objects.filter(version__case__in=cases))


@dataclass(frozen=True, slots=True)
class CellGiven:
    """The points of one grader run, out of `most`. `meanings`: of its marking scheme, None without one."""

    points: Points
    most: Decimal
    meanings: frozenset[str] | None = None


def cells_given(cases: Cases, name: str) -> dict[int, list[CellGiven]]:
    """By case: the result of each run of a grader; of runs with the same seed and meaning, the first scored one."""
    kept: dict[tuple[int, Any, str, Any], CellGiven] = {}
    rows = cells_by(_cells(cases), name)
    meanings = meanings_of(rows)
    seeds = seeds_of(rows)
    for pk, case, points, most, unscored in rows.values_list("pk", "version__case", "points", "scale", "unscored"):
        given = Unscored(reason=unscored or NO_POINTS) if points is None else points
        key = (case, meanings.get(pk), *(("run", pk) if seeds.get(pk) is None else ("seed", seeds[pk])))
        if key not in kept or (isinstance(kept[key].points, Unscored) and points is not None):
            kept[key] = CellGiven(given, most or SCALE_WITHOUT_SCHEME, meanings.get(pk))
    found: dict[int, list[CellGiven]] = defaultdict(list)
    for (case, *_), one in kept.items():
        found[case].append(one)
    return found


def replay_notes(cases: Cases, graders: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences on the replays that `cells_given` excludes. `graders`: labels of graders of experiments by name."""
    notes = []
    for name, words in graders.items():
        kept = sum(map(len, cells_given(cases, name).values()))
        notes.append(replay_note(words, cells_by(_cells(cases), name).count() - kept))
    return tuple(filter(None, notes))


def mean_given(runs: Sequence[CellGiven], mark: Given) -> Given:
    """The mean of the scored runs on the mark's scale; unscored with the first run's reason if no run is scored.

    With a scheme, only runs under the meaning of the mark are included. Without such a run the pair does not count.
    """
    fitting = [run for run in runs if run.meanings is None or mark.meaning in run.meanings]
    scored = [run.points * mark.scale / run.most for run in fitting or runs if not isinstance(run.points, Unscored)]
    mean = sum(scored, Decimal(0)) / len(scored) if scored else (fitting or runs)[0].points
    return Given(mean, scale=mark.scale, why="" if fitting else OTHER_SCHEME)


def _cells(cases: Cases) -> QuerySet[ExperimentCell]:
    return cells_compared(ExperimentCell.objects.filter(version__case__in=cases))


def judgements_given(cases: Cases) -> dict[int, Given]:
    """By case: imported points."""
    rows = ForeignJudgement.objects.filter(version__case__in=cases)
    return {case: Given(points, scale=most) for case, points, most in rows.values_list("version__case", "points", "out_of")}
