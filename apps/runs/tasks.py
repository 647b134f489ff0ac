"""Task entry points: `orchestrate` drives a run, `generate` answers one model call. Each is one call into others."""

from collections.abc import Callable
from typing import Any

from celery import shared_task

from apps.reasoning.domain.generation import GenerationRequest

#: Set once by the process that hosts engines (workers/worker.py); the web and the orchestrator never run `generate`.
_answer: Callable[[GenerationRequest, str], None] | None = None


def answer_calls_with(answer: Callable[[GenerationRequest, str], None]) -> None:
    """Tell `generate` who answers calls in this process."""
    global _answer
    _answer = answer


@shared_task(name="runs.orchestrate")
def orchestrate(run_pk: int) -> None:
    """Drive a run until it ends or another owner takes it."""
    from apps.runs.execution import run_drive

    run_drive(run_pk)


@shared_task(name="inference.generate")
def generate(request: dict[str, Any], fingerprint: str) -> None:
    """Answer one call; the result goes to the run's result stream, not to a result backend."""
    if _answer is None:
        raise RuntimeError("This process hosts no engine. Start an inference worker: see docs/models.md.")
    _answer(GenerationRequest.model_validate(request), fingerprint)
