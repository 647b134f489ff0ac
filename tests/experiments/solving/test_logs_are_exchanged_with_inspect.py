"""inspect-ai reads our logs in all its ways, and we read its own."""

import json
import re
import subprocess
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.experiments.models import CellScore, Experiment
from apps.reasoning.domain.generation import GenerationRequest
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import begin, make_problem_set
from tests.reasoning.play import proof

pytestmark = [pytest.mark.inspect, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).parents[3]
SCRIPTS, PYTHON = ROOT / "tests" / "inspect_ai", ROOT / ".venv-inspect" / "bin" / "python"
TWO = [{"name": "single", "scaffold": "single_call"}, {"name": "vote", "scaffold": "majority_vote", "params": {"solutions": 2}}]
SCORERS = [{"name": "answer", "kind": "answer"}, {"name": "own", "kind": "accepted"}]


@pytest.fixture
def answers() -> dict[str, object]:
    def right_on_even_ones(request: GenerationRequest) -> str:
        number = int(re.findall(r"sum number (\d+)", " ".join(message.content for message in request.messages))[0])
        return proof("We add.", f"So it is.\nAnswer: {number if number % 2 == 0 else 0}")

    return {"*": right_on_even_ones}


@pytest.fixture
def experiment(stage: Stage) -> Experiment:
    make_problem_set(2)
    budgets = [{"tokens": 5_000}]
    return stage.play(begin(person("alice"), methods=TWO, scorers=SCORERS, repeats=2, budgets=budgets))


def inspect(script: str, folder: Path) -> str:
    """What a script prints in inspect-ai's environment."""
    done = subprocess.run([PYTHON, SCRIPTS / script, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout


def read_back(experiment: Experiment, folder: Path) -> dict[str, Any]:
    call_command("experiment", "export", experiment.title, folder, format="eval", calls=True)
    found: dict[str, Any] = json.loads(inspect("reading.py", folder))
    return found


def test_our_logs_have_the_right_ids_epochs_scores_and_calls_there(experiment: Experiment, tmp_path: Path) -> None:
    found = read_back(experiment, tmp_path)
    log = found["logs"]["2-vote-served-budget-0.eval"]
    names = ("status", "eval_set", "task", "solver", "model", "token_limit")
    assert [log[name] for name in names] == ["success", str(experiment.public_id), "sums", "majority_vote", "served", 5_000]
    places = [[f"sum-{number}", epoch] for epoch in (1, 2) for number in (1, 2)]
    assert sorted(one[:2] for one in log["samples"]) == sorted(places)
    assert {(one[0], one[2], one[4]["answer"]) for one in log["samples"]} == {("sum-1", "1", 0), ("sum-2", "2", 1)}
    assert all("Answer:" in one[3] for one in log["samples"])
    assert [one[:2] for one in log["summaries"]] == [one[:2] for one in log["samples"]]
    assert log["metrics"]["answer"] == 0.5
    assert ["answer", 2] in log["reductions"]
    assert [one[:3] for one in log["events"]] == [["model", "served", "system"]] * 2
    assert all("Answer:" in one[3] for one in log["events"])
    single = found["logs"]["1-single-served-budget-0.eval"]
    assert all(one[4]["own"] != one[4]["own"] for one in single["samples"])  # NaN: left out of metrics.
    assert single["metrics"]["own"] != single["metrics"]["own"]
    assert {one["solver"] for one in found["evals"]} == {"single_call", "majority_vote"}
    assert len(found["samples"]) == 2 * 4
    assert found["messages"] >= 2 * (4 + 2 * 4)  # A question and an answer a call.
    assert all(one["total_tokens"] > 0 for one in found["samples"])
    assert {(one["id"], one["epoch"], one["score_answer"]) for one in found["samples"]} == {
        ("sum-1", 1, 0), ("sum-1", 2, 0), ("sum-2", 1, 1), ("sum-2", 2, 1),
    }  # fmt: skip


def test_a_log_that_it_wrote_becomes_an_external_method(experiment: Experiment, tmp_path: Path) -> None:
    written = Path(inspect("making.py", tmp_path).strip().splitlines()[-1])
    out = StringIO()
    call_command("experiment", "import", experiment.title, written, method="epochs", stdout=out)
    assert "epochs has 4 cells, scored by match, answer." in out.getvalue()
    rows = CellScore.objects.filter(cell__method="epochs").values_list("scorer", "cell__item__name", "cell__repeat", "points")
    right = {("sum-1", 0), ("sum-2", 1)}
    for scorer in ("match", "answer"):
        scored = {(name, repeat): points for by, name, repeat, points in rows if by == scorer}
        assert scored == {(f"sum-{n}", r): Decimal((f"sum-{n}", r) in right) for n in (1, 2) for r in (0, 1)}
