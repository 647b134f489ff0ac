"""The layouts in which scripts with points by people are published, each read into the same drafts.

| layout | script | points by people | credit, licence |
|---|---|---|---|
| GradingBench (CSV) | `Response` | `Points` out of 7 | Google DeepMind, CC-BY-4.0 |
| DeepSeekMath-V2 (JSONL) | `proof` | `human_rating` out of what the contest gives | DeepSeek, Apache-2.0 |
| Open Proof Corpus (JSON; several in a folder or ZIP) | `attempts` | none; issues that a model found | Apache-2.0 |
| Nomos (folder or ZIP) | Markdown below `submissions/` | `grader-comments.md`, out of 10 | Nous Research, MIT |
| QED-Nano (JSONL) | none was published | `human_grade` out of `max` | QED-Nano, CC-BY-4.0 |
| ours (CSV, JSONL) | `script` | `points`, `max`, `rater`, `comment` | as the file says |

Tables tell the maximum of points in `set_maxima`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from apps.contests.models import AuthorKind
from apps.grading.set_issues import Issue
from apps.grading.set_maxima import Maxima, word_of
from apps.problems.importing.files import FileWrong, Table
from apps.problems.importing.values import RowWrong, text_of
from apps.reasoning.texts.source import source_of
from apps.submissions.importing.shapes import deepseek_maximum
from apps.submissions.models import TEXT_LENGTH

NAME_LENGTH = 150
_POINTS_AT_MOST = Decimal(1_000)
OPEN_PROOF_CORPUS, NOMOS = "Open Proof Corpus", "Nomos"


@dataclass(frozen=True)
class ProblemDraftOfSet:
    """What a file says of a problem; `statement` is empty where it says nothing but its name."""

    name: str
    statement: str = ""
    references: tuple[str, ...] = ()
    guidelines: str = ""
    topic: str = ""
    level: str = ""
    source: str = ""


@dataclass(frozen=True)
class ScoreDraft:
    """What a person gave."""

    rater: str
    points: Decimal
    out_of: Decimal
    words: str = ""


@dataclass(frozen=True)
class ScriptDraft:
    """A script; `text` is a source, empty where only points were published. `kind` is empty where the file does not tell it.

    Without a `name` the set gives one, of problem and author.
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
    """A layout of tables: the columns that tell it, how a row is read with its maximum of points, whom to thank.

    `points` are those of a row; `known` is their maximum where the layout is known to use one, "" otherwise.
    """

    title: str
    required: frozenset[str]
    read: Callable[[Mapping[str, Any], str], ScriptDraft]
    points: Callable[[Mapping[str, Any]], str]
    known: Callable[[Mapping[str, Any]], str] = lambda values: ""
    credit: str = ""
    licence: str = ""


@dataclass
class SetDraft:
    """A file as it was read: good scripts with the place they came from, and what is left out for a reason."""

    layout: str
    credit: str
    licence: str
    scripts: list[tuple[str, ScriptDraft]] = field(default_factory=list)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)
    _unnamed: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, where: str, read: Callable[[], ScriptDraft]) -> None:
        """Read one script; what cannot go in is kept with its reason."""
        try:
            script = checked(self._named(read()))
            if script.name in self._names:
                raise RowWrong(f"There is another script called {script.name}.")
        except RowWrong as wrong:
            self.wrong.append((where, str(wrong)))
        else:
            self._names.add(script.name)
            self.scripts.append((where, script))

    def _named(self, script: ScriptDraft) -> ScriptDraft:
        """The script with a name; several texts of one author for one problem are numbered."""
        if script.name:
            return script
        name = " · ".join(filter(None, (script.problem.name, script.author)))
        numbers = self._unnamed.setdefault(name, {})
        number = numbers.setdefault(script.text, len(numbers) + 1)
        return replace(script, name=f"{name} ({number})" if number > 1 else name)


def table_drafts(table: Table, out_of: Decimal | None = None) -> SetDraft:
    """The scripts of a table, their points out of `out_of` where a row tells no maximum.

    Raises `FileWrong` where its columns are not known, or a maximum is neither told nor known or lies below points.
    """
    names = set(table.names)
    layout = next((one for one in LAYOUTS if one.required <= names), None)
    if layout is None:
        raise FileWrong("The columns are not known. A file of graded scripts has at least problem, script and points.")
    draft = SetDraft(layout.title, layout.credit, layout.licence)
    good = [record.values for record in table.records if not record.reason]
    maxima = Maxima.of(good, layout.points, layout.known, out_of)
    for record in table.records:
        where = f"{'row' if table.is_csv else 'line'} {record.number}"
        if record.reason:
            draft.wrong.append((where, record.reason))
        else:
            draft.add(where, lambda values=record.values: layout.read(values, maxima.told(values, layout.known(values))))  # type: ignore[misc]
    return draft


def checked(draft: ScriptDraft) -> ScriptDraft:
    """The draft, if it can go in. Raises `RowWrong`."""
    if not draft.problem.name:
        raise RowWrong("It names no problem.")
    if not draft.text and not draft.scores:
        raise RowWrong("It has neither a script nor points.")
    for value, what in ((draft.name, "name"), (draft.problem.name, "problem's name"), (draft.author, "author's name")):
        if len(value) > NAME_LENGTH:
            raise RowWrong(f"The {what} is longer than {NAME_LENGTH} characters.")
    if len(draft.text) > TEXT_LENGTH:
        raise RowWrong(f"The script is longer than {TEXT_LENGTH:,} characters.")
    return draft


def score_read(rater: str, points: str, out_of: str, words: str = "") -> tuple[ScoreDraft, ...]:
    """One score, or none where there are no points. Raises `RowWrong` for what is none."""
    if not points:
        return ()
    try:
        given, scale = Decimal(points), Decimal(out_of)
    except InvalidOperation as error:
        raise RowWrong(f"Its points, {points[:20]!r} out of {out_of[:20]!r}, are no numbers.") from error
    if given.is_finite() and scale.is_finite() and given > scale > 0:
        raise RowWrong(f"Its points, {points[:20]}, are more than its maximum, {out_of[:20]}: they make no sense.")
    if not (given.is_finite() and scale.is_finite() and 0 <= given <= scale <= _POINTS_AT_MOST and scale > 0):
        raise RowWrong(f"Its points, {points[:20]} out of {out_of[:20]}, make no sense.")
    if given != round(given, 2) or scale != round(scale, 2):
        raise RowWrong(f"Its points, {points[:20]} out of {out_of[:20]}, have more than two decimals.")
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
        raise RowWrong("The kind of author is student or model.")
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
#: Layouts that have points and no scripts; in all others a script without a text is an empty paper.
WITHOUT_TEXTS = ("QED-Nano",)
#: Titles of the layouts in which others published benchmarks; a file in ours may hold anything.
PUBLISHED = (*(one.title for one in LAYOUTS if one.credit), OPEN_PROOF_CORPUS, NOMOS)


def origin_of(layout: str) -> str:
    """The origin of problems that the library has from a set of this layout."""
    return layout.lower().replace(" ", "-")


def named(draft: SetDraft, *, credit: str, licence: str) -> SetDraft:
    """The draft with whom to thank, where the person who imports it says so."""
    return replace(draft, credit=credit or draft.credit, licence=licence or draft.licence)
