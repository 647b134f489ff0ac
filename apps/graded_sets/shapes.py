"""Layouts of published scripts with points by people, all read into the same drafts.

| layout | script | points by people | credit, licence |
|---|---|---|---|
| GradingBench (CSV) | `Response` | `Points` out of 7 | Google DeepMind, CC-BY-4.0 |
| DeepSeekMath-V2 (JSONL) | `proof` | `human_rating` out of the contest's maximum | DeepSeek, Apache-2.0 |
| Open Proof Corpus (JSON; several in a folder or ZIP) | `attempts` | none; issues found by a model | Apache-2.0 |
| Nomos (folder or ZIP) | Markdown below `submissions/` | `grader-comments.md`, out of 10 | Nous Research, MIT |
| QED-Nano (JSONL) | not published | `human_grade` out of `max` | QED-Nano, CC-BY-4.0 |
| ours (CSV, JSONL) | `script` | `points`, `max`, `rater`, `comment` | as given |

`set_maxima` determines the maximum points of tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

from apps.contests.models import AuthorKind
from apps.files.plans import Plan, table_sources
from apps.files.tables import FileWrong, Table
from apps.files.values import RowWrong, points_of, text_of, word_of
from apps.graded_sets.issues import Issue
from apps.graded_sets.maxima import Maxima
from apps.reasoning.texts.source import source_of
from apps.submissions.importing.shapes import deepseek_maximum
from apps.submissions.models import TEXT_LENGTH

NAME_LENGTH = 150
OPEN_PROOF_CORPUS, NOMOS = "Open Proof Corpus", "Nomos"


@dataclass(frozen=True)
class ProblemDraftOfSet:
    """A problem as described in a file; `statement` is empty if only the name is given."""

    name: str
    statement: str = ""
    references: tuple[str, ...] = ()
    guidelines: str = ""
    topic: str = ""
    level: str = ""
    source: str = ""


@dataclass(frozen=True)
class ScoreDraft:
    """Points given by a person."""

    rater: str
    points: Decimal
    out_of: Decimal
    words: str = ""


@dataclass(frozen=True)
class ScriptDraft:
    """A script. `text` is a source, empty if only points were published; `kind` is empty if unknown.

    A script without a `name` is named after problem and author.
    """

    name: str
    problem: ProblemDraftOfSet
    author: str = ""
    kind: str = AuthorKind.MODEL
    text: str = ""
    scores: tuple[ScoreDraft, ...] = ()
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True)
class Layout:
    """A layout of tables: required columns, functions that read a row, credit and licence.

    `read` takes a row and its maximum; `points` gives a row's points; `known` gives the layout's maximum, "" if unknown.
    """

    title: str
    required: frozenset[str]
    read: Callable[[Mapping[str, Any], str], ScriptDraft]
    points: Callable[[Mapping[str, Any]], str]
    known: Callable[[Mapping[str, Any]], str] = lambda values: ""
    credit: str = ""
    licence: str = ""


@dataclass(kw_only=True)
class SetDraft(Plan[ScriptDraft]):
    """A parsed file: valid scripts, and skipped places with the reason."""

    layout: str
    credit: str = ""
    licence: str = ""
    _names: set[str] = field(default_factory=set)
    _unnamed: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, where: str, read: Callable[[], ScriptDraft], label: str = "") -> None:
        """Read one script; its name is new in the file."""
        super().add(where, lambda: self._new(read()), label)

    def _new(self, script: ScriptDraft) -> ScriptDraft:
        script = checked(self._named(script))
        if script.name in self._names:
            raise RowWrong(f"Duplicate script name {script.name}.")
        self._names.add(script.name)
        return script

    def _named(self, script: ScriptDraft) -> ScriptDraft:
        """The script with a name; further texts of an author for a problem are numbered."""
        if script.name:
            return script
        name = " · ".join(filter(None, (script.problem.name, script.author)))
        numbers = self._unnamed.setdefault(name, {})
        number = numbers.setdefault(script.text, len(numbers) + 1)
        return replace(script, name=f"{name} ({number})" if number > 1 else name)


def table_drafts(table: Table, out_of: Decimal | None = None) -> SetDraft:
    """The scripts of a table. `out_of`: maximum points of rows without their own.

    Raises `FileWrong` for unknown columns, and for a maximum that is unknown or below points.
    """
    names = set(table.names)
    layout = next((one for one in LAYOUTS if one.required <= names), None)
    if layout is None:
        raise FileWrong("Unknown columns. A file of graded scripts needs at least problem, script and points.")
    draft = SetDraft(layout=layout.title, credit=layout.credit, licence=layout.licence)
    good = [record.values for record in table.records if not record.reason]
    maxima = Maxima.of(good, layout.points, layout.known, out_of)

    def read(values: dict[str, Any]) -> ScriptDraft:
        return layout.read(values, maxima.maximum_of(values, layout.known(values)))

    for where, source in table_sources(table, read):
        draft.add(where, source)
    return draft


def checked(draft: ScriptDraft) -> ScriptDraft:
    """Validate a draft. Raises `RowWrong`."""
    if not draft.problem.name:
        raise RowWrong("No problem name.")
    if not draft.text and not draft.scores:
        raise RowWrong("Neither a script nor points.")
    for value, what in ((draft.name, "name"), (draft.problem.name, "problem's name"), (draft.author, "author's name")):
        if len(value) > NAME_LENGTH:
            raise RowWrong(f"The {what} is longer than {NAME_LENGTH} characters.")
    if len(draft.text) > TEXT_LENGTH:
        raise RowWrong(f"The script is longer than {TEXT_LENGTH:,} characters.")
    return draft


def score_read(rater: str, points: str, out_of: str, words: str = "") -> tuple[ScoreDraft, ...]:
    """One score, or none without points. Raises `RowWrong` for invalid points."""
    if not points:
        return ()
    given, scale = points_of(points, out_of)
    if given != round(given, 2) or scale != round(scale, 2):
        raise RowWrong(f"Points {points[:20]} out of {out_of[:20]} have more than two decimals.")
    return (ScoreDraft(rater, given, scale, words),)


def _gradingbench(values: Mapping[str, Any], most: str) -> ScriptDraft:
    problem = ProblemDraftOfSet(
        word_of(values, "Problem ID"),
        text_of(values, "Problem"),
        tuple(filter(None, (text_of(values, "Solution"),))),
        text_of(values, "Grading guidelines"),
        source=text_of(values, "Problem Source"),
    )
    name, text = word_of(values, "Grading ID"), source_of(text_of(values, "Response"))
    return ScriptDraft(name, problem, text=text, scores=score_read("GradingBench", word_of(values, "Points"), most))


def _deepseek(values: Mapping[str, Any], most: str) -> ScriptDraft:
    made = values.get("model_prediction")
    if not isinstance(made, dict):
        raise RowWrong("model_prediction is not an object.")
    problem = ProblemDraftOfSet(
        word_of(values, "problem_idx"),
        text_of(values, "question"),
        tuple(filter(None, (text_of(values, "solution"),))),
        text_of(values, "grading guidelines"),
        text_of(values, "type"),
        text_of(values, "level"),
        text_of(values, "source"),
    )
    scores = score_read("DeepSeekMath-V2", word_of(made, "human_rating"), most)
    return ScriptDraft(problem.name, problem, "DeepSeekMath-V2", text=source_of(text_of(made, "proof")), scores=scores)


def _qed_nano(values: Mapping[str, Any], most: str) -> ScriptDraft:
    problem, model = word_of(values, "section"), word_of(values, "model")
    scores = score_read("QED-Nano", word_of(values, "human_grade"), most, text_of(values, "comment"))
    return ScriptDraft(f"{problem} · {model}", ProblemDraftOfSet(problem), model, scores=scores)


def _ours(values: Mapping[str, Any], most: str) -> ScriptDraft:
    kind = text_of(values, "kind").lower()
    if kind and kind not in AuthorKind.values:
        raise RowWrong("The kind of author must be student or model.")
    problem = ProblemDraftOfSet(
        word_of(values, "problem"),
        text_of(values, "statement"),
        tuple(filter(None, (text_of(values, "reference"),))),
        text_of(values, "guidelines"),
        text_of(values, "topic"),
    )
    author = word_of(values, "author")
    rater = word_of(values, "rater") or "a person"
    scores = score_read(rater, word_of(values, "points"), most, text_of(values, "comment"))
    name = word_of(values, "name") or word_of(values, "paper")
    return ScriptDraft(name, problem, author, kind, source_of(text_of(values, "script")), scores)


def _deepseek_points(values: Mapping[str, Any]) -> str:
    made = values.get("model_prediction")
    return word_of(made, "human_rating") if isinstance(made, dict) else ""


def _deepseek_known(values: Mapping[str, Any]) -> str:
    return deepseek_maximum(word_of(values, "problem_idx"))


LAYOUTS = (
    Layout(
        "GradingBench", frozenset({"Grading ID", "Problem ID", "Response"}), _gradingbench,
        partial(word_of, name="Points"), lambda values: "7", "GradingBench of IMO-Bench, Google DeepMind", "CC-BY-4.0",
    ),
    Layout(
        "DeepSeekMath-V2", frozenset({"problem_idx", "model_prediction"}), _deepseek,
        _deepseek_points, _deepseek_known, "DeepSeekMath-V2, DeepSeek", "Apache-2.0",
    ),
    Layout(
        "QED-Nano", frozenset({"section", "model", "human_grade", "max"}), _qed_nano,
        partial(word_of, name="human_grade"), credit="QED-Nano, human evaluation of App. G", licence="CC-BY-4.0",
    ),
    Layout("Lemmascope", frozenset({"problem", "script", "points"}), _ours, partial(word_of, name="points")),
)  # fmt: skip
#: Layouts with points but no scripts; in other layouts a script without text is an empty paper.
WITHOUT_TEXTS = ("QED-Nano",)
#: Layouts of published benchmarks; files in our own layout may contain anything.
PUBLISHED = (*(one.title for one in LAYOUTS if one.credit), OPEN_PROOF_CORPUS, NOMOS)


def origin_of(layout: str) -> str:
    """The origin of library problems imported from a set of this layout."""
    return layout.lower().replace(" ", "-")


def with_credit(draft: SetDraft, *, credit: str, licence: str) -> SetDraft:
    """The draft with credit and licence of the importing person, if given."""
    return replace(draft, credit=credit or draft.credit, licence=licence or draft.licence)
