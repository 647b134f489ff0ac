"""A search for theorems is answered in the orchestrator; other requests are passed on to the workers."""

import json

import pytest

from apps.processes.threads import in_thread
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import SearchJob, ToolAnswer, read_execution, read_hits
from apps.runs.owners.searches import SearchDispatcher
from tests.inference.conftest import a_request
from tests.runs.factory import make_problem, make_run

pytestmark = pytest.mark.django_db(transaction=True)


class _Inner:
    def __init__(self) -> None:
        self.asked: list[GenerationRequest] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        self.asked.append(request)
        return Final(text="", finish_reason="stop")


def _search(library: str) -> GenerationRequest:
    return a_request(text=SearchJob(query="objects in boxes", library=library).model_dump_json(), job="search")


async def test_a_search_for_theorems_does_not_leave_the_process() -> None:
    run = await in_thread(make_run)  # Its thread gives the connection back, without which PostgreSQL cannot drop the database.
    other = await in_thread(lambda: make_problem("another").problem)
    text = "Lemma 1. Of $n+1$ objects in $n$ boxes two share a box."
    await in_thread(lambda: other.reference_solutions.create(text=text))
    inner = _Inner()
    final = await SearchDispatcher(inner, run).dispatch(_search("theorems"))
    hits = read_hits(ToolAnswer(job="search", execution=read_execution(final.text)))
    assert isinstance(hits, tuple)
    assert [hit.library for hit in hits] == ["theorems"]
    assert inner.asked == []


async def test_other_requests_are_passed_on() -> None:
    run = await in_thread(make_run)
    inner = _Inner()
    dispatcher = SearchDispatcher(inner, run)
    for request in (_search("sympy"), _search(""), a_request(), a_request(text="print(1)", job="python")):
        await dispatcher.dispatch(request)
    assert len(inner.asked) == 4
    with pytest.raises(RequestRejected):
        await dispatcher.dispatch(a_request(text=json.dumps({"query": 3}), job="search"))
