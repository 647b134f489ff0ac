"""The record and the ledger in words: a text for every event kind, readable fields, and no identifiers."""

import ast
from collections.abc import Callable, Iterator

from django.conf import settings
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.models import AppealState, CoordinationOutcome
from apps.marks.sealing.sealing import cases_settle
from apps.marks.verbs import VERBS, verb_words
from apps.ui.zones import exact, zone_of
from tests.marks.factory import ONE_PLACE, claimed, past_grace, problem_to_mark, sealed

ClientFor = Callable[[User | None], Client]
WRITERS = {"audit", "event_publish", "_record_event", "_record_events", "_audited"}


def verbs_in_code() -> Iterator[str]:
    """Yield the event kinds that code writes into the record."""
    for app in ("marks", "results", "contests", "submissions"):
        for path in (settings.BASE_DIR / "apps" / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRITERS:
                    at = 1 if node.func.id == "event_publish" else 0
                    yield from (
                        str(one.value)
                        for one in ast.walk(node.args[at])
                        if isinstance(one, ast.Constant) and "." in str(one.value)
                    )


def test_every_verb_has_words() -> None:
    found = {verb for verb in verbs_in_code() if not verb.endswith(".")}
    found |= {f"coordination.{one.value}" for one in CoordinationOutcome}
    found |= {f"appeal.{one.value}" for one in (AppealState.UPHELD, AppealState.REJECTED)}
    assert len(found) > 20
    assert found <= set(VERBS)
    assert verb_words("some.new-thing") == "some: new thing"


def test_the_record_shows_words_and_no_identifiers(client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    mark = past_grace(sealed(claimed(problem, bob), bob, ("claim", {"line": "A1"}), ("verdict", ONE_PLACE)))
    cases_settle(problem.contest)
    audit("results.released", actor=bob, contest=problem.contest, batch="batch-one", parts=["comments", "verdicts"], grades=1)
    audit("feedback.rules", actor=bob, contest=problem.contest, problem=str(problem.public_id), is_on=True, highest=3)
    page = client_for(bob).get(reverse("office:record", kwargs={"contest_id": problem.contest.public_id}))
    said = page.content.decode()
    for words in ("Sealed a mark", "A grade was given", "comments, step verdicts", "offered</span> yes", "up to hint</span> 3"):
        assert words in said
    for identifier in ("mark.sealed<", "row_version", "batch-one", str(mark.public_id), "[&#x27;", "is_on"):
        assert identifier not in said
    ledger = client_for(bob).get(reverse("marks:case_ledger", kwargs={"case_id": mark.task.case.public_id})).content.decode()
    assert "Sealed a mark" in ledger
    assert "mark.sealed" not in ledger


def test_the_record_formats_points_and_shows_full_times(client_for: ClientFor, bob: User) -> None:
    problem = problem_to_mark(bob, scripts=1)
    audit("coordination.agreed", actor=bob, contest=problem.contest, points="7.00")
    audit("results.released", actor=bob, contest=problem.contest, grades=1, left_out=0)
    event = audit("results.released", actor=bob, contest=problem.contest, grades=2, left_out=3)
    said = client_for(bob).get(reverse("office:record", args=[problem.contest.public_id])).content.decode()
    assert "points</span> 7</span>" in said
    assert said.count("left out</span>") == 1, "a count of zero is not shown"
    assert "left out</span> 3" in said
    assert f">{exact(event.at, zone_of(''))}</time>" in said, "the time is visible, not only a tooltip"
