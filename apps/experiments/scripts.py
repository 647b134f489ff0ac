"""Choose the scripts of an experiment from a set or a contest by problem, author and points; all or a sample."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from apps.contests.models import Contest, ContestProblem
from apps.graded_sets.models import GradedScript, GradedSet
from apps.problems.models import ProblemVersion
from apps.submissions.selectors import versions_to_mark

_NO_TEXT = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class ScriptChosen:
    """A script by primary key, with the statement of its problem ("" if unknown)."""

    script_pk: int | None
    version_pk: int | None
    statement: str
    can_be_graded: bool = True


@dataclass(frozen=True)
class Chosen:
    """A choice of scripts from either `graded_set` or `contest`. `problems`: names in a set, labels in a contest; () for all.

    `author_kind` and `only_with_points` are for sets only, as in a contest they would reveal secrets during marking.
    `at_most`: sample size; a `seed` always gives the same sample.
    """

    graded_set: GradedSet | None = None
    contest: Contest | None = None
    problems: Sequence[str] = ()
    author_kind: str = ""
    only_with_points: bool = False
    at_most: int | None = None
    seed: int = 0

    @property
    def words(self) -> str:
        """The choice as text."""
        parts = [f"problem {', '.join(self.problems)}" if self.problems else "all problems"]
        if self.author_kind:
            parts.append(f"by {self.author_kind}s")
        if self.only_with_points:
            parts.append("with points by people")
        if self.at_most is not None:
            parts.append(f"at most {self.at_most}, drawn with seed {self.seed}")
        return ", ".join(parts)[:300]

    def scripts(self) -> list[ScriptChosen]:
        """The chosen scripts in order, without their texts."""
        found = self._of_set(self.graded_set) if self.graded_set is not None else self._of_contest()
        if self.at_most is None or len(found) <= self.at_most:
            return found
        drawn = sorted(found, key=self._place)[: self.at_most]
        kept = set(map(id, drawn))
        return [one for one in found if id(one) in kept]

    def _place(self, one: ScriptChosen) -> str:
        return hashlib.sha256(f"{self.seed}/{one.script_pk}/{one.version_pk}".encode()).hexdigest()

    def _of_set(self, graded_set: GradedSet) -> list[ScriptChosen]:
        rows = GradedScript.objects.filter(graded_set=graded_set)
        if self.problems:
            rows = rows.filter(problem_name__in=self.problems)
        if self.author_kind:
            rows = rows.filter(author_kind=self.author_kind)
        if self.only_with_points:
            rows = rows.filter(human_scores__isnull=False).distinct()
        keys = list(rows.order_by("position").values_list("pk", "problem", "digest"))
        statements = _statements({problem for _, problem, _ in keys if problem is not None})
        return [
            ScriptChosen(pk, None, statements.get(problem, ""), problem is not None and digest != _NO_TEXT)
            for pk, problem, digest in keys
        ]

    def _of_contest(self) -> list[ScriptChosen]:
        if self.contest is None:
            return []
        problems = ContestProblem.objects.filter(contest=self.contest)
        if self.problems:
            problems = problems.filter(label__in=self.problems)
        rows = versions_to_mark(self.contest).filter(submission__problem__in=problems)
        order = ("submission__problem__position", "submission__paper__number")
        keys = list(rows.order_by(*order).values_list("pk", "submission__problem__version"))
        statements = _statements({problem for _, problem in keys})
        return [ScriptChosen(None, pk, statements[problem]) for pk, problem in keys]


def _statements(versions: set[int]) -> dict[int | None, str]:
    return dict(ProblemVersion.objects.filter(pk__in=versions).values_list("pk", "statement"))
