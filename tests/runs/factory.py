"""Runs and records for tests: small, plausible, and made through the services."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from apps.problems.models import Problem, ProblemVersion, Topic
from apps.reasoning.domain.events import CallBegan, CallEnded, Event
from apps.reasoning.domain.generation import Final, Place, Sampling, Usage
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.journal.run_journal import JournalWriter, RunJournal
from apps.runs.models import Run
from apps.runs.owners.execution import event_sinks
from apps.runs.owners.leases import lease_take
from apps.runs.services import run_create

T = TypeVar("T")


def make_problem(slug: str = "one-and-one") -> ProblemVersion:
    problem, _ = Problem.objects.get_or_create(slug=slug, defaults={"title": "One and one", "topic": Topic.NUMBER_THEORY})
    version, _ = ProblemVersion.objects.get_or_create(problem=problem, number=1, defaults={"statement": "Show $1+1=2$."})
    return version


def make_run(**spec_fields: object) -> Run:
    """A queued run whose task is not sent."""
    version = make_problem()
    spec = RunSpec.model_validate(
        {
            "problem": ProblemText(id=version.problem.slug, version=1, title="One and one", statement=version.statement),
            "scaffold": "intern_s1_mo",
            "roles": {"reasoner": RoleSpec(alias="scripted", sampling=Sampling())},
            **spec_fields,
        }
    )
    return run_create(owner=None, problem_version=version, title="One and one", spec=spec, start=False)


def take(run: Run, owner: str = "elsewhere/1/test") -> Run:
    """The run under a lease of `owner`."""
    owned = lease_take(run.pk, owner)
    assert owned is not None
    return owned


def record(key: str, text: str = "a text", *, prompt: str = "a prompt") -> StepRecord:
    return StepRecord(
        key=key,
        request_hash="h" * 64,
        role="reasoner",
        alias="scripted",
        place=Place(round=1),
        prompt_shas=(sha_of(prompt),),
        final=Final(text=text, finish_reason="stop", usage=Usage(prompt=10, completion=5), duration_s=0.5),
    )


def began(key: str) -> tuple[str, Event]:
    return f"{key}/began", CallBegan(call=key, role="reasoner", alias="scripted", rollout=0, round=1)


def ended(key: str, text: str = "a text") -> tuple[str, Event]:
    event = CallEnded(
        call=key,
        attempt=1,
        finish_reason="stop",
        usage=Usage(prompt=10, completion=5),
        ttft_s=0.1,
        duration_s=0.5,
        text_sha=sha_of(text),
    )
    return f"{key}/ended", event


def with_journal(run: Run, work: Callable[[RunJournal], Awaitable[T]]) -> T:
    """Open the run's durable journal with a writer of its own, do `work` in an event loop, and close the writer."""
    writer = JournalWriter(sinks=event_sinks())
    journal = RunJournal(run, writer)

    async def inside() -> T:
        return await work(journal)

    try:
        return asyncio.run(inside())
    finally:
        writer.close()
