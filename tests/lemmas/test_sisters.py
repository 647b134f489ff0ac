"""The sisters of a lemma in other runs, and an accepted lemma put into another run with its origin."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.lemmas.models import Lemma, LemmaText
from apps.lemmas.search.origin import origin_of
from apps.lemmas.search.selectors import searchable_runs
from apps.lemmas.search.sisters import sisters_of
from apps.lemmas.search.statements import Held
from apps.problems.models import Problem
from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.runs.models import Run, RunCommand, RunStatus
from tests.explorations.factory import command_form
from tests.lemmas.factory import make_run, make_user, stored, write_events

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
SAME = "For every odd integer $a$ we have $8 \\mid a^{2} - 1$."
ALIKE = "For every odd integer $a$ we obtain that $8 \\mid a^2 - 1$."
OTHER_NUMBER = SAME.replace("8", "24")


def a_run(statement: str, verdict: str = "", status: RunStatus = RunStatus.FINISHED) -> Run:
    """A run with one lemma `s0.1`."""
    run = make_run(status)
    events: list[ev.Event] = [
        ev.LemmaProposed(lemma="s0.1", number=1, rollout=0, round=1, statement=statement, steps=("Clear.", "Done.")),
    ]
    if verdict:
        votes = {"passes": 3, "valid": 4, "total": 4, "confidence": 0.75, "low": 0.3, "high": 0.9}
        events.append(ev.VerdictReached.model_validate({"subject": "s0.1", "status": verdict, **votes}))
    write_events(run, stored([(str(number), event) for number, event in enumerate(events)]))
    return run


def lemma_of(run: Run) -> Lemma:
    return Lemma.objects.get(run=run, lemma="s0.1")


@pytest.fixture
def reader() -> User:
    return make_user("ada")


def test_a_lemma_that_people_rejected_does_not_count_as_held(reader: User) -> None:
    mine, other = a_run(SAME, "verified"), a_run(SAME, "verified")
    Lemma.objects.filter(run=other).update(is_retired=True, status="retired")
    found = sisters_of(lemma_of(mine), searchable_runs(reader))
    assert found.held == Held(0, 1)


def test_sisters_say_the_same_first_and_held_counts_judged_runs(reader: User) -> None:
    mine = a_run(SAME.replace("^{2} -", "^2-"), "verified")
    held, failed, unjudged = a_run(SAME, "verified"), a_run(SAME, "rejected"), a_run(SAME)
    alike, renamed = a_run(ALIKE, "verified"), a_run(SAME.replace("$a$", "$n$").replace("a^", "n^"), "verified")
    for other in ("A triangle is acute.", OTHER_NUMBER):
        a_run(other, "verified")
    sisters = sisters_of(lemma_of(mine), searchable_runs(reader))
    assert [one.lemma.run_id for one in sisters.rows] == [unjudged.pk, failed.pk, held.pk, renamed.pk, alike.pk]
    assert [one.how_words for one in sisters.rows[2:4]] == ["same statement", "same up to names of variables"]
    assert sisters.rows[4].how_words.endswith(" % alike")
    assert sisters.held_words == "Held in 1 of 2 other runs that judged the same statement."


def test_a_lemma_with_exchanged_parts_is_no_sister(reader: User) -> None:
    mine = a_run("The product of the rows of the table divides the sum of the columns of the table.", "verified")
    a_run("The sum of the columns of the table divides the product of the rows of the table.", "verified")
    assert sisters_of(lemma_of(mine), searchable_runs(reader)).rows == []


def test_copies_in_forks_and_authored_examples_do_not_count(reader: User) -> None:
    mine, fork, authored = a_run(SAME, "verified"), a_run(SAME, "verified"), a_run(SAME, "verified")
    Run.objects.filter(pk=authored.pk).update(is_authored=True)
    LemmaText.objects.filter(run=fork).update(is_inherited=True)
    sisters = sisters_of(lemma_of(mine), searchable_runs(reader))
    assert [one.is_inherited for one in sisters.rows] == [False, True]
    assert sisters.held_words == ""


def test_runs_of_other_problems_and_hidden_runs_have_no_sisters(reader: User) -> None:
    mine, elsewhere, hidden = a_run(SAME), a_run(SAME, "verified"), a_run(SAME, "verified")
    problem = Problem.objects.create(slug="another", title="Another", topic="N")
    elsewhere.problem_version = problem.versions.create(number=1, statement="Another.")
    elsewhere.save()
    assert [one.lemma.run_id for one in sisters_of(lemma_of(mine), searchable_runs(reader)).rows] == [hidden.pk]
    assert sisters_of(lemma_of(mine), searchable_runs(reader).exclude(pk=hidden.pk)).rows == []


def test_the_page_of_a_lemma_lists_its_sisters(reader: User, client_for: ClientFor) -> None:
    mine, other = a_run(SAME, "verified"), a_run(SAME, "rejected")
    html = client_for(reader).get(reverse("lemmas:lemma_panel", args=[mine.public_id, "s0.1"])).content.decode()
    assert "Held in 0 of 1 other run that judged the same statement." in html
    assert reverse("lemmas:lemma_panel", args=[other.public_id, "s0.1"]) in html


def put(client: Client, target: Run, source: Run, **more: str) -> str:
    form = command_form("inject_lemma", from_run=str(source.public_id), from_lemma="s0.1") | more
    return client.post(reverse("explorations:command", args=[target.public_id]), form, follow=True).content.decode()


def test_an_accepted_lemma_is_put_into_a_working_run_with_its_origin(reader: User, client_for: ClientFor) -> None:
    source, target, client = a_run(SAME, "verified"), a_run(ALIKE, status=RunStatus.RUNNING), client_for(reader)
    html = client.get(reverse("lemmas:lemma_panel", args=[source.public_id, "s0.1"])).content.decode()
    assert reverse("explorations:command", args=[target.public_id]) in html
    put(client, target, source, statement="Forged.")
    asked = RunCommand.objects.get()
    origin = {"from_run": str(source.public_id), "from_lemma": "s0.1"}
    assert asked.args == {"statement": SAME, "proof": "Clear.\n\nDone.", **origin}


def test_an_added_lemma_names_its_origin_to_those_who_may_see_it(reader: User, client_for: ClientFor) -> None:
    source, target = a_run(SAME, "verified"), a_run(ALIKE, status=RunStatus.RUNNING)
    put(client_for(reader), target, source)
    human = Lemma.objects.create(
        run=target, lemma="h.1", number=1, rollout=0, round=1, statement=SAME, origin="human", first_seq=90, last_seq=90
    )
    asked = cv.ControlRequested(command="c1", name="inject_lemma", by="ada", args=RunCommand.objects.get().args)
    write_events(target, stored([("control/c1", asked)], start=80))
    came_from = origin_of(reader, human)
    assert came_from is not None
    assert (came_from.run, came_from.lemma) == (source, "s0.1")
    hidden = origin_of(make_user("eve", "student"), human)  # type: ignore[arg-type]
    assert hidden is not None
    assert hidden.run is None
    assert origin_of(reader, lemma_of(target)) is None


def test_a_proof_that_cites_lemmas_stays_behind(reader: User, client_for: ClientFor) -> None:
    source, target = a_run(SAME, "verified"), a_run(ALIKE, status=RunStatus.RUNNING)
    anchor = ev.TextAnchor(where="step 1", start=0, end=5, quote="Clear")
    write_events(source, stored([("edge", ev.EdgeAdded(user="s0.1", used="s0.9", evidence=anchor))], start=10))
    put(client_for(reader), target, source)
    assert "proof" not in RunCommand.objects.get().args


@pytest.mark.parametrize("case", ["unverified", "unknown", "hidden", "other problem", "other command"])
def test_other_lemmas_are_refused_in_words(case: str, reader: User, client_for: ClientFor) -> None:
    source, target = a_run(SAME, "" if case == "unverified" else "verified"), a_run(ALIKE, status=RunStatus.RUNNING)
    more = {}
    if case == "unknown":
        more = {"from_lemma": "s9.9"}
    elif case == "hidden":
        more = {"from_run": "no-uuid"}
    elif case == "other command":
        more = {"name": "hint"}
    elif case == "other problem":
        problem = Problem.objects.create(slug="another", title="Another", topic="N")
        source.problem_version = problem.versions.create(number=1, statement="Another.")
        source.save()
    html = put(client_for(reader), target, source, **more)
    assert "Nothing was added" in html or "The command was not sent" in html
    assert not RunCommand.objects.exists()
