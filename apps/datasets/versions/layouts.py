"""Layouts of other trainers' data sets."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa


def verl_prompts(name: str, prompts: Iterable[Mapping[str, Any]]) -> pa.Table:
    """verl's table of prompts with the input of its reward functions, from lines of prompts.jsonl. `name`: the data set's."""
    rows = [
        {
            "data_source": f"lemmascope/{name}",
            "prompt": one["prompt"],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": one["answer"]},
            "extra_info": {"split": "train", "index": number, "problem_id": one["problem_id"]},
        }
        for number, one in enumerate(prompts)
    ]
    return pa.Table.from_pylist(rows)
