"""Two models play the same problems of a toy with the same random numbers."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.factory import SMALL
from workers.training.problems import BadConfig
from workers.training.toy_score import ROWS_OF_AN_ITEM, score
from workers.training.toys.registry import TOYS

TINY = {"tiny": SMALL, "seed": 0}


@pytest.mark.parametrize("toy", list(TOYS))
def test_a_model_compared_with_itself_has_equal_scores_on_every_item(toy: str) -> None:
    model = {**TINY, "tiny": SMALL | {"prompts": toy == "arithmetic"}}
    spec = {"toy": toy, "items": 3, "seed": 5, "parent": model, "child": model}
    same = score(spec)
    assert len(same) == 3
    assert all(item["parent"] == item["child"] for item in same)
    assert all(0 <= item["child"]["solved"] <= 1 for item in same)
    assert set(ROWS_OF_AN_ITEM) == set(TOYS)


def test_an_unknown_toy_and_a_missing_model_are_reported_without_a_result(tmp_path: Path) -> None:
    spec: dict[str, Any] = {"toy": "copy", "items": 1, "seed": 5, "parent": TINY, "child": str(tmp_path / "gone")}
    with pytest.raises(BadConfig, match="Unknown toy “chess”"):
        score(spec | {"toy": "chess"})
    (tmp_path / "compare.json").write_text(json.dumps(spec))
    command = [sys.executable, "-m", "workers.training.toy_score", "--spec", str(tmp_path / "compare.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"There is no model in {tmp_path / 'gone'}."
    assert not (tmp_path / "results.json").exists()
