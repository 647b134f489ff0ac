"""The contract of every tool backend: the fenced sandbox, and the scripted one that replaces it in tests."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from apps.reasoning.domain.errors import DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import Execution, MathJob, MathText, ToolAnswer, read_execution, read_findings
from apps.reasoning.inference.scripted_tools import ScriptedTools
from apps.reasoning.inference.streaming import read_to_final
from apps.reasoning.ports import Backend
from tests.inference.conftest import a_request
from tests.sandbox.conftest import needed
from workers.sandbox.backend import SandboxBackend
from workers.sandbox.probe import probe
from workers.sandbox.sandbox import SandboxOptions

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLOW = "import time\ntime.sleep(3)\nprint('late')"
JOB = MathJob(
    texts=(MathText(id="a", text=r"So $\frac12+\frac14+\frac15=\frac{26}{20}$."), MathText(id="b", text="$2+2=4$ holds."))
).model_dump_json()
_FOUND = {
    "findings": [
        {
            "text_id": "a",
            "anchor": {"start": 4, "end": 41, "quote": r"\frac12+\frac14+\frac15=\frac{26}{20}"},
            "kind": "arithmetic",
            "outcome": "refuted",
            "tests": 1,
            "counterexample": {"values": {}, "left": "19/20", "right": "13/10"},
        },
        {
            "text_id": "b",
            "anchor": {"start": 1, "end": 6, "quote": "2+2=4"},
            "kind": "arithmetic",
            "outcome": "proved",
            "tests": 1,
        },
    ]
}
NO_JOBS: list[dict[str, object]] = [
    {},
    {"job": "python", "n": 2},
    {"job": "python", "text": " \n"},
    {"job": "python", "capture": True},
]


def _scripted(request: GenerationRequest) -> Execution:
    content = request.messages[-1].content
    if request.job == "check_math":
        return Execution(stdout=json.dumps(_FOUND))
    if content == "1/0":
        return Execution(stderr="ZeroDivisionError: division by zero", error="exception", exit_code=1)
    return Execution(stdout="late\n" if content == SLOW else "4\n")


class _Slow(ScriptedTools):
    """Answers slow code slowly."""

    async def _is_stopped(self, stopped: asyncio.Event, request: GenerationRequest) -> bool:
        self._pause_s = 3.0 if request.messages[-1].content == SLOW else 0.0
        return await super()._is_stopped(stopped, request)


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=["scripted", "sandbox"])
async def tested(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    backend: Backend
    if request.param == "scripted":
        backend = _Slow(_scripted)
    else:
        needed(await probe())
        backend = SandboxBackend(SandboxOptions(warm=0, at_once=2, libraries=()))
    yield backend
    await backend.close()


async def _execution(backend: Backend, request: GenerationRequest) -> Execution:
    execution = read_execution((await read_to_final(backend, request)).text)
    assert execution is not None
    return execution


async def test_the_result_contains_the_output_of_the_code(tested: Backend) -> None:
    execution = await _execution(tested, a_request(text="print(2+2)", job="python"))
    assert (execution.stdout, execution.error, execution.truncated) == ("4\n", "", False)


async def test_code_that_raises_is_a_result(tested: Backend) -> None:
    execution = await _execution(tested, a_request(text="1/0", job="python"))
    assert execution.error == "exception"
    assert "ZeroDivisionError" in execution.stderr


async def test_texts_are_checked_and_the_findings_have_anchors(tested: Backend) -> None:
    execution = await _execution(tested, a_request(text=JOB, job="check_math"))
    found = read_findings(ToolAnswer(job="check_math", execution=execution))
    assert isinstance(found, tuple)
    assert [(finding.text_id, finding.outcome) for finding in found] == [("a", "refuted"), ("b", "proved")]
    assert found[0].counterexample is not None
    assert found[0].counterexample.left == "19/20"


@pytest.mark.parametrize("fields", NO_JOBS)
async def test_an_invalid_job_is_rejected(tested: Backend, fields: dict[str, object]) -> None:
    with pytest.raises(RequestRejected):
        await read_to_final(tested, a_request(**{"text": "print(1)", **fields}))  # type: ignore[arg-type]


async def test_an_abort_ends_the_job(tested: Backend) -> None:
    request = a_request("aborted", SLOW, job="python")
    reading = asyncio.create_task(read_to_final(tested, request))
    for _ in range(500):
        if (await tested.health()).running:
            break
        await asyncio.sleep(0.01)
    await tested.abort(request.call_id)
    final: Final = await asyncio.wait_for(reading, 10)
    assert (final.finish_reason, final.text) == ("cancelled", "")
    await tested.abort("no/such#1")


async def test_the_deadline_ends_the_job(tested: Backend) -> None:
    with pytest.raises(DeadlineExceeded):
        await read_to_final(tested, a_request(text=SLOW, job="python", deadline_s=0.3))


async def test_health_is_a_sentence(tested: Backend) -> None:
    health = await tested.health()
    assert health.state == "ready"
    assert health.detail.endswith(".")
