"""Model graders for suggestions, named `workflow:` plus a name of `naming`; they run once a mark is sealed.

Their gradings have no page, so that no user sees a result before the seal. Every call is stored before it is used, so that a
crash repeats no call. Calls go through the queue to the inference workers, with a lower priority than interactive ones.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings

from apps.graders.batches.jobs import Job, material_of, text_of
from apps.graders.batches.journals import DatabaseJournal
from apps.graders.batches.running import Done, graded, workers
from apps.graders.models import GradingCall
from apps.graders.pieces import pieces_known
from apps.graders.planning.naming import (
    APART,
    VARIANTS,
    plan_named,
    players_read,
    players_titled,
    players_written,
    title_of,
    variant_of,
)
from apps.graders.planning.plans import GradingPlan, PlanWrong, run_name
from apps.graders.planning.shown import shown_before, shown_suggested
from apps.graders.starting import models_for_grading
from apps.graders.suggestions.conversion import suggestion_body
from apps.marks.graders import GraderFailed, GraderStopped, Question
from apps.marks.graders.families import GraderUnknown, Offer
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.errors import AliasError, NeedsFork, RunHalted
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.graders.material import Span
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.suggestion import SuggestionBody
from apps.reasoning.scaffolds.spec import AWAITED

logger = logging.getLogger(__name__)
WORKFLOW = "workflow"
#: Longest grader name in a suggestion.
_NAME_LENGTH = 120
#: Version of the conversion to suggestions; increase it when the same grading gives a different suggestion.
_FORM = "1"
_stopping = threading.Event()
_at_work: "set[asyncio.Task[Any]]" = set()
_preparing: dict[tuple[str, frozenset[str]], threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class WorkflowGrader:
    """A workflow with its models, for one problem."""

    name: str
    label: str
    plan: GradingPlan
    stated: ProblemVersion
    scheme: Scheme | None

    @property
    def needs_scheme(self) -> bool:
        return "scheme" in self.plan.grader.needs

    @cached_property
    def material(self) -> dict[str, Any]:
        """The material of the problem; with a scheme only for graders by scheme."""
        return material_of(self.stated) | {"scheme": self.scheme if self.needs_scheme else None}

    @cached_property
    def revision(self) -> str:
        """A digest of prompts, models with revisions, references, guidelines, and the view if it differs from the former one.

        The scheme's meaning is part of the suggestion's key itself.
        """
        inputs = {
            "form": _FORM,
            "prompts": self.plan.grader.prompts_of(self.plan.params(self.job("Any text.", []))),
            "overrides": {name: value for name, value in self.plan.overrides.items() if name != "view"},
            "roles": {name: role.model_dump(mode="json") for name, role in self.plan.roles.items()},
            "references": self.material["references"],
            "guidelines": self.material["guidelines"],
        }
        view = self.plan.view
        if view is not None and view != shown_before(self.plan.workflow, self.plan.overrides):
            inputs["view"] = list(view.parts)
        return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    def job(self, source: str, spans: list[Span]) -> Job:
        """A script with its problem."""
        return Job("The script", text_of(self.stated), {**self.material, "script": source, "spans": spans})

    def answer(self, question: Question) -> SuggestionBody:
        """Grade the script, or continue an interrupted grading. Raises `GraderFailed`, `GraderStopped`."""
        job = self.job(question.source, [Span(start=step.start, end=step.end) for step in question.steps])
        try:
            with self._alone_while_preparing(job):
                if _stopping.is_set():
                    raise GraderStopped
                done = async_to_sync(self._graded)(job)
        except PlanWrong as error:
            raise GraderFailed(str(error).removeprefix(f"{job.paper}: ")) from error
        except TimeoutError as error:
            minutes = settings.SUGGESTION_MAX_MIN
            raise GraderFailed(f"The grader did not finish within {minutes} minutes. Its recorded calls are kept.") from error
        except RunHalted as error:
            raise GraderFailed(str(error)) from error
        except asyncio.CancelledError as error:
            raise GraderStopped from error
        return suggestion_body(done, self.plan.spec(job))

    @contextlib.contextmanager
    def _alone_while_preparing(self, job: Job) -> Iterator[None]:
        """Serialise scripts of a problem while pieces are missing: the first prepares them, the others wait and reuse."""
        # The lock is shared by all graders with the same preparing models, as they share pieces.
        preparers = frozenset(role.alias for name, role in self.plan.roles.items() if name in OFFLINE)
        lock = _preparing[(job.problem.statement, preparers)]
        with lock:
            if self._lacks_pieces(job):
                yield
                return
        yield

    def _lacks_pieces(self, job: Job) -> bool:
        one = self.plan.estimate(job, pieces_known(job.problem.statement, self.plan.roles))
        return any(role.calls_expected for role in one.roles if role.role in OFFLINE)

    async def _graded(self, job: Job) -> Done:
        task = asyncio.current_task()
        assert task is not None
        _at_work.add(task)
        try:
            async with asyncio.timeout(60 * settings.SUGGESTION_MAX_MIN), workers(self.plan.aliases.values()) as dispatcher_for:
                pieces = await sync_to_async(pieces_known)(job.problem.statement, self.plan.roles)
                name = run_name(self.plan.spec(job, pieces))
                try:
                    return await graded(self.plan, job, await DatabaseJournal.opened(name), dispatcher_for, pieces)
                except NeedsFork:
                    # While this grading was interrupted, another script made different pieces; its calls no longer match.
                    logger.warning("grading %s restarts: the pieces of its problem have changed in the meantime", name)
                    await sync_to_async(GradingCall.objects.filter(grading=name).delete)()
                    return await graded(self.plan, job, await DatabaseJournal.opened(name), dispatcher_for, pieces)
        finally:
            _at_work.discard(task)


class WorkflowFamily:
    """The graders of `GRADERS` with all manners and any grading models of models.toml."""

    def make(self, rest: str, stated: ProblemVersion, scheme: Scheme | None) -> WorkflowGrader:
        """The grader, for one problem. Raises `GraderUnknown`, also if required material is missing."""
        name, _, players = rest.partition("@")
        try:
            models = models_for_grading()
        except AliasError as error:
            logger.warning("graders of suggestions: %s", error)
            raise GraderUnknown("Could not read models.toml. An administrator can find the reason in the log.") from error
        try:
            variant = variant_of(name)
            plan = plan_named(variant, players, models, priority=AWAITED)
            rest = f"{variant.name}@{players_written(players_read(players, variant.grader), variant.grader)}"
            grader = WorkflowGrader(f"{WORKFLOW}:{rest}", self.label(rest), plan, stated, scheme)
            if len(grader.name) > _NAME_LENGTH:
                raise PlanWrong(f"The grader's name {grader.name} exceeds {_NAME_LENGTH} characters. Use fewer models.")
            plan.params(grader.job("Any text.", []))
        except PlanWrong as error:
            raise GraderUnknown(str(error).removeprefix("The script: ")) from error
        return grader

    def label(self, rest: str) -> str:
        """The titles of grader and models, or the name itself if they were removed."""
        name, _, players = rest.partition("@")
        try:
            models = models_for_grading()
        except AliasError:
            models = {}
        titled = players_titled(players, VARIANTS[name].grader, models) if name in VARIANTS else players
        return f"{title_of(name)} · {titled}"

    def shown(self, rest: str, parts: Sequence[str]) -> str:
        """The label of the recorded view, else of the view of earlier versions."""
        found = shown_suggested(rest, parts)
        return found.words if found else ""

    def offers(self) -> list[Offer]:
        """Every variant without manners of `APART`, with every model; none if models.toml is unreadable."""
        try:
            models = models_for_grading()
        except AliasError:
            return []
        return [
            Offer(f"{WORKFLOW}:{name}@{alias}", f"{variant.title} · {model.title}", model.title)
            for alias, model in models.items()
            for name, variant in VARIANTS.items()
            if not set(APART) & set(variant.manners)
        ]


def gradings_stop() -> None:
    """Interrupt the gradings of this process before it exits; another process continues them."""
    _stopping.set()
    for task in list(_at_work):
        task.get_loop().call_soon_threadsafe(task.cancel)
