"""A run that searches lemmas of earlier runs: its journal, its resume, its pages, and how it is started."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.explorations.services import plan_start
from apps.explorations.starting.plans import Plan
from apps.lemmas.models import Lemma
from apps.lemmas.search import retrieval
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.domain.tools import Execution
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.inference.scripted_tools import ScriptedTools
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.selectors import step_get, step_texts
from tests.contests.factory import make_contest
from tests.lemmas.test_lemmas_offered_to_runs import ODD, a_problem
from tests.lemmas.test_lemmas_offered_to_runs import a_run as an_earlier_run
from tests.reasoning.agents import ask, solved
from tests.runs.driving import drive
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
SCAFFOLD = SCAFFOLDS["alpha_apollo"]
SEARCH = "solve/c1.1/turn/1/lookup/search"


def _write(request: GenerationRequest) -> str:
    return ask("odd squares", "lemmas") if request.key == "solve/c1.1/turn/1" else solved(request)


@contextlib.asynccontextmanager
async def _dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    off = ScriptedTools(lambda request: Execution(stdout='{"findings": []}'))
    yield LocalDispatcher({"scripted": ScriptedBackend(_write), "sandbox": off})


def a_run(owner: User | None, **params: Any) -> Run:
    """A queued run of AlphaApollo whose model first searches lemmas, then answers."""
    run = make_run(
        scaffold="alpha_apollo",
        preset="reasoning",
        params=SCAFFOLD.presets["reasoning"].params.model_copy(update=params).model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in SCAFFOLD.roles},
        prompt_hashes=SCAFFOLD.prompts,
    )
    Run.objects.filter(pk=run.pk).update(owner=owner)
    run.refresh_from_db()
    return run


def played(owner: User | None, **params: Any) -> Run:
    run = a_run(owner, **params)
    assert drive(run, _dispatcher) == "finished"
    run.refresh_from_db()
    return run


def _prompt(run: Run, key: str) -> str:
    step = step_get(run, key)
    assert step is not None
    return "".join(step_texts(step)[0])


def test_a_model_finds_an_accepted_lemma_and_the_journal_keeps_it_with_its_origin(alice: User) -> None:
    source = an_earlier_run(a_problem("other"))
    run = played(alice, earlier_lemmas="topic")
    assert ODD in _prompt(run, "solve/c1.1/turn/2")
    ended = run.events.get(key=f"{SEARCH}/ended").body
    assert (ended["job"], ended["error"]) == ("search", "")
    taken = run.events.get(kind="turn.taken", body__turn=1).body
    assert [(one["run"], one["lemma"]) for one in taken["lookup"]["lemmas"]] == [(str(source.public_id), "s0.1")]


@pytest.mark.parametrize("scope", ["none", "topic"])
def test_without_the_option_or_without_an_owner_nothing_of_other_runs_is_read(alice: User, scope: str) -> None:
    an_earlier_run(a_problem("other"))
    run = played(alice if scope == "none" else None, earlier_lemmas=scope)
    assert ODD not in _prompt(run, "solve/c1.1/turn/2")
    assert "lemmas" not in run.events.get(kind="turn.taken", body__turn=1).body["lookup"]
    failed = [body["reason"] for body in run.events.filter(kind="tool.failed").values_list("body", flat=True)]
    assert [reason for reason in failed if "no owner" in reason] == (failed if scope == "topic" else [])


def test_a_run_without_an_owner_is_not_started_with_the_option(alice: User) -> None:
    plan = Plan("alpha_apollo", overrides={"earlier_lemmas": "topic"}, role_aliases={"": "small"})
    with pytest.raises(ValidationError, match="Name the owner with --user"):
        plan_start(user=None, problem=a_problem("other"), plan=plan)


def test_a_resumed_run_reads_the_recorded_lemma_and_searches_no_second_time(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_earlier_run(a_problem("other"))
    run = played(alice, earlier_lemmas="topic")
    before = run.events.filter(kind="turn.taken").count()
    run.steps.filter(key="solve/c1.1/turn/2").delete()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.QUEUED, finished_at=None)
    Lemma.objects.all().delete()
    monkeypatch.setattr(retrieval, "read", lambda *_: pytest.fail("it searched again"))
    assert drive(run, _dispatcher) == "finished"
    assert ODD in _prompt(run, "solve/c1.1/turn/2")
    assert run.events.filter(kind="turn.taken").count() == before
    assert run.steps.filter(key=SEARCH).count() == 1


def test_pages_link_to_the_origin_for_readers_who_may_see_that_run(client_for: ClientFor, alice: User, bob: User) -> None:
    source = an_earlier_run(a_problem("other"))
    run = played(alice, earlier_lemmas="topic")
    link = reverse("lemmas:lemma_panel", args=[source.public_id, "s0.1"])
    addresses = [reverse("explorations:run_detail", args=[run.public_id])]
    addresses.append(reverse("explorations:call", args=[run.public_id, SEARCH]))
    pages = [client_for(alice).get(address).content.decode() for address in addresses]
    assert all(f'href="{link}"' in page and "verified by 3 of 4 votes" in page for page in pages)
    assert "of other problems of the same topic" in client_for(alice).get(addresses[0], {"tab": "agents"}).content.decode()
    make_contest(bob, a_problem("other"), state=ContestState.OPEN)
    pages = [client_for(alice).get(address).content.decode() for address in addresses]
    assert all(link not in page and "or you may not see it" in page for page in pages)


def test_the_start_form_offers_the_scopes_and_none_is_the_default(client_for: ClientFor, alice: User) -> None:
    problem = a_problem("other")
    address = reverse("explorations:start", args=[problem.slug])
    page = client_for(alice).get(address, {"scaffold": "alpha_apollo"}).content.decode()
    assert "Lemmas of earlier runs" in page
    assert '<option value="none" selected>None</option>' in page
    assert "Of other problems of the same topic" in page
    other = client_for(alice).get(address, {"scaffold": "intern_s1_mo"}).content.decode()
    assert "Lemmas of earlier runs" not in other


def test_events_of_runs_without_the_option_are_unchanged(alice: User) -> None:
    run = played(alice)
    assert "origin" not in json.dumps([event.body for event in run.events.all()])
