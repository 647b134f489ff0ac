"""Scripts to grade, from rows of a file or from submission versions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet, prefetch_related_objects

from apps.files.mark_files import Row, columns_check, value_of
from apps.files.tables import FileWrong
from apps.files.values import RowWrong
from apps.files.values import text_of as text_of_value
from apps.graders.references import references_of
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.material import Span
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.schemes.models import SchemeVersion, VersionStatus
from apps.submissions.models import SubmissionVersion

#: Default columns for the name of a paper; the first existing one is used.
PAPER_NAMES = ("paper", "name")


@dataclass(frozen=True)
class Job:
    """A script with its problem. `material`: parameters of a grader; `kept`: values copied to the output.

    `trouble`: why no grader can grade this script, or "".
    """

    paper: str
    problem: ProblemText
    material: dict[str, Any]
    kept: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True)
class RowColumns:
    """Column names by content; "" for none."""

    script: str
    statement: str
    references: Sequence[str] = ()
    guidelines: str = ""
    scheme: str = ""
    problem: str = ""
    paper: str = ""
    kept: Sequence[str] = ()


def jobs_of_rows(rows: list[Row], columns: RowColumns) -> list[Job]:
    """One job per row. Raises `FileWrong` for a missing column or a duplicate paper.

    Names of papers default to the column `paper` or `name`.
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
        raise FileWrong(f"Duplicate paper “{twice}”; nothing was graded. Give each paper its own name.")
    return jobs


def _job(row: Row, number: int, columns: RowColumns) -> Job:
    statement = _text(row, columns.statement)
    trouble = "" if statement else f"there is no problem in “{columns.statement}”"
    script, scheme = "", None
    try:
        # Normalised as in an imported set.
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
    """One job per version, with the problem's reference solutions and its active scheme if there is exactly one.

    Jobs contain no trace of the author or of people's marks.
    """
    return [_of_version(version) for version in versions]


def _of_version(version: SubmissionVersion) -> Job:
    stated = version.submission.problem.version
    spans = [Span(start=step.start, end=step.end) for step in version.steps.all()]
    material = {**material_of(stated), "script": version.source, "spans": spans}
    return Job(str(version.public_id), text_of(stated), material)


def text_of(stated: ProblemVersion) -> ProblemText:
    """The problem for a grader, without its answer."""
    problem = stated.problem
    return ProblemText(id=str(problem.public_id), version=stated.number, title=problem.title, statement=stated.statement)


def material_of(stated: ProblemVersion) -> dict[str, Any]:
    """The material of a problem for graders: reference solutions, guidelines for markers, the only active scheme."""
    return _material(stated, SchemeVersion.objects.filter(scheme__problem=stated.problem, status=VersionStatus.ACTIVE)[:2])


def materials_of(stated: Sequence[ProblemVersion]) -> list[dict[str, Any]]:
    """The material of many problems, in their order, in a few queries."""
    problems = [one.problem for one in stated]
    prefetch_related_objects(problems, "reference_solutions", "posts")
    schemes: dict[int, list[SchemeVersion]] = defaultdict(list)
    active = SchemeVersion.objects.filter(scheme__problem__in=problems, status=VersionStatus.ACTIVE)
    for one in active.select_related("scheme"):
        schemes[one.scheme.problem_id].append(one)
    return [_material(one, schemes[one.problem_id]) for one in stated]


def _material(stated: ProblemVersion, schemes: Sequence[SchemeVersion] | QuerySet[SchemeVersion]) -> dict[str, Any]:
    return {
        "references": [one.text for one in references_of(stated.problem)],
        "guidelines": stated.scheme_text,
        "scheme": schemes[0].content if len(schemes) == 1 else None,
    }
