"""Formulas of imported runs are checked after the import; the recorded journal stays as it is."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.lemmas.formula_checks import check_of, check_outcomes, run_checks
from apps.lemmas.later.checking import AGAIN_AFTER, later_checks_ask, later_checks_work
from apps.lemmas.models import LaterCheck, LaterChecks, LemmaText
from apps.lemmas.search.index import index_missing
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.ports import Dispatcher
from apps.runs.models import Run
from tests.importing.files import graph, imported
from tests.reasoning.checked import CheckingDispatcher, Reply, verifier

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def with_formulas() -> Run:
    """An imported graph with a false and a true formula, and a node without one."""
    nodes: dict[str, dict[str, Any]] = {
        "n1": {"statement": "We add: $2+2=5$."},
        "n2": {"statement": "We add: $3+3=6$.", "dependencies": ["n1"]},
        "n3": {"statement": "It is so.", "dependencies": ["n2"]},
    }
    return imported(graph(nodes), "graph.json")


class Sandbox:
    """A sandbox that answers as `reply` says; `asked` counts its jobs."""

    def __init__(self, reply: Reply = verifier) -> None:
        self.dispatcher = CheckingDispatcher({}, reply)

    @property
    def asked(self) -> int:
        return len(self.dispatcher.checks)

    @contextlib.asynccontextmanager
    async def __call__(self, run: Run) -> AsyncIterator[Dispatcher]:
        yield self.dispatcher


def events_of(run: Run) -> list[tuple[Any, ...]]:
    return list(run.events.order_by("seq").values_list("seq", "key", "kind", "body", "at"))


def outcomes(run: Run) -> dict[str, str]:
    """By statement of a lemma, and by name of a proof, the outcome of its check."""
    statements = dict(LemmaText.objects.filter(run=run).values_list("lemma__lemma", "lemma__statement"))
    return {statements.get(name, name): outcome for name, (outcome, _) in check_outcomes(run).items()}


def test_an_import_asks_for_checks_and_its_journal_stays_as_it_is() -> None:
    run = with_formulas()
    before = events_of(run)
    assert LaterChecks.objects.get(run=run).ended_at is None
    assert later_checks_work(Sandbox()) == 1
    assert outcomes(run) == {"We add: $2+2=5$.": "refuted", "We add: $3+3=6$.": "survived", "proof/1": "refuted"}
    assert events_of(run) == before
    assert not run.steps.filter(key__startswith="check/").exists()
    assert LaterChecks.objects.get(run=run).ended_at is not None


def test_the_page_of_a_lemma_says_that_the_check_was_made_after_the_import(client_for: ClientFor, alice: User) -> None:
    run = with_formulas()
    name = LemmaText.objects.get(run=run, lemma__statement__contains="2+2").lemma.lemma
    page = f"/runs/{run.public_id}/lemmas/{name}/"
    assert "the check after the import is waiting or under way" in client_for(alice).get(page).content.decode()
    later_checks_work(Sandbox())
    shown = client_for(alice).get(page).content.decode()
    assert "checked after the import" in shown
    assert "1 formula refuted, in the statement" in shown
    agents = client_for(alice).get(f"/runs/{run.public_id}/?tab=agents").content.decode()
    assert "Made after the import" in agents
    assert "2 with a refuted formula" in agents


def test_as_of_an_event_of_the_recorded_run_there_is_no_check() -> None:
    run = with_formulas()
    later_checks_work(Sandbox())
    name = "proof/1"
    assert check_of(run, name).outcome == "refuted"
    last = run.events.count()
    assert check_of(run, name, last).words == "Not checked by then."
    assert check_outcomes(run, last) == {}
    assert run_checks(run, last).total == 0


def test_without_a_sandbox_the_job_waits_and_says_why_and_is_tried_again() -> None:
    run = with_formulas()
    later_checks_work(Sandbox(lambda _: BackendRefused("This machine has no fence.")))
    job = LaterChecks.objects.get(run=run)
    assert (job.ended_at, job.reason) == (None, "This machine has no fence.")
    assert run_checks(run).unfinished == "This machine has no fence."
    assert later_checks_work(Sandbox()) == 0
    LaterChecks.objects.update(begun_at=timezone.now() - 2 * AGAIN_AFTER)
    assert later_checks_work(Sandbox()) == 1
    assert run_checks(run).total == 3


def test_what_a_killed_process_had_checked_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.lemmas.later.checking.AT_ONCE", 1)
    run = with_formulas()
    begun = 0

    @contextlib.asynccontextmanager
    async def dies(of: Run) -> AsyncIterator[Dispatcher]:
        nonlocal begun
        begun += 1
        if begun > 1:
            raise RuntimeError("killed")
        yield Sandbox().dispatcher

    with pytest.raises(RuntimeError):
        later_checks_work(dies)
    assert LaterCheck.objects.filter(run=run).count() == 1
    LaterChecks.objects.update(begun_at=None)
    sandbox = Sandbox()
    later_checks_work(sandbox)
    assert sandbox.asked == 2
    assert run_checks(run).total == 3


def test_asking_twice_and_older_imports() -> None:
    run = with_formulas()
    later_checks_ask(run)
    assert LaterChecks.objects.count() == 1
    LaterChecks.objects.all().delete()
    assert later_checks_work(Sandbox()) == 1
    assert run_checks(run).total == 3


def test_a_search_finds_the_refuted_lemma_also_after_its_index_was_made_again() -> None:
    run = with_formulas()
    later_checks_work(Sandbox())
    assert LemmaText.objects.get(run=run, finding="refuted").lemma.statement == "We add: $2+2=5$."
    index_missing(everything=True)
    assert LemmaText.objects.get(run=run, finding="refuted").lemma.statement == "We add: $2+2=5$."
