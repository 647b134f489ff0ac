"""Shapes (formats) of files: field names, and conversion between records and problems."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.files.values import RowWrong, text_of
from apps.problems.drafts import HINTS_AT_MOST, SOLUTIONS_AT_MOST, ProblemDraft, SolutionDraft
from apps.problems.importing.values import hints_of, level_of, parts_text, solutions_of, topic_in, topic_of, year_of
from apps.problems.models import Topic

Values = Mapping[str, Any]
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")


@dataclass(frozen=True)
class Shape:
    """One shape. A file matches if it has all `required` names; `origin` marks problems imported from it."""

    name: str
    title: str
    names: tuple[str, ...]
    required: frozenset[str]
    id_name: str
    read: Callable[[Values], ProblemDraft]
    write: Callable[[ProblemDraft], dict[str, Any]]
    origin: str = ""
    is_strict: bool = False
    """Whether a name outside `names` is an error; otherwise it is ignored with a note."""


_TEXTS = {
    "slug": "slug", "title": "title", "subtopic": "subtopic", "source": "source", "level": "level", "statement": "statement",
    "answer": "answer", "marking_scheme": "scheme_text", "origin": "origin", "external_id": "external_id",
}  # fmt: skip
OURS_NAMES = (
    "slug", "title", "topic", "subtopic", "source", "year", "level", "statement", "answer", "marking_scheme", "solutions",
    "hints", "origin", "external_id",
)  # fmt: skip
_NUMBERED = tuple(f"{kind}_{n}" for n in range(1, SOLUTIONS_AT_MOST + 1) for kind in ("approach", "solution"))
_HINTS = tuple(f"hint_{n}" for n in range(1, HINTS_AT_MOST + 1))


def _read_ours(values: Values) -> ProblemDraft:
    texts = {field: text_of(values, name) for name, field in _TEXTS.items()}
    texts["level"] = level_of(values, "level")
    return ProblemDraft(
        **texts,
        topic=topic_of(values, "topic"),
        year=year_of(values, "year"),
        solutions=solutions_of(values, _NUMBERED),
        hints=hints_of(values, _HINTS),
    )


def _write_ours(draft: ProblemDraft) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(draft, field) for name, field in _TEXTS.items()}
    solutions = [{"approach": row.approach, "text": row.text} for row in draft.solutions]
    record |= {"topic": draft.topic, "year": draft.year, "solutions": solutions, "hints": list(draft.hints)}
    return {name: record[name] for name in OURS_NAMES}


def _bench(values: Values, origin: str, **more: Any) -> ProblemDraft:
    """Convert the common fields of both IMO-Bench shapes. They have no title; the id replaces it."""
    external_id, source = text_of(values, "Problem ID"), text_of(values, "Source")
    if not external_id:
        raise RowWrong("The Problem ID is missing.")
    year = _YEAR.search(source)
    return ProblemDraft(
        title=external_id,
        topic=topic_of(values, "Category"),
        statement=text_of(values, "Problem"),
        source=source,
        year=int(year[0]) if year else None,
        answer=text_of(values, "Short Answer"),
        origin=origin,
        external_id=external_id,
        **more,
    )


def _read_proofbench(values: Values) -> ProblemDraft:
    solution = text_of(values, "Solution")
    return _bench(
        values,
        PROOFBENCH_ORIGIN,
        level=level_of(values, "Level"),
        scheme_text=text_of(values, "Grading guidelines"),
        solutions=(SolutionDraft(solution),) if solution else (),
    )


def _write_proofbench(draft: ProblemDraft) -> dict[str, Any]:
    return {
        "Problem ID": draft.external_id,
        "Problem": draft.statement,
        "Solution": draft.solutions[0].text if draft.solutions else "",
        "Grading guidelines": draft.scheme_text,
        "Category": Topic(draft.topic).label,
        "Level": draft.level.replace("IMO ", "IMO-"),
        "Short Answer": draft.answer,
        "Source": draft.source,
    }


def _read_answerbench(values: Values) -> ProblemDraft:
    return _bench(values, ANSWERBENCH_ORIGIN, subtopic=text_of(values, "Subcategory"))


def _write_answerbench(draft: ProblemDraft) -> dict[str, Any]:
    return {
        "Problem ID": draft.external_id,
        "Problem": draft.statement,
        "Short Answer": draft.answer,
        "Category": Topic(draft.topic).label,
        "Subcategory": draft.subtopic,
        "Source": draft.source,
    }


def _read_matharena(values: Values) -> ProblemDraft:
    """Problems with final answers, or proofs with a scheme of parts. Types that are no topic give “Other”."""
    competition, number = text_of(values, "competition"), text_of(values, "problem_idx")
    if not number:
        raise RowWrong("The problem_idx is missing.")
    name = f"{competition} {number}".strip()
    year = _YEAR.search(competition)
    solution = text_of(values, "sample_solution")
    return ProblemDraft(
        title=name if competition else f"Problem {number}",
        topic=topic_in(values.get("problem_type")),
        statement=text_of(values, "problem"),
        source=competition or text_of(values, "source"),
        year=int(year[0]) if year else None,
        answer=text_of(values, "answer"),
        scheme_text=parts_text(values.get("grading_scheme")),
        solutions=(SolutionDraft(solution),) if solution else (),
        origin=MATHARENA_ORIGIN,
        external_id=name if competition else "",  # A number alone is that of many problems.
    )


def _write_matharena(draft: ProblemDraft) -> dict[str, Any]:
    return {
        "problem_idx": draft.external_id,
        "problem": draft.statement,
        "answer": draft.answer,
        "problem_type": Topic(draft.topic).label,
        "competition": draft.source,
        "sample_solution": draft.solutions[0].text if draft.solutions else "",
    }


def _read_deepseek(values: Values) -> ProblemDraft:
    external_id, source, solution = (text_of(values, name) for name in ("problem_idx", "source", "solution"))
    if not external_id:
        raise RowWrong("The problem_idx is missing.")
    year = _YEAR.search(source) or re.search(r"(?<=IMO)20\d\d", external_id)
    return ProblemDraft(
        title=external_id,
        topic=topic_in(values.get("type")),
        statement=text_of(values, "question"),
        source=source,
        year=int(year[0]) if year else None,
        level=level_of(values, "level"),
        scheme_text=text_of(values, "grading guidelines"),
        solutions=(SolutionDraft(solution),) if solution else (),
        origin=DEEPSEEK_ORIGIN,
        external_id=external_id,
    )


def _write_deepseek(draft: ProblemDraft) -> dict[str, Any]:
    return {
        "problem_idx": draft.external_id,
        "question": draft.statement,
        "solution": draft.solutions[0].text if draft.solutions else "",
        "grading guidelines": draft.scheme_text,
        "level": draft.level,
        "source": draft.source,
        "type": Topic(draft.topic).label,
    }


PROOFBENCH_ORIGIN, ANSWERBENCH_ORIGIN = "imo-proofbench", "imo-answerbench"
MATHARENA_ORIGIN, DEEPSEEK_ORIGIN = "matharena", "deepseek-math"
SHAPES = {
    shape.name: shape
    for shape in (
        Shape(
            "ours", "Lemmascope", (*OURS_NAMES, *_NUMBERED, *_HINTS), frozenset({"title", "topic", "statement"}), "slug",
            _read_ours, _write_ours, is_strict=True,
        ),
        Shape(
            "proofbench", "IMO-ProofBench",
            ("Problem ID", "Problem", "Solution", "Grading guidelines", "Category", "Level", "Short Answer", "Source"),
            frozenset({"Problem ID", "Problem", "Solution", "Grading guidelines", "Category"}), "Problem ID",
            _read_proofbench, _write_proofbench, origin=PROOFBENCH_ORIGIN,
        ),
        Shape(
            "answerbench", "IMO-AnswerBench",
            ("Problem ID", "Problem", "Short Answer", "Category", "Subcategory", "Source"),
            frozenset({"Problem ID", "Problem", "Short Answer", "Category"}), "Problem ID",
            _read_answerbench, _write_answerbench, origin=ANSWERBENCH_ORIGIN,
        ),
        Shape(
            "matharena", "MathArena",
            ("problem_idx", "problem", "answer", "problem_type", "competition", "grading_scheme", "sample_solution", "source"),
            frozenset({"problem_idx", "problem"}), "problem_idx", _read_matharena, _write_matharena, origin=MATHARENA_ORIGIN,
        ),
        Shape(
            "deepseek", "DeepSeekMath-V2",
            ("problem_idx", "question", "solution", "grading guidelines", "level", "source", "type"),
            frozenset({"problem_idx", "question"}), "problem_idx", _read_deepseek, _write_deepseek, origin=DEEPSEEK_ORIGIN,
        ),
    )
}  # fmt: skip
