"""Scripts to be graded, whatever they come from: rows of a file, or versions that were handed in."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from apps.grading.mark_files import Row, columns_check, value_of
from apps.grading.references import references_of
from apps.problems.importing.files import FileWrong
from apps.problems.importing.values import RowWrong
from apps.problems.importing.values import text_of as text_of_value
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.material import Span
from apps.reasoning.marking.faults import FormWrong
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.scheme import Scheme
from apps.schemes.models import SchemeVersion, VersionStatus
from apps.submissions.models import SubmissionVersion

#: What the column with the name of a paper is called in files; the first that is there is taken.
PAPER_NAMES = ("paper", "name")


@dataclass(frozen=True)
class Job:
    """A script with its problem. `material` are parameters of a grader; `kept` goes to the output as it is.

    `trouble` says why this script cannot be graded by any grader; empty where it can.
    """

    paper: str
    problem: ProblemText
    material: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True)
class RowColumns:
    """Which column holds what; an empty name: there is none."""

    script: str
    statement: str
    references: Sequence[str] = ()
    guidelines: str = ""
    scheme: str = ""
    problem: str = ""
    paper: str = ""
    kept: Sequence[str] = ()


def jobs_of_rows(rows: list[Row], columns: RowColumns) -> list[Job]:
    """A job per row. Raises `FileWrong` for a missing column or a paper that comes twice.

    Papers have the names of the column `paper` or `name`, where no other column is said.
    """
    columns = replace(columns, paper=columns.paper or next((one for one in PAPER_NAMES if any(one in row for row in rows)), ""))
    named = (
        columns.script, columns.statement, columns.guidelines, columns.scheme, columns.problem, columns.paper,
        *columns.references, *columns.kept,
    )  # fmt: skip
    columns_check(rows, [name for name in named if name])
    jobs = [_job(row, number, columns) for number, row in enumerate(rows, 1)]
    counts = Counter(job.paper for job in jobs)
    if twice := next((paper for paper, count in counts.items() if count > 1), ""):
        raise FileWrong(f"The paper “{twice}” comes more than once.")
    return jobs


def _job(row: Row, number: int, columns: RowColumns) -> Job:
    statement = _text(row, columns.statement)
    trouble = "" if statement else f"there is no problem in “{columns.statement}”"
    script, scheme = "", None
    try:
        # As an imported set has it.
        script = text_of_value({"script": value_of(row, columns.script)}, "script")
        scheme = _scheme(_text(row, columns.scheme))
    except RowWrong as wrong:
        trouble = trouble or str(wrong).rstrip(".")
    except FormWrong as error:
        trouble = trouble or f"its marking scheme cannot be read: {str(error).rstrip('.')}"
    paper = _text(row, columns.paper) or f"row {number}"
    name = _text(row, columns.problem)
    material = {
        "script": script,
        "references": [text for column in columns.references if (text := _text(row, column))],
        "guidelines": _text(row, columns.guidelines),
        "scheme": scheme,
    }
    kept = {column: value_of(row, column) for column in columns.kept}
    return Job(
        paper,
        ProblemText(
            id=name or f"statement-{sha256(statement.encode()).hexdigest()[:12]}", version=1, title=name, statement=statement
        ),
        material,
        kept,
        trouble,
    )


def _text(row: Row, column: str) -> str:
    value = value_of(row, column) if column else None
    return "" if value is None else str(value).strip()


def _scheme(text: str) -> Scheme | None:
    return scheme_import(text).scheme if text else None


def jobs_of_versions(versions: Iterable[SubmissionVersion]) -> list[Job]:
    """A job per version, with the problem's reference solutions and its active scheme where there is exactly one.

    Nothing in it leads to the author, nor to what people made of the script.
    """
    return [_of_version(version) for version in versions]


def _of_version(version: SubmissionVersion) -> Job:
    stated = version.submission.problem.version
    spans = [Span(start=step.start, end=step.end) for step in version.steps.all()]
    material = {**material_of(stated), "script": version.source, "spans": spans}
    return Job(str(version.public_id), text_of(stated), material)


def text_of(stated: ProblemVersion) -> ProblemText:
    """The problem as a grader is told it; the answer stays out."""
    problem = stated.problem
    return ProblemText(id=str(problem.public_id), version=stated.number, title=problem.title, statement=stated.statement)


def material_of(stated: ProblemVersion) -> dict[str, Any]:
    """What a grader is given about a problem: reference solutions, words to markers, the active scheme where there is one."""
    schemes = SchemeVersion.objects.filter(scheme__problem=stated.problem, status=VersionStatus.ACTIVE)[:2]
    return {
        "references": [one.text for one in references_of(stated.problem)],
        "guidelines": stated.scheme_text,
        "scheme": schemes[0].content if len(schemes) == 1 else None,
    }
