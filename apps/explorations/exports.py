"""A whole run as JSON lines: the run, its events, then its recorded calls of models and tools with texts."""

import json
from collections.abc import Iterator
from typing import Any

from apps.lemmas.final_answers import final_answer_of
from apps.runs.journal.texts import texts_get
from apps.runs.models import Run, Step
from apps.runs.selectors import EVENT_PAGE, event_page

CALLS_AT_ONCE = 200


def run_head(run: Run) -> dict[str, Any]:
    """The first line: identity, frozen specification and outcome."""
    return {
        "type": "run",
        "run": str(run.public_id),
        "title": run.title,
        "scaffold": run.scaffold,
        "preset": run.preset,
        "status": run.status,
        "authored": run.is_authored,
        "assisted": run.is_assisted,
        "forked_from": str(run.forked_from.public_id) if run.forked_from else None,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "spec": run.spec,
        "outcome": run.outcome,
        "final_answer": final_answer_of(run),
        "usage": {
            "calls": run.calls,
            "prompt_tokens": run.prompt_tokens,
            "completion_tokens": run.completion_tokens,
            "seconds": run.active_seconds,
            "inherited": {
                "calls": run.inherited_calls,
                "prompt_tokens": run.inherited_prompt_tokens,
                "completion_tokens": run.inherited_completion_tokens,
            },
        },
    }


def export_lines(run: Run, *, texts: bool = True) -> Iterator[str]:
    """The lines of the export, each with its newline. Reads in pages to limit memory."""
    yield _line(run_head(run))
    after = 0
    while page := event_page(run, after, EVENT_PAGE):
        for event in page:
            yield _line({"type": "event", **event})
        after = page[-1]["seq"]
    last = 0
    while steps := list(run.steps.filter(pk__gt=last).order_by("pk")[:CALLS_AT_ONCE]):
        found = texts_get(sha for step in steps for sha in _shas(step)) if texts else {}
        for step in steps:
            yield _line(_step_row(step, found))
        last = steps[-1].pk


def _shas(step: Step) -> list[str]:
    return [*step.prompt_shas, step.text_sha, step.reasoning_sha]


def _step_row(step: Step, texts: dict[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "type": step.kind,
        "key": step.key,
        "role": step.role,
        "alias": step.alias,
        "rollout": step.rollout,
        "round": step.round,
        "subject": step.subject,
        "index": step.index,
        "attempt": step.attempt,
        "request_hash": step.request_hash,
        "prompt": step.prompt_shas,
        "text_sha": step.text_sha,
        "finish_reason": step.finish_reason,
        "failure": step.failure,
        "value": step.value,
        "usage": {
            "prompt": step.prompt_tokens,
            "cached": step.cached_tokens,
            "completion": step.completion_tokens,
            "reasoning": step.reasoning_tokens,
        },
        "ttft_s": step.ttft_s,
        "duration_s": step.duration_s,
        "model_revision": step.model_revision,
        "recorded_at": step.recorded_at.isoformat(),
    }
    if texts and step.kind in ("call", "tool"):
        row["prompt_text"] = "".join(texts.get(sha, "") for sha in step.prompt_shas)
        row["text"] = texts.get(step.text_sha, "")
        row["reasoning_text"] = texts.get(step.reasoning_sha, "")
    return row


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
