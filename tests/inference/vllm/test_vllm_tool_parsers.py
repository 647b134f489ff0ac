"""Function calls in vLLM's output: its parsers find them, and they become text like the calls of all backends."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.reasoning.domain.errors import AliasError, RequestRejected
from apps.reasoning.domain.generation import Message
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.reading.turns.actions import Action, read_action
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from tests.inference.conftest import a_request
from tests.reasoning.play import final
from workers.engines.chat_prompt import ChatPrompt
from workers.engines.vllm_reasoning import AllText, ByTags
from workers.engines.vllm_tools import WithCalls, with_calls

TAGS = ("<think>", "</think>")


class FakeParser:
    """Reads `@name(arguments)`; holds back a `@` until more follows."""

    prev_tool_call_arr: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.seen: list[tuple[list[int], list[int], list[int]]] = []

    def extract_tool_calls_streaming(self, before: str, now: str, new: str, *ids: Any) -> Any:
        self.seen.append((list(ids[0]), list(ids[1]), list(ids[2])))
        if "@" not in now:
            return SimpleNamespace(content=new, tool_calls=[])
        if new.startswith("@") and len(new) > 1:
            return SimpleNamespace(content=None, tool_calls=[_Piece(index=0, id="a", function={"name": new[1:]})])
        return SimpleNamespace(content=None, tool_calls=[_Piece(index=0, function={"arguments": new})]) if new != "@" else None

    def get_remaining_unstreamed_args(self) -> str:
        return ""


class _Piece(SimpleNamespace):
    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        assert exclude_none
        return dict(self.__dict__)


def whole(splitter: WithCalls, *pieces: str) -> tuple[str, str]:
    """The text and reasoning of pieces of one token each."""
    parts = [splitter.push(piece, [number]) for number, piece in enumerate(pieces)]
    rest = splitter.close()
    return "".join(text for text, _, _ in parts) + rest[0], "".join(reasoning for _, reasoning, _ in parts) + rest[1]


def test_a_call_becomes_text_and_the_parser_gets_its_tokens() -> None:
    parser = FakeParser()
    text, _ = whole(WithCalls(AllText(), parser, None), "Let us see. ", "@python_code", '{"code": ', '"print(1)"}')
    expected = Action(kind="python_code", content="print(1)", before="Let us see.", called=True)
    assert read_action(final(text), "answer") == expected
    assert parser.seen[-1] == ([0, 1, 2], [0, 1, 2, 3], [3])


def test_reasoning_is_separated_first_and_never_searched_for_calls() -> None:
    parser = FakeParser()
    pieces = ("<think>@no", "</think>", "@python_code", '{"code": "print(1)"}')
    text, reasoning = whole(WithCalls(ByTags(TAGS, ""), parser, None), *pieces)
    assert reasoning == "@no"
    assert read_action(final(text), "answer") == Action(kind="python_code", content="print(1)", called=True)
    assert len(parser.seen) == 2


def test_held_back_text_that_is_not_a_call_is_text() -> None:
    assert whole(WithCalls(AllText(), FakeParser(), None), "Write to me ", "@") == ("Write to me @", "")


def test_the_template_gets_functions_only_where_there_are_some() -> None:
    received: list[dict[str, Any]] = []

    class Tokenizer:
        chat_template = "t"
        all_special_tokens = ()
        get_added_vocab = dict

        def apply_chat_template(self, messages: Any, **variables: Any) -> str:
            received.append(variables)
            return "x"

        def __call__(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
            return {"input_ids": [1]}

    prompt = ChatPrompt(Tokenizer())
    for tools in (FUNCTIONS, ()):
        prompt.tokens([Message(role="user", content="Continue.")], tools)
    assert [tool["function"]["name"] for tool in received[0]["tools"]] == ["python_code", "local_rag"]
    assert "tools" not in received[1]


def test_functions_without_a_parser_are_refused() -> None:
    with pytest.raises(RequestRejected, match=r"options\.tool_parser"):
        with_calls([AllText()], None, "", a_request(tools=FUNCTIONS))


@pytest.mark.parametrize(
    ("toml", "error"),
    [
        ('[a]\nbackend = "vllm"\nmodel = "m"\ntools = "native"\n', "needs options.tool_parser"),
        ('[a]\nbackend = "vllm"\nmodel = "m"\ntools = "yes"\n', "'text' or 'native'"),
        (
            '[a]\nbackend = "vllm"\nmodel = "m"\noptions.engine_args = { tool_call_parser = "hermes" }\n',
            "use options.tool_parser",
        ),
    ],
)
def test_the_error_for_a_mistake_in_the_file_names_the_correct_setting(toml: str, error: str) -> None:
    with pytest.raises(AliasError, match=error):
        parse_aliases(toml)


def test_an_alias_and_its_adapters_call_functions_alike() -> None:
    toml = '[big]\nbackend = "vllm"\nmodel = "m"\ntools = "native"\noptions.tool_parser = "hermes"\n'
    aliases = parse_aliases(toml + '[tuned]\nadapter_of = "big"\nadapter = "/x"\n')
    assert (aliases["big"].tools, aliases["tuned"].tools) == ("native", "native")
    assert parse_aliases('[a]\nbackend = "openai_http"\nmodel = "m"\nbase_url = "http://h/v1"\n')["a"].tools == "text"
    assert parse_aliases('[a]\nbackend = "openvino"\nmodel = "m"\ntools = "native"\n')["a"].tools == "native"
