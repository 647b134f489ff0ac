"""Contents of a marker's pages. They contain no colleague's mark, no suggestion and no author."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.safestring import SafeString

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem
from apps.marks.leases import present
from apps.marks.models import Mark, MarkingTask, MarkState, Pass, PassReason, Phrase, Slot
from apps.marks.sheets import grace_until, mark_state, scheme_of, sheet_of, step_of
from apps.problems.models import ReferenceSolution
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.texts.invisible import invisible_in
from apps.reasoning.texts.latex import shown_of as shown_text
from apps.schemes.sheets import Row
from apps.schemes.sheets import sheet_of as shown_of
from apps.submissions.models import SubmissionVersion, VersionScan
from apps.ui.markdown import render

#: Keys of items in item mode, used in this order if an item's own letter is taken: home row first. No digits, which enter
#: points.
LABELS = "asdfghjklqwertyuiopzxcvbnmASDFGHJKLQWERTYUIOPZXCVBNM"
PANES = ("scheme", "problem", "solutions", "source", "comments")
PHRASES_SHOWN = 20
FALLACY_WORDS = {
    Fallacy.EXAMPLE: "proof by example",
    Fallacy.UNVERIFIED: "proposal without verification",
    Fallacy.INVENTED: "invented fact",
    Fallacy.CIRCULAR: "begs the question",
    Fallacy.TRIAL: "trial and error",
    Fallacy.CALCULATION: "calculation mistake",
    Fallacy.CONCLUSION: "wrong conclusion",
    Fallacy.GAP: "gap",
    Fallacy.CASE: "missing case",
    Fallacy.UNCLEAR: "unclear",
}


@dataclass(frozen=True)
class ScriptStep:
    """A typeset step. Its text is `source[start:end]`, in code points."""

    number: int
    kind: str
    start: int
    end: int
    text: str
    html: SafeString


@dataclass(frozen=True)
class LabelledItem:
    """An item of the scheme with the key that toggles it in item mode; "" if there are more items than keys."""

    row: Row
    label: str


@dataclass(frozen=True)
class ItemSection:
    """Items under one heading: a chain, items of all chains, caps, deductions, zero-credit items."""

    title: str
    items: list[LabelledItem]


@dataclass(frozen=True)
class Workspace:
    """Everything on the page of one script.

    `state`: as in every answer to a command (`sheets.mark_state`). `urls`: addresses by name: command, undo, redo, seal,
    unseal, heartbeat, pass, next, next_up, phrases, home, and `pane_…` for each of `PANES`. `hidden`: parts of the source that
    are invisible when typeset. `question`: the marker's own question to the captain on this script, answered or not. `left`:
    scripts of this problem that wait for a mark; `mine`: those this marker has sealed; `present`: other markers at work.
    """

    task: MarkingTask
    mark: Mark
    contest: Contest
    problem: ContestProblem
    paper: str
    steps: list[ScriptStep]
    pages: list[VersionScan]
    source: str
    hidden: list[str]
    scheme: Scheme
    sections: list[ItemSection]
    scale: str
    point_step: str
    state: dict[str, Any]
    urls: dict[str, str]
    fallacies: list[tuple[str, str]]
    pass_reasons: list[tuple[str, str]]
    question: Pass | None
    is_sealed: bool
    undo_until: datetime | None
    left: int
    mine: int
    present: list[str]


def workspace(task: MarkingTask, mark: Mark, user: User) -> Workspace:
    """The workspace of a task, for the marker who holds or has sealed it."""
    problem = task.case.problem
    scheme = scheme_of(mark)
    version = task.case.version
    return Workspace(
        task=task,
        mark=mark,
        contest=problem.contest,
        problem=problem,
        paper=version.submission.paper.number,
        steps=steps_set(task),
        pages=pages_of(version),
        source=version.source,
        hidden=invisible_in(version.source),
        scheme=scheme,
        sections=sections_of(scheme, sheet_of(mark).ticks),
        scale=points_text(scheme.scale),
        point_step=points_text(step_of(problem.contest)),
        state=mark_state(mark),
        urls=urls_of(task),
        fallacies=[(one.value, FALLACY_WORDS[one]) for one in Fallacy],
        pass_reasons=[(value, label) for value, label in PassReason.choices],
        question=task.passes.filter(person=user).exclude(reason=PassReason.SKIP).order_by("-pk").first(),
        is_sealed=mark.state != MarkState.DRAFT,
        undo_until=grace_until(mark),
        left=scripts_left(problem, user),
        mine=marks_sealed(problem, user).count(),
        present=present(problem, user),
    )


def steps_set(task: MarkingTask) -> list[ScriptStep]:
    """The steps of a script, typeset."""
    return steps_of(task.case.version)


def steps_of(version: SubmissionVersion) -> list[ScriptStep]:
    """The steps of a text, typeset."""
    texts = ((row, version.source[row.start : row.end]) for row in version.steps.all())
    return [
        ScriptStep(row.number, row.kind, row.start, row.end, text, render(shown_text(text, version.format)))
        for row, text in texts
    ]


def pages_of(version: SubmissionVersion) -> list[VersionScan]:
    """The scanned pages of a text in order, without image data."""
    return list(version.pages.select_related("scan").defer("scan__jpeg"))


def sections_of(scheme: Scheme, ticks: frozenset[str]) -> list[ItemSection]:
    """The items of a scheme in sections, each with its key."""
    sections = shown_of(scheme).sections
    labels = labels_of([row.item.code for section in sections for row in section.rows])
    return [ItemSection(one.title, [LabelledItem(row, labels.get(row.item.code, "")) for row in one.rows]) for one in sections]


def labels_of(codes: list[str]) -> dict[str, str]:
    """A key for each code: its own letter for the first code with it, then free keys while there are any."""
    labels: dict[str, str] = {}
    for code in codes:
        own = code[0].lower()
        if own in LABELS and own not in labels.values():
            labels[code] = own
    for code in codes:
        free = next((key for key in LABELS if key not in labels.values()), "")
        if code not in labels and free:
            labels[code] = free
    return labels


def urls_of(task: MarkingTask) -> dict[str, str]:
    """The addresses that a workspace uses."""
    of_task = ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass", "next_up")
    urls = {name: reverse(f"marks:{name}", kwargs={"task_id": task.public_id}) for name in of_task}
    problem = {"problem_id": task.case.problem.public_id}
    urls |= {name: reverse(f"marks:{name}", kwargs=problem) for name in ("next", "phrases")}
    panes = {f"pane_{name}": reverse("marks:pane", kwargs={"task_id": task.public_id, "name": name}) for name in PANES}
    return urls | panes | {"home": reverse("marks:home")}


def tasks_left(problem: ContestProblem, user: User) -> QuerySet[MarkingTask]:
    """Unfinished tasks of a problem that this marker or another could do, except cases in which the marker has a part.

    `claims` decides which of them can be claimed now.
    """
    waiting = MarkingTask.objects.filter(case__problem=problem, done_at=None)
    own = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at__isnull=False)
    counted = Q(slot__in=(Slot.FIRST, Slot.SECOND, Slot.THIRD)) & ~Q(case__in=own.values("case"))
    return waiting.filter(Q(assignee=user) | Q(slot=Slot.AGAIN) | counted)


def scripts_left(problem: ContestProblem, user: User) -> int:
    """Number of scripts behind `tasks_left`: of a script with two markers, at most one task can be this marker's."""
    return tasks_left(problem, user).values("case").distinct().count()


def marks_sealed(problem: ContestProblem, user: User) -> QuerySet[Mark]:
    """The marks that a user has sealed on a problem."""
    return Mark.objects.filter(task__case__problem=problem, marker=user, sealed_at__isnull=False).exclude(state=MarkState.VOID)


def solutions_of(problem: ContestProblem) -> QuerySet[ReferenceSolution]:
    """The reference solutions of a problem, for its markers."""
    return problem.problem.reference_solutions.all()


def _words_of_others(problem: ContestProblem, user: User) -> set[str]:
    """Comments by others on the scripts that this marker holds; they would reveal the others' marks."""
    open_cases = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at=None).values("case")
    others = Mark.objects.filter(task__case__in=open_cases).exclude(marker=user)
    return {comment.words for mark in others for comment in sheet_of(mark).comments}


def phrase_list(problem: ContestProblem, user: User, words: str = "") -> QuerySet[Phrase]:
    """Reusable comments, most used first. With two blind markers, only the user's own."""
    rows = Phrase.objects.filter(problem=problem)
    if problem.setup.markers > 1:
        rows = rows.filter(author=user)
    else:
        rows = rows.filter(Q(author=user) | ~Q(words__in=_words_of_others(problem, user)))
    for word in words.split()[:8]:
        rows = rows.filter(words__icontains=word)
    return rows
