"""The public logs, graphs and the ledger: whole, quick, and with what is known of them."""

import re
import time
from pathlib import Path

import pytest

from apps.explorations.candidates.solutions import solutions
from apps.explorations.importing.batches import batches
from apps.explorations.importing.imported_run import LogFile
from apps.explorations.importing.recording import batch_import
from apps.lemmas.graph_data import graph_data
from apps.lemmas.models import Lemma
from apps.runs.models import Run
from tests.importing.files import SHARED, needs_shared, unread

pytestmark = pytest.mark.django_db
LARGEST_TAKES_S = 10


def runs_of(folder: Path, pattern: str) -> dict[str, Run]:
    found, unknown = batches([LogFile(path.name, path.read_bytes()) for path in sorted(folder.glob(pattern))])
    assert not unknown
    return {batch.files[0].name: batch_import(batch=batch, user=None).run for batch in found}


@needs_shared("imo25-logs")
def test_the_logs_of_the_olympiad_are_accepted_runs_with_nothing_left_unread() -> None:
    runs = runs_of(SHARED / "imo25-logs", "*.log")
    assert len(runs) == 4
    for run in runs.values():
        assert unread(run) == []
        assert run.outcome is not None
        assert run.outcome["accepted"] is True
        assert solutions(run).selected
        assert "MIT" in run.events.get(kind="import.source").body["licence"]
    assert {run.title for run in runs.values()} == {f"IMO 2025, Problem {number}" for number in (1, 3, 4)}
    grok = runs["solution_p1_grok4.log"]
    assert grok.steps.exclude(failure="").count() == 2
    assert grok.active_seconds == pytest.approx(2 * 3600 + 29 * 60, abs=90)
    assert grok.completion_tokens > 100_000


@needs_shared("imo25-logs")
def test_the_largest_log_takes_less_than_ten_seconds() -> None:
    began = time.monotonic()
    runs_of(SHARED / "imo25-logs", "solution_p1_grok4.log")
    assert time.monotonic() - began < LARGEST_TAKES_S


@needs_shared("lemma-graphs")
def test_the_proof_graphs_have_all_their_nodes() -> None:
    runs = runs_of(SHARED / "lemma-graphs", "*.json")
    sizes = {name: sum(node["kind"] == "lemma" for node in graph_data(run)["nodes"]) for name, run in runs.items()}
    assert sizes["imosl_2025_6.json"] == 64
    assert sum(sizes.values()) == 154
    assert all(unread(run) == [] for run in runs.values())
    statements = Lemma.objects.filter(run__in=runs.values()).values_list("statement", flat=True)
    assert not [text for text in statements if re.search(r"\\(?:emph|textbf|checkmark)|(?<![\w:]):\d-", text)]
    accepted = {name: (run.outcome or {})["accepted"] for name, run in runs.items()}
    assert accepted["hmmt_feb_2025_3.json"] is True
    assert accepted["aime_2025_20.json"] is False
    assert accepted["cmimc_2025_18.json"] is None


@needs_shared("event-ledgers")
def test_the_ledger_is_one_run() -> None:
    runs = runs_of(SHARED / "event-ledgers" / "sqrt2-proof" / "ledger", "*.json")
    assert len(runs) == 1
    run = next(iter(runs.values()))
    assert unread(run) == []
    graph = graph_data(run)
    assert len([node for node in graph["nodes"] if node["kind"] == "lemma"]) == 9
    assert all(node["status"] == "verified" for node in graph["nodes"] if node["kind"] == "lemma")
    assert len(graph["contributing"]) == 10
