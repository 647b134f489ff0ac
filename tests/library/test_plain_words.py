"""An error about an address, a key, a name or a number says what to do."""

import json
import logging
from typing import Any

import pytest

from apps.reasoning.library import PlanError, RunHalted, asolve, solve
from apps.reasoning.programs.registry import SCAFFOLDS
from tests.inference.http.fake_server import Canned
from tests.library.conftest import PROBLEM, ModelServer, Served

KEY = "sk-a-secret-0123456789"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scaffold": "magic"}, f"There is no scaffold magic; there are {', '.join(SCAFFOLDS)}."),
        ({"preset": "slow"}, "Self-Check has no preset slow; there are quick, paper."),
        ({"params": {"votes": 3}}, "Self-Check has no parameter votes; there are improve, accept, give_up"),
        ({"params": {"accept": 0}}, "accept: write a number of at least 1"),
        ({"problem": ""}, "The problem is empty."),
        ({"base_url": "127.0.0.1:8000"}, "base_url: write an address like http://localhost:8000/v1"),
        ({"base_url": "http://me:secret@host/v1"}, "base_url: write an address .* without user name or key"),
        ({"base_url": "http://127.0.0.1:port/v1"}, "base_url: http://127.0.0.1:port/v1 is no address"),
        ({"hints": [""]}, "hints.0: write a text"),
        ({"model": ""}, "model: write a text"),
        ({"calls": 0}, "calls: write a number of at least 1"),
        ({"concurrency": 0}, "concurrency: write a number of at least 1"),
        ({"seed": -1}, "seed: write a number of at least 0"),
        ({"api_key_env": "sk-abc"}, "api_key_env: name an environment variable here"),
        ({"hints": "Try it."}, "hints: give a list of texts"),
        ({"server": {"retry": 3}}, "server.retry: there is no such field"),
        (
            {"scaffold": "alpha_apollo", "params": {"earlier_lemmas": "topic"}},
            "earlier_lemmas needs the application: the library keeps no earlier runs",
        ),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_asked(
    given: dict[str, Any], said: str, server: ModelServer, served: Served
) -> None:
    arguments: Served = {"problem": PROBLEM, "scaffold": "self_check"} | served | given
    with pytest.raises(PlanError, match=said):
        asolve(**arguments)
    assert server.lists_asked == 0


def test_a_keyword_that_there_is_not_or_that_is_missing_is_named(served: Served) -> None:
    with pytest.raises(TypeError, match="There is no keyword modell; there are base_url, model"):
        solve(PROBLEM, scaffold="self_check", modell="x", **served)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="The keyword model is missing"):
        solve(PROBLEM, scaffold="self_check", base_url="http://127.0.0.1:1/v1")  # type: ignore[call-arg]


def test_a_server_that_does_not_answer_is_reported_without_waiting() -> None:
    with pytest.raises(RunHalted, match=r"^Nothing answers at http://127\.0\.0\.1:1/v1\. Start .* or correct base_url\.$"):
        solve(PROBLEM, scaffold="self_check", base_url="http://127.0.0.1:1/v1", model="m")


def test_a_wrong_model_name_is_reported_with_the_served_names(server: ModelServer) -> None:
    server.listed = [{"id": "small"}, {"id": "models/large"}]
    with pytest.raises(RunHalted, match="does not serve the model huge; it serves small, large"):
        solve(PROBLEM, scaffold="self_check", base_url=server.base_url, model="huge")


def test_a_context_that_the_server_does_not_tell_must_be_given(server: ModelServer, served: Served) -> None:
    for listed in (None, [{"id": "fake-model"}]):
        server.listed = listed
        with pytest.raises(PlanError, match=r"does not say how long the context of fake-model is.*or give context_tokens"):
            solve(PROBLEM, scaffold="self_check", **served)
    assert solve(PROBLEM, scaffold="self_check", calls=1, context_tokens=4000, **served).calls == 1
    assert server.requests[0]["max_tokens"] == 2000


@pytest.mark.parametrize(
    "model", [{"context_length": 6000}, {"context_window": 6000}, {"meta": {"n_ctx": 6000}}, {"max_model_len": 6000}]
)
def test_servers_tell_their_context_under_several_names(model: dict[str, Any], server: ModelServer, served: Served) -> None:
    server.listed = [{"id": "other"}, {"id": "fake-model:latest"} | model]
    solve(PROBLEM, scaffold="self_check", calls=1, **served)
    assert server.requests[0]["max_tokens"] == 3000


def test_a_key_comes_from_the_caller_or_a_variable(
    server: ModelServer, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = KEY
    assert solve(PROBLEM, scaffold="self_check", calls=1, api_key=KEY, **served).calls == 1
    monkeypatch.setenv("SERVER_KEY", KEY)
    assert solve(PROBLEM, scaffold="self_check", calls=1, api_key_env="SERVER_KEY", **served).calls == 1


def test_a_missing_or_wrong_key_is_reported(server: ModelServer, served: Served) -> None:
    server.key = KEY
    with pytest.raises(RunHalted, match=r"refused the key \(status 401\). Give api_key_env or api_key."):
        solve(PROBLEM, scaffold="self_check", **served)
    with pytest.raises(RunHalted, match="Check api_key, or the variable that api_key_env names"):
        solve(PROBLEM, scaffold="self_check", api_key="wrong", **served)
    with pytest.raises(PlanError, match="The environment variable NO_SUCH_KEY is not set"):
        solve(PROBLEM, scaffold="self_check", api_key_env="NO_SUCH_KEY", **served)


def test_no_message_log_line_or_file_shows_the_key(
    server: ModelServer, served: Served, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "run.jsonl"
    body = json.dumps({"error": {"message": f"No such thing; you sent {KEY}."}}).encode()
    server.next_answers.append(Canned(status=418, body=(body,), content_type="application/json"))
    result = solve(PROBLEM, scaffold="self_check", journal=path, api_key=KEY, **served)
    assert (KEY in result.model_dump_json(), KEY in path.read_text()) == (False, False)
    assert "you sent [key]" in path.read_text()
    server.next_answers.append(Canned(status=403, body=(body,), content_type="application/json"))
    with pytest.raises(RunHalted) as halted:
        solve(PROBLEM, scaffold="self_check", api_key=KEY, **served)
    assert KEY not in f"{halted.value!r} {halted.value.__cause__!r} {caplog.text}"
