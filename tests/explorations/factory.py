"""Rows for tests about explorations: the story's run with recorded calls and their texts, in any state."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.accounts.models import User
from apps.problems.models import Problem, Topic
from apps.reasoning.domain import events as ev
from apps.reasoning.journal.keys import sha_of
from apps.runs.journal.texts import blob_values
from apps.runs.models import Blob, Run, RunEvent, RunStatus, Step
from tests.lemmas.factory import make_story_run

PROMPT_PARTS = ("You work on a problem.", "Let $p > 5$ be a prime.")
SPEC: dict[str, Any] = {
    "problem": {"id": "x", "version": 1, "title": "240 divides p⁴ − 1", "statement": "Let $p > 5$ be a prime.", "answer": ""},
    "scaffold": "intern_s1_mo",
    "preset": "quick",
    "params": {},
    "roles": {
        role: {"alias": "smollm2", "revision": "r1", "sampling": {"temperature": 0.7, "max_new_tokens": 1024}}
        for role in ("reasoner", "summarizer", "theorem_verifier", "writer", "process_verifier", "reviser")
    },
    "seed": 7,
    "code_version": "test",
}


def make_problem(slug: str = "two-squares") -> Problem:
    """A problem with one version."""
    problem = Problem.objects.create(slug=slug, title="Sums of two squares", topic=Topic.NUMBER_THEORY)
    problem.versions.create(number=1, statement="Which primes are sums of two squares?", answer="2 and those ≡ 1 mod 4")
    return problem


def make_exploration(owner: User | None = None, status: RunStatus = RunStatus.FINISHED, **fields: Any) -> Run:
    """The story's run with a recorded call for each of its call events; `fields` go onto the run's row."""
    run = make_story_run(status=status)
    run.owner = owner
    run.spec = SPEC
    run.budget = {"tokens": 20_000, "calls": 100, "seconds": None}
    if status == RunStatus.FINISHED:
        run.outcome = {"accepted": True, "proof": "proof/2", "reason": "All 4 valid votes passed.", "ended_by": "accepted"}
        run.finished_at = timezone.now()
    if status in (RunStatus.RUNNING, RunStatus.PAUSED):
        run.lease_until = timezone.now() + timedelta(seconds=60)
    for name, value in fields.items():
        setattr(run, name, value)
    record_calls(run, RunEvent.objects.filter(run=run, kind="call.began").order_by("seq"))
    run.calls = run.steps.count()
    run.completion_tokens = 1234 * run.calls
    run.save()
    return run


def texts_store(texts: Sequence[str]) -> None:
    """Keep texts as the journal's writer does."""
    rows = [Blob(**blob_values(sha_of(text), text)) for text in set(texts)]
    Blob.objects.bulk_create(rows, ignore_conflicts=True)


def record_calls(run: Run, began: "Sequence[RunEvent] | Any") -> None:
    """A step, with texts, for every `call.began` event."""
    texts_store(PROMPT_PARTS)
    steps, texts = [], []
    for number, event in enumerate(began):
        body = event.body
        text = f"Text of {body['call']}: we consider the residues."
        texts.append(text)
        steps.append(
            Step(
                run=run, key=body["call"], role=body["role"], alias=body["alias"], rollout=body["rollout"], round=body["round"],
                subject=body["subject"], index=body["index"], prompt_shas=[sha_of(part) for part in PROMPT_PARTS],
                text_sha=sha_of(text), finish_reason="stop", prompt_tokens=50, completion_tokens=1234, ttft_s=0.2,
                duration_s=3.5, recorded_at=event.at + timedelta(seconds=number), model_revision="r1",
            )
        )  # fmt: skip
    texts_store(texts)
    Step.objects.bulk_create(steps)


def add_event(run: Run, key: str, event: ev.Event) -> None:
    """One more event at the end of the run."""
    run.last_seq += 1
    RunEvent.objects.create(
        run=run, seq=run.last_seq, key=key, kind=event.kind, at=timezone.now(), body=event.model_dump(mode="json")
    )
    run.save(update_fields=["last_seq"])


def add_open_call(run: Run, key: str = "s0/r4/reason", role: str = "reasoner", round_: int = 4) -> None:
    """A call that began and has not ended."""
    add_event(run, f"{key}/began", ev.CallBegan(call=key, role=role, alias="smollm2", rollout=0, round=round_))


def make_unread(run: Run, call: str, *, part: bool = False) -> None:
    """Say of a recorded call that its text, or a part of it, could not be read."""
    event = ev.OutputUnread(call=call, role="theorem_verifier", reason="the verdict line is missing", part=part)
    add_event(run, f"{call}/unread", event)


def command_form(name: str, **args: str) -> dict[str, str]:
    """What a form of the page posts."""
    return {"command_id": str(uuid.uuid4()), "name": name, **args}
