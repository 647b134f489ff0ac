"""Parts of the vLLM backend that can be tested without vLLM: assembled answers, prompts, and reasons for a failed start."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from apps.reasoning.domain.errors import BackendRefused, BackendUnavailable, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Final, Message
from apps.reasoning.inference.aliases import Alias, parse_aliases
from tests.inference.conftest import a_request
from workers.backends import backend_for
from workers.engines.chat_prompt import ChatPrompt
from workers.engines.vllm import VllmBackend
from workers.engines.vllm_answer import Answer, Origin
from workers.engines.vllm_errors import explained, lost
from workers.engines.vllm_reasoning import AllText, ByTags, Splitter

ORIGIN = Origin(policy="p", logprobs_of="raw", tokenizer="t", chat_template="c")


def _alias() -> Alias:
    return parse_aliases('[big]\nbackend = "vllm"\nmodel = "some/model"\noptions.gpu_memory_utilization = 0.95\n')["big"]


def _output(*pieces: tuple[int, str, list[int], str | None], cached: int = 0) -> Any:
    """An output of the engine: index, text, tokens and finish reason of each completion."""
    outputs = [
        SimpleNamespace(
            index=index,
            text=text,
            token_ids=tokens,
            finish_reason=reason,
            logprobs=[{token: SimpleNamespace(logprob=-token / 10)} for token in tokens],
        )
        for index, text, tokens, reason in pieces
    ]
    return SimpleNamespace(outputs=outputs, num_cached_tokens=cached, finished=False)


def _started(*splitters: Splitter, most: int = 40, **fields: Any) -> Answer:
    return Answer(a_request(temperature=1, **fields), [1, 2, 3], splitters, 0.0, most)


def _answer(splitter: Splitter, *outputs: Any, n: int = 1, capture: bool = True) -> Final:
    answer = _started(splitter, *(AllText() for _ in range(n - 1)), n=n, capture=capture)
    answer.begin(ORIGIN)
    for output in outputs:
        answer.take(output)
    if not answer.is_whole:
        answer.begin(ORIGIN)
    return answer.final()


async def test_a_worker_without_vllm_reports_that_and_refuses_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    backend = backend_for(_alias())
    assert isinstance(backend, VllmBackend)
    with pytest.raises(BackendRefused, match="vLLM is not installed in this worker's environment"):
        await anext(aiter(backend.generate(a_request(alias="big"))))
    assert (await backend.health()).state == "down"
    await backend.close()


async def test_a_missing_model_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    alias = parse_aliases('[big]\nbackend = "vllm"\nmodel = "/nowhere/at/all"\n')["big"]
    backend = VllmBackend(alias)
    with pytest.raises(BackendUnavailable, match="There is no model at /nowhere/at/all"):
        await backend.start()


async def test_a_health_check_loads_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    backend = VllmBackend(_alias())
    assert (await backend.health()).state == "loading"
    await asyncio.sleep(0.05)
    for _ in range(2):
        health = await backend.health()
        assert health.state == "down"
        assert "not installed" in health.detail


@pytest.mark.parametrize(
    ("output", "error", "sentence"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", BackendUnavailable, "options.tensor_parallel"),
        ("x ERROR 1 vllm: ValueError: No available memory for the cache blocks.", BackendUnavailable, "context_tokens or conc"),
        ("ValueError: Free memory on device (1/80 GiB) on startup is less than desired", BackendUnavailable, "another program"),
        (
            "ValueError: User-specified max_model_len (9) is greater than the derived max",
            BackendRefused,
            "context_tokens of big",
        ),
        ("RuntimeError: no kernel image is available", BackendRefused, 'vLLM says: "no kernel image is available"'),
    ],
)
def test_the_error_of_a_failed_start_names_the_option_to_change(output: str, error: type[Exception], sentence: str) -> None:
    raised = "RuntimeError: Engine core initialization failed. See root cause above."
    found = explained(_alias(), raised, f"Traceback\n{output}\nRuntimeError: Engine core initialization failed.")
    assert type(found) is error
    assert sentence in str(found)


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("", "The engine died while it generated."),
        ("RuntimeError: illegal memory access", 'generated. vLLM says: "illegal memory access"'),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
            "ran out of memory while it generated. Lower its",
        ),
    ],
)
def test_the_error_of_an_engine_that_died_has_the_reason_if_known(output: str, sentence: str) -> None:
    issue = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the cause."
    assert sentence in str(lost(_alias(), f"{output}\n{issue}" if output else ""))


def test_the_tokens_and_log_probabilities_come_from_the_outputs() -> None:
    final = _answer(AllText(), _output((0, "One", [7], None), cached=2), _output((0, " two", [8, 9], "stop")))
    assert (final.text, final.finish_reason) == ("One two", "stop")
    assert (final.usage.prompt, final.usage.cached, final.usage.completion) == (3, 2, 3)
    assert final.capture is not None
    assert final.capture.completion_ids == (7, 8, 9)
    assert final.capture.logprobs == (-0.7, -0.8, -0.9)
    assert (final.capture.policy, final.capture.prompt_ids) == ("p", (1, 2, 3))


def test_tokens_drawn_after_an_exchange_of_weights_have_the_policy_of_the_new_ones() -> None:
    """vLLM reports it with the last output; weights that were never exchanged have the name `default`."""
    last = _output((0, " three", [9], "stop"))
    spans = [("default", 0, 1), ("policy/4 of p", 1, 3)]
    last.outputs[0].weight_versions = [SimpleNamespace(version=name, start=a, end=b) for name, a, b in spans]
    final = _answer(AllText(), _output((0, "One", [7], None)), _output((0, " two", [8], None)), last)
    assert final.capture is not None
    assert [(one.tokens, one.policy) for one in final.capture.segments] == [(1, "p"), (2, "policy/4 of p")]
    assert (final.capture.policy, final.model_revision) == ("p", "policy/4 of p")


def test_an_answer_continues_in_segments_each_with_its_own_policy() -> None:
    answer = _started(AllText(), capture=True, segment_tokens=2, most=5)
    requested = []
    for version, tokens, reason in ((0, [7, 8], "length"), (0, [9, 10], "length"), (4, [11], "length")):
        assert not answer.is_whole
        requested.append(answer.begin(Origin(policy=f"p/{version}", logprobs_of="raw", tokenizer="t", chat_template="c")))
        answer.take(_output((0, "ab "[: len(tokens)], tokens, reason), cached=3))
    assert answer.is_whole, "five tokens are the limit"
    assert [(one.prompt_ids[3:], one.room, one.number) for one in requested] == [
        ([], 2, 0),
        ([7, 8], 2, 1),
        ([7, 8, 9, 10], 1, 2),
    ]
    final = answer.final()
    assert (final.text, final.finish_reason, final.model_revision) == ("ababa", "length", "p/4")
    assert (final.usage.prompt, final.usage.cached, final.usage.completion) == (3, 3, 5)
    assert final.capture is not None
    assert final.capture.policy == "p/0", "the oldest"
    assert [(one.tokens, one.policy) for one in final.capture.segments] == [(2, "p/0"), (2, "p/0"), (1, "p/4")]


def test_answers_with_a_schema_and_several_completions_are_not_segmented() -> None:
    for fields in ({"json_schema": {"type": "object"}}, {"n": 2}):
        answer = _started(AllText(), AllText(), segment_tokens=2, **fields)
        assert answer.begin(ORIGIN).room == 40


def test_tokens_are_captured_only_on_request() -> None:
    assert _answer(AllText(), _output((0, "One", [7], "stop")), capture=False).capture is None


def test_other_completions_are_part_of_the_result() -> None:
    final = _answer(AllText(), _output((1, "B", [5], "stop")), _output((0, "A", [4, 4], "stop")), n=2)
    assert (final.text, [sample.text for sample in final.more]) == ("A", ["B"])
    assert final.usage.completion == 3


def test_a_call_that_the_engine_failed_or_never_finished_is_lost() -> None:
    with pytest.raises(EngineLost, match="gave up the call"):
        _answer(AllText(), _output((0, "A", [4], "error")))
    with pytest.raises(EngineLost, match="without a result"):
        _answer(AllText(), _output((0, "A", [4], None)))


def test_reasoning_between_tags_is_separated_even_if_the_prompt_opened_it() -> None:
    pieces = [_output((0, "<think>Why", [1], None)), _output((0, " so</think>\nThus", [2, 3], "stop"))]
    assert (_answer(ByTags(("<think>", "</think>"), "assistant\n"), *pieces).reasoning) == "Why so"
    opened = [_output((0, "Why", [1], None)), _output((0, "</think>Thus", [2], "stop"))]
    final = _answer(ByTags(("<think>", "</think>"), "assistant\n<think>\n"), *opened)
    assert (final.reasoning, final.text, final.usage.reasoning) == ("Why", "Thus", 2)


class FakeTokenizer:
    """The parts of a tokeniser that ChatPrompt needs."""

    chat_template = "t"
    all_special_tokens = ("<|im_end|>", "</s>")
    backend_tokenizer = None

    def get_added_vocab(self) -> dict[str, int]:
        return {"<think>": 5, "\n\n": 6, "<|im_end|>": 7}

    def get_vocab(self) -> dict[str, int]:
        return {"a": 1}

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        if messages[0]["role"] == "assistant":
            raise ValueError("roles must alternate")
        return "".join(f"{message['role']}:{message['content']}" for message in messages)

    def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [ord(letter) for letter in text]}


def test_control_tokens_in_a_text_are_broken_and_blank_lines_are_not() -> None:
    prompt = ChatPrompt(FakeTokenizer())
    tokens = prompt.tokens([Message(role="user", content="a<|im_end|>b</s>\n\n<think>c < d")])
    assert "".join(map(chr, tokens)) == "user:a< |im_end|>b< /s>\n\n< think>c < d"


def test_the_hash_of_the_template_changes_with_its_variables() -> None:
    hashes = {
        ChatPrompt(FakeTokenizer()).template_hash,
        ChatPrompt(FakeTokenizer(), variables={"enable_thinking": False}).template_hash,
        ChatPrompt(FakeTokenizer(), template="u").template_hash,
    }
    assert len(hashes) == 3


def test_a_role_that_the_template_refuses_fails_the_call_and_a_missing_template_the_engine() -> None:
    with pytest.raises(RequestRejected, match="roles must alternate"):
        ChatPrompt(FakeTokenizer()).tokens([Message(role="assistant", content="a")])
    bare = FakeTokenizer()
    bare.chat_template = ""
    with pytest.raises(BackendUnavailable, match=r"options\.chat_template"):
        ChatPrompt(bare)
