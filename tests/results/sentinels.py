"""A contest with sentinel words in every table, so that tests can find data that a student must not see."""

from dataclasses import dataclass
from decimal import Decimal

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.contests.services import coach_add
from apps.marks.models import (
    Appeal,
    Coordination,
    CoordinationRemark,
    FinalGrade,
    Mark,
    MarkingCase,
    Pass,
    Phrase,
    Precedent,
    Reveal,
    Suggestion,
)
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import Choices, cases_prepare, setup_save
from apps.problems.drafts import SolutionDraft
from apps.reasoning.feedback.ladder import Rules
from apps.reasoning.marking.schemes.text_form import text_read
from apps.results import feedback
from apps.results.models import FeedbackRequest, HintProposal, RungAsked
from apps.schemes.services import scheme_create
from apps.submissions.models import SubmissionVersion
from tests.contests.factory import enter, hand_in, make_contest, moved
from tests.marks.factory import claimed, marker, past_grace, scheme_active, sealed
from tests.problems.factory import make_problem
from tests.results.factory import TEXT

SCHEME = """scale 7
remarks: hush-scheme-remarks
checkpoint A1, 3 points: hush-item-ticked
  note: hush-note
checkpoint A2, 4 points: hush-item-unticked
zero-credit Z1: hush-zero-credit
cap K5, at most 5: hush-cap
"""
STATEMENT = "hush-statement"
#: Words that no release shows to a student.
NEVER = {
    "hush-scheme-remarks", "hush-note", "hush-for-markers", "hush-reason", "hush-approach", "hush-suggestion", "hush-pass",
    "hush-pass-answer", "hush-precedent", "hush-remark", "hush-phrase", "hush-other-text", "hush-other-question",
    "hush-other-hint", "hush-other-appeal", "hush-draft-hint", "hush-audit", "Quartermaine",
    "eveline-marker", "hush-scheme-text", "hush-proposal", "hush-dropped", "hush-model", "hush-failure",
}  # fmt: skip
#: Words that a release of the part shows.
OF_PART = {
    "comments": {"hush-comment"},
    "verdicts": {"hush-verdict"},
    "points": {"hush-item-ticked", "A1 3 = 3"},
    "scheme": {"hush-item-ticked", "hush-item-unticked", "hush-zero-credit", "hush-cap"},
    "solution": {"hush-solution", "hush-way"},
    "statistics": set(),
}
RELEASABLE = set().union(*OF_PART.values()) | {"hush-answer"}


@dataclass(frozen=True)
class Planted:
    """The contest, with ids of objects of other users by the argument names of addresses."""

    contest: Contest
    problem: ContestProblem
    own: SubmissionVersion | None
    ids: dict[str, list[object]]


def planted(bob: User, charlie: User, state: ContestState) -> Planted:
    """Create a contest in this state with texts of Charlie and another student, and sentinel words in every table."""
    library = make_problem(
        statement=f"{STATEMENT}: which primes are sums?",
        answer="hush-answer",
        scheme_text="hush-scheme-text",
        solutions=(SolutionDraft("hush-solution by descent.", "hush-way"),),
    )
    scheme = scheme_active(bob, scheme_create(problem=library, title="Scheme", content=text_read(SCHEME), by=bob))
    contest = make_contest(bob, library)
    eve = marker("eveline-marker")
    coach_add(contest=contest, person=eve)
    other = User.objects.create_user("zebulon", "zq@example.org", role=Role.STUDENT, last_name="Quartermaine")
    own_paper, problem = enter(contest, charlie)
    other_paper, _ = enter(contest, other)
    ids: dict[str, list[object]] = {
        "contest_id": [contest.public_id], "problem_id": [problem.public_id], "scheme_id": [scheme.public_id],
        "slug": [library.slug], "paper_id": [own_paper.public_id, other_paper.public_id],
    }  # fmt: skip
    if state == ContestState.PREPARING:
        return Planted(contest, problem, None, ids)
    contest = moved(contest, ContestState.OPEN)
    own_paper.contest = other_paper.contest = problem.contest = contest
    feedback.rules_save(problem=problem, is_on=True, rules=Rules(highest=7), by=bob)
    own, others = hand_in(own_paper, problem, TEXT), hand_in(other_paper, problem, "hush-other-text\n\nAnd more.")
    ids |= {"version_id": [own.public_id, others.public_id]}
    _hints(own, others, bob, ids)
    if state != ContestState.OPEN:
        moved(contest, ContestState.MARKING)
        problem = ContestProblem.objects.select_related("contest", "problem", "version", "captain").get(pk=problem.pk)
        setup_save(problem=problem, choices=Choices(scheme=scheme, markers=1), by=bob)
        cases_prepare(problem)
        _marks(problem, own, bob, eve, ids)
        contest = moved(contest, state)
    return Planted(contest, problem, own, ids)


def _hints(own: SubmissionVersion, others: SubmissionVersion, bob: User, ids: dict[str, list[object]]) -> None:
    mine = feedback.request_open(version=own, track="repair", words="Is it right?")
    theirs = feedback.request_open(version=others, track="stuck", words="hush-other-question")
    RungAsked.objects.filter(request=mine).update(text="hush-draft-hint")
    dropped = [{"level": 1, "text": "hush-dropped", "leaks": []}]
    proposed = {"writer": "hush-model", "state": "ready", "text": "hush-proposal", "dropped": dropped, "reason": "hush-failure"}
    HintProposal.objects.create(rung=mine.asked.get(), **proposed)
    feedback.rung_give(asked=theirs.asked.get(), text="hush-other-hint", by=bob)
    ids["request_id"] = list(FeedbackRequest.objects.values_list("public_id", flat=True))


def _marks(problem: ContestProblem, own: SubmissionVersion, bob: User, eve: User, ids: dict[str, list[object]]) -> None:
    said = (
        ("tick", {"code": "A1"}),
        ("verdict", {"id": "v1", "step": 2, "fallacy": "gap", "words": "hush-verdict"}),
        ("comment", {"id": "c1", "step": 2, "words": "hush-comment"}),
        ("comment", {"id": "c2", "step": 2, "words": "hush-for-markers", "audience": "markers"}),
        ("reason", {"words": "hush-reason"}),
        ("approach", {"words": "hush-approach"}),
    )
    while problem.cases.filter(state="open").exists():
        past_grace(sealed(claimed(problem, eve), eve, *said))
        cases_settle(problem.contest)
    for case in MarkingCase.objects.filter(problem=problem):
        _discussion(case, bob, eve)
    tasks = [case.tasks.get(slot="first") for case in problem.cases.all()]
    other = problem.cases.exclude(version=own).get()
    appeal = Appeal.objects.create(grade=FinalGrade.objects.get(case=other), verdict="v1", words="hush-other-appeal")
    ids |= {
        "task_id": [task.public_id for task in tasks],
        "case_id": [case.public_id for case in problem.cases.all()],
        "appeal_id": [appeal.public_id],
        "coordination_id": list(Coordination.objects.values_list("public_id", flat=True)),
        "pass_id": list(Pass.objects.values_list("pk", flat=True)),
    }


def _discussion(case: MarkingCase, bob: User, eve: User) -> None:
    """Add a suggestion, a discussion, a precedent and a question to a case."""
    suggestion = Suggestion.objects.create(
        version=case.version, grader="scripted", key=f"key {case.pk}", state="done", body={"remarks": "hush-suggestion"}
    )
    Reveal.objects.create(case=case, person=eve, kind="items", suggestion=suggestion, trigger="hush-audit")
    coordination = Coordination.objects.create(case=case)
    coordination.marks.set(Mark.objects.filter(task__case=case))
    CoordinationRemark.objects.create(coordination=coordination, person=eve, words="hush-remark")
    Precedent.objects.create(case=case, words="hush-precedent", points=Decimal(3), by=bob)
    task = case.tasks.get(slot="first")
    Pass.objects.create(task=task, person=eve, reason="unsure", words="hush-pass", answer="hush-pass-answer")
    Phrase.objects.get_or_create(problem=case.problem, words="hush-phrase", author=eve)
