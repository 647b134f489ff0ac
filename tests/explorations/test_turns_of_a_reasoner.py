"""The tab "Agents" of Intern-S1-MO shows the turns in which the reasoner tested formulas."""

import contextlib
from collections.abc import AsyncIterator, Callable
from fnmatch import fnmatchcase

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.inference.scripted_tools import ScriptedTools
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run
from tests.reasoning.checked import verifier
from tests.reasoning.play import FOLLOWS
from tests.runs.driving import drive
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
SCAFFOLD = SCAFFOLDS["intern_s1_mo"]
CHECK = "Let me see.\n<check_formulas>\nWe add: $2+2=5$.\n</check_formulas>"
TABLE: dict[str, object] = {"s0/r1/reason/turn/1": CHECK, "s0/r1/reason/turn/*": FOLLOWS["s*/r*/reason"], **FOLLOWS}


def _write(request: GenerationRequest) -> str:
    return str(next(text for pattern, text in TABLE.items() if fnmatchcase(request.key, pattern)))


@contextlib.asynccontextmanager
async def _dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    yield LocalDispatcher({"scripted": ScriptedBackend(_write), "sandbox": ScriptedTools(verifier)})


def played(**params: object) -> Run:
    run = make_run(
        scaffold=SCAFFOLD.name,
        preset="quick",
        params={"rounds": 1, "lemma_votes": 1, "proof_votes": 1, "revisions": 0, **params},
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in SCAFFOLD.roles},
        prompt_hashes=SCAFFOLD.prompts,
    )
    assert drive(run, _dispatcher) == "finished"
    run.refresh_from_db()
    return run


def agents(client: Client, run: Run) -> str:
    return client.get(reverse("explorations:run_detail", args=[run.public_id]) + "?tab=agents").content.decode()


def test_each_turn_links_to_its_call_and_to_the_answer_of_the_tool(
    alice: User, client_for: Callable[[User | None], Client]
) -> None:
    run = played(check_tool=2)
    client = client_for(alice)
    page = agents(client, run)
    assert "Turns of the reasoner with formula checks: 1 round" in page
    assert "Rollout 0 in round 1" in page
    assert "tests formulas" in page
    assert "ends the round" in page
    assert "`2+2=5` is refuted (4 against 5)." in page
    for key in ("s0/r1/reason/turn/1", "s0/r1/reason/turn/1/check"):
        url = reverse("explorations:call", args=[run.public_id, key])
        assert url in page
        assert client.get(url).status_code == 200
    panel = reverse("explorations:run_panel", args=[run.public_id])
    replayed = [
        client.get(panel, {"tab": "agents", "at": str(at)}, headers={"HX-Request": "true"}).content.decode()
        for at in (1, run.last_seq)
    ]
    assert ["Turns of the reasoner" in part for part in replayed] == [False, True]


def test_a_run_without_the_tool_has_no_such_part(alice: User, client_for: Callable[[User | None], Client]) -> None:
    page = agents(client_for(alice), played())
    assert "Cost per role" in page
    assert "Turns of the reasoner" not in page
