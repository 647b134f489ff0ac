"""Events of a run over the API: complete, in order, and paged by number."""

import pytest

from apps.accounts.models import User
from apps.runs.models import Run
from tests.api.conftest import EVENTS, Ask


def test_pages_of_any_size_return_every_event_once(ask: Ask, run: Run, alice: User) -> None:
    for limit in (1, 3, 10, 500):
        since, seen, has_more = 0, [], True
        while has_more:
            page = ask(alice, f"runs/{run.public_id}/events", since=since, limit=limit).json()
            seen += [event["seq"] for event in page["events"]]
            since, has_more = page["next_since"], page["has_more"]
        assert seen == list(range(1, EVENTS + 1)), limit


def test_a_request_past_the_end_returns_no_events_and_the_same_position(ask: Ask, run: Run, alice: User) -> None:
    page = ask(alice, f"runs/{run.public_id}/events", since=EVENTS).json()
    assert page == {"events": [], "next_since": EVENTS, "has_more": False, "last_seq": EVENTS, "is_live": False}


def test_a_filter_by_kind_keeps_the_position(ask: Ask, run: Run, alice: User) -> None:
    page = ask(alice, f"runs/{run.public_id}/events", kind=["run.started"], limit=5).json()
    assert [event["kind"] for event in page["events"]] == ["run.started"]
    assert (page["has_more"], page["next_since"]) == (False, EVENTS)
    cut = ask(alice, f"runs/{run.public_id}/events", kind=["lemma.proposed"], limit=2).json()
    assert (cut["has_more"], cut["next_since"]) == (True, 3)


@pytest.mark.parametrize("query", [{"since": -1}, {"limit": 0}, {"limit": 100_000}, {"since": "x"}])
def test_an_invalid_number_is_rejected(query: dict[str, object], ask: Ask, run: Run, alice: User) -> None:
    answer = ask(alice, f"runs/{run.public_id}/events", **query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][-1] in query
