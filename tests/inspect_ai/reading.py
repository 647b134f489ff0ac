"""Runs in inspect-ai's environment: read each log of a folder in every way, and print what was found as JSON."""

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries


def found_in(path: str) -> dict[str, Any]:
    """Header, samples, one sample read alone, and summaries of a log."""
    log = read_eval_log(path)
    summaries = read_eval_log_sample_summaries(path)
    first = summaries[0]
    alone = read_eval_log_sample(path, id=first.id, epoch=first.epoch)
    return {
        "status": log.status,
        "eval_set": log.eval.eval_set_id,
        "task": log.eval.task,
        "solver": log.eval.solver,
        "model": log.eval.model,
        "token_limit": log.eval.config.token_limit,
        "metrics": {score.name: score.metrics["mean"].value for score in log.results.scores},
        "reductions": [[one.scorer, len(one.samples)] for one in log.reductions],
        "samples": [
            [one.id, one.epoch, one.target, one.output.completion, {name: s.value for name, s in one.scores.items()}]
            for one in log.samples
        ],
        "summaries": [[one.id, one.epoch, {name: score.value for name, score in one.scores.items()}] for one in summaries],
        "alone": [alone.id, alone.epoch],
        "events": [[one.event, one.model, one.input[0].role, one.output.completion] for one in alone.events],
    }


def frames(folder: str) -> dict[str, Any]:
    """The data frames of a folder."""
    evals, samples = evals_df(folder), samples_df(folder)
    scores = [name for name in samples.columns if name.startswith("score_")]
    return {
        "evals": json.loads(evals[["task_name", "solver", "model", "total_samples"]].to_json(orient="records")),
        "samples": json.loads(samples[["id", "epoch", "total_tokens", *scores]].to_json(orient="records")),
        "messages": len(messages_df(folder)),
    }


logs = {path.name: found_in(str(path)) for path in sorted(Path(sys.argv[1]).glob("*.eval"))}
print(json.dumps({"logs": logs, **frames(sys.argv[1])}))  # noqa: T201
