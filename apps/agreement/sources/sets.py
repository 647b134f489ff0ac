"""Pairs of an imported set: imported points of people, paired with the points of graders in experiments."""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from statistics import fmean

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse

from apps.accounts.models import User
from apps.agreement.comparisons import Gathered
from apps.agreement.sources.sources import NO_POINTS, NO_SOURCE, OTHER_SCALE, Choices, Chosen, Named, Shown, scale_to
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
from apps.graded_sets.models import GradedScript, GradedSet, HumanScore
from apps.problems.models import ProblemVersion
from apps.reasoning.agreement.consistency import without_replays
from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.domain.values import Unscored
from apps.reasoning.marking.schemes.scheme import points_words

GROUPS = (Named("problem", "problem"), Named("topic", "topic"), Named("author", "author’s name"))
OF = " · out of "
Points = Decimal | Unscored


class SetSource:
    """A set, visible to everyone who may see gradings, as its scripts are not marked here."""

    def __init__(self, graded_set: GradedSet) -> None:
        self.graded_set = graded_set

    @property
    def key(self) -> str:
        return f"set:{self.graded_set.public_id}"

    @property
    def title(self) -> str:
        return self.graded_set.title

    @property
    def about(self) -> str:
        older = len(self.of_older_schemes)
        without = f" Excluded, as graded under an earlier meaning of a marking scheme: {older:,}." if older else ""
        credit = " ".join(filter(None, (self.graded_set.credit, self.graded_set.licence)))
        about = f"Imported points of people who saw no grader of ours.{without}{failure_note(self._of_set())}"
        return f"{credit}. {about}" if credit else about

    def choices(self) -> Choices:
        """Graders with finished gradings of the set's scripts; raters under their names in the source."""
        problems = self.graded_set.scripts.order_by("problem_name").values_list("problem_name", flat=True).distinct()
        return Choices(
            graders=[Named(name, words) for name, words in grader_names(self._cells())],
            humans=self._humans(),
            problems=[Named(name, name) for name in problems if name],
            groups=GROUPS,
        )

    def gather(self, chosen: Chosen) -> Gathered:
        """Pairs for the scripts that each grader graded. Several runs of one grader count with their mean."""
        scores: dict[int, dict[str, HumanScore]] = defaultdict(dict)
        for score in HumanScore.objects.filter(script__graded_set=self.graded_set):
            scores[score.script_id][score.rater] = score
        human, _, maximum = chosen.human.partition(OF)
        most = Decimal(maximum) if maximum else self._scale([one.out_of for by in scores.values() if (one := by.get(human))])
        scripts = [one for one in self.scripts.values() if chosen.problem in ("", one.problem_name)]
        names = chosen.graders or tuple(one.name for one in self.choices().graders)
        read = {name: self._runs(name, most) for name in names}
        runs = {name: given for name, (given, _, _) in read.items()}
        graders = {
            name: tuple(
                self._pair(one, scores[one.pk].get(human), _mean(runs[name][one.pk]), most)
                for one in scripts
                if one.pk in runs[name]
            )
            for name in names
        }
        people = [(one, _second(scores[one.pk], human)) for one in scripts if human in scores[one.pk]]
        return Gathered(
            graders=graders,
            runs={name: self._floats(given) for name, given in runs.items() if any(len(one) > 1 for one in given.values())},
            people=tuple(
                self._pair(one, scores[one.pk][human], second.points, most)
                for one, second in people
                if second is not None and second.out_of == most
            ),
            scale=scale_to(most),
            fitting=most % 1 == 0,
            groups=tuple(one.name for one in GROUPS if one.name in chosen.groups),
            views={name: views_of(self._cells(), name) for name in names},
            notes=tuple(self._notes({name: (replays, other) for name, (_, replays, other) in read.items()}, most)),
        )

    def _notes(self, read: Mapping[str, tuple[int, set[Decimal]]], most: Decimal) -> Iterator[str]:
        """Sentences on rescaled points and replays, by grader."""
        names = {one.name: one.words for one in self.choices().graders}
        for name, (replays, scales) in read.items():
            words = names.get(name, name)
            if scales:
                maxima = ", ".join(f"{one.normalize():f}" for one in sorted(scales))
                yield f"{words}: points out of {maxima} are rescaled to the people's {points_words(most)}."
            if note := replay_note(words, replays):
                yield note

    def _humans(self) -> list[Named]:
        """The raters under their names in the source; one choice per maximum of points, most frequent first."""
        rows = HumanScore.objects.filter(script__graded_set=self.graded_set).order_by("rater")
        maxima: dict[str, list[Decimal]] = defaultdict(list)
        for rater, most in rows.values_list("rater", "out_of"):
            maxima[rater].append(most)
        found = []
        for rater, given in maxima.items():
            words = rater or "Imported points"
            different = sorted(set(given), key=lambda one, given=given: (-given.count(one), -one))  # type: ignore[misc]
            if len(different) == 1:
                found.append(Named(rater, words))
            else:
                found += [Named(f"{rater}{OF}{one.normalize():f}", f"{words}, out of {one.normalize():f}") for one in different]
        return found

    def shown(self, papers: Sequence[str]) -> dict[str, Shown]:
        """Script names of the source, with a link to the newest grading."""
        newest: dict[str, str] = {}
        for name, run in self._cells().filter(script__name__in=papers, run__isnull=False).order_by("pk").values_list(
            "script__name", "run__public_id"
        ):  # fmt: skip
            newest[name] = reverse("graders:detail", args=[run])
        return {name: Shown(name, newest.get(name, "")) for name in papers}

    @cached_property
    def scripts(self) -> dict[int, GradedScript]:
        """The scripts by primary key, without their texts."""
        return {one.pk: one for one in self.graded_set.scripts.defer("text", "issues")}

    @cached_property
    def topics(self) -> dict[int | None, str]:
        """The topic of each problem in the library, by the primary key of its version."""
        rows = ProblemVersion.objects.filter(pk__in={one.problem_id for one in self.scripts.values()})
        return {one.pk: one.problem.get_topic_display() for one in rows.select_related("problem")}

    @cached_property
    def of_older_schemes(self) -> frozenset[int]:
        """Primary keys of cells graded under another meaning of the scheme than the last one used on the problem."""
        meanings = meanings_of(self._cells())
        newest: dict[str, frozenset[str]] = {}
        older = set()
        rows = self._cells().filter(pk__in=meanings).order_by("-pk").values_list("pk", "script__problem_name")
        for pk, problem in rows:
            newest[problem] = newest.get(problem) or meanings[pk]
            if not meanings[pk] & newest[problem]:
                older.add(pk)
        return frozenset(older)

    def _cells(self) -> QuerySet[ExperimentCell]:
        return cells_compared(self._of_set())

    def _of_set(self) -> QuerySet[ExperimentCell]:
        return ExperimentCell.objects.filter(script__graded_set=self.graded_set)

    def _runs(self, name: str, most: Decimal) -> tuple[dict[int, list[Points]], int, set[Decimal]]:
        """By script: each run's points, rescaled to `most`; the number of excluded replays; the other scales found."""
        given: dict[int, list[tuple[int | None, Points]]] = defaultdict(list)
        others = set()
        cells = cells_by(self._cells(), name)
        seeds = seeds_of(cells)
        for cell in cells:
            if cell.pk in self.of_older_schemes:
                continue
            if cell.points is None or not cell.scale or cell.script_id is None:
                points: Points = Unscored(reason=cell.unscored or cell.trouble or NO_POINTS)
            else:
                points = cell.points * most / cell.scale
                others |= {cell.scale} - {most}
            given[cell.script_id or 0].append((seeds.get(cell.pk), points))
        kept = {script: without_replays(runs) for script, runs in given.items()}
        return {script: runs for script, (runs, _) in kept.items()}, sum(left for _, left in kept.values()), others

    def _pair(self, script: GradedScript, score: HumanScore | None, predicted: Points, most: Decimal) -> Pair:
        return Pair(
            paper=script.name,
            problem=script.problem_name,
            human=Unscored(reason="no points from a person") if score is None else float(score.points),
            predicted=predicted if isinstance(predicted, Unscored) else float(predicted),
            author=script.author_kind,
            contaminated=OTHER_SCALE if score is not None and score.out_of != most else "",
            groups={"problem": script.problem_name, "topic": self.topics.get(script.problem_id, ""), "author": script.author},
        )

    def _scale(self, scales: list[Decimal]) -> Decimal:
        return max(set(scales), key=lambda one: (scales.count(one), one), default=Decimal(7))

    def _floats(self, runs: dict[int, list[Points]]) -> dict[str, tuple[float | Unscored, ...]]:
        return {
            self.scripts[key].name: tuple(one if isinstance(one, Unscored) else float(one) for one in given)
            for key, given in runs.items()
        }


def _mean(given: list[Points]) -> Points:
    scored = [one for one in given if not isinstance(one, Unscored)]
    return Decimal(str(fmean(scored))) if scored else given[0]


def _second(scores: dict[str, HumanScore], human: str) -> HumanScore | None:
    """The score of the first other rater by name."""
    return next((score for rater, score in sorted(scores.items()) if rater != human), None)


def set_source_for(user: User, public_id: uuid.UUID) -> SetSource:
    """The set, for a person who may see gradings. Raises `Http404`."""
    found = GradedSet.objects.filter(public_id=public_id).first()
    if found is None or not user.may_see_runs:
        raise Http404(NO_SOURCE)
    return SetSource(found)
