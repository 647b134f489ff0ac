"""Pages of a live run answer, and agree with themselves, when a lemma arrives between any two of their reads."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.reasoning.domain import events as ev
from apps.runs.models import Run, RunStatus
from tests.lemmas.factory import make_story_run, make_user, stored, write_events
from tests.lemmas.story import story

pytestmark = pytest.mark.django_db
READ = re.compile(r'SELECT .* FROM "(lemmas_|runs_runevent)')


def arrive(run: Run, number: int) -> None:
    """A lemma, a use of it and a merge, in one commit as the journal's writer makes it."""
    fresh = Run.objects.get(pk=run.pk)
    name, anchor = f"s0.{number}", ev.TextAnchor(where="step 1", start=0, end=1, quote="x")
    events: list[ev.Event] = [
        ev.LemmaProposed(lemma=name, number=number, rollout=0, round=4, statement=f"Fact {number}.", steps=("x",)),
        ev.EdgeAdded(user=name, used="s0.7", evidence=anchor),
        ev.EdgeAdded(user="s1.12", used=name, evidence=anchor),
        ev.LemmaMerged(lemma="s0.3", into=name, reason="equal"),
    ]
    keyed = [(f"late/{number}/{place}", event) for place, event in enumerate(events)]
    write_events(fresh, stored(keyed, start=fresh.last_seq + 1))


@contextmanager
def arriving(run: Run) -> Iterator[list[int]]:
    """A lemma arrives before each read of lemmas or events. Yields the numbers of the lemmas that have arrived."""
    arrived: list[int] = []
    numbers, is_arriving = count(100), [False]

    def wrapper(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if READ.match(sql) and not is_arriving[0]:
            is_arriving[0] = True
            arrived.append(next(numbers))
            arrive(run, arrived[-1])
            is_arriving[0] = False
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        yield arrived


@pytest.mark.parametrize(
    "path",
    ["", "graph/", "graph/outline/", "graph.json", "timeline/", "panel/?node=s0.7", "graph/export.json", "graph/export.dot"],
)
def test_a_page_answers_and_names_only_what_it_shows(client: Client, path: str) -> None:
    run = make_story_run(story()[:-3], status=RunStatus.RUNNING)
    client.force_login(make_user("ada"))
    with arriving(run) as arrived:
        answer = client.get(
            f"/runs/{run.public_id}/{path}", headers={"HX-Request": "true"} if path.startswith(("panel", "timeline")) else {}
        )
    assert len(arrived) > 1
    assert answer.status_code == 200
    text = answer.content.decode()
    if path.endswith("json"):
        graph = json.loads(text)
        shown = {node["id"] for node in graph["nodes"]}
        named = {end for edge in graph["edges"] for end in (edge["source"], edge["target"])}
    else:
        shown = set(re.findall(r'data-node="([^"]+)"', text))
        named = {name for names in re.findall(r'data-used?s?(?:-by)?="([^"]*)"', text) for name in names.split()}
    assert named <= shown
