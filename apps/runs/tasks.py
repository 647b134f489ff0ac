"""Task entry points: `orchestrate` drives a run, `generate` answers model calls. Each is one call into others."""

from collections.abc import Callable, Sequence

from celery import shared_task

from apps.reasoning.domain.generation import GenerationRequest

Answer = Callable[[Sequence[tuple[GenerationRequest, str]]], None]
"""Takes requests with their fingerprints; returns when each has its result on the stream of its run, or needs none."""

#: Set once by the process that hosts engines (workers/worker.py); the web and the orchestrator never run `generate`.
_answer: Answer | None = None


def answer_calls_with(answer: Answer) -> None:
    """Tell `generate` who answers calls in this process."""
    global _answer
    _answer = answer


@shared_task(name="runs.orchestrate")
def orchestrate(run_pk: int) -> None:
    """Drive a run until it ends or another owner takes it."""
    from apps.runs.owners.execution import run_drive

    run_drive(run_pk)


@shared_task(name="inference.generate")
def generate(calls: Sequence[tuple[str, str]]) -> None:
    """Answer model calls, each a request as JSON with its fingerprint; results go to result streams, not to a backend."""
    if _answer is None:
        raise RuntimeError("This process hosts no engine. Start an inference worker: see docs/models.md.")
    _answer([(GenerationRequest.model_validate_json(request), fingerprint) for request, fingerprint in calls])
