"""Small logs, graphs and ledgers in our own words, in the formats that are imported."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.explorations.importing.batches import Facts, batches
from apps.explorations.importing.imported_run import LogFile
from apps.explorations.importing.recording import Imported, batch_import
from apps.runs.models import Run

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / os.environ.get("SHARED_DATA", "../shared/data")
NUMBERS = Facts(problem="Odd squares", topic="N", source="written for a test", licence="none needed")
STATEMENT = "Show that the square of an odd number leaves remainder $1$ when divided by $8$."


def needs_shared(folder: str) -> Callable[[Any], Any]:
    """Marks a test that reads a folder of the shared data; it skips where that is absent."""

    def mark(test: Any) -> Any:
        absent = pytest.mark.skipif(not (SHARED / folder).is_dir(), reason=f"SHARED_DATA has no {folder}")
        return pytest.mark.shared_data(absent(test))

    return mark


def heading(title: str, at: str = "") -> str:
    return f"[{at}] >>>>>>> {title}" if at else f">>>>>>> {title}"


def prompt(*texts: str) -> str:
    return json.dumps({"model": "tiny-1", "messages": [{"role": "user", "content": text} for text in texts]}, indent=4)


def answered(text: str) -> str:
    """An answer of a chat interface that counts thinking apart."""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 170,
        "completion_tokens_details": {"reasoning_tokens": 50},
    }
    return json.dumps({"model": "tiny-1", "choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage})


def solver_log(*rest: str, timed: bool = True) -> str:
    """The beginning of a log: a prompt, a first solution with its answer, an improved one; then `rest`."""

    def at(minute: int) -> str:
        return f"2025-08-18 16:{minute:02d}:00" if timed else ""

    first, better = "Let $n=2k+1$.\n\nThen $n^2=4k(k+1)+1$.", "Let $n=2k+1$.\n\nOne of $k$ and $k+1$ is even."
    rows = [
        "Logging to file: ours.log",
        ">>>>>>>>>>>>>>>>>>>>>>>>>> Run 0 of 10 ...",
        heading("Initial prompt.", at(0)),
        prompt("Prove what is asked.", f"*** Problem Statement ***\n\n{STATEMENT}"),
        heading("Response:", at(5)),
        answered(first),
        heading("First solution: ", at(5)),
        json.dumps(first),
        heading("Self improvement start:", at(5)),
        heading("Corrected solution: ", at(9)),
        json.dumps(better),
        *rest,
    ]
    return "\n".join(rows) + "\n"


def check(said: str, report: str = "Step 2 needs a reason.") -> list[str]:
    """A verification and its yes or no."""
    return [
        heading("Verification prompt:"),
        prompt("Examine this."),
        heading("Verification results:"),
        json.dumps(report),
        heading("Is verification good?"),
        json.dumps(said),
        heading("Bug report:"),
        json.dumps(report),
        "Number of iterations: 0, number of corrects: 1, number of errors: 0",
    ]


def correction(text: str = "One of two neighbours is even.") -> list[str]:
    return [heading("New prompt:"), prompt("Mend this."), heading("Corrected solution:"), json.dumps(text)]


def graph(nodes: dict[str, dict[str, Any]], **more: Any) -> str:
    """A proof graph with these nodes; what a node leaves out is filled in."""
    full = {
        name: {"id": name, "type": "claim", "status": "proposed", "taint": "clean", "depth": 1, "dependencies": [],
               "justification": "modus-ponens", "statement": f"What {name} says.", **node}
        for name, node in nodes.items()
    }  # fmt: skip
    return json.dumps({"theorem": {"id": "theorem", "statement": STATEMENT}, "nodes": full, **more})


def ledger_event(kind: str, second: int, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": f"2026-01-16T20:53:{second:02d}.123456789Z", **fields}


def node(name: str, *uses: str, kind: str = "claim") -> dict[str, Any]:
    return {
        "id": name,
        "type": kind,
        "statement": f"What {name} says.",
        "inference": "modus_ponens",
        "dependencies": list(uses),
    }


def imported(text: str, name: str = "ours.log", facts: Facts = NUMBERS) -> Run:
    """The run that a file becomes."""
    return import_of(LogFile(name, text.encode()), facts=facts).run


def import_of(*files: LogFile, facts: Facts = NUMBERS) -> Imported:
    found, unknown = batches(files)
    assert not unknown
    assert len(found) == 1
    return batch_import(batch=found[0], user=None, facts=facts)


def unread(run: Run) -> list[str]:
    """What was not taken over, a line a piece."""
    rows = run.events.filter(kind="import.unread").order_by("seq").values_list("body", flat=True)
    return [f"{body['where']}: {body['reason']}" for body in rows]
