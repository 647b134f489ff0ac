"""A result carries the worker's name, and its record keeps the name through a resume."""

from concurrent.futures import Future
from typing import Any

import pytest
from django.utils import timezone

from apps.processes import metrics
from apps.reasoning.domain.errors import EngineLost
from apps.reasoning.domain.generation import Final, GenerationRequest, Message, Usage
from apps.runs.journal.records import LoadedRecords, values_of
from apps.runs.journal.rows import insert
from apps.runs.models import Step
from tests.runs.factory import make_run, record
from workers.counting import count_end

REQUEST = GenerationRequest(run="r", key="s0", role="reasoner", alias="small", messages=(Message(role="user", content="?"),))


@pytest.mark.django_db(transaction=True)
def test_a_record_keeps_its_worker_through_a_resume() -> None:
    run = make_run()
    answered = record("s0/r1/reason")
    assert answered.final is not None
    answered = answered.model_copy(
        update={"final": answered.final.model_copy(update={"worker": "gpu1/7", "text": "", "reasoning": ""})}
    )
    insert(Step, [{**values_of(answered, run.pk, timezone.now()), "text_sha": "", "reasoning_sha": ""}])
    assert Step.objects.get(run=run).worker == "gpu1/7"
    again = LoadedRecords(run).take("s0/r1/reason")
    assert again is not None
    assert again.final is not None
    assert again.final.worker == "gpu1/7"


def test_an_answered_call_is_counted_with_its_tokens(valkey: Any) -> None:
    done: Future[Final] = Future()
    done.set_result(Final(text="x", finish_reason="stop", usage=Usage(prompt=10, cached=8, completion=5), ttft_s=0.2))
    count_end(REQUEST, done)
    metrics.push(valkey, at_once=True)
    totals = metrics.totals_read(valkey)
    assert totals.counters["calls_ended"] == {("small", "stop"): 1.0}
    names = ("prompt_tokens", "cached_prompt_tokens", "completion_tokens")
    assert [totals.sum_of(name, "small") for name in names] == [10, 8, 5]
    assert list(totals.spread_sum("time_to_first_token_seconds")) == pytest.approx([1.0, 0.2])


@pytest.mark.parametrize(("error", "outcome"), [(EngineLost("gone"), "EngineLost"), (KeyError("x"), "internal")])
def test_a_failed_call_is_counted_under_its_error(valkey: Any, error: Exception, outcome: str) -> None:
    done: Future[Final] = Future()
    done.set_exception(error)
    count_end(REQUEST, done)
    metrics.push(valkey, at_once=True)
    assert metrics.totals_read(valkey).counters == {"calls_ended": {("small", outcome): 1.0}}
