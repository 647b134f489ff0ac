"""A fork from an event, a call or a lemma: the form, what it takes over, and its pages, through the real journal."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.forking.offers import offers_of
from apps.explorations.forking.places import Place
from apps.explorations.forking.walk import walk
from apps.explorations.services import exploration_fork
from apps.explorations.starting.plans import plan_of_spec
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.runs.models import Run, RunStatus
from tests.explorations.forking import Model, driven, forked, here, make_parent, refusals
from tests.runs.driving import drive, nonsense, with_model
from tests.runs.factory import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_walk_finds_the_phases_of_the_run_with_all_their_calls(ada: User) -> None:
    parent = make_parent()
    found = walk(parent)
    assert found.trouble == ""
    assert [phase.point for phase in found.phases][:7] == [
        "r1/reason", "r1/summarise", "r1/verify", "r1/votes", "r1/end", "r2/reason", "r2/summarise",
    ]  # fmt: skip
    walked = {key for phase in found.phases for key in phase.calls}
    assert walked == set(parent.steps.filter(kind="call").values_list("key", flat=True))
    assert {phase.point for phase in found.phases if phase.reads_hints} == {"r1/reason", "r2/reason", "final/revise/1"}


def test_the_form_shows_what_is_taken_over_and_the_fork_does_so(client: Client, ada: User) -> None:
    parent = make_parent()
    page = client.get(here(parent, lemma="s0.1")).content.decode()
    shown = re.sub(r"<[^>]+>|\s+", " ", page)
    assert "Beginning: round 1, before the votes on its lemmas." in re.sub(r"\s+", " ", shown)
    offer = offers_of(parent, Place(lemma="s0.1"), ada).of("without")
    assert offer is not None
    assert (offer.totals["taken_calls"], offer.totals["again_calls"]) == (2, parent.calls - 2)
    fork = forked(client, parent, {"lemma": "s0.1"}, change="without")
    assert (fork.forked_from, fork.owner) == (parent, ada)
    model = driven(fork)
    assert not set(model.prompts) & {"s0/r1/reason", "s0/r1/summarise"}
    assert fork.inherited_calls >= 2
    assert not any("Base." in prompt for prompt in model.prompts.values())
    assert fork.is_assisted
    for key in ("s0/r1/reason", "s0/r1/summarise"):
        ours, theirs = (run.steps.values("request_hash", "text_sha").get(key=key) for run in (fork, parent))
        assert ours == theirs


def test_a_corrected_lemma_is_in_all_later_prompts_and_on_its_panel_as_a_persons_version(client: Client, ada: User) -> None:
    parent = make_parent()
    sent = {"change": "corrected", "statement": "Sound base.", "proof": "One.\n\nTwo."}
    fork = forked(client, parent, {"lemma": "s0.1"}, **sent)
    model = driven(fork)
    assert "Sound base." in model.prompts["s0/r1/verify/s0.1-fixed/1"]
    assert "Sound base." in model.prompts["s0/r2/reason"]
    assert not any("Base." in prompt for prompt in model.prompts.values())
    panel = client.get(reverse("lemmas:lemma_panel", args=[fork.public_id, "s0.1-fixed"])).content.decode()
    assert "a person" in panel
    old = client.get(reverse("lemmas:lemma_panel", args=[fork.public_id, "s0.1"])).content.decode()
    assert "corrected by ada in this fork" in old


def test_a_hint_begins_at_the_next_prompt_that_reads_it(client: Client, ada: User) -> None:
    parent = make_parent()
    seq = parent.events.get(key="s0/r1/verify/s0.1/1/vote").seq
    fork = forked(client, parent, {"event": seq}, change="hint", text="Reverse the sum.")
    assert RunSpec.model_validate(fork.spec).branch.point == "r2/reason"  # type: ignore[union-attr]
    model = driven(fork)
    assert not any("/r1/" in key for key in model.prompts)
    assert "Reverse the sum." in model.prompts["s0/r2/reason"]


def test_an_unchanged_fork_draws_all_calls_of_its_phase_and_later_again(client: Client, ada: User) -> None:
    parent = make_parent()
    fork = forked(client, parent, {"call": "s0/r2/summarise"}, change="unchanged")
    model = driven(fork)
    keys = set(parent.steps.filter(kind="call").values_list("key", flat=True))
    assert set(model.prompts) == {key for key in keys if "/r1/" not in key and key != "s0/r2/reason"}
    assert not fork.is_assisted
    again = exploration_fork(user=ada, run=fork, plan=plan_of_spec(RunSpec.model_validate(parent.spec)))
    assert again.spec["redraws"] == fork.spec["redraws"], "a fork of it takes its calls over, too"


def test_a_fork_of_a_fork_follows_both(client: Client, ada: User) -> None:
    parent = make_parent()
    first = forked(client, parent, {"lemma": "s0.1"}, change="without")
    driven(first)
    second = forked(client, first, {"call": "s0/r2/reason"}, change="hint", text="Reverse the sum.")
    model = driven(second)
    assert not any("/r1/" in key for key in model.prompts)
    assert "Base." not in model.prompts["s0/r2/reason"]
    retired = second.events.get(kind="lemma.retired", body__lemma="s0.1").body["reason"]
    assert retired == "left out of this fork by ada"


def test_a_fork_killed_in_the_middle_continues_with_the_same_events(client: Client, ada: User) -> None:
    parent = make_parent()

    def course(run: Run) -> list[tuple[str, Any]]:
        rows = run.events.exclude(kind__startswith="run.").order_by("key").values_list("key", "body")
        timed = ("duration_s", "ttft_s")
        return [(key, {name: value for name, value in body.items() if name not in timed}) for key, body in rows]

    whole = forked(client, parent, {"lemma": "s0.1"}, change="without")
    driven(whole)
    cut = forked(client, parent, {"lemma": "s0.1"}, change="without")
    Run.objects.filter(pk=cut.pk).update(spec=whole.spec)
    cut.refresh_from_db()
    assert drive(cut, with_model(Model(left=3).backend(), "small")) == RunStatus.FAILED
    Run.objects.filter(pk=cut.pk).update(status=RunStatus.QUEUED)
    driven(cut)
    assert course(cut) == course(whole)
    assert cut.outcome == whole.outcome


def test_the_page_of_a_fork_names_its_origin_and_its_header_agrees_with_its_panel(client: Client, ada: User) -> None:
    parent = make_parent()
    fork = forked(client, parent, {"lemma": "s0.1"}, change="without")
    driven(fork)
    page = client.get(reverse("explorations:run_detail", args=[fork.public_id]) + "?tab=agents").content.decode()
    assert "Fork: without s0.1" in page
    assert "without lemma s0.1" in page
    assert reverse("explorations:event", args=[parent.public_id, parent.events.get(key="lemma/s0.1").seq]) in page
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    assert f"Taken over: {fork.inherited_calls} calls" in words
    assert f"of these {fork.inherited_calls} calls" in words
    assert f", {fork.inherited_calls} taken over" in words
    above = client.get(reverse("explorations:run_detail", args=[parent.public_id])).content.decode()
    assert "without lemma s0.1" in above
    assert reverse("explorations:run_detail", args=[fork.public_id]) in above


def test_every_place_of_a_run_links_to_its_fork(client: Client, ada: User) -> None:
    parent = make_parent()
    pages = {
        reverse("explorations:event", args=[parent.public_id, 9]): "?event=9",
        reverse("explorations:call", args=[parent.public_id, "s0/r1/reason"]): "?call=s0%2Fr1%2Freason",
        reverse("explorations:run_log", args=[parent.public_id]): "?call=s0%2Fr1%2Freason",
        reverse("lemmas:lemma_panel", args=[parent.public_id, "s0.1"]): "?lemma=s0.1",
    }
    for address, query in pages.items():
        assert f"/fork/here/{query}" in client.get(address).content.decode(), address


@pytest.mark.parametrize("name", SCAFFOLDS)
def test_every_scaffold_is_walked_to_its_last_call(ada: User, name: str) -> None:
    scaffold = SCAFFOLDS[name]
    params = scaffold.presets[scaffold.first_preset].params
    run = make_run(
        scaffold=name,
        preset=scaffold.first_preset,
        params=params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="small", revision="abc", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
    )
    drive(run, with_model(nonsense(), "small"))
    found = walk(run)
    assert found.trouble == ""
    walked = {key for one in found.phases for key in one.calls}
    assert walked == set(run.steps.filter(kind="call").values_list("key", flat=True))
    assert not walked or found.phases[0].reads_hints


def test_a_scaffold_without_lemmas_forks_with_a_hint_or_unchanged(client: Client, ada: User) -> None:
    scaffold = SCAFFOLDS["deepseek_math"]
    parent = make_run(
        scaffold="deepseek_math",
        params=scaffold.presets[scaffold.first_preset].params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="small", revision="abc", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
    )
    drive(parent, with_model(nonsense(), "small"))
    second = next(phase for phase in walk(parent).phases if phase.point == "round/2").calls
    place: dict[str, object] = {"call": second[0]}
    offers = refusals(offers_of(parent, Place(call=second[0]), ada))
    assert offers == {
        "without": "This method keeps no lemmas.",
        "corrected": "This method keeps no lemmas.",
        "hint": "",
        "unchanged": "",
    }
    for change, text in (("hint", "Look at squares."), ("unchanged", "")):
        fork = forked(client, parent, place, change=change, text=text)
        asked: list[str] = []
        drive(fork, with_model(nonsense(asked), "small"))
        assert set(asked) == set(second) if change == "unchanged" else set(asked) <= set(second)
        fork.refresh_from_db()
        assert fork.inherited_calls + fork.calls == fork.steps.filter(kind="call").count()
        assert fork.is_assisted == (change == "hint")
