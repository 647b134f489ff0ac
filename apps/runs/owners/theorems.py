"""Answers searches among the library's lemmas in the orchestrator, because workers of tools have no database."""

import json
import time

from pydantic import ValidationError

from apps.problems.models import Problem
from apps.problems.theorems import theorem_search
from apps.processes.threads import in_thread
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import Execution, SearchJob
from apps.reasoning.ports import Dispatcher
from apps.reasoning.reading.turns.actions import THEOREMS


class TheoremDispatcher:
    """A `Dispatcher` that answers searches of the library `theorems` and hands everything else on.

    `problem` is the run's own: what is known of it would give its solution away.
    """

    def __init__(self, inner: Dispatcher, problem: Problem) -> None:
        self._inner = inner
        self._problem = problem

    async def dispatch(self, request: GenerationRequest) -> Final:
        if request.job != "search":
            return await self._inner.dispatch(request)
        try:
            job = SearchJob.model_validate_json(request.messages[-1].content)
        except ValidationError:
            raise RequestRejected("The search has not the fields that docs/tools.md lists.") from None
        if job.library != THEOREMS:
            return await self._inner.dispatch(request)
        began = time.monotonic()
        hits = await in_thread(theorem_search, job, without=self._problem)
        took = time.monotonic() - began
        execution = Execution(stdout=json.dumps({"hits": [hit.model_dump() for hit in hits]}), duration_s=took)
        return Final(
            text=execution.model_dump_json(), finish_reason="stop", duration_s=took, model_revision="the problem library"
        )
