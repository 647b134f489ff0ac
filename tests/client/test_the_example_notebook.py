"""The example notebook runs from top to bottom on a real server, and its stored outputs have the form of fresh ones.

`WRITE_NOTEBOOK=true` stores the outputs of this run.
"""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from apps.accounts.models import ApiToken
from apps.explorations.worked_example import SLUG
from apps.problems.models import Problem
from tests.cast import person
from tests.client.conftest import Server
from tests.client.notebook import notebook_execute, notebook_write

NOTEBOOK: Path = settings.BASE_DIR / "clients" / "python" / "examples" / "search.ipynb"


def test_the_notebook_runs_from_top_to_bottom(server: Server, problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    Problem.objects.filter(pk=problem.pk).update(slug=SLUG)
    monkeypatch.setenv("LEMMASCOPE_URL", server.url)
    monkeypatch.setenv("LEMMASCOPE_TOKEN", ApiToken.issue(person("alice"), "notebook", may_write=True)[1])
    namespace: dict[str, object] = {}
    shown = notebook_execute(NOTEBOOK, namespace)
    namespace["client"].close()  # type: ignore[attr-defined]
    intro, started, followed, outcome, lemmas, calls, compared, common, offered, refused, experiment = shown
    assert problem.current.statement in intro.printed
    assert started.value.data["budget"]["calls"] == 200
    assert dict(followed.value)["call.ended"] > 20
    assert len(followed.printed.splitlines()) == len(lemmas.value)
    assert outcome.value[:2] == ("finished", True)
    assert set(calls.value.index) >= {"reasoner", "summarizer", "theorem_verifier"}
    assert list(compared.value["status"]) == ["finished", "finished"]
    assert set(common.value.index) == {"same"}
    assert [title for title, taken in offered.value if taken] == [title for title, _ in offered.value] != []
    assert refused.printed.startswith("Invalid 422 This run is finished; it accepts no commands.")
    assert list(experiment.value["mean"]) == [0.5]
    if os.environ.get("WRITE_NOTEBOOK") == "true":
        notebook_write(NOTEBOOK, shown)


def test_the_stored_outputs_are_those_of_a_whole_run() -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["outputs"] for cell in cells)
    assert "lsc_" not in NOTEBOOK.read_text(encoding="utf-8")
