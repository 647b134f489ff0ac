"""Runs through the real journal with a sandbox: what pages and exports show of the formula check."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.test import Client

from apps.explorations.candidates.solutions import solutions
from apps.explorations.exports import export_lines
from apps.mathcheck.__main__ import findings_of
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.inference.scripted_tools import ScriptedTools
from apps.reasoning.ports import Dispatcher
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run, RunStatus
from apps.runs.owners.execution import DispatcherFor
from tests.lemmas.factory import make_user
from tests.reasoning.play import proof
from tests.runs.driving import drive
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)
SLIP = proof("We have $1+1=2$ and $2+2=5$.", "So $\\angle A=90$.")


def answers(request: Any) -> str:
    if request.role == "improver":
        return "It stays."
    return SLIP if request.role == "solver" else "I looked at it.\n<decision>pass</decision>"


def verifies(request: GenerationRequest) -> str:
    return json.dumps(findings_of(json.loads(request.messages[0].content)))


def with_sandbox(tools: ScriptedTools | None) -> DispatcherFor:
    """Models that write a slip, and the given sandbox."""

    @contextlib.asynccontextmanager
    async def dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
        sandbox = {"sandbox": tools} if tools else {}
        yield LocalDispatcher({"scripted": ScriptedBackend(answers), **sandbox})

    return dispatcher


def driven(tools: ScriptedTools | None) -> Run:
    scaffold = SCAFFOLDS["self_check"]
    run = make_run(
        scaffold="self_check",
        params=scaffold.presets[scaffold.first_preset].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
    )
    assert drive(run, with_sandbox(tools)) == RunStatus.FINISHED
    run.refresh_from_db()
    return run


def test_solutions_have_their_check_and_their_steps_marked(client: Client) -> None:
    run = driven(ScriptedTools(verifies))
    client.force_login(make_user("ada"))
    found = [one for round_ in solutions(run).rounds for one in round_.solutions]
    assert found
    assert {one.check.words for one in found} == {"1 formula refuted, in step 1; 1 formula proved; 1 not understood."}
    page = client.get(f"/runs/{run.public_id}/").content.decode()
    assert "marked--refuted" in page
    assert "by the formula check" in page


def test_a_check_has_a_page_and_is_exported_with_all_its_findings(client: Client) -> None:
    run = driven(ScriptedTools(verifies))
    client.force_login(make_user("ada"))
    page = client.get(f"/runs/{run.public_id}/calls/check/proof/1/").content.decode()
    assert page.index("2+2=5") < page.index("the sides are") < page.index("is not known") < page.index("<h2>Output</h2>")
    rows = [json.loads(line) for line in export_lines(run)]
    (row,) = [row for row in rows if row["type"] == "tool" and row["key"] == "check/proof/1"]
    assert [one["outcome"] for one in json.loads(json.loads(row["text"])["stdout"])["findings"]] == [
        "proved",
        "refuted",
        "not_understood",
    ]
    assert "formulas.checked" in {row.get("kind") for row in rows}


def test_checks_count_as_no_calls(client: Client) -> None:
    checked, plain = driven(ScriptedTools(verifies)), driven(None)
    assert (checked.calls, checked.tokens, checked.outcome) == (plain.calls, plain.tokens, plain.outcome)
    assert checked.steps.filter(kind="tool").exists()
    assert not plain.steps.filter(kind="tool").exists()


def test_a_process_without_a_sandbox_says_so_on_the_page(client: Client) -> None:
    run = driven(None)
    client.force_login(make_user("ada"))
    page = client.get(f"/runs/{run.public_id}/").content.decode()
    assert "Not checked: This process has no sandbox for tools" in page
    assert run.events.filter(kind="formulas.off").count() == 1
