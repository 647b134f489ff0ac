"""Cells as samples of an Inspect log: what was asked and handed in, its scores, costs, and the recorded calls on request."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db.models import Count, Q, Sum

from apps.experiments.models import CellScore, SolvingCell, SolvingState
from apps.experiments.solving.files.rows import share_of
from apps.reasoning.domain.event_base import Kind
from apps.runs.journal.texts import texts_get
from apps.runs.models import RunEvent, Step

Sample = dict[str, Any]
#: Cells whose texts are in memory at a time.
AT_ONCE = 50
_STOPS = {"stop": "stop", "length": "max_tokens"}
_USED = {"input": Sum("prompt_tokens"), "output": Sum("completion_tokens"), "count": Count("pk")}


def samples_of(cells: Iterable[SolvingCell], model: str, *, calls: bool) -> Iterator[Sample]:
    """The samples of ended cells, with their item, run and scores read. `model`: what a cell without recorded calls names."""
    left = iter(cells)
    while some := list(islice(left, AT_ONCE)):
        runs = [cell.run_id for cell in some if cell.run_id is not None]
        texts, usage, events = _answers(some), _usage(runs), _calls(runs) if calls else {}
        for cell in some:
            used = usage.get(cell.run_id or 0) or {model: _tokens(cell.prompt_tokens, cell.completion_tokens)}
            text = texts.get((cell.run_id or 0, cell.answer), cell.text)
            yield _sample(cell, text, model, used, events.get(cell.run_id or 0, []))


def summary_of(sample: Sample) -> Sample:
    """What `summaries.json` has of a sample."""
    names = (
        "id",
        "epoch",
        "input",
        "target",
        "metadata",
        "scores",
        "model_usage",
        "completed_at",
        "total_time",
        "working_time",
    )
    found = {name: sample[name] for name in (*names, "uuid") if name in sample}
    found |= {"completed": "error" not in sample, "message_count": len(sample["messages"])}
    found["turn_count"] = sample["metadata"]["calls"]
    return found | ({"error": sample["error"]["message"]} if "error" in sample else {})


def _sample(cell: SolvingCell, text: str, model: str, used: Mapping[str, Sample], events: Sequence[Sample]) -> Sample:
    stated = cell.item.problem
    messages = [{"id": f"{cell.public_id}-1", "role": "user", "content": stated.statement, "source": "input"}]
    output: Sample = {"model": model, "choices": []}
    if text:
        answer = {"id": f"{cell.public_id}-2", "role": "assistant", "content": text, "source": "generate", "model": model}
        messages.append(answer)
        output |= {"choices": [{"message": answer, "stop_reason": "stop"}], "completion": text}
    found: Sample = {
        "id": cell.item.name,
        "epoch": cell.repeat + 1,
        "input": stated.statement,
        "target": stated.answer,
        "messages": messages,
        "output": output,
        "scores": {
            score.scorer: _score(score) for score in cell.scores.all() if score.answer == cell.answer and score.ended_at
        },
        "metadata": _metadata(cell),
        "events": list(events),
        "model_usage": used,
        "uuid": str(cell.public_id),
        "total_time": round(cell.seconds, 3),
        "working_time": round(cell.seconds, 3),
    }
    if cell.ended_at is not None:
        found["completed_at"] = cell.ended_at.isoformat()
    if cell.state in (SolvingState.FAILED, SolvingState.CANCELLED):
        why = cell.trouble or "The experiment was cancelled."
        found["error"] = {"message": why, "traceback": why, "traceback_ansi": why}
    return found


def _metadata(cell: SolvingCell) -> Sample:
    run = str(cell.run.public_id) if cell.run else ""
    return {
        "split": cell.item.split,
        "state": cell.state,
        "accepted": cell.accepted,
        "calls": cell.calls,
        "taken_over": cell.taken_over,
        "run": run,
    }


def _score(score: CellScore) -> Sample:
    """A score as a share. One that is missing is NaN, which Inspect leaves out of its metrics, with the reason."""
    share = share_of(score)
    if share is None:
        return {"value": math.nan, "explanation": score.unscored or score.trouble}
    return {"value": share, "metadata": {"points": float(score.points or 0), "scale": float(score.scale or 0)}}


def _answers(cells: Sequence[SolvingCell]) -> dict[tuple[int, str], str]:
    """The texts that were handed in, by run and answer; a later version of one counts."""
    asked = Q(pk__in=[])
    for cell in cells:
        if cell.run_id is not None and cell.answer:
            asked |= Q(run=cell.run_id) & (Q(body__candidate=cell.answer) | Q(body__proof=cell.answer))
    rows = RunEvent.objects.filter(asked, kind__in=(Kind.CANDIDATE_DRAFTED, Kind.PROOF_DRAFTED)).order_by("kind", "seq")
    found: dict[tuple[int, str], str] = {}
    for run, kind, body in rows.values_list("run", "kind", "body"):
        found[run, body["candidate" if kind == Kind.CANDIDATE_DRAFTED else "proof"]] = body["text"]
    return found


def _usage(runs: Sequence[int]) -> dict[int, dict[str, Sample]]:
    """By run, the tokens of each alias."""
    rows = Step.objects.filter(run__in=runs, kind="call").order_by().values_list("run", "alias").annotate(**_USED)
    found: dict[int, dict[str, Sample]] = defaultdict(dict)
    for run, alias, read, written, _ in rows:
        found[run][alias] = _tokens(read, written)
    return found


def _tokens(read: int, written: int, **more: int) -> Sample:
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written, **more}


def _calls(runs: Sequence[int]) -> dict[int, list[Sample]]:
    """By run, its recorded calls of models as model events."""
    steps = list(Step.objects.filter(run__in=runs, kind="call").order_by("pk"))
    texts = texts_get(sha for step in steps for sha in (*step.prompt_shas, step.text_sha, step.reasoning_sha))
    found: dict[int, list[Sample]] = defaultdict(list)
    for step in steps:
        found[step.run_id].append(_event(step, texts))
    return found


def _event(step: Step, texts: Mapping[str, str]) -> Sample:
    """One call: the first part of its prompt is the system message, the rest is the user's."""
    first, *rest = [texts.get(sha, "") for sha in step.prompt_shas] or [""]
    content: list[Sample] = (
        [{"type": "reasoning", "reasoning": texts[step.reasoning_sha]}] if step.reasoning_sha in texts else []
    )
    content = [one for one in content if one["reasoning"]] + [{"type": "text", "text": texts.get(step.text_sha, "")}]
    usage = _tokens(step.prompt_tokens, step.completion_tokens, reasoning_tokens=step.reasoning_tokens)
    reason = _STOPS.get(step.finish_reason, "unknown")
    answer = {"id": f"{step.pk}-2", "role": "assistant", "content": content, "model": step.alias}
    event: Sample = {
        "event": "model",
        "uuid": f"{step.run_id}-{step.pk}",
        "timestamp": step.recorded_at.isoformat(),
        "working_start": 0.0,
        "model": step.alias,
        "role": step.role or None,
        "input": [
            {"id": next(iter(step.prompt_shas), ""), "role": "system", "content": first},
            {"id": f"{step.pk}-1", "role": "user", "content": "".join(rest)},
        ],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": {
            "model": step.alias,
            "choices": [{"message": answer, "stop_reason": reason}],
            "usage": usage,
            "time": step.duration_s,
        },
        "working_time": step.duration_s,
        "metadata": {"key": step.key, "round": step.round, "model_revision": step.model_revision},
    }
    return event | ({"error": step.failure} if step.failure else {})
