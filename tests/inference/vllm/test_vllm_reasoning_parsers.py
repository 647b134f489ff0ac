"""Each reasoning parser of vLLM gives all text and all reasoning of an answer, in pieces of one token."""

from functools import cache
from typing import Any

import pytest

from apps.reasoning.domain.errors import BackendRefused
from benchmarks.gpu.parsers import parser_names, streamed, tokenizer_with_tags

pytestmark = [pytest.mark.vllm, pytest.mark.xdist_group("vllm-parsers")]

#: Parsers whose packages or tokenizers are not here.
ELSEWHERE = {"cohere_command3", "cohere_command4", "hf", "mistral", "olmo3"}
#: Parsers that look for phrases or for addressed messages instead of tags, and those that leave tags in the text.
WITHOUT_TAGS = {"granite", "hunyuan_a13b", "minimax_m2_append_think", "muse_glimmer", "openai_gptoss", "hy_v3"}


@cache
def _tokenizer() -> Any:
    return tokenizer_with_tags()


def test_parsers_with_tags_lose_no_letter_of_a_text_or_of_its_reasoning() -> None:
    found = {name: streamed(name, _tokenizer(), 8) for name in parser_names() if name not in ELSEWHERE | WITHOUT_TAGS}
    assert {"qwen3", "deepseek_r1", "gemma4", "kimi_k2", "glm45", "seed_oss", "mimo"} <= set(found)
    wrong = {name: (one.text, one.reasoning) for name, one in found.items() if one.text.strip() != "b<"}
    assert wrong == {"kimi_k3": ("b", "aaaaaaaa")}  # vLLM's own parser of this family gives back no unfinished tag.
    assert {one.reasoning for one in found.values()} <= {"aaaaaaaa", "<think>aaaaaaaa"}


def test_a_prompt_that_closes_the_reasoning_leaves_text_only() -> None:
    closed = (1, *_tokenizer().convert_tokens_to_ids(["<think>", "</think>"]))
    for name in ("deepseek_r1", "qwen3", "glm45", "kimi_k2", "step3"):
        from workers.engines.vllm_reasoning import by_parser

        splitter = by_parser(name, _tokenizer(), {}, closed)
        assert splitter.push("Thus", [7])[:2] == ("Thus", ""), name


def test_messages_of_gpt_oss_are_reasoning_and_text() -> None:
    from vllm.entrypoints.openai.parser.harmony_utils import get_encoding

    from workers.engines.vllm_reasoning import by_parser

    said = "<|channel|>analysis<|message|>Why<|end|><|start|>assistant<|channel|>final<|message|>Thus<|return|>"
    splitter = by_parser("openai_gptoss", _tokenizer(), {}, [1])
    parts = [splitter.push("", [token]) for token in get_encoding().encode(said, allowed_special="all")]
    text, reasoning = splitter.close()
    assert "".join(part[0] for part in parts) + text == "Thus"
    assert "".join(part[1] for part in parts) + reasoning == "Why"
    assert sum(part[2] for part in parts) == 1


def test_an_unknown_parser_and_one_for_another_tokenizer_are_named() -> None:
    from workers.engines.vllm_reasoning import by_parser

    with pytest.raises(BackendRefused, match=r"options.reasoning_parser = “nothing” cannot be used: .*not found"):
        by_parser("nothing", _tokenizer(), {}, [1])
    with pytest.raises(BackendRefused, match="“mistral” cannot be used: Mistral parser could not locate"):
        by_parser("mistral", _tokenizer(), {}, [1])
