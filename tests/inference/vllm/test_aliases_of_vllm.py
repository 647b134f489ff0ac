"""Tables of the backend vllm: options, and adapters that share the engine of another alias."""

import pytest

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Adapter, Alias, VllmOptions, parse_aliases
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.reasoning.ports import Backend
from tests.inference.conftest import a_request
from workers.engines.vllm_engine import engine_args
from workers.host import EngineHost

BASE = '[big]\nbackend = "vllm"\nmodel = "/models/big"\nrevision = "abc"\ncontext_tokens = 32768\nconcurrency = 200\n'
TUNED = '[tuned]\nadapter_of = "big"\nadapter = "/models/step-4"\nrevision = "step 4"\n'


def test_an_adapter_is_an_alias_with_the_engine_and_queue_of_another() -> None:
    aliases = parse_aliases(BASE + TUNED)
    big, tuned = aliases["big"], aliases["tuned"]
    assert tuned.queue == big.queue == "inference.big"
    assert (tuned.engine, tuned.title, tuned.revision) == ("big", "tuned", "step 4")
    assert (tuned.context_tokens, tuned.concurrency, tuned.options) == (32768, 200, big.options)
    assert big.adapters == (Adapter(name="tuned", path="/models/step-4", revision="step 4"),)


def test_a_disabled_adapter_is_not_loaded() -> None:
    assert parse_aliases(BASE + TUNED + "enabled = false\n")["big"].adapters == ()


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('[a]\nadapter_of = "b"\nadapter = "/x"\n', r"line 2, \[a\] adapter_of: name an alias of the backend vllm"),
        ('[s]\nbackend = "scripted"\noptions.script = "x"\n[a]\nadapter_of = "s"\nadapter = "/x"\n', "of the backend vllm"),
        (BASE + '[a]\nadapter_of = "big"\n', r"\[a\] adapter: name the folder"),
        (BASE + '[a]\nadapter_of = "big"\nadapter = "/x"\nmodel = "other"\n', r"\[a\] model: an adapter takes this from big"),
        (BASE + "enabled = false\n" + TUNED, r"\[tuned\] adapter_of: big is not enabled"),
        ('[a]\nbackend = "vllm"\nmodel = "m"\nadapter = "/x"\n', r"\[a\] adapter: adapter_of must name"),
        (BASE + "adapters = []\n", r"\[big\] adapters: write a table of its own"),
        (BASE + TUNED + '[two]\nadapter_of = "tuned"\nadapter = "/y"\n', r"\[two\] adapter_of"),
        ('[a]\nbackend = "vllm"\n', "the backend vllm needs the key model"),
        (BASE + "[big.options]\ntensor_parallell = 2\n", r"line 8, \[big\] tensor_parallell: there is no such key"),
        (BASE + "[big.options]\nengine_args = { max_model_len = 5 }\n", "context_tokens instead of max_model_len"),
        (BASE + 'weights = "/models/step-4"\n', r"\[big\].*weights ends in /\*, for the newest numbered folder"),
        (BASE + 'weights = "/jobs/live/*"\n' + TUNED, r"\[tuned\] adapter_of: big follows whole weights"),
        (BASE + 'weights = "/jobs/live/*"\n[big.options]\nquantization = "fp8"\n', "are not quantised"),
        (BASE + 'weights = "/jobs/live/*"\noptions.engine_args.worker_extension_cls = "a.B"\n', "cannot have options.eng"),
        ('[s]\nbackend = "scripted"\noptions.script = "x"\nweights = "/jobs/live/*"\n', "of the backend vllm only"),
        (BASE + "[big.options]\nengine_args = { weight_transfer_config = {} }\n", "the alias' weights instead of weight_tra"),
        (BASE + "[big.options]\nengine_args = { trust_remote_code = true }\n", "code that comes with weights is not run here"),
    ],
)
def test_a_mistake_says_what_to_write(toml: str, sentence: str) -> None:
    with pytest.raises(AliasError, match=sentence):
        parse_aliases(toml)


def test_an_alias_that_follows_whole_weights_exchanges_them_by_our_module() -> None:
    alias = parse_aliases(BASE + 'weights = "/jobs/live/*"\n')["big"]
    args = engine_args(alias)
    assert (alias.engine, alias.weights) == ("big", "/jobs/live/*")
    assert args["weight_transfer_config"] == {"backend": "lemmascope_folder"}
    assert args["worker_extension_cls"] == "workers.engines.weights.in_vllm.FollowsWeights"
    assert "weight_transfer_config" not in engine_args(parse_aliases(BASE)["big"])


def test_keys_become_arguments_of_the_engine() -> None:
    options = '[big.options]\ntensor_parallel = 4\nquantization = "fp8"\nreasoning_parser = "qwen3"\nlogprobs_of = "raw"\n'
    args = engine_args(parse_aliases(BASE + options + "engine_args = { swap_space = 8 }\n" + TUNED)["big"])
    assert (args["model"], args["max_model_len"], args["max_num_seqs"]) == ("/models/big", 32768, 212)
    assert (args["tensor_parallel_size"], args["quantization"], args["reasoning_parser"]) == (4, "fp8", "qwen3")
    assert args["logprobs_mode"] == "raw_logprobs"
    assert args["scheduling_policy"] == "priority"
    assert args["enable_lora"] is True
    assert args["swap_space"] == 8


def test_on_a_cpu_prompts_are_read_whole() -> None:
    """On a CPU, a prompt read in pieces with a seed ends the engine of vLLM 0.32."""
    alias = parse_aliases(BASE + "[big.options]\nmax_batched_tokens = 512\n")["big"]
    assert engine_args(alias)["max_num_batched_tokens"] == 512
    on_cpu = engine_args(alias, on_cpu=True)
    assert on_cpu["enable_chunked_prefill"] is False
    assert on_cpu["max_num_batched_tokens"] == 32768


def test_missing_keys_are_left_to_the_engine() -> None:
    args = engine_args(parse_aliases(BASE)["big"])
    assert isinstance(parse_aliases(BASE)["big"].options, VllmOptions)
    assert args["logprobs_mode"] == "processed_logprobs", "ratios are to the distribution that was drawn from"
    assert not {"quantization", "max_num_batched_tokens", "reasoning_parser", "enable_lora"} & set(args)


def test_the_host_sends_calls_of_an_adapter_to_its_engine() -> None:
    made: list[str] = []

    def make(alias: Alias) -> Backend:
        made.append(alias.name)
        return ScriptedBackend(_answer)

    host = EngineHost(parse_aliases(BASE + TUNED), make_backend=make)
    try:
        finals: list[Final] = [host.run(a_request(name, alias=name)) for name in ("tuned", "big")]
        assert [final.text for final in finals] == ["for tuned", "for big"]
        assert made == ["big"]
        assert set(host.health()) == {"big", "tuned"}
    finally:
        host.close()


def _answer(request: GenerationRequest) -> str:
    return f"for {request.alias}"
