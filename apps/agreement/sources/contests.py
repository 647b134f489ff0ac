"""Pairs of a contest, for its organisers: sealed marks of settled scripts, paired with the suggestions of graders.

Judgements under different meanings of a marking scheme are never compared. Those under another meaning than the chosen one are
counted and excluded.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.comparisons import Gathered
from apps.agreement.sources.judgements import (
    MARKER,
    OTHER_SCHEME,
    SCALE_WITHOUT_SCHEME,
    SLOTS,
    Given,
    answer_given,
    answers_by_case,
    cell_failure_note,
    cell_grader_names,
    cell_views,
    cells_given,
    judgements_given,
    marks_given,
    marks_of,
    mean_given,
    replay_notes,
    suggested_views,
)
from apps.agreement.sources.sources import NO_SOURCE, OTHER_SCALE, Choices, Chosen, Named, Shown, scale_to
from apps.contests.access import author_kinds_for, coach_of
from apps.contests.models import Contest, ContestProblem
from apps.contests.selectors import problem_list
from apps.experiments.ledger import AGREEMENT, results_shown
from apps.graders.planning.shown import ViewShown
from apps.marks.blindness import problems_shut
from apps.marks.graders.computational import COMPUTATIONAL
from apps.marks.models import MarkingCase, Slot, Suggestion
from apps.marks.office.office import office_get_for
from apps.marks.office.statistics import SETTLED
from apps.marks.sealing.calibration import calibration_ahead
from apps.marks.suggestions.suggesting import label_of
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.domain.values import Unscored
from apps.schemes.models import SchemeVersion
from apps.submissions.selectors import versions_to_mark

IMPORTED = Named("imported", "Imported points")
#: Prefix of a grader of experiments as a choice, followed by its name.
CELLS = "cell:"
#: Graders that report findings but no points.
WITHOUT_POINTS = (COMPUTATIONAL,)
GROUPS = (Named("problem", "problem"), Named("topic", "topic"), Named("marker", "marker"))


@dataclass(frozen=True)
class Script:
    """A settled script: primary keys of its case and paper, and the case's public id."""

    case: int
    name: str
    paper: int
    problem: ContestProblem


class ContestSource:
    """A contest as one of its organisers may see it now. `of_points` excludes graders that never give points."""

    def __init__(self, user: User, contest: Contest, *, of_points: bool = True) -> None:
        self.user, self.contest = user, contest
        self.left_out = WITHOUT_POINTS if of_points else ()
        self.problems = list(problem_list(contest))
        self.shut = problems_shut(user, self.problems)
        self.cases = self._cases()
        self.scripts = {one.case: one for one in self._scripts()}

    @property
    def key(self) -> str:
        return f"contest:{self.contest.public_id}"

    @property
    def title(self) -> str:
        return self.contest.title

    @property
    def about(self) -> str:
        shut = ", ".join(row.label for row in self.problems if row.pk in self.shut)
        waits = f" Problem {shut} is hidden until your own marks on it are sealed." if shut else ""
        return (
            f"{len(self.scripts):,} settled scripts. Marks count with their sealed points, if they were sealed before the "
            f"marker saw a suggestion or a colleague’s mark.{waits}{cell_failure_note(self.cases)}"
        )

    def choices(self) -> Choices:
        return self._choices

    @cached_property
    def _choices(self) -> Choices:
        """Graders that ran on a settled script, slots and markers with marks, problems, and meanings of the scheme."""
        marks = marks_of(self.cases)
        slots = set(marks.values_list("task__slot", flat=True))
        markers = sorted(set(marks.values_list("marker__username", flat=True)))
        humans = [Named(slot.value, f"{slot.label}s") for slot in SLOTS if slot in slots]
        humans += [Named(MARKER + name, f"Marks of {name}") for name in markers] if len(markers) > 1 else []
        asked = Suggestion.objects.filter(version__case__in=self.cases).exclude(grader__in=self.left_out).order_by("grader")
        graders = [Named(name, label_of(name)) for name in asked.values_list("grader", flat=True).distinct()]
        graders += [Named(CELLS + name, f"{words}, in experiments") for name, words in cell_grader_names(self.cases)]
        if judgements_given(self.cases):
            humans.append(IMPORTED)
            graders.append(IMPORTED)
        return Choices(
            graders=graders,
            humans=humans or [Named(Slot.FIRST.value, "First marks")],
            problems=[Named(row.label, f"{row.label}: {row.problem.title}") for row in self.problems],
            schemes={row.label: self._meanings(row) for row in self.problems} | {"": self._meanings()},
            groups=GROUPS,
        )

    def gather(self, chosen: Chosen) -> Gathered:
        """Pairs of every grader with the chosen marks, and pairs of two people for scripts with two marks."""
        human, others = self.human(chosen.human)
        scripts = [one for one in self.scripts.values() if chosen.problem in ("", one.problem.label) and one.case in human]
        rule = self._rule(chosen.scheme, [human[one.case] for one in scripts])
        graders = {}
        for name in chosen.graders or [one.name for one in self.choices().graders]:
            if name == chosen.human:
                continue  # Imported points are not compared with themselves.
            answer = self._answers(name)
            answered = [(one, human[one.case], answer(one.case, human[one.case])) for one in scripts]
            graders[name] = tuple(rule.pair(one, mark, given) for one, mark, given in answered if given is not None)
        people = [(one, human[one.case], _second(others[one.case], human[one.case])) for one in scripts if one.case in others]
        return Gathered(
            graders=graders,
            people=tuple(rule.pair(*one) for one in people),
            scale=scale_to(rule.scale),
            fitting=rule.scale % 1 == 0,
            groups=tuple(one.name for one in GROUPS if one.name in chosen.groups),
            views=self.views(graders),
            notes=replay_notes(
                self.cases, {one.name.removeprefix(CELLS): one.words for one in self.choices().graders if one.name in graders}
            ),
        )

    def shown(self, papers: Sequence[str]) -> dict[str, Shown]:
        """Paper number and problem label, with a link to the marked paper. Records the disclosure."""
        self.record_disclosure(papers)
        rows = MarkingCase.objects.filter(public_id__in=papers, pk__in=self.cases)
        found = {}
        for row in rows.select_related("version__submission__paper", "problem"):
            number = row.version.submission.paper.number
            href = reverse("office:paper", args=[self.contest.public_id, number])
            found[str(row.public_id)] = Shown(f"{number} · problem {row.problem.label}", href)
        return found

    def record_disclosure(self, papers: Iterable[str]) -> None:
        """Record that the reader is shown the points of people and graders for these scripts."""
        names = set(papers)
        results_shown(self.user, [one.case for one in self.scripts.values() if one.name in names], AGREEMENT)

    @cached_property
    def schemes(self) -> dict[int, SchemeVersion]:
        """The scheme versions of the marks by key, oldest first."""
        used = {version for _, version in self._used}
        return {one.pk: one for one in SchemeVersion.objects.filter(pk__in=used).order_by("number")}

    @cached_property
    def _used(self) -> set[tuple[int, int]]:
        """Primary keys of each problem and of a scheme version used for marks on it."""
        rows = marks_of(self.cases).filter(scheme_version__isnull=False).order_by()
        return {
            (problem, version)
            for problem, version in rows.values_list("task__case__problem", "scheme_version").distinct()
            if version
        }

    def _cases(self) -> QuerySet[MarkingCase]:
        """Settled newest texts, without the problems and scripts that this person marks or will calibrate on."""
        newest = versions_to_mark(self.contest).values("pk")
        rows = MarkingCase.objects.filter(problem__contest=self.contest, state__in=SETTLED, version__in=newest)
        rows = rows.exclude(pk__in=self.user.marking_tasks.filter(done_at=None).values("case"))
        return rows.exclude(problem__in=self.shut).exclude(pk__in=calibration_ahead(self.user).values("pk"))

    def _scripts(self) -> Iterator[Script]:
        problems = {row.pk: row for row in self.problems}
        named = self.cases.order_by("pk").values_list("pk", "public_id", "version__submission__paper", "problem")
        for case, name, paper, problem in named:
            yield Script(case, str(name), paper, problems[problem])

    def human(self, name: str) -> tuple[dict[int, Given], dict[int, list[Given]]]:
        """By case: the chosen person's points, and the points of the other markers."""
        if name == IMPORTED.name:
            return judgements_given(self.cases), {}
        scales = {one.meaning_hash: one.content.scale for one in self.schemes.values()}
        return marks_given(self.cases, name, self.schemes, scales)

    def _answers(self, name: str) -> Callable[[int, Given], Given | None]:
        """A lookup of a grader's points for a case and a mark; it returns None if the grader did not run on the case."""
        if name == IMPORTED.name:
            given = judgements_given(self.cases)
            return lambda case, _: given.get(case)
        if name.startswith(CELLS):
            runs = cells_given(self.cases, name.removeprefix(CELLS))
            return lambda case, mark: mean_given(runs[case], mark) if case in runs else None
        rows = answers_by_case(self.cases, name)
        return lambda case, mark: answer_given(rows[case], mark) if case in rows else None

    def views(self, graders: Iterable[str]) -> dict[str, tuple[ViewShown, ...]]:
        """The views of each grader on these scripts; several if its view changed over time."""
        known = [name for name in graders if name not in (IMPORTED.name, COMPUTATIONAL)]
        in_cells = {name: name.removeprefix(CELLS) for name in known if name.startswith(CELLS)}
        return {
            name: cell_views(self.cases, in_cells[name]) if name in in_cells else suggested_views(self.cases, name)
            for name in known
        }

    def _meanings(self, row: ContestProblem | None = None) -> list[Named]:
        """The newest version of each meaning, newest first; empty unless all marks (on a problem) use one scheme."""
        used = {version for problem, version in self._used if row is None or problem == row.pk}
        versions = [one for one in self.schemes.values() if one.pk in used]
        if len({one.scheme_id for one in versions}) != 1:
            return []
        newest = list({one.meaning_hash: one for one in versions}.values())[::-1]
        return [Named(str(one.public_id), f"Version {one.number}") for one in newest]

    def _rule(self, scheme: str, marks: Sequence[Given]) -> "_Rule":
        """The rule for the chosen meaning, else the newest of each scheme, on the most frequent scale of the marks."""
        newest = {one.scheme_id: one.meaning_hash for one in self.schemes.values()}
        newest |= {one.scheme_id: one.meaning_hash for one in self.schemes.values() if scheme == str(one.public_id)}
        scales = [mark.scale for mark in marks]
        most = max(set(scales), key=lambda scale: (scales.count(scale), scale), default=SCALE_WITHOUT_SCHEME)
        topics = {row.pk: row.problem.get_topic_display() for row in self.problems}
        numbers = {one.meaning_hash: one.number for one in self.schemes.values()}
        return _Rule(frozenset({*newest.values(), ""}), most, numbers, self._kinds(), topics)

    def _kinds(self) -> dict[int, str]:
        """The author kind of each paper; "" for papers with an unsettled script, unless all papers are of one kind."""
        kinds = author_kinds_for(self.user, self.contest)
        if len(set(kinds.values())) < 2:
            return kinds
        still = MarkingCase.objects.filter(problem__in=self.problems, version__in=versions_to_mark(self.contest))
        unsettled = set(still.exclude(pk__in=self.cases).values_list("version__submission__paper", flat=True))
        return {paper: "" if paper in unsettled else kind for paper, kind in kinds.items()}


@dataclass(frozen=True)
class _Rule:
    """What two judgements must share to count: the chosen meaning of the scheme, and the scale."""

    meanings: frozenset[str]
    scale: Decimal
    numbers: Mapping[str, int]
    kinds: Mapping[int, str]
    topics: Mapping[int, str]

    def pair(self, script: Script, mark: Given, other: Given) -> Pair:
        """The pair of two judgements on a script, with the reason if it does not count."""
        problem = script.problem
        return Pair(
            paper=script.name,
            problem=problem.label,
            human=mark.points if isinstance(mark.points, Unscored) else float(mark.points),
            predicted=other.points if isinstance(other.points, Unscored) else float(other.points),
            author=self.kinds.get(script.paper, ""),
            contaminated=mark.why or other.why or self._apart(mark, other),
            groups={"problem": problem.label, "topic": self.topics[problem.pk], "marker": mark.by},
        )

    def _apart(self, mark: Given, other: Given) -> str:
        if mark.meaning not in self.meanings:
            return f"marked under version {self.numbers[mark.meaning]} of the scheme"
        if mark.meaning and other.meaning and mark.meaning != other.meaning:
            return OTHER_SCHEME
        if {mark.scale, other.scale} != {self.scale}:
            return OTHER_SCALE
        return ""


def _second(others: Sequence[Given], first: Given) -> Given:
    """The judgement to compare with the first: preferably an independent one under the same meaning."""
    return min(others, key=lambda one: (bool(one.why), one.meaning != first.meaning))


def contest_source_for(user: User, public_id: uuid.UUID, *, of_points: bool = True) -> ContestSource:
    """The contest for one of its organisers, once marking has started. Raises `Http404`."""
    contest, _ = office_get_for(user, public_id)
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser:
        raise Http404(NO_SOURCE)
    return ContestSource(user, contest, of_points=of_points)
