"""The page's socket client against a fake WebSocket and a fake clock, in Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from apps.ui.words import compact, duration


@pytest.fixture(scope="module")
def facts() -> Any:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node (the set-up fetches it for the front-end packages)")
    script = Path(__file__).with_name("check_run_stream.mjs")
    done = subprocess.run([node, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_gap_reconnects_after_the_last_event_and_doubles_are_ignored(facts: Any) -> None:
    assert facts["gap"]["urls"] == ["ws://x/ws/runs/1/?after=3", "ws://x/ws/runs/1/?after=6"]
    assert facts["gap"]["events"] == [4, 5, 6, 7, 8, 9]


def test_a_page_that_knows_events_that_a_restore_has_undone_loads_again(facts: Any) -> None:
    assert facts["undone"] == {"before": 0, "after": 1, "events": [], "urls": 2, "link": "stopped"}


def test_the_page_says_when_it_catches_up_and_when_it_is_live(facts: Any) -> None:
    assert facts["gap"]["links"] == ["connecting", "catching-up", "live", "waiting", "connecting", "catching-up", "live"]


def test_a_lost_connection_is_tried_again_and_again(facts: Any) -> None:
    assert facts["backoff"] == {"tries": 10, "waits": 9}


def test_silence_of_two_beats_cuts_the_connection_but_one_does_not(facts: Any) -> None:
    assert facts["silence"] == {"early": 1, "later": True}


def test_a_beat_that_is_ahead_means_something_is_missing(facts: Any) -> None:
    assert facts["beat"] == {"before": 1, "after": 2, "url": "ws://x/ws/runs/1/?after=2"}


def test_at_most_sixteen_calls_are_watched_and_again_after_a_reconnect(facts: Any) -> None:
    assert facts["watch"] == {"sizes": [16, 16], "kinds": ["watch", "watch"]}


def test_signed_out_and_unknown_runs_are_not_tried_again(facts: Any) -> None:
    assert facts["ends"] == {"4401": {"link": "signed-out", "sockets": 1}, "4404": {"link": "gone", "sockets": 1}}


def test_coming_back_to_the_page_checks_at_once_and_never_after_the_end(facts: Any) -> None:
    assert facts["check"] == {"suspicious": 2, "stopped": 2, "link": "stopped"}


def test_pieces_of_one_stream_are_drawn_together_and_none_while_hidden(facts: Any) -> None:
    assert facts["loop"]["joined"] == ["𝑥yz", "q"]
    assert facts["loop"]["applied"] == ["piece", "piece", "event", "event", "state"]
    assert facts["loop"]["dropped"] == ["b"]


def test_a_page_that_is_slower_than_its_run_catches_up_and_loses_no_text(facts: Any) -> None:
    assert facts["behind"]["text"] == 400
    assert facts["behind"]["last"] == 7
    assert facts["behind"]["seconds"] < 12


def test_waiting_messages_are_condensed_and_keep_their_order(facts: Any) -> None:
    assert facts["condensed"] == ["𝑥y", "u", "event", "q", "text", "r", "counters2", "state2"]


def test_what_cannot_be_drawn_does_not_stop_what_follows(facts: Any) -> None:
    assert facts["error"] == {"seen": ["text", "state"], "message": "cannot be drawn"}


def test_refreshes_are_throttled_and_the_last_one_is_not_lost(facts: Any) -> None:
    assert facts["throttled"] == {"once": 1, "held": 1, "after": 2}


def test_refreshes_leave_a_slow_machine_most_of_its_time(facts: Any) -> None:
    assert facts["rest"]["runs"] > 10
    assert facts["rest"]["runs"] <= facts["rest"]["seconds"] / 4


def test_the_script_says_numbers_as_the_server_does(facts: Any) -> None:
    assert facts["words"]["compact"] == [compact(number) for number in (0, 9999, 12_400, 3_000_000)]
    assert facts["words"]["duration"] == [duration(seconds) for seconds in (0.4, 42, 200, 7500)]


def test_the_script_is_honest_about_what_a_run_does(facts: Any) -> None:
    assert facts["words"]["liveness"] == [
        "queued; waiting for an orchestrator",
        "generating 1,240 tokens in 1 call at 57/s",
        "waiting for the model; 2 calls under way",
        "running; between calls",
        "running; checking the last formulas",
        "stalled; another orchestrator will take it over soon",
        None,
    ]
