"""Layouts of submission files, all parsed into `SubmissionDraft`.

| layout | author | problem | judgement |
|---|---|---|---|
| Lemmascope (CSV, JSONL) | `author`, `school`, `external_id` | `problem`: label, slug, id | `points`, `out_of`, `comment` |
| GradingBench (CSV) | `Grading ID`, one per row | `Problem ID` | `Points` out of 7 |
| DeepSeekMath-V2 (JSONL) | the model | `problem_idx` | `human_rating`, out of 7 or 10 by the contest |
| folders (ZIP) | the folder below `submissions/`, else the top folder | the file name | `grader-comments.md`: `A1: 7/10`, … |
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from apps.contests.models import EXTERNAL_LENGTH, NAME_LENGTH, AuthorKind
from apps.files.folders import COMMENTS, author_of, comments_of, statement_and_body
from apps.files.plans import Source
from apps.files.tables import FileWrong, Table
from apps.files.values import RowWrong, points_of, text_of, word_of
from apps.submissions.models import TEXT_LENGTH, TextFormat

_BENCH_SCALE = Decimal(7)


@dataclass(frozen=True)
class Judgement:
    """An external judgement: points, their maximum and remarks."""

    points: Decimal
    out_of: Decimal
    words: str = ""


@dataclass(frozen=True)
class SubmissionDraft:
    """One text of one author for one problem."""

    author: str
    problem: str
    text: str
    format: str = TextFormat.MARKDOWN
    kind: str = AuthorKind.MODEL
    school: str = ""
    external_id: str = ""
    judgement: Judgement | None = None


def shape_of(table: Table) -> str:
    """The layout of a table. Raises `FileWrong` for unknown columns."""
    names = set(table.names)
    for name, (required, _) in _SHAPES.items():
        if required <= names:
            return name
    raise FileWrong("Nothing was imported: unknown columns. A file of submissions needs at least author, problem and text.")


def draft_read(values: Mapping[str, Any], shape: str) -> SubmissionDraft:
    """Parse one row. Raises `RowWrong`."""
    return validated(_SHAPES[shape][1](values))


def folder_sources(texts: Mapping[PurePosixPath, str]) -> Iterator[Source[SubmissionDraft]]:
    """The texts of an archive by path."""
    texts = {path: text.replace("\r\n", "\n") for path, text in texts.items()}
    comments = {
        (author_of(path.parent), path.parent): _judgements(text) for path, text in texts.items() if path.name == COMMENTS
    }
    for path, text in sorted(texts.items()):
        if path.name != COMMENTS:
            author = author_of(path.parent)
            given = next((comments[author, folder] for folder in path.parents if (author, folder) in comments), {})
            yield str(path), partial(_folder_draft, path, text, given)


def validated(draft: SubmissionDraft) -> SubmissionDraft:
    """Return the draft if it is valid. Raises `RowWrong`."""
    for value, what in ((draft.author, "author"), (draft.problem, "problem"), (draft.text.strip(), "text")):
        if not value:
            raise RowWrong(f"The {what} is missing.")
    if len(draft.author) > NAME_LENGTH:
        raise RowWrong(f"The author's name is longer than {NAME_LENGTH} characters.")
    for value, what, most in ((draft.school, "school", NAME_LENGTH), (draft.external_id, "external_id", EXTERNAL_LENGTH)):
        if len(value) > most:
            raise RowWrong(f"The {what} is longer than {most} characters.")
    if len(draft.text) > TEXT_LENGTH:
        raise RowWrong(f"The text is longer than {TEXT_LENGTH:,} characters.")
    return draft


def _lemmascope(values: Mapping[str, Any]) -> SubmissionDraft:
    text_format = text_of(values, "format").lower() or TextFormat.MARKDOWN
    if text_format not in TextFormat.values:
        raise RowWrong("Unknown format. Use markdown or latex.")
    kind = text_of(values, "kind").lower() or AuthorKind.STUDENT
    if kind not in AuthorKind.values:
        raise RowWrong("Unknown kind of author. Use student or model.")
    return SubmissionDraft(
        author=" ".join(text_of(values, "author").split()),
        problem=word_of(values, "problem"),
        text=text_of(values, "text"),
        format=text_format,
        kind=kind,
        school=word_of(values, "school"),
        external_id=word_of(values, "external_id"),
        judgement=_judgement(word_of(values, "points"), _maximum(values), text_of(values, "comment")),
    )


def _gradingbench(values: Mapping[str, Any]) -> SubmissionDraft:
    points = _judgement(word_of(values, "Points"), str(_BENCH_SCALE), "")
    author = word_of(values, "Grading ID")
    return SubmissionDraft(author, word_of(values, "Problem ID"), text_of(values, "Response"), judgement=points)


def _deepseek(values: Mapping[str, Any]) -> SubmissionDraft:
    made = values.get("model_prediction")
    if not isinstance(made, dict):
        raise RowWrong("model_prediction is not an object.")
    name = word_of(values, "problem_idx")
    points = _judgement(word_of(made, "human_rating"), _maximum(values) or deepseek_maximum(name), "")
    return SubmissionDraft("DeepSeekMath-V2", name, text_of(made, "proof"), judgement=points)


def deepseek_maximum(problem: str) -> str:
    """The maximum of a rating, derived from the contest in the problem name; "" if ambiguous.

    For example, CMO may be China's (out of 21) or Canada's (out of 7).
    """
    name = problem.casefold()
    return next((most for begins, most in (("imo", "7"), ("pb-", "7"), ("putnam", "10")) if name.startswith(begins)), "")


_SHAPES = {
    "GradingBench": (frozenset({"Grading ID", "Problem ID", "Response"}), _gradingbench),
    "DeepSeekMath-V2": (frozenset({"problem_idx", "model_prediction"}), _deepseek),
    "Lemmascope": (frozenset({"author", "problem", "text"}), _lemmascope),
}


def _maximum(values: Mapping[str, Any]) -> str:
    """The maximum in a row, or ""."""
    return word_of(values, "out_of") or word_of(values, "max")


def _judgement(points: str, out_of: str, words: str) -> Judgement | None:
    if not points:
        return None
    if not out_of:
        noun = "point" if points == "1" else "points"
        raise RowWrong(f"The maximum for {points[:20]} {noun} is missing. Add a column out_of with the maximum.")
    return Judgement(*points_of(points, out_of), words)


def _folder_draft(path: PurePosixPath, text: str, given: Mapping[str, Judgement]) -> SubmissionDraft:
    author = author_of(path.parent)
    if not author:
        raise RowWrong("The author is missing: the file is not in a folder named after its author.")
    text_format = TextFormat.LATEX if path.suffix.lower() == ".tex" else TextFormat.MARKDOWN
    _, body = statement_and_body(text)
    return validated(SubmissionDraft(author, path.stem, body, format=text_format, judgement=given.get(path.stem.casefold())))


def _judgements(text: str) -> dict[str, Judgement]:
    """Points and remarks by lower-case problem name; invalid lines are skipped."""
    judged: dict[str, Judgement] = {}
    for label, points, out_of, words in comments_of(text):
        with suppress(RowWrong):
            judged[label] = Judgement(*points_of(points, out_of), words)
    return judged
