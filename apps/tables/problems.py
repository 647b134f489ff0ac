"""Find the problems that a table names, or plan new ones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import LABEL_LENGTH, Contest, ContestProblem, ContestState
from apps.contests.services import PROBLEMS_AT_MOST
from apps.files.values import RowWrong
from apps.problems.access import problem_visible_to, solved_visible_to
from apps.problems.drafts import SOURCE_LENGTH, TITLE_LENGTH, ProblemDraft, SolutionDraft
from apps.problems.importing.values import draft_check, fingerprint, topic_of
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.reasoning.marking.importing import Imported, scheme_import
from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.structure import Severity
from apps.tables.reading import ProblemFacts

_NUMBER = re.compile(r"(?:problem|question|task|aufgabe|p|q)?[\s.:#_-]*0*(\d{1,3})", re.IGNORECASE)
_LABEL = re.compile(r"[a-z]?\s*\d{1,3}[a-z]?|[a-z]", re.IGNORECASE)
#: More names than a contest can have problems are no names of problems.
_NAMES_LOOKED_UP = 200


@dataclass
class ProblemPlan:
    """What becomes of a problem. `row`: it is in the contest; `problem`: it is in the library; `draft`: it is new.

    `references`: solutions to add; `scheme`: the scheme to add, usable if `is_usable`; `notes`: what to know; `reason`: why the
    problem and everything for it is left out.
    """

    facts: ProblemFacts
    row: ContestProblem | None = None
    problem: Problem | None = None
    draft: ProblemDraft | None = None
    label: str = ""
    references: tuple[SolutionDraft, ...] = ()
    scheme: Imported | None = None
    is_usable: bool = False
    notes: list[str] = field(default_factory=list)
    reason: str = ""
    texts: int = 0
    points: int = 0

    @property
    def state(self) -> str:
        """The state in words for the preview."""
        if self.reason:
            return "left out"
        return "in the contest" if self.row else "from the library" if self.problem else "new"

    @property
    def items(self) -> int:
        """Number of items of the scheme to add."""
        return len(self.scheme.scheme.items) if self.scheme else 0


def problems_plan(facts: dict[str, ProblemFacts], contest: Contest | None, user: User) -> dict[str, ProblemPlan]:
    """Plan all problems of a table, by lower-case name."""
    known = _Known(contest, user, [one.name for one in facts.values()][:_NAMES_LOOKED_UP])
    return {key: _plan(one, known) for key, one in facts.items()}


class _Known:
    """The problems of the contest and of the library that a table may name."""

    def __init__(self, contest: Contest | None, user: User, names: Sequence[str]) -> None:
        self.user = user
        self.may_add = contest is None or contest.state == ContestState.PREPARING
        rows = list(contest.problems.select_related("problem")) if contest else []
        self.count = len(rows)
        self.labels = {row.label.casefold() for row in rows}
        self.by_label = {row.label.casefold(): row for row in rows}
        self.by_name: dict[str, ContestProblem] = {}
        self.by_problem = {row.problem_id: row for row in rows}
        for name in ("slug", "external_id", "title"):
            words = [getattr(row.problem, name).casefold() for row in rows]
            single = {word: row for word, row in zip(words, rows, strict=True) if word and words.count(word) == 1}
            self.by_name = single | self.by_name
        self.visible = problem_visible_to(user)
        self._statements: dict[bytes, int] | None = None
        self.taken: dict[int, str] = {}  # By problem: the first name that the table has for it.
        self.named = [_by_name(self.visible, name, names) for name in ("external_id", "slug", "title")]

    def row_of(self, name: str) -> ContestProblem | None:
        """The problem of the contest that a table calls `name`: by its label (P2 and “Problem 2” are 2), else by a name."""
        number = _NUMBER.fullmatch(name)
        labels = (name.casefold(), number[1] if number else "")
        return next((self.by_label[one] for one in labels if one in self.by_label), None) or self.by_name.get(name.casefold())

    def problem_of(self, facts: ProblemFacts) -> Problem | None:
        """The library's problem with this statement, else with this id, slug or title, if only one has it.

        A number or a label such as A2 names a problem of the contest, never one of the library.
        """
        if facts.statement:
            if self._statements is None:
                texts = ProblemVersion.objects.filter(problem__in=self.visible).order_by("number")
                self._statements = {
                    fingerprint(text): problem for text, problem in texts.values_list("statement", "problem").iterator()
                }
            found = self._statements.get(fingerprint(facts.statement))
            return Problem.objects.get(pk=found) if found else None
        if _NUMBER.fullmatch(facts.name) or _LABEL.fullmatch(facts.name):
            return None
        for named in self.named:
            if len(rows := named.get(facts.name, [])) == 1:
                return rows[0]
        return None

    def label_of(self, name: str) -> str:
        """A free label for a new problem of the contest: its number, its short name, or its position."""
        number = _NUMBER.fullmatch(name)
        wanted = number[1] if number else name if len(name) <= LABEL_LENGTH else ""
        if not wanted or wanted.casefold() in self.labels:
            wanted = next(str(at) for at in range(self.count, 10_000) if str(at) not in self.labels)
        self.labels.add(wanted.casefold())
        return wanted


def _plan(facts: ProblemFacts, known: _Known) -> ProblemPlan:
    plan = ProblemPlan(facts, row=known.row_of(facts.name))
    plan.problem = plan.row.problem if plan.row else known.problem_of(facts)
    if plan.row is None and plan.problem is not None:
        plan.row = known.by_problem.get(plan.problem.pk)
    if plan.row is not None:
        plan.label = plan.row.label
    first = known.taken.setdefault(plan.problem.pk, facts.name) if plan.problem else facts.name
    if first != facts.name:
        plan.reason = f"“{facts.name[:60]}” is the same problem as “{first[:60]}”. Use one name for it in the table."
    elif plan.row is None:
        _add(plan, known)
    if not plan.reason:
        _materials(plan, known.user)
    return plan


def _add(plan: ProblemPlan, known: _Known) -> None:
    """Plan to add a problem to the contest, from the library or as a new one."""
    facts = plan.facts
    if plan.problem is None and not facts.statement:
        plan.reason = f"The contest has no problem {facts.name[:60]}, and the table has no statement of it."
        return
    if not known.may_add:
        plan.reason = f"Problem {facts.name[:60]} is not in the contest, which was opened: no problem can be added."
        return
    if known.count >= PROBLEMS_AT_MOST:
        plan.reason = f"A contest has at most {PROBLEMS_AT_MOST} problems."
        return
    if plan.problem is None:
        plan.draft = ProblemDraft(
            title=" ".join((facts.title or facts.name).split())[:TITLE_LENGTH],
            topic=_topic(facts.topic),
            statement=facts.statement,
            answer=facts.answer,
            scheme_text=facts.guidelines,
            solutions=tuple(SolutionDraft(text) for text in facts.references),
            source="A coach's table"[:SOURCE_LENGTH],
        )
        try:
            draft_check(plan.draft)
        except RowWrong as wrong:
            plan.reason = f"Problem {facts.name[:60]}: {wrong}"
            return
    known.count += 1
    plan.label = known.label_of(facts.name)


def _materials(plan: ProblemPlan, user: User) -> None:
    """Plan references and the scheme. A problem that has its own keeps them."""
    facts, problem = plan.facts, plan.problem
    if problem is not None and (facts.references or facts.guidelines or facts.statement):
        if facts.statement and fingerprint(facts.statement) != fingerprint(problem.current.statement):
            plan.notes.append("The statement in the library is another one and stays.")
        if not solved_visible_to(user).filter(pk=problem.pk).exists():
            plan.notes.append("You may not change its solutions and schemes, so those of the table are left out.")
            return
        if facts.references and not problem.reference_solutions.exists():
            plan.references = tuple(SolutionDraft(text) for text in facts.references)
        elif facts.references:
            plan.notes.append("It has reference solutions, which stay.")
    if facts.guidelines and (problem is None or not problem.marking_schemes.exists()):
        _scheme(plan)
    elif facts.guidelines:
        plan.notes.append("It has a marking scheme, which stays.")


def _scheme(plan: ProblemPlan) -> None:
    try:
        plan.scheme = scheme_import(plan.facts.guidelines)
    except FormWrong:
        plan.notes.append("The guidelines are kept as text: no items with points were found in them.")
        return
    plan.notes += plan.scheme.notes
    errors = [issue.message for issue in check(plan.scheme.scheme) if issue.severity is Severity.ERROR]
    plan.is_usable = not errors
    if errors:
        plan.notes.append(f"The scheme becomes a draft to complete: {errors[0]}")


def _by_name(problems: QuerySet[Problem], field_name: str, names: Sequence[str]) -> dict[str, list[Problem]]:
    found: dict[str, list[Problem]] = {}
    for problem in problems.filter(**{f"{field_name}__in": names}):
        found.setdefault(getattr(problem, field_name), []).append(problem)
    return found


def _topic(word: str) -> str:
    try:
        return topic_of({"topic": word}, "topic")
    except RowWrong:
        return Topic.OTHER
