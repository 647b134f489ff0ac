"""`ProblemDraft`: an unsaved problem, the common result of files, imports and forms."""

from collections.abc import Container
from dataclasses import dataclass

from django.utils.text import slugify

from apps.problems.models import Problem, ProblemVersion

RESERVED_SLUGS = {"new", "import", "export", "preview", "geometry"}
SLUG_LENGTH = 110
TITLE_LENGTH = 200
SOURCE_LENGTH = 200
LEVEL_LENGTH = 60
APPROACH_LENGTH = 120
SUBTOPIC_LENGTH = 60
ORIGIN_LENGTH = 60
EXTERNAL_ID_LENGTH = 120
STATEMENT_LENGTH = 20_000
ANSWER_LENGTH = 4_000
SCHEME_LENGTH = 40_000
SOLUTION_LENGTH = 100_000
SOLUTIONS_AT_MOST = 12
HINT_LENGTH = 2_000
HINTS_AT_MOST = 3
YEARS = range(1, 2200)


@dataclass(frozen=True)
class SolutionDraft:
    """An accepted proof and a short name of its approach."""

    text: str
    approach: str = ""


@dataclass(frozen=True)
class ProblemDraft:
    """A complete problem. `topic` is a value of `Topic`; texts are Markdown with TeX, without trailing white space.

    `hints` are in the order in which they open; none is empty.
    """

    title: str
    topic: str
    statement: str
    slug: str = ""
    subtopic: str = ""
    source: str = ""
    year: int | None = None
    level: str = ""
    answer: str = ""
    scheme_text: str = ""
    solutions: tuple[SolutionDraft, ...] = ()
    hints: tuple[str, ...] = ()
    origin: str = ""
    external_id: str = ""


def draft_of(problem: Problem, version: ProblemVersion | None = None) -> ProblemDraft:
    """The draft that recreates a problem; pass `version` if its newest version is already loaded."""
    version = version or problem.current
    return ProblemDraft(
        title=problem.title,
        topic=problem.topic,
        statement=version.statement,
        slug=problem.slug,
        subtopic=problem.subtopic,
        source=problem.source,
        year=problem.year,
        level=problem.level,
        answer=version.answer,
        scheme_text=version.scheme_text,
        solutions=tuple(SolutionDraft(row.text, row.approach) for row in problem.reference_solutions.all()),
        hints=tuple(row.text for row in problem.hints.all() if row.text),
        origin=problem.origin,
        external_id=problem.external_id,
    )


def slug_free(wanted: str, used: Container[str]) -> str:
    """`wanted` as a slug that is neither in `used` nor reserved; adds a number if necessary."""
    slug = base = slugify(wanted)[:SLUG_LENGTH].strip("-") or "problem"
    number = 2
    while slug in used or slug in RESERVED_SLUGS:
        slug, number = f"{base}-{number}", number + 1
    return slug
