"""Problems from a file or a list: a `question`, an `answer` where there is one, and what else is known as `info`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import verifiers.v1 as vf

SAMPLE = Path(__file__).with_name("sample.jsonl")
#: Names of the statement: ours, those of Lemmascope's exports, and those of benchmarks.
QUESTIONS = ("question", "statement", "problem", "Problem")
ANSWERS = ("answer", "Short Answer")
IDS = ("id", "slug", "problem_id", "Problem ID", "external_id")


class ProofData(vf.TaskData):
    """A problem. `answer` is "" where there is only something to prove; it enters no prompt."""

    answer: str = ""
    info: dict[str, Any] = {}


def problems_of(source: Path | Iterable[Mapping[str, Any]]) -> Iterator[ProofData]:
    """The problems of a JSON or JSONL file, or of rows such as those of a `datasets.Dataset`. Raises `ValueError`."""
    rows = _rows_of(source) if isinstance(source, Path) else source
    for number, row in enumerate(rows, 1):
        yield _problem_of(row, f"{source}, problem {number}" if isinstance(source, Path) else f"Problem {number}")


def _rows_of(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}).") from error
    try:
        if path.suffix == ".json":
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is neither JSONL nor a JSON list ({error}).") from error


def _problem_of(row: Any, where: str) -> ProofData:
    if not isinstance(row, Mapping):
        raise ValueError(f"{where} is no object with names.")
    name = next((one for one in QUESTIONS if str(row.get(one) or "").strip()), "")
    if not name:
        raise ValueError(f"{where} has no text under {', '.join(QUESTIONS)}.")
    answer = next((row[one] for one in ANSWERS if row.get(one) is not None), "")
    known = next((str(row[one]) for one in IDS if row.get(one)), None)
    info = row["info"] if isinstance(row.get("info"), Mapping) else {}
    return ProofData(id=known, name=known, prompt=str(row[name]), answer=str(answer).strip(), info=dict(info))
