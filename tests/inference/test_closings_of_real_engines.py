"""The three kinds of closings: by SmolLM2 in OpenVINO, in vLLM and behind `vllm serve`, and by servers that keep to a format,
ignore it or refuse it. Each closing is read, journaled under its own key, streamed and counted."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from apps.reasoning.domain.generation import Closing, Delta, Ending, Final, GenerationRequest, Message, Place, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.aliases import load_aliases
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Backend
from apps.reasoning.prompts.loader import RenderedPrompt
from apps.reasoning.reading.choices import Decision
from apps.reasoning.scaffolds.candidates.verifying import READING
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.hearing import Heard, heard
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from tests.inference.conftest import a_request, http_backend, running_server, served_alias
from tests.inference.http.fake_server import Canned, FakeModelServer, piece, sse
from tests.inference.vllm.vllm_here import LOADED_WITHIN_S, VLLM
from workers.engines.openvino import OpenVinoBackend
from workers.engines.vllm import VllmBackend

pytestmark = pytest.mark.asyncio(loop_scope="session")
MODELS = Path(__file__).resolve().parents[2] / "apps" / "config" / "models.toml"
DECISION = Ending(tag="decision", values=("pass", "fail"))


def examined(said: str) -> tuple[Message, ...]:
    """A conversation whose next answer is certain for SmolLM2: it ends with the tag, with the value `said`."""
    shown = []
    for number in (2, 4, 6, 8):
        shown.append(Message(role="user", content=f"Is {number} even?"))
        answer = f"{number} is even.\n<decision>{said}</decision>\nThank you for the question."
        shown.append(Message(role="assistant", content=answer))
    return (*shown, Message(role="user", content="Is 10 even?"))


class Server(FakeModelServer):
    """A server whose model writes `<decision>sound</decision>`. `way`: it keeps, ignores or refuses each `response_format`."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    async def _stream(self, body: dict[str, Any], receive: Any, send: Any) -> None:
        form = body.get("response_format", {}).get("type", "")
        if form and self.way == "refuses":
            refusal = json.dumps({"error": {"message": "response_format is not supported"}}).encode()
            await self._canned(Canned(status=400, body=(refusal,), content_type="application/json"), send)
            return
        kept = form if self.way == "keeps" else ""
        value = "fail" if kept or len(body["messages"]) > len(examined("")) else "sound"
        pieces = ['{"decision": ', '"fail"}'] if kept == "json_schema" else ["10 is even.\n", f"<decision>{value}</decision>"]
        usage = {"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 7}}
        await self._canned(Canned(body=(sse(*map(piece, pieces), piece(finish="stop"), usage, "[DONE]"),)), send)


_KINDS = [
    "server",
    pytest.param("openvino", marks=pytest.mark.engine),
    pytest.param("vllm", marks=VLLM),
    pytest.param("vllm_serve", marks=VLLM),
]


@pytest_asyncio.fixture(loop_scope="session", scope="module", params=_KINDS)
async def backend(request: pytest.FixtureRequest, vllm_not_loaded: VllmBackend) -> AsyncIterator[Backend]:
    if request.param == "server":
        with running_server(Server("keeps")) as server:
            found = http_backend(server, closing="grammar")
            yield found
            await found.close()
    elif request.param == "openvino":
        engine = OpenVinoBackend(load_aliases(MODELS)["smollm2"])
        yield engine
        await engine.close()
    elif request.param == "vllm":
        async with asyncio.timeout(LOADED_WITHIN_S):
            await vllm_not_loaded.start()
        yield vllm_not_loaded  # Other tests still use it.
    else:
        alias = served_alias(request.getfixturevalue("served_by_vllm")).model_copy(update={"closing": "grammar"})
        served = OpenAIHttpBackend(alias)
        yield served
        await served.close()


def _is_a_fake(backend: Backend) -> bool:
    return isinstance(backend, OpenAIHttpBackend) and backend._alias.model == "fake-model"


class Asked:
    """The result of a question: the reading, the journal, and the streamed text of each call."""

    def __init__(self) -> None:
        self.journal = InMemoryJournal()
        self.streamed: dict[str, str] = {}
        self.heard: Heard[Decision]

    @property
    def passed(self) -> bool | None:
        return self.heard.value.passed if isinstance(self.heard.value, Decision) else None

    def finals(self) -> dict[str, Final]:
        return {one.key: one.final for one in self.journal.records if one.final is not None}

    def is_whole(self) -> bool:
        """Whether every call was streamed as recorded, and counted."""
        finals = self.finals()
        assert {key: final.text for key, final in finals.items()} == self.streamed
        assert self.journal.spent.calls == len(self.journal.records)
        assert self.journal.spent.tokens == sum(one.usage.prompt + one.usage.completion for one in finals.values())
        return all(one.usage.completion > 0 for one in finals.values())


async def ask(backend: Backend, closing: Closing, said: str, journal: InMemoryJournal | None = None) -> Asked:
    """Let a verifier decide, with a kind of closing."""
    result = Asked()
    result.journal = journal or result.journal

    async def keep(request: GenerationRequest, _: int, delta: Delta) -> None:
        result.streamed[request.key] = result.streamed.get(request.key, "") + delta.text

    role = RoleSpec(alias="tested", sampling=Sampling(temperature=0, max_new_tokens=60), closing=closing)
    problem = ProblemText(id="p", version=1, title="", statement="Is 10 even?")
    spec = RunSpec(problem=problem, scaffold="self_check", roles={"verifier": role})
    ctx = RunContext(spec, result.journal, LocalDispatcher({"tested": backend}, keep), NoControls(), backoff_s=0)
    messages = examined(said)
    prompt = RenderedPrompt(messages=messages, parts=tuple(one.content for one in messages))
    result.heard = await heard(ctx, "check", role="verifier", prompt=prompt, place=Place(), reading=READING)
    return result


async def test_with_a_grammar_the_first_answer_ends_with_a_valid_closing(backend: Backend) -> None:
    result = await ask(backend, "grammar", "sound")
    assert result.passed is not None
    assert list(result.finals()) == ["check"]
    final = result.finals()["check"]
    assert final.text.startswith("10 is even.")
    assert final.text.rstrip().endswith(("<decision>pass</decision>", "<decision>fail</decision>"))
    assert final.finish_reason == "stop"
    assert result.is_whole()


async def test_without_a_grammar_a_second_call_asks_for_the_closing_with_a_schema(backend: Backend) -> None:
    result = await ask(backend, "schema", "sound")
    assert result.passed is not None
    assert list(result.finals()) == ["check", "check/again"]
    assert json.loads(result.finals()["check/again"].text)["decision"] in ("pass", "fail")
    assert result.is_whole()
    again = await ask(backend, "schema", "sound", InMemoryJournal.holding(result.journal.records))
    assert (again.streamed, again.heard) == ({}, result.heard), "a resumed run repeats neither call"


async def test_a_closing_in_words_is_read_from_the_text(backend: Backend) -> None:
    if _is_a_fake(backend):
        result = await ask(backend, "text", "sound")  # Its closing is only in its second answer.
        assert list(result.finals()) == ["check", "check/again"]
    else:
        result = await ask(backend, "text", "fail")
        assert list(result.finals()) == ["check"]
    assert result.passed is False
    assert result.is_whole()


async def test_without_the_tag_the_text_is_the_same_as_without_a_grammar(backend: Backend) -> None:
    if _is_a_fake(backend):
        return
    texts = []
    for ending in (None, DECISION):
        request = a_request(text="What are the names of the seven days of the week?", ending=ending, max_new_tokens=30)
        items = [item async for item in backend.generate(request)]
        assert isinstance(items[-1], Final)
        texts.append(items[-1].text)
    assert texts[0] == texts[1]


async def test_json_allows_no_endless_white_space(backend: Backend) -> None:
    """`vllm serve` has its own option for this (docs/models.md)."""
    if isinstance(backend, OpenAIHttpBackend):
        return
    schema = {"type": "object", "properties": {"score": {"enum": [0, 1, 2]}}, "required": ["score"]}
    for seed in range(4):
        request = a_request(f"{seed}", "Rate this.", json_schema=schema, temperature=1.5, top_p=1.0, seed=seed)
        items = [item async for item in backend.generate(request)]
        final = items[-1]
        assert isinstance(final, Final)
        assert json.loads(final.text)["score"] in (0, 1, 2)
        assert "\n" not in final.text
        assert "  " not in final.text


@pytest.mark.parametrize("closing", ["grammar", "schema"])
@pytest.mark.parametrize("way", ["ignores", "refuses"])
async def test_a_run_continues_on_a_server_that_ignores_or_refuses_the_format(way: str, closing: Closing) -> None:
    with running_server(Server(way)) as server:
        backend = http_backend(server, closing=closing)
        result = await ask(backend, closing, "sound")
        await backend.close()
    assert result.passed is False
    read_in = {"ignores": "check/again", "refuses": "check/again/in_words"}[way]
    assert result.heard.call == read_in
    assert result.is_whole()
    forms = [request.get("response_format", {}).get("type") for request in server.requests]
    first: list[str | None] = ["structural_tag"] if closing == "grammar" else [None]
    if (way, closing) == ("refuses", "grammar"):
        first = ["structural_tag", None]  # The same call is repeated without the tag.
    assert forms == [*first, "json_schema", *([None] if way == "refuses" else [])]


async def test_a_server_that_refused_a_tag_is_not_sent_another_soon() -> None:
    with running_server(Server("refuses")) as server:
        backend = http_backend(server, closing="grammar")
        for key in ("one", "two"):
            assert [item async for item in backend.generate(a_request(key, ending=DECISION))]
        await backend.close()
    assert ["response_format" in request for request in server.requests] == [True, False, False]


async def test_a_tag_is_sent_only_if_the_alias_says_so() -> None:
    with running_server(Server("keeps")) as server:
        backend = http_backend(server)
        assert [item async for item in backend.generate(a_request(ending=DECISION))]
        await backend.close()
    assert "response_format" not in server.requests[0]
