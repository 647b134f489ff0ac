"""Problems and files for tests."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from apps.problems.drafts import ProblemDraft, SolutionDraft
from apps.problems.models import Problem
from apps.problems.services import problem_create

SECRET = "Descend from the smallest solution"
ANSWER = "secret answer 4711"
SCHEME = "A1 (3) finds the hidden invariant"

SHARED = Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data") / "imo-bench"
MISSING_FAILS = os.environ.get("CI") == "true"
needs_shared_data = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir() and not MISSING_FAILS, reason="SHARED_DATA has no imo-bench"),
]


def make_problem(title: str = "Sums of two squares", **changes: Any) -> Problem:
    """A problem with an answer, two reference solutions and a marking scheme."""
    fields: dict[str, Any] = {
        "title": title,
        "topic": "N",
        "statement": f"About {title}: which primes $p$ are $a^2+b^2$?",
        "source": "Fermat",
        "year": 1640,
        "level": "Classical",
        "answer": ANSWER,
        "scheme_text": SCHEME,
        "solutions": (SolutionDraft(SECRET, "descent"), SolutionDraft("Gaussian integers: $\\mathbb Z[i]$.", "rings")),
    }
    return problem_create(draft=ProblemDraft(**{**fields, **changes}))


def form_data(**changes: Any) -> dict[str, Any]:
    """Form data of the editor with one solution."""
    data = {
        "title": "A title", "topic": "A", "statement": "Prove $1=1$.", "source": "", "year": "", "level": "", "subtopic": "",
        "answer": "", "scheme_text": "", "solutions-TOTAL_FORMS": "1", "solutions-INITIAL_FORMS": "0",
        "solutions-0-approach": "", "solutions-0-text": "", "action": "save",
    }  # fmt: skip
    return {**data, **changes}


def jsonl(*records: Any) -> bytes:
    """A JSONL file; strings are written as raw lines."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return "".join(f"{line}\n" for line in lines).encode()


def csv_file(*rows: list[str], delimiter: str = ",") -> bytes:
    """A CSV file of the given rows, header first."""
    target = io.StringIO(newline="")
    csv.writer(target, delimiter=delimiter).writerows(rows)
    return target.getvalue().encode()
