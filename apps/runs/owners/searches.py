"""Answers searches that need the database in the orchestrator, because workers of tools have none."""

import json
import time
from collections.abc import Callable

from pydantic import ValidationError

from apps.problems.theorems import theorem_search
from apps.processes.threads import in_thread
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import Execution, SearchHit, SearchJob
from apps.reasoning.ports import Dispatcher
from apps.reasoning.reading.turns.actions import THEOREMS
from apps.runs.models import Run

#: Searches one library for a run; best hit first. Raises `RequestRejected`.
Search = Callable[[Run, SearchJob], list[SearchHit]]


def _theorems(run: Run, job: SearchJob) -> list[SearchHit]:
    """What is known of the run's own problem would give its solution away."""
    return theorem_search(job, without=run.problem_version.problem)


_SEARCHES: dict[str, Search] = {THEOREMS: _theorems}


def search_register(library: str, search: Search) -> None:
    """Answer the searches of a library by this function. Registering it again has no effect."""
    _SEARCHES[library] = search


class SearchDispatcher:
    """A `Dispatcher` that answers searches of registered libraries for its run and hands everything else on."""

    def __init__(self, inner: Dispatcher, run: Run) -> None:
        self._inner = inner
        self._run = run

    async def dispatch(self, request: GenerationRequest) -> Final:
        if request.job != "search":
            return await self._inner.dispatch(request)
        try:
            job = SearchJob.model_validate_json(request.messages[-1].content)
        except ValidationError:
            raise RequestRejected("The search has not the fields that docs/tools.md lists.") from None
        if job.library not in _SEARCHES:
            return await self._inner.dispatch(request)
        began = time.monotonic()
        hits = await in_thread(_SEARCHES[job.library], self._run, job)
        took = time.monotonic() - began
        execution = Execution(stdout=json.dumps({"hits": [hit.model_dump() for hit in hits]}), duration_s=took)
        return Final(text=execution.model_dump_json(), finish_reason="stop", duration_s=took, model_revision=job.library)
