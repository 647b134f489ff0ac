"""`python -m workers.training.toy_score --spec FILE`: score two models on the same problems of a toy.

For models that no engine serves. FILE is one JSON object with `toy`, `options`, `items`, `seed`, `parent` and `child`, and
optionally `threads` (1). A model is a folder or `{"tiny": {…}, "seed": n}`. Every item is a problem of the toy, seeded by the
seed and the item's number; both models sample with the same random numbers. The result is written next to FILE:
`results.json` with `{"format": 1, "items": [{"parent": {measure: value}, "child": {…}}, …]}`. Exit status 0, or 1 with the
reason as the last line of standard error.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

#: Rows of one problem of a toy: a group of eight attempts, or all roles of one problem.
ROWS_OF_AN_ITEM = {"copy": 8, "ask": 16, "lemmas": 40, "trio": 72, "notes": 16, "arithmetic": 40}


def main() -> int:
    """Score both models and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m workers.training.toy_score", description=__doc__)
    parser.add_argument("--spec", type=Path, required=True)
    path: Path = parser.parse_args().spec
    from workers.training.folder import replace_file
    from workers.training.problems import explain

    try:
        found = score(json.loads(path.read_text(encoding="utf-8")))
    except Exception as error:
        print(explain(error)[1], file=sys.stderr)  # noqa: T201
        return 1
    replace_file(path.with_name("results.json"), json.dumps({"format": 1, "items": found}) + "\n")
    return 0


def score(spec: dict[str, Any]) -> list[dict[str, dict[str, float]]]:
    """Metrics of parent and child for each item. Raises `BadConfig` for an unknown toy or a missing model."""
    import torch

    from workers.training.problems import BadConfig

    if spec.get("toy") not in ROWS_OF_AN_ITEM:
        raise BadConfig(f"Unknown toy “{spec.get('toy')}”. Valid toys: {', '.join(ROWS_OF_AN_ITEM)}.")
    torch.set_num_threads(int(spec.get("threads", 1)))
    played = {name: _play(spec[name], spec) for name in ("parent", "child")}
    return [{name: measures[item] for name, measures in played.items()} for item in range(int(spec["items"]))]


def _play(model: "str | dict[str, Any]", spec: dict[str, Any]) -> list[dict[str, float]]:
    from workers.training.models import load_model, load_tokenizer
    from workers.training.policy import Policy
    from workers.training.toys.registry import TOYS

    with tempfile.TemporaryDirectory() as made:
        folder = _folder_of(model, Path(made))
        loaded, tokenizer = load_model(folder), load_tokenizer(folder)
    toy = TOYS[spec["toy"]](**spec.get("options", {}))
    if hasattr(toy, "held_out"):
        toy.held_out = True
    found = []
    for item in range(int(spec["items"])):
        seed = int(np.random.default_rng([int(spec["seed"]), item]).integers(2**62))
        policy = Policy(loaded, tokenizer, seed=seed)
        toy.rollouts(policy, np.random.default_rng([int(spec["seed"]), item]), ROWS_OF_AN_ITEM[spec["toy"]])
        found.append({name: float(value) for name, value in toy.measures().items()})
    return found


def _folder_of(model: "str | dict[str, Any]", made: Path) -> Path:
    """Folder of a model; the tiny model is created as in a job with the same seed."""
    from workers.training.models import tiny_base
    from workers.training.problems import BadConfig

    if isinstance(model, str):
        folder = Path(model)
        if not any((folder / name).exists() for name in ("config.json", "adapter_config.json")):
            raise BadConfig(f"There is no model in {folder}.")
        return folder
    for part in tiny_base(model["tiny"], int(model.get("seed", 0))):
        part.save_pretrained(made)
    return made


if __name__ == "__main__":
    sys.exit(main())
