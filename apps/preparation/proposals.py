"""Schemes written by a model: try them out on partial solutions, edit them, approve them as a draft of the problem."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.graded_sets.models import GradedScript
from apps.graders.planning.plans import GradingPlan
from apps.graders.results import result_of
from apps.graders.starting import grading_start
from apps.preparation.models import SchemeProposal, SchemeTryout
from apps.problems.models import Problem
from apps.reasoning.domain.grading_events import GradingUnprepared
from apps.reasoning.graders.grading import Grading
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.lineage import content_hash
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.schemes.structure import Severity
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from apps.reasoning.story.gradings import Gradings
from apps.runs.access import run_may_start
from apps.runs.models import Run
from apps.runs.selectors import run_story
from apps.schemes.models import MarkingScheme
from apps.schemes.services import scheme_create

TRYOUTS_AT_ONCE = 10
SCRIPTS_OFFERED = 12


class ProposalWrong(ValueError):
    """A proposal that cannot be tried out or approved; the message says why."""


@dataclass(frozen=True)
class TryoutShown:
    """A text graded with the scheme. `people`: imported points of people; `is_same`: graded with the latest scheme text."""

    tryout: SchemeTryout
    grading: Grading | None
    people: str
    is_same: bool


@dataclass
class Proposal:
    """The result of a run of the scheme writer. Once it has ended, exactly one of `text` and `lost` is set."""

    run: Run
    text: str = ""
    warnings: tuple[str, ...] = ()
    lost: GradingUnprepared | None = None
    approved: SchemeProposal | None = None
    tryouts: list[TryoutShown] = field(default_factory=list)

    @property
    def latest(self) -> str:
        """The text to edit: the approved one, else the last one tried out, else the written one."""
        if self.approved:
            return self.approved.text
        tried = self.tryouts[-1].tryout.run.spec["params"].get("scheme") if self.tryouts else None
        return text_written(Scheme.model_validate(tried)) if tried else self.text

    @property
    def is_any_live(self) -> bool:
        """Whether the writer or a try-out is still running."""
        return self.run.is_live or any(one.tryout.run.is_live for one in self.tryouts)


def proposal_of(run: Run) -> Proposal:
    """The proposal of a run, as far as available."""
    proposal = Proposal(run, approved=SchemeProposal.objects.filter(run=run).select_related("scheme", "approved_by").first())
    gradings = run_story(run, Gradings.SCHEMES).gradings
    proposal.lost = gradings.unprepared
    if gradings.scheme:
        proposal.text, proposal.warnings = gradings.scheme.text, gradings.scheme.warnings
    rows = list(run.tryouts.select_related("run", "script").prefetch_related("script__human_scores"))
    last = rows[-1].digest if rows else ""
    proposal.tryouts = [TryoutShown(one, result_of(one.run).grading, _people(one.script), one.digest == last) for one in rows]
    return proposal


def scripts_offered(problem: Problem) -> list[tuple[GradedScript, str]]:
    """Scripts of imported sets on this problem with people's points, for try-outs."""
    rows = GradedScript.objects.filter(problem__problem=problem).exclude(text="").prefetch_related("human_scores")
    return [(one, _people(one)) for one in rows.order_by("graded_set", "position")[:SCRIPTS_OFFERED]]


def usable_scheme(text: str) -> Scheme:
    """Parse and check a scheme. Raises `ProposalWrong`, `FormWrong`."""
    scheme = text_read(text)
    errors = [issue.message for issue in check(scheme) if issue.severity is Severity.ERROR]
    if errors:
        raise ProposalWrong(" ".join(errors))
    return scheme


def tryouts_start(
    *,
    user: User,
    run: Run,
    text: str,
    alias: Alias,
    pasted: Sequence[str] = (),
    scripts: Sequence[GradedScript] = (),
) -> list[SchemeTryout]:
    """Start the `scheme` grader on each text and script. Raises `ProposalWrong`, `FormWrong`, `PlanWrong`."""
    scheme = usable_scheme(text)
    asked: list[tuple[str, str, GradedScript | None]] = [(_label(one), one, None) for one in pasted]
    asked += [(f"{one.graded_set.title}: {one.name}"[:200], one.text, one) for one in scripts]
    if not asked or len(asked) > TRYOUTS_AT_ONCE:
        raise ProposalWrong(f"No try-out was started: choose or paste 1 to {TRYOUTS_AT_ONCE} texts.")
    plan = GradingPlan("scheme", {"": alias}, overrides={"scheme": scheme})
    problem = run.problem_version.problem
    made = []
    with transaction.atomic():
        for label, script, row in asked:
            graded = grading_start(user=user, problem=problem, plan=plan, script=script, start_id=None)
            made.append(
                SchemeTryout.objects.create(writer=run, run=graded, label=label, script=row, digest=content_hash(scheme))
            )
    return made


@transaction.atomic
def proposal_approve(*, user: User, run: Run, text: str, title: str) -> MarkingScheme:
    """Create a draft scheme of the problem from the text, with its origin; it is not active. Once per run.

    Raises `ProposalWrong`, `FormWrong`, `PermissionDenied`.
    """
    if not run_may_start(user):
        raise PermissionDenied("Only coaches and researchers can approve schemes.")
    scheme = usable_scheme(text)
    if SchemeProposal.objects.filter(run=run).exists():
        raise ProposalWrong("This scheme is already approved.")
    models = ", ".join(sorted({role["alias"] for role in run.spec["roles"].values()}))
    is_changed = _digest(proposal_of(run).text) != content_hash(scheme)
    reason = f"Written by {models} in run {run.public_id}{', changed' if is_changed else ''} and approved by {user.username}."
    try:
        made = scheme_create(problem=run.problem_version.problem, title=title, content=scheme, by=user, reason=reason)
        with transaction.atomic():
            SchemeProposal.objects.create(run=run, scheme=made, text=text, approved_by=user)
    except IntegrityError as error:
        raise ProposalWrong("This scheme is already approved.") from error
    except ValidationError as error:
        raise ProposalWrong(" ".join(error.messages)) from error
    return made


def _digest(text: str) -> str:
    try:
        return content_hash(text_read(text)) if text else ""
    except ValueError:
        return ""


def _label(text: str) -> str:
    first = " ".join(text.split())
    return first if len(first) <= 60 else f"{first[:57]}…"


def _people(script: GradedScript | None) -> str:
    if script is None:
        return ""
    return ", ".join(f"{_plain(one.points)} of {_plain(one.out_of)}" for one in script.human_scores.all())


def _plain(points: Decimal) -> str:
    return f"{points.normalize():f}"
