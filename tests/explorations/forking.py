"""Runs to fork: a scripted model through the real journal, and requests of the form."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from django.test import Client
from django.urls import reverse

from apps.explorations.forking.offers import Offers
from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run, RunStatus
from tests.reasoning.play import FOLLOWS, TableDispatcher, lemma, proof, verdict
from tests.runs.driving import drive, with_model
from tests.runs.factory import make_run

TABLE = {
    "s0/r*/reason": "<claim>partial</claim>",
    "s0/r1/summarise": lemma(1, "Base.", "p") + lemma(2, "Top.", "By Lemma 1.") + lemma(3, "Alone.", "p"),
    "s0/r2/summarise": lemma(4, "Late.", "By Lemma 3.") + lemma(5, "alone", "again"),
    "final/write/*": proof("By Lemma 3."),
    "final/check/1/1": verdict(1),
    "final/revise/*": proof("By Lemma 3, again."),
} | FOLLOWS


class Model:
    """A scripted model that keeps its prompts by key, and stops the run after `left` calls."""

    def __init__(self, left: int = 1000) -> None:
        self.prompts: dict[str, str] = {}
        self.left = left
        self._table = TableDispatcher(TABLE)

    def backend(self) -> ScriptedBackend:
        return ScriptedBackend(self._answer)

    def _answer(self, request: GenerationRequest) -> str:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the process is killed")
        self.prompts[request.key] = "\n".join(message.content for message in request.messages)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._table.dispatch(request)).result().text


def driven(run: Run, model: Model | None = None) -> Model:
    model = model or Model()
    assert drive(run, with_model(model.backend(), "small")) == RunStatus.FINISHED
    run.refresh_from_db()
    return model


def make_parent(model: Model | None = None, **params: object) -> Run:
    scaffold = SCAFFOLDS["intern_s1_mo"]
    values = {"rounds": 2, "lemma_votes": 1, "proof_votes": 1, **params}
    run = make_run(
        preset="quick",
        params=scaffold.read_params(values).model_dump(mode="json"),
        roles={role.name: RoleSpec(alias="small", revision="abc", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
        seed=7,
    )
    drive(run, with_model((model or Model()).backend(), "small"))
    run.refresh_from_db()
    return run


def here(run: Run, **place: object) -> str:
    query = "&".join(f"{name}={value}" for name, value in place.items())
    return f"{reverse('explorations:fork_here', args=[run.public_id])}?{query}"


def forked(client: Client, run: Run, place: dict[str, object], **sent: object) -> Run:
    answer = client.post(here(run, **place), sent)
    assert answer.status_code == 302, answer.content.decode()
    return Run.objects.get(public_id=answer["Location"].strip("/").split("/")[-1])


def refusals(offers: Offers) -> dict[str, str]:
    return {one.change: one.refusal for one in offers.offers}
