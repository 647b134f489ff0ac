"""Layouts of many files: Open Proof Corpus (one JSON object per problem), Nomos (one folder per author, text per problem)."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from apps.files.folders import COMMENTS, author_of, comments_of, last_part, statement_and_body
from apps.files.plans import Skipped
from apps.files.tables import FileWrong
from apps.files.values import RowWrong, text_of, word_of
from apps.graded_sets.issues import issues_read
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


def corpus_drafts(documents: Mapping[str, Any]) -> SetDraft:
    """Read the attempts of an Open Proof Corpus. `documents`: JSON objects by file name. Raises `FileWrong`."""
    draft = SetDraft(layout=OPEN_PROOF_CORPUS, credit="Open Proof Corpus", licence="Apache-2.0")
    for where, document in sorted(documents.items()):
        for number, attempt in enumerate(document.get("attempts") or [], 1):
            place = f"{where}, attempt {number}"
            draft.add(place, lambda document=document, attempt=attempt, number=number: _attempt(document, attempt, number))  # type: ignore[misc]
    if not draft.good and not draft.wrong:
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
    draft = SetDraft(layout=NOMOS, credit="Nomos submissions with graders' comments, Nous Research", licence="MIT")
    draft.wrong += [Skipped(where, reason) for where, reason in left_out]
    texts = {path: text.replace("\r\n", "\n") for path, text in texts.items()}
    judged = {path.parent: _scores(text) for path, text in texts.items() if path.name == COMMENTS}
    for path, text in sorted(texts.items()):
        if path.name != COMMENTS:
            scores = next((judged[folder] for folder in path.parents if folder in judged), {})
            draft.add(str(path), lambda path=path, text=text, scores=scores: _of_folder(path, text, scores))  # type: ignore[misc]
    for folder, scores in judged.items():
        known = {_label(path).casefold() for path in texts if folder in path.parents and path.name != COMMENTS}
        for label in sorted(set(scores) - known):
            problem = ProblemDraftOfSet(_problem_name(folder, label.upper()))
            name = f"{problem.name} · {author_of(folder)}"
            place = f"{folder / COMMENTS}, {label.upper()}"
            draft.add(
                place,
                lambda name=name, problem=problem, folder=folder, scores=scores, label=label: ScriptDraft(  # type: ignore[misc]
                    name, problem, author_of(folder), scores=(scores[label],)
                ),
            )
    return draft


def _of_folder(path: PurePosixPath, text: str, scores: Mapping[str, ScoreDraft]) -> ScriptDraft:
    author = author_of(path.parent)
    if not author:
        raise RowWrong("The file is in no folder, so its author is unknown.")
    statement, body = statement_and_body(text)
    label = _label(path)
    name = _problem_name(path.parent, label)
    given = scores.get(label.casefold())
    problem = ProblemDraftOfSet(name, statement)
    return ScriptDraft(f"{name} · {author}", problem, author, text=source_of(body), scores=(given,) if given else ())


def _label(path: PurePosixPath) -> str:
    return last_part(path.stem) or path.stem


def _problem_name(folder: PurePosixPath, label: str) -> str:
    """The name of the contest's folder, directly below the author's, and the problem's label."""
    parts = folder.parts
    below = parts.index(author_of(folder)) + 1 if author_of(folder) else 0
    return f"{parts[below]} {label}" if len(parts) > below else label


def _scores(text: str) -> dict[str, ScoreDraft]:
    """The scores in graders' comments by lower-case label."""
    return {label: score_read("Nomos", *score)[0] for label, *score in comments_of(text)}
