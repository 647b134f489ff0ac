"""The log: pages, filters, and the search through texts."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.explorations.calls import transcript
from apps.explorations.calls.transcript import LogFilter, filter_from, log_page
from apps.runs.models import Run
from tests.explorations.factory import make_exploration, make_unread


@pytest.fixture
def run(alice: User) -> Run:
    return make_exploration(alice)


def keys(run: Run, wanted: LogFilter) -> list[str]:
    return [row.step.key for row in log_page(run, wanted).rows]


def test_pages_follow_each_other_without_gap_or_double(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "PAGE", 30)
    seen, after = [], 0
    while True:
        page = log_page(run, LogFilter(after=after))
        seen += [row.step.key for row in page.rows]
        if not page.next_after:
            break
        after = page.next_after
    assert seen == list(run.steps.order_by("pk").values_list("key", flat=True))
    back = log_page(run, LogFilter(before=log_page(run, LogFilter(after=after)).previous_before))
    assert [row.step.key for row in back.rows] == seen[30:60]


def test_filters_by_role_round_and_end(run: Run) -> None:
    assert set(keys(run, LogFilter(role="summarizer", round=2))) == {"s0/r2/summarise", "s1/r2/summarise"}
    step = run.steps.filter(role="theorem_verifier").earliest("pk")
    make_unread(run, step.key)
    run.steps.filter(key="s0/r1/reason").update(failure="the server refused")
    run.steps.filter(key="s0/r2/reason").update(finish_reason="length")
    assert keys(run, LogFilter(status="unread")) == [step.key]
    assert keys(run, LogFilter(status="failed")) == ["s0/r1/reason"]
    assert keys(run, LogFilter(status="length")) == ["s0/r2/reason"]
    assert len(keys(run, LogFilter(status="ok"))) == run.steps.count() - 3


def test_the_search_reads_texts_and_quotes_the_place(run: Run) -> None:
    page = log_page(run, LogFilter(text="TEXT OF s1/r2/reason"))
    assert [row.step.key for row in page.rows] == ["s1/r2/reason"]
    assert "consider the residues" in page.rows[0].quote
    assert log_page(run, LogFilter(text="nowhere to be found")).rows == []


def test_a_search_that_runs_out_of_time_says_how_far_it_came(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "SEARCH_S", -1.0)
    monkeypatch.setattr(transcript, "SEARCH_CHUNK", 20)
    first = log_page(run, LogFilter(text="text of proof"))
    assert first.searched_to > 0
    assert first.searched_to == first.next_after


def test_a_broken_address_counts_as_no_filter() -> None:
    wanted = filter_from({"round": "x", "status": "odd", "after": "-3", "q": "  "})
    assert wanted == LogFilter()
    assert not wanted.is_on


def test_a_search_without_a_hit_says_so(run: Run, alice: User, client: Client) -> None:
    client.force_login(alice)
    page = client.get(f"/runs/{run.public_id}/log/?q=zzz").content.decode()
    assert "No matching calls" in page
    assert "clear the filters" in page
