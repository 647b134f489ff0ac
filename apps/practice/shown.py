"""A version with its remarks by step, as pages show it."""

from dataclasses import dataclass, field

from apps.practice.models import Disagreement, Remark, RemarkOrigin, Settlement
from apps.practice.story import step_now
from apps.results.words import FALLACIES
from apps.submissions.models import SubmissionVersion

PLACE, QUESTION, REASON = 1, 2, 3


@dataclass(frozen=True)
class RemarkShown:
    """A remark with what the student said to it."""

    value: Remark
    disagreement: Disagreement | None
    settlement: Settlement | None

    @property
    def kind(self) -> str:
        """The type of the error in words; empty for a comment."""
        return FALLACIES.get(self.value.kind, "")

    @property
    def is_model(self) -> bool:
        return self.value.origin == RemarkOrigin.MODEL

    @property
    def is_formula(self) -> bool:
        return self.value.origin == RemarkOrigin.FORMULA

    @property
    def has_question(self) -> bool:
        return self.value.stage >= QUESTION

    @property
    def has_reason(self) -> bool:
        return self.value.stage >= REASON

    @property
    def is_settled(self) -> bool:
        """Whether it needs nothing more: granted, confirmed as settled, or dropped after a disagreement."""
        dropped = self.disagreement is not None and self.disagreement.is_upheld is True
        return self.value.grants or dropped or (self.settlement is not None and self.settlement.holds is True)


@dataclass(frozen=True)
class StepRow:
    """A step with its remarks; step 0 is the whole text."""

    number: int
    text: str
    remarks: list[RemarkShown] = field(default_factory=list)

    @property
    def is_faulty(self) -> bool:
        return any(one.value.kind and not one.is_settled for one in self.remarks)

    @property
    def is_granted(self) -> bool:
        return any(one.value.grants for one in self.remarks)


@dataclass(frozen=True)
class StepsShown:
    """The steps of a version in order, and the remarks on the whole text."""

    rows: list[StepRow]
    whole: StepRow


def steps_shown(version: SubmissionVersion) -> StepsShown:
    """A version with its remarks by step."""
    whole = StepRow(0, "")
    rows = [StepRow(step.number, version.source[step.start : step.end]) for step in version.steps.all()]
    by_number = {row.number: row for row in rows}
    for remark in remarks_of(version):
        by_number.get(remark.value.step, whole).remarks.append(remark)
    return StepsShown(rows, whole)


def remarks_of(version: SubmissionVersion) -> list[RemarkShown]:
    """The remarks on a version by step."""
    rows = Remark.objects.filter(version=version).select_related("disagreement", "settlement__version", "by")
    return [_shown(one) for one in rows]


@dataclass(frozen=True)
class EarlierRemark:
    """A remark on an older version. `step`: where its words are now; None if they changed."""

    remark: RemarkShown
    step: int | None


def unsettled_before(version: SubmissionVersion) -> list[EarlierRemark]:
    """Remarks on older versions that are not settled, the newest version first."""
    rows = Remark.objects.filter(version__submission=version.submission, version__number__lt=version.number)
    rows = rows.exclude(origin=RemarkOrigin.FORMULA, version__withdrawn_at__isnull=False)
    rows = rows.select_related("version", "disagreement", "settlement__version", "by").order_by(
        "-version__number", "step", "pk"
    )
    found = [_shown(one) for one in rows if one.kind or one.origin != RemarkOrigin.COACH]
    return [EarlierRemark(one, step_now(one.value, version)) for one in found if not one.is_settled]


def _shown(remark: Remark) -> RemarkShown:
    return RemarkShown(remark, getattr(remark, "disagreement", None), getattr(remark, "settlement", None))
