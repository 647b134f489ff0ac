"""Who gave what for a settled script of a contest: sealed marks with what taints them, suggestions, imported points.

The ledger decides what was independent: who was shown anything about a script before sealing did not judge it alone.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Max, QuerySet

from apps.grading.cell_graders import (
    cells_by,
    cells_compared,
    failed_in_words,
    graders_named,
    meanings_of,
    replays_in_words,
    seeds_of,
    views_of,
)
from apps.grading.experiment_models import ExperimentCell
from apps.grading.shown import ViewShown, shown_suggested
from apps.marks.models import EarlyReveal, Mark, MarkingCase, MarkState, Reveal, RevealKind, Slot, Suggestion, SuggestionState
from apps.reasoning.domain.values import Unscored
from apps.schemes.models import SchemeVersion
from apps.submissions.models import ForeignJudgement

SLOTS = (Slot.FIRST, Slot.SECOND, Slot.THIRD)
#: A marker as a choice: this and the name.
MARKER = "marker-"
SCALE_WITHOUT_SCHEME = Decimal(7)
_SEEN = {
    RevealKind.COLLEAGUE: "sealed after a colleague's mark was seen",
    RevealKind.PRECEDENTS: "sealed after precedents were seen",
    RevealKind.HINTS: "sealed after hints about the text were seen",
}
_SUGGESTED = "sealed after a suggestion was seen"
OTHER_SCHEME = "judged under two versions of the scheme"
_ASSISTED = "made with suggestions in sight"
Points = Decimal | Unscored
Cases = QuerySet[MarkingCase]


@dataclass(frozen=True)
class Given:
    """What somebody gave. `meaning`: of the scheme it was given by, empty where by none; `why`: what it is tainted by.

    `mark`: the key of the mark that it is, `slot` its place.
    """

    points: Points
    by: str = ""
    meaning: str = ""
    why: str = ""
    scale: Decimal = SCALE_WITHOUT_SCHEME
    mark: int | None = None
    slot: str = ""


def marks_of(cases: Cases) -> QuerySet[Mark]:
    """The sealed marks of these cases that may count, in the order of their slots."""
    rows = Mark.objects.filter(task__case__in=cases, task__slot__in=SLOTS, sealed_points__isnull=False)
    return rows.exclude(state__in=(MarkState.DRAFT, MarkState.VOID)).order_by("sealed_at", "pk")


def marks_given(
    cases: Cases, human: str, schemes: Mapping[int, SchemeVersion], scales: Mapping[str, Decimal]
) -> tuple[dict[int, Given], dict[int, list[Given]]]:
    """By case: the marks of a slot or of a marker, and those of its other markers that were asked of every script.

    A third mark is asked for where others differ, people or a grader: beside it two people would seem to agree far less.
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
            continue  # `marks_of` has none such; the columns may be empty.
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
    """What the ledger says that each person was shown of each case, and when."""
    shown: dict[tuple[int, int], list[tuple[datetime, str]]] = defaultdict(list)
    rows = Reveal.objects.filter(case__in=cases, person__isnull=False)
    for case, person, kind, at in rows.values_list("case", "person", "kind", "at"):
        shown[case, person].append((at, kind))
    early = EarlyReveal.objects.filter(submission__versions__case__in=cases, person__isnull=False)
    for case, person, kind, at in early.values_list("submission__versions__case", "person", "kind", "at"):
        shown[case, person].append((at, kind))
    return shown


def taint(shown: Collection[tuple[datetime, str]], sealed_at: datetime, *, is_assisted: bool) -> str:
    """Why a mark is not independent: the first thing that its marker was shown about the script before sealing."""
    before = sorted(one for one in shown if one[0] <= sealed_at)
    if not before:
        return _ASSISTED if is_assisted else ""
    return _SEEN.get(RevealKind(before[0][1]), _SUGGESTED)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a grader said of a text, with the key and the meaning of the scheme version that it was given; None and ""."""

    scheme: int | None
    state: str
    reason: str
    body: dict[str, Any]
    meaning: str


def answers_by_case(cases: Cases, grader: str) -> dict[int, list[Answer]]:
    """By case: everything that a grader said or was to say about its text, oldest first."""
    found: dict[int, list[Answer]] = defaultdict(list)
    rows = Suggestion.objects.filter(version__case__in=cases, grader=grader).order_by("pk")
    values = rows.values_list("version__case", "scheme_version", "scheme_version__meaning_hash", "state", "reason", "body")
    for case, scheme, meaning, state, reason, body in values:
        found[case].append(Answer(scheme, state, reason, body, meaning or ""))
    return found


def answer_for(answers: Sequence[Answer], meaning: str) -> Answer | None:
    """The newest answer given by this meaning of the scheme, or by none; stale ones count where they are of this meaning."""
    return next((one for one in reversed(answers) if _fits(one, meaning)), None)


def _fits(answer: Answer, meaning: str) -> bool:
    if not answer.meaning:
        return answer.state != SuggestionState.STALE
    return answer.meaning == meaning and (answer.state != SuggestionState.STALE or bool(answer.body))


def answer_given(answers: Sequence[Answer], mark: Given) -> Given:
    """What a grader gave beside a mark: what it proposes, else the mean of what it holds possible; on the mark's scale."""
    answer = answer_for(answers, mark.meaning)
    if answer is None:
        return Given(Unscored(reason="it was asked about another version of the scheme only"), scale=mark.scale)
    return Given(_points(answer, mark.scale), meaning=answer.meaning, scale=mark.scale)


def _points(answer: Answer, scale: Decimal) -> Points:
    if answer.state == SuggestionState.FAILED:
        return Unscored(reason=answer.reason or "it failed")
    if answer.state in (SuggestionState.QUEUED, SuggestionState.RUNNING):
        return Unscored(reason="its answer is not there yet")
    body = answer.body
    points = _of_body(body)
    if points is None:
        return Unscored(reason=body.get("unscored") or "it gives no points")
    return points * scale / Decimal(str(body["scale"])) if body.get("scale") else points


def _of_body(body: Mapping[str, Any]) -> Decimal | None:
    """As `SuggestionBody.expected`, without reading all of a body: a page has thousands of them."""
    if body.get("proposed") is not None:
        return Decimal(str(body["proposed"]))
    if not body.get("distribution"):
        return None
    return sum((Decimal(str(one["points"])) * Decimal(str(one["share"])) for one in body["distribution"]), Decimal(0))


def cells_named(cases: Cases) -> list[tuple[str, str]]:
    """Name and words of the graders of experiments that ended on these texts."""
    return graders_named(_cells(cases))


def cells_views(cases: Cases, name: str) -> tuple[ViewShown, ...]:
    """What such a grader was shown."""
    return views_of(_cells(cases), name)


def suggested_views(cases: Cases, grader: str) -> tuple[ViewShown, ...]:
    """What a grader of suggestions was shown of these scripts' problems, the newest first."""
    rows = Suggestion.objects.filter(version__case__in=cases, grader=grader, state=SuggestionState.DONE)
    views = rows.values("body__view").annotate(newest=Max("pk")).order_by("-newest")
    kept = dict.fromkeys(tuple(one["body__view"] or ()) for one in views)
    found = (shown_suggested(grader.partition(":")[2], parts) for parts in kept)
    return tuple(shown for shown in found if shown is not None)


def cells_failed(cases: Cases) -> str:
    """How many gradings in experiments on these texts failed, as a sentence with a space before it, or empty."""
    return failed_in_words(ExperimentCell.objects.filter(version__case__in=cases))


@dataclass(frozen=True, slots=True)
class CellGiven:
    """What a run of a grader gave, out of `most`. `meanings`: of the scheme that it graded by, None where by none."""

    points: Points
    most: Decimal
    meanings: frozenset[str] | None = None


def cells_given(cases: Cases, name: str) -> dict[int, list[CellGiven]]:
    """By case: what each run of such a grader gave; of runs with one seed under one meaning the first that is scored."""
    kept: dict[tuple[int, Any, str, Any], CellGiven] = {}
    rows = cells_by(_cells(cases), name)
    meanings = meanings_of(rows)
    seeds = seeds_of(rows)
    for pk, case, points, most, unscored in rows.values_list("pk", "version__case", "points", "scale", "unscored"):
        given = Unscored(reason=unscored or "it has no points") if points is None else points
        key = (case, meanings.get(pk), *(("run", pk) if seeds.get(pk) is None else ("seed", seeds[pk])))
        if key not in kept or (isinstance(kept[key].points, Unscored) and points is not None):
            kept[key] = CellGiven(given, most or SCALE_WITHOUT_SCHEME, meanings.get(pk))
    found: dict[int, list[CellGiven]] = defaultdict(list)
    for (case, *_), one in kept.items():
        found[case].append(one)
    return found


def replays_told(cases: Cases, graders: Mapping[str, str]) -> tuple[str, ...]:
    """How many runs of each grader of experiments, by name with its words, are replays, which `cells_given` leaves out."""
    told = []
    for name, words in graders.items():
        kept = sum(map(len, cells_given(cases, name).values()))
        told.append(replays_in_words(words, cells_by(_cells(cases), name).count() - kept))
    return tuple(filter(None, told))


def mean_given(runs: Sequence[CellGiven], mark: Given) -> Given:
    """The mean of the scored runs, on the mark's scale; unscored for the first run's reason where none is.

    By a scheme, only runs under the meaning of the mark are in; where there is none, it does not count.
    """
    fitting = [run for run in runs if run.meanings is None or mark.meaning in run.meanings]
    scored = [run.points * mark.scale / run.most for run in fitting or runs if not isinstance(run.points, Unscored)]
    mean = sum(scored, Decimal(0)) / len(scored) if scored else (fitting or runs)[0].points
    return Given(mean, scale=mark.scale, why="" if fitting else OTHER_SCHEME)


def _cells(cases: Cases) -> QuerySet[ExperimentCell]:
    return cells_compared(ExperimentCell.objects.filter(version__case__in=cases))


def judgements_given(cases: Cases) -> dict[int, Given]:
    """By case: points that came with an import."""
    rows = ForeignJudgement.objects.filter(version__case__in=cases)
    return {case: Given(points, scale=most) for case, points, most in rows.values_list("version__case", "points", "out_of")}
