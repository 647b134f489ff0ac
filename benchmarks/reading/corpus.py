"""The corpus: answers of local models that `manage.py try_model ALIAS --answers FILE` wrote, each text once.

`python -m benchmarks.reading.corpus FILE …` adds such files to `answers.jsonl.gz`. An answer of the same model with the same
texts to the same kind of question is kept once, with all roles that it was given in. Kept are its texts and what identifies
its prompt (problem, method, role, attempt): the stage of a trial makes the prompt again. The file is the same whatever order
the rows came in, and whenever it was written.
"""

import argparse
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from apps.reasoning.domain.values import Value

ANSWERS = Path(__file__).with_name("answers.jsonl.gz")
_ID_LENGTH = 12


class Said(Value):
    """One text of an answer, and how it ended."""

    text: str
    finish: Literal["stop", "length"]
    thinking: str = ""


class Answer(Value):
    """What a model said in a role: the first text and, where it was asked once more, the second.

    `asked` names the method and role of each question that it answers; all are of one `kind` (`values.py`).
    """

    id: str
    alias: str
    revision: str
    problem: str
    attempt: str
    kind: str
    asked: tuple[tuple[str, str], ...]
    said: tuple[Said, ...]


def answers_read(path: Path = ANSWERS) -> list[Answer]:
    """All answers of the corpus, by problem, kind and id."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [Answer.model_validate_json(line) for line in file]


def answers_of(rows: Iterable[dict[str, Any]]) -> Iterator[Answer]:
    """The answers of rows that `try_model` wrote; those without a text are left out."""
    from benchmarks.reading.values import kind_of

    for row in rows:
        said = tuple(
            Said(text=call["text"], finish=call["finish_reason"], thinking=call.get("thinking", ""))
            for call in row["calls"]
            if call.get("finish_reason") in ("stop", "length")
        )
        if not said or len(said) < len(row["calls"]):
            continue
        kind = kind_of(row["method"], row["role"])
        named = [row["revision"], row["problem"], row["attempt"], kind, [(one.text, one.finish, one.thinking) for one in said]]
        yield Answer(
            id=hashlib.sha256(json.dumps(named, ensure_ascii=False).encode()).hexdigest()[:_ID_LENGTH],
            alias=row["alias"],
            revision=row["revision"],
            problem=row["problem"],
            attempt=row["attempt"],
            kind=kind,
            asked=((row["method"], row["role"]),),
            said=said,
        )


def merged(answers: Iterable[Answer]) -> list[Answer]:
    """Each answer once, with all that it was asked, in the order of the file."""
    found: dict[str, Answer] = {}
    for one in answers:
        before = found.get(one.id)
        asked = tuple(sorted({*one.asked, *(before.asked if before else ())}))
        found[one.id] = one.model_copy(update={"asked": asked})
    return sorted(found.values(), key=lambda one: (one.revision, one.problem, one.kind, one.id))


def answers_write(answers: Iterable[Answer], path: Path = ANSWERS) -> None:
    """The same answers give the same bytes."""
    lines = "".join(f"{one.model_dump_json(exclude_defaults=True)}\n" for one in merged(answers))
    path.write_bytes(gzip.compress(lines.encode(), compresslevel=9, mtime=0))


def main() -> None:
    """Add files to the corpus, and say how many answers were new."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    files: list[Path] = parser.parse_args().files
    before = answers_read() if ANSWERS.exists() else []
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    now = merged([*before, *answers_of(rows)])
    answers_write(now)
    print(f"{len(now) - len(before)} of {len(rows)} rows are new answers; the corpus has {len(now)}.")


if __name__ == "__main__":
    main()
