"""Pages of runs that scripted models have played through the real journal, for a browser without a server.

The replay asks for its panel while it moves, so that is rendered too, as of the events that a test names.
"""

from collections.abc import Callable, Iterable, Mapping

from django.http import HttpResponse
from django.test import Client
from playwright.sync_api import Route

from apps.reasoning.domain.generation import GenerationRequest, Sampling
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RoleSpec
from apps.runs.models import Run
from tests.runs.driving import drive, with_model
from tests.runs.factory import make_run
from tests.ui.browser import ORIGIN, Pages

PARTS = ("header/", "timeline/", "solutions/", "panel/")
DATA = ("", "lineage.json", "lineage/outline/", "graph.json", "graph/outline/", "replay.json", "charts.json")


def played(method: str, answer: Callable[[GenerationRequest], str], preset: str = "quick", **params: object) -> Run:
    """A finished run of the scaffold whose model answers by `answer`; `params` change those of the preset."""
    scaffold = SCAFFOLDS[method]
    run = make_run(
        scaffold=method,
        preset=preset,
        params={**scaffold.presets[preset].params.model_dump(mode="json"), **params},
        roles={role.name: RoleSpec(alias="scripted", sampling=Sampling()) for role in scaffold.roles},
        prompt_hashes=scaffold.prompts,
    )
    assert drive(run, with_model(ScriptedBackend(answer))) == "finished"
    run.refresh_from_db()
    return run


class RunPages(Pages):
    """The pages of one run. `at` answers parts that were asked for as of an event, by address with its query."""

    def __init__(self, client: Client, run: Run, at: Iterable[str] = ()) -> None:
        base = f"/runs/{run.public_id}/"
        found = {base + path: client.get(base + path) for path in DATA}
        found |= {base + path: client.get(base + path, headers={"HX-Request": "true"}) for path in PARTS}
        super().__init__(found)  # type: ignore[arg-type]  # The client's answers are HttpResponse objects.
        self.at: Mapping[str, HttpResponse] = {
            f"{base}{path}": client.get(base + path, headers={"HX-Request": "true"})  # type: ignore[misc]
            for path in at
        }

    def serve(self, route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if path in self.at:
            answer = self.at[path]
            route.fulfill(body=answer.content, headers=dict(answer.items()))
        else:
            super().serve(route)
