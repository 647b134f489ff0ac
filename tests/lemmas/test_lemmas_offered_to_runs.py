"""Which lemmas of earlier runs a run may search: accepted ones, of runs that its owner may see, within its scope."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.lemmas.models import HumanVerdict, Lemma, LemmaText
from apps.lemmas.search.retrieval import lemmas_offered
from apps.problems.models import Problem, Topic
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.tools import LemmaScope, SearchJob
from apps.runs.models import Run
from tests.contests.factory import make_contest
from tests.lemmas.factory import make_user, stored, write_events

pytestmark = pytest.mark.django_db
ODD = "For every odd integer $a$ we have $8 \\mid a^2 - 1$."
VOTES = {"passes": 3, "valid": 4, "total": 4, "confidence": 0.75, "low": 0.3, "high": 0.9}


def a_problem(slug: str, topic: Topic = Topic.NUMBER_THEORY) -> Problem:
    problem, is_new = Problem.objects.get_or_create(slug=slug, defaults={"title": slug.capitalize(), "topic": topic})
    if is_new:
        problem.versions.create(number=1, statement="Show it.")
    return problem


def a_run(problem: Problem, statement: str = ODD, verdict: str = "verified") -> Run:
    """An earlier run with one lemma `s0.1`."""
    version = problem.versions.get()
    run = Run.objects.create(title=problem.title, problem_version=version, scaffold="intern_s1_mo", status="finished", spec={})
    steps = ("Clear.", "Done.")
    events: list[ev.Event] = [ev.LemmaProposed(lemma="s0.1", number=1, rollout=0, round=1, statement=statement, steps=steps)]
    if verdict:
        events.append(ev.VerdictReached.model_validate({"subject": "s0.1", "status": verdict, **VOTES}))
    write_events(run, stored([(str(number), event) for number, event in enumerate(events)]))
    return run


def asking(owner: User | None, scope: LemmaScope = "topic", slug: str = "mine") -> Run:
    """A run that may search lemmas within `scope`."""
    spec = {"params": {"earlier_lemmas": scope}}
    version = a_problem(slug).versions.get()
    return Run.objects.create(owner=owner, problem_version=version, scaffold="alpha_apollo", status="running", spec=spec)


def offered(run: Run, query: str = "odd integer", scope: LemmaScope = "topic") -> list[str]:
    """The public ids of the runs whose lemmas are offered, best first."""
    hits = lemmas_offered(run, SearchJob(query=query, library="lemmas", scope=scope))
    return [hit.origin.run for hit in hits if hit.origin]


def named(*runs: Run) -> list[str]:
    return [str(run.public_id) for run in runs]


@pytest.fixture
def owner() -> User:
    return make_user("ada")


def test_a_result_has_its_statement_its_verdict_and_its_origin(owner: User) -> None:
    source = a_run(a_problem("other"))
    hit = lemmas_offered(asking(owner), SearchJob(query="square of an odd number", library="lemmas", scope="topic"))[0]
    assert (hit.text, hit.library) == (ODD, "lemmas")
    assert hit.name == f"Lemma 1 of run {str(source.public_id)[:8]} on “Other”"
    assert hit.origin is not None
    assert (hit.origin.run, hit.origin.lemma) == (str(source.public_id), "s0.1")
    assert hit.origin.verdict == "verified by 3 of 4 votes · 75 % (30–90 %)"


def test_any_word_or_formula_is_enough_and_more_of_them_come_first(owner: User) -> None:
    worse, better = a_run(a_problem("other"), "An odd number is not even."), a_run(a_problem("other"))
    a_run(a_problem("other"), "A triangle is acute.")
    assert offered(asking(owner), "divisibility of squares of odd integers, $a^2-1$") == named(better, worse)
    assert offered(asking(owner), "hexagon") == offered(asking(owner), "?") == []


def test_only_lemmas_that_were_accepted_and_still_hold_are_offered(owner: User) -> None:
    for verdict in ("", "doubtful", "rejected"):
        a_run(a_problem("other"), verdict=verdict)
    refuted, merged = a_run(a_problem("other")), a_run(a_problem("other"))
    LemmaText.objects.filter(run=refuted).update(finding="refuted")
    Lemma.objects.filter(run=merged).update(status="merged")
    assert offered(asking(owner)) == []


@pytest.mark.parametrize(("verdict", "accepted"), [("doubtful", True), ("verified", False)])
def test_the_decision_of_a_person_overrides_the_votes(owner: User, verdict: str, accepted: bool) -> None:
    source = a_run(a_problem("other"), verdict=verdict)
    person = HumanVerdict.objects.create(run=source, command="c", lemma="s0.1", accepted=accepted, by="eve", requested_seq=3)
    assert offered(asking(owner)) == ([] if accepted else named(source)), "it has not taken effect yet"
    person.applied_seq = 4
    person.save()
    assert offered(asking(owner)) == (named(source) if accepted else [])


def test_the_scope_is_other_problems_of_the_topic_or_also_the_own_problem(owner: User) -> None:
    a_run(a_problem("geometry", Topic.GEOMETRY))
    other, own = a_run(a_problem("other")), a_run(a_problem("mine"), "An odd integer plus one is even.")
    assert offered(asking(owner)) == named(other)
    assert set(offered(asking(owner, "problem"), scope="problem")) == set(named(other, own))


@pytest.mark.parametrize(("started", "scope"), [("none", "none"), ("none", "topic"), ("topic", "problem")])
def test_a_run_searches_no_more_than_it_was_started_with(owner: User, started: LemmaScope, scope: LemmaScope) -> None:
    a_run(a_problem("other"))
    with pytest.raises(RequestRejected, match="was started without them"):
        offered(asking(owner, started), scope=scope)


def test_lemmas_of_later_runs_are_not_offered_and_equal_statements_once(owner: User) -> None:
    first, second = a_run(a_problem("other")), a_run(a_problem("other"))
    LemmaText.objects.filter(run=second).update(is_inherited=True)
    run = asking(owner)
    assert offered(run) == named(first)
    Run.objects.filter(pk=first.pk).update(created_at=timezone.now() + timedelta(days=1))
    assert offered(run) == named(second)


def test_authored_examples_are_not_searched_because_people_wrote_their_votes(owner: User) -> None:
    source, run = a_run(a_problem("other")), asking(owner)
    assert offered(run) == named(source)
    Run.objects.filter(pk=source.pk).update(is_authored=True)
    assert offered(run) == []


def test_runs_that_the_owner_may_not_see_are_not_searched(owner: User, bob: User) -> None:
    source, run = a_run(a_problem("other")), asking(owner)
    assert offered(run) == named(source)
    make_contest(bob, a_problem("other"), state=ContestState.OPEN)
    assert offered(run) == []


def test_a_problem_held_back_from_anyone_is_not_searched_because_others_see_the_run(owner: User, bob: User) -> None:
    make_contest(bob, a_problem("other"), state=ContestState.OPEN)
    Run.objects.filter(pk=a_run(a_problem("other")).pk).update(owner=owner)
    assert offered(asking(owner)) == []


def test_an_own_problem_that_is_held_back_is_searched_in_own_runs_only(owner: User, bob: User) -> None:
    make_contest(bob, a_problem("mine"), state=ContestState.OPEN)
    own, _foreign = a_run(a_problem("mine")), a_run(a_problem("mine"), "An odd integer plus one is even.")
    Run.objects.filter(pk=own.pk).update(owner=owner)
    assert offered(asking(owner, "problem"), scope="problem") == named(own)


def test_without_an_owner_who_may_see_runs_nothing_is_searched(owner: User) -> None:
    a_run(a_problem("other"))
    with pytest.raises(RequestRejected, match="no owner"):
        offered(asking(None))
    run = asking(owner)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert offered(run) == [], "the account was closed after the start"
