"""Figures over remarks: a class's common errors by step of the reference, and how often models' remarks are right."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.contests.models import Contest, ContestKind, ContestState
from apps.practice.models import Judgement, Remark, RemarkOrigin, RemarkRequest, RequestState, SharedText
from apps.problems.models import Problem
from apps.reasoning.domain.verdicts import wilson_interval
from apps.results.words import FALLACIES
from apps.submissions.models import Submission


@dataclass
class StepErrors:
    """Errors at one step of the reference solution; step 0 is none in particular. `texts`: how many texts have one."""

    step: int
    kinds: Counter[str] = field(default_factory=Counter)
    texts: set[int] = field(default_factory=set)

    @property
    def words(self) -> list[tuple[str, int]]:
        """The kinds in words, the most frequent first."""
        return [(FALLACIES.get(kind, kind), count) for kind, count in self.kinds.most_common()]

    @property
    def count(self) -> int:
        return len(self.texts)


@dataclass
class ProblemErrors:
    """The errors in a problem's texts. `texts`: how many texts were handed in."""

    problem: Problem
    texts: int
    steps: list[StepErrors]


def texts_of_course(user: User, course: str) -> QuerySet[Submission]:
    """The texts of a course of this coach: a sheet by public id, or "practice" for texts shared with them."""
    if course == "practice":
        shared = SharedText.objects.filter(coach=user).values("submission")
        return Submission.objects.filter(pk__in=shared, paper__contest__kind=ContestKind.PRACTICE)
    sheets = Contest.objects.filter(kind=ContestKind.SHEET, coaches__person=user).exclude(
        state__in=(ContestState.PREPARING, ContestState.MARKING, ContestState.DELETED)
    )
    return Submission.objects.filter(paper__contest__in=sheets.filter(public_id=course), versions__isnull=False).distinct()


def common_errors(texts: QuerySet[Submission]) -> list[ProblemErrors]:
    """Coaches' remarks with a kind of error, by problem and step of the reference, the most frequent step first.

    A remark that a coach dropped after a disagreement does not count.
    """
    counts = Counter(Submission.objects.filter(pk__in=texts.values("pk")).values_list("problem__problem", flat=True))
    rows = Remark.objects.filter(origin=RemarkOrigin.COACH, version__submission__in=texts.values("pk")).exclude(kind="")
    rows = rows.exclude(disagreement__is_upheld=True)
    found: dict[int, dict[int, StepErrors]] = {}
    for problem, text, step, kind in rows.values_list(
        "version__submission__problem__problem", "version__submission", "reference_step", "kind"
    ):
        errors = found.setdefault(problem, {}).setdefault(step, StepErrors(step))
        errors.kinds[kind] += 1
        errors.texts.add(text)
    problems = Problem.objects.in_bulk(list(counts))
    return [
        ProblemErrors(problems[key], counts[key], sorted(found.get(key, {}).values(), key=lambda one: (-one.count, one.step)))
        for key in sorted(counts, key=lambda key: problems[key].title)
    ]


@dataclass(frozen=True)
class Share:
    """A share with Wilson's 95 % interval; `of` 0 has none."""

    count: int
    of: int

    @property
    def words(self) -> str:
        if not self.of:
            return "no data yet"
        low, high = wilson_interval(self.count, self.of)
        return f"{self.count} of {self.of} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True)
class ModelFigures:
    """How a model's remarks fare. `right`: of those that coaches judged. `located`: at the step of the coach's first error."""

    alias: str
    requests: int
    shown: int
    silent: int
    failed: int
    right: Share
    located: Share
    disputed: Share


def model_figures() -> list[ModelFigures]:
    """Figures by model, over all practice and sheets."""
    aliases = RemarkRequest.objects.order_by("alias").values_list("alias", flat=True).distinct()
    return [_figures(alias) for alias in aliases]


def _figures(alias: str) -> ModelFigures:
    states = Counter(RemarkRequest.objects.filter(alias=alias).values_list("state", flat=True))
    remarks = list(Remark.objects.filter(origin=RemarkOrigin.MODEL, alias=alias).select_related("disagreement"))
    judged = [one for one in remarks if one.judged]
    firsts = _first_errors(one.version_id for one in remarks)
    compared = [one for one in remarks if one.version_id in firsts]
    return ModelFigures(
        alias=alias,
        requests=sum(states.values()),
        shown=states[RequestState.DONE],
        silent=states[RequestState.SILENT],
        failed=states[RequestState.FAILED],
        right=Share(sum(one.judged == Judgement.RIGHT for one in judged), len(judged)),
        located=Share(sum(one.step == firsts[one.version_id] for one in compared), len(compared)),
        disputed=Share(sum(hasattr(one, "disagreement") for one in remarks), len(remarks)),
    )


def _first_errors(versions: Iterable[int]) -> dict[int, int]:
    """By version, the first step at which a coach names an error."""
    rows = Remark.objects.filter(Q(version__in=list(versions)), origin=RemarkOrigin.COACH, step__gt=0).exclude(kind="")
    return dict(rows.order_by("-step").values_list("version", "step"))  # The first step is the last to be set.
