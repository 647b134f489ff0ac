"""Play runs about a problem to their end, with a model that answers from a table."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from apps.accounts.models import User
from apps.graders import starting
from apps.preparation.runs import problem_run_start, problem_spec
from apps.problems.models import Problem
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.ports import Dispatcher
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.owners.execution import DispatcherFor
from tests.runs.driving import drive


def answering(texts: Mapping[str, str]) -> DispatcherFor:
    """A dispatcher whose model answers each call with the text of the first matching key pattern."""

    def answer(request: GenerationRequest) -> str:
        return next(text for pattern, text in texts.items() if fnmatchcase(request.key, pattern))

    @contextlib.asynccontextmanager
    async def scripted(_run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
        yield LocalDispatcher({"served": ScriptedBackend(answer)})

    return scripted


def played(user: User, problem: Problem, program: str, texts: Mapping[str, str], **overrides: Any) -> Run:
    """Start a run of a program about a problem and play it to its end."""
    aliases = {"": starting.models_for_grading()["served"]}
    spec = problem_spec(PREPARERS[program], problem.current, aliases, overrides)
    run = problem_run_start(user=user, problem=problem, spec=spec, start=False)
    return finished(run, texts)


def finished(run: Run, texts: Mapping[str, str]) -> Run:
    """Play a queued run to its end."""
    assert drive(run, answering(texts)) == RunStatus.FINISHED
    run.refresh_from_db()
    return run
