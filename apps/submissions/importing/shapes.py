"""Layouts of submission files, all parsed into `SubmissionDraft`.

| layout | author | problem | judgement |
|---|---|---|---|
| Lemmascope (CSV, JSONL) | `author`, `school`, `external_id` | `problem`: label, slug, id | `points`, `out_of`, `comment` |
| GradingBench (CSV) | `Grading ID`, one per row | `Problem ID` | `Points` out of 7 |
| DeepSeekMath-V2 (JSONL) | the model | `problem_idx` | `human_rating`, out of 7 or 10 by the contest |
| folders (ZIP) | the folder below `submissions/`, else the top folder | the file name | `grader-comments.md`: `A1: 7/10`, … |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import PurePosixPath
from typing import Any

from apps.contests.models import EXTERNAL_LENGTH, NAME_LENGTH, AuthorKind
from apps.files.tables import FileWrong, Record, Table
from apps.files.values import RowWrong, text_of
from apps.submissions.models import TEXT_LENGTH, TextFormat

COMMENTS = "grader-comments.md"
_BENCH_SCALE = Decimal(7)
_SUBMISSION = re.compile(r"^#{1,3}[ \t]*(?:Submission|Solution|Proof)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_JUDGED = re.compile(r"^(\S{1,20}):[ \t]*(\d+(?:\.\d+)?)[ \t]*/[ \t]*(\d+(?:\.\d+)?)[ \t]*$", re.MULTILINE)
_POINTS_AT_MOST = Decimal(1_000)


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


def draft_read(record: Record, shape: str) -> SubmissionDraft:
    """Parse one row. Raises `RowWrong`."""
    if record.reason:
        raise RowWrong(record.reason)
    return validated(_SHAPES[shape][1](record.values))


def folder_drafts(texts: Mapping[PurePosixPath, str]) -> list[tuple[str, SubmissionDraft | RowWrong]]:
    """Parse the texts of an archive; each path gives a draft or the reason of its rejection."""
    texts = {path: text.replace("\r\n", "\n") for path, text in texts.items()}
    comments = {(_author(path), path.parent): _judgements(text) for path, text in texts.items() if path.name == COMMENTS}
    rows: list[tuple[str, SubmissionDraft | RowWrong]] = []
    for path, text in sorted(texts.items()):
        if path.name == COMMENTS:
            continue
        given = next((comments[_author(path), folder] for folder in path.parents if (_author(path), folder) in comments), {})
        try:
            rows.append((str(path), validated(_folder_draft(path, text, given))))
        except RowWrong as wrong:
            rows.append((str(path), wrong))
    return rows


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
        problem=_word(values, "problem"),
        text=text_of(values, "text"),
        format=text_format,
        kind=kind,
        school=_word(values, "school"),
        external_id=_word(values, "external_id"),
        judgement=_judgement(_word(values, "points"), _maximum(values), text_of(values, "comment")),
    )


def _gradingbench(values: Mapping[str, Any]) -> SubmissionDraft:
    points = _judgement(_word(values, "Points"), str(_BENCH_SCALE), "")
    author = _word(values, "Grading ID")
    return SubmissionDraft(author, _word(values, "Problem ID"), text_of(values, "Response"), judgement=points)


def _deepseek(values: Mapping[str, Any]) -> SubmissionDraft:
    made = values.get("model_prediction")
    if not isinstance(made, dict):
        raise RowWrong("model_prediction is not an object.")
    name = _word(values, "problem_idx")
    points = _judgement(_word(made, "human_rating"), _maximum(values) or deepseek_maximum(name), "")
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
    return _word(values, "out_of") or _word(values, "max")


def _word(values: Mapping[str, Any], name: str) -> str:
    """A short value that may be a number in JSON."""
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return text_of(values, name)


def _judgement(points: str, out_of: str, words: str) -> Judgement | None:
    if not points:
        return None
    if not out_of:
        raise RowWrong(f"The maximum for {points[:20]} points is missing. Add a column out_of with the maximum.")
    try:
        given, scale = Decimal(points), Decimal(out_of)
    except InvalidOperation as error:
        raise RowWrong(f"The points, {points[:20]!r} out of {out_of[:20]!r}, are not numbers.") from error
    if not (given.is_finite() and scale.is_finite() and 0 <= given <= scale <= _POINTS_AT_MOST and scale > 0):
        raise RowWrong(f"The points, {points[:20]} out of {out_of[:20]}, are out of range.")
    return Judgement(given, scale, words)


def _author(path: PurePosixPath) -> str:
    folders = path.parts[:-1]
    below = folders.index("submissions") + 1 if "submissions" in folders else 0
    return folders[below] if len(folders) > below else ""


def _folder_draft(path: PurePosixPath, text: str, given: Mapping[str, Judgement]) -> SubmissionDraft:
    author = _author(path)
    if not author:
        raise RowWrong("The author is missing: the file is not in a folder named after its author.")
    found = _SUBMISSION.search(text)
    body = text[found.end() :] if found else text
    text_format = TextFormat.LATEX if path.suffix.lower() == ".tex" else TextFormat.MARKDOWN
    return SubmissionDraft(author, path.stem, body.strip(), format=text_format, judgement=given.get(path.stem.casefold()))


def _judgements(text: str) -> dict[str, Judgement]:
    """Points and remarks by lower-case problem name; invalid lines are skipped."""
    found = list(_JUDGED.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    judged: dict[str, Judgement] = {}
    for one, end in zip(found, ends, strict=False):
        points, out_of = Decimal(one[2]), Decimal(one[3])
        if 0 <= points <= out_of <= _POINTS_AT_MOST and out_of:
            judged[one[1].casefold()] = Judgement(points, out_of, text[one.end() : end].strip())
    return judged
