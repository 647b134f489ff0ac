"""Layouts of many files: Open Proof Corpus (one JSON object per problem), Nomos (one folder per author, text per problem)."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from apps.files.tables import FileWrong
from apps.files.values import RowWrong, text_of
from apps.graded_sets.issues import issues_read
from apps.graded_sets.maxima import word_of
from apps.graded_sets.shapes import (
    NAME_LENGTH,
    NOMOS,
    OPEN_PROOF_CORPUS,
    ProblemDraftOfSet,
    ScoreDraft,
    ScriptDraft,
    SetDraft,
    score_read,
)
from apps.reasoning.texts.source import source_of

_COMMENTS = "grader-comments.md"
_PROBLEM = re.compile(r"^#{1,3}[ \t]*Problem[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SUBMISSION = re.compile(r"^#{1,3}[ \t]*(?:Submission|Solution|Proof)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_JUDGED = re.compile(r"^(\S{1,20}):[ \t]*(\d+(?:\.\d+)?)[ \t]*/[ \t]*(\d+(?:\.\d+)?)[ \t]*$", re.MULTILINE)
_LAST_PART = re.compile(r"[-_ ]([A-Za-z]?\d{1,3})$")


def corpus_drafts(documents: Mapping[str, Any]) -> SetDraft:
    """Read the attempts of an Open Proof Corpus. `documents`: JSON objects by file name. Raises `FileWrong`."""
    draft = SetDraft(OPEN_PROOF_CORPUS, "Open Proof Corpus", "Apache-2.0")
    for where, document in sorted(documents.items()):
        for number, attempt in enumerate(document.get("attempts") or [], 1):
            place = f"{where}, attempt {number}"
            draft.add(place, lambda document=document, attempt=attempt, number=number: _attempt(document, attempt, number))  # type: ignore[misc]
    if not draft.scripts and not draft.wrong:
        raise FileWrong("No problem in these files has attempts, so there is nothing to import.")
    return draft


def _attempt(document: Mapping[str, Any], attempt: Any, number: int) -> ScriptDraft:
    if not isinstance(attempt, dict):
        raise RowWrong("An attempt is not an object.")
    facts = document.get("metadata") if isinstance(document.get("metadata"), dict) else {}
    given = document.get("solutions")
    solutions = [text_of(one, "solution") for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    problem = ProblemDraftOfSet(
        word_of(document, "problem_id"),
        text_of(document, "problem"),
        tuple(filter(None, solutions)),
        level=text_of(facts or {}, "level").replace("_", " "),
        source=" ".join(filter(None, (text_of(facts or {}, "source"), word_of(facts or {}, "year")))),
    )
    text = source_of(attempt["solution"]) if text_of(attempt, "solution") else ""
    author = word_of(attempt, "model_id")
    return ScriptDraft(
        f"{problem.name} · {number} · {author}"[:NAME_LENGTH], problem, author, text=text, issues=issues_read(attempt, text)
    )


def folder_drafts(texts: Mapping[PurePosixPath, str], left_out: list[tuple[str, str]]) -> SetDraft:
    """Read the texts of a Nomos folder. Authors' folders contain one folder per contest with its graders' comments."""
    draft = SetDraft(NOMOS, "Nomos submissions with graders' comments, Nous Research", "MIT", wrong=list(left_out))
    texts = {path: text.replace("\r\n", "\n") for path, text in texts.items()}
    judged = {path.parent: _judgements(text) for path, text in texts.items() if path.name == _COMMENTS}
    for path, text in sorted(texts.items()):
        if path.name != _COMMENTS:
            scores = next((judged[folder] for folder in path.parents if folder in judged), {})
            draft.add(str(path), lambda path=path, text=text, scores=scores: _of_folder(path, text, scores))  # type: ignore[misc]
    for folder, scores in judged.items():
        known = {_label(path).casefold() for path in texts if folder in path.parents and path.name != _COMMENTS}
        for label in sorted(set(scores) - known):
            problem = ProblemDraftOfSet(_problem_name(folder, label.upper()))
            name = f"{problem.name} · {_author(folder)}"
            place = f"{folder / _COMMENTS}, {label.upper()}"
            draft.add(
                place,
                lambda name=name, problem=problem, folder=folder, scores=scores, label=label: ScriptDraft(  # type: ignore[misc]
                    name, problem, _author(folder), scores=(scores[label],)
                ),
            )
    return draft


def _of_folder(path: PurePosixPath, text: str, scores: Mapping[str, ScoreDraft]) -> ScriptDraft:
    author = _author(path.parent)
    if not author:
        raise RowWrong("The file is in no folder, so its author is unknown.")
    asked, handed_in = _PROBLEM.search(text), _SUBMISSION.search(text)
    statement = text[asked.end() : handed_in.start()].strip() if asked and handed_in and asked.end() < handed_in.start() else ""
    body = source_of((text[handed_in.end() :] if handed_in else text).strip())
    label = _label(path)
    name = _problem_name(path.parent, label)
    given = scores.get(label.casefold())
    problem = ProblemDraftOfSet(name, statement)
    return ScriptDraft(f"{name} · {author}", problem, author, text=body, scores=(given,) if given else ())


def _author(folder: PurePosixPath) -> str:
    parts = folder.parts
    below = parts.index("submissions") + 1 if "submissions" in parts else 0
    return parts[below] if len(parts) > below else ""


def _label(path: PurePosixPath) -> str:
    found = _LAST_PART.search(path.stem)
    return found[1] if found else path.stem


def _problem_name(folder: PurePosixPath, label: str) -> str:
    """The name of the contest's folder, directly below the author's, and the problem's label."""
    parts = folder.parts
    below = parts.index(_author(folder)) + 1 if _author(folder) else 0
    return f"{parts[below]} {label}" if len(parts) > below else label


def _judgements(text: str) -> dict[str, ScoreDraft]:
    found = list(_JUDGED.finditer(text))
    ends: Iterator[int] = iter([*(one.start() for one in found[1:]), len(text)])
    judged: dict[str, ScoreDraft] = {}
    for one, end in zip(found, ends, strict=True):
        scores = score_read("Nomos", one[2], one[3], text[one.end() : end].strip())
        judged |= {one[1].casefold(): score for score in scores}
    return judged
