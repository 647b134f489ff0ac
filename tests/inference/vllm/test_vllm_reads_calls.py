"""vLLM's tool parsers used by our reader of calls, without an engine."""

import pytest

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.reading.turns.actions import Action, read_action
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from tests.inference.conftest import a_request
from tests.inference.vllm.test_vllm_tool_parsers import whole
from tests.inference.vllm.vllm_here import VLLM
from tests.reasoning.play import final
from workers.engines.vllm_reasoning import AllText
from workers.engines.vllm_tools import WithCalls, with_calls

pytestmark = [*VLLM]


def _hermes() -> WithCalls:
    splitter = with_calls([AllText()], object(), "hermes", a_request(tools=FUNCTIONS))[0]
    assert isinstance(splitter, WithCalls)
    return splitter


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_the_parser_of_hermes_and_qwen_finds_the_calls(size: int) -> None:
    written = 'Let us see.\n<tool_call>\n{"name": "python_code", "arguments": {"code": "print(\'é\')"}}\n</tool_call>'
    text, _ = whole(_hermes(), *(written[start : start + size] for start in range(0, len(written), size)))
    expected = Action(kind="python_code", content="print('é')", before="Let us see.", called=True)
    assert read_action(final(text), "answer") == expected


def test_a_text_without_calls_is_unchanged() -> None:
    written = "It holds, as $a<b$ and <tool"
    assert whole(_hermes(), *written)[0] == written


def test_an_unknown_parser_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(BackendRefused, match=r"no tool parser magic.*hermes"):
        with_calls([AllText()], object(), "magic", a_request(tools=FUNCTIONS))
