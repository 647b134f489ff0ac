"""Functions reach an OpenVINO model through its own chat template, and it stops after one call."""

import pytest

from apps.reasoning.inference.streaming import read_to_final
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from tests.inference.conftest import a_request
from workers.engines.openvino import OpenVinoBackend
from workers.engines.openvino_wire import AFTER_A_CALL, add_message


def test_offered_functions_reach_the_engine_with_a_stop_after_a_call() -> None:
    message = add_message(1, a_request(tools=FUNCTIONS))
    assert [(tool["type"], tool["function"]["name"]) for tool in message["tools"]] == [
        ("function", "python_code"),
        ("function", "local_rag"),
    ]
    assert message["stop"][-1] == AFTER_A_CALL
    assert (add_message(2, a_request())["tools"], AFTER_A_CALL in add_message(2, a_request())["stop"]) == ([], False)


@pytest.mark.engine
@pytest.mark.asyncio(loop_scope="module")
async def test_a_model_whose_template_has_no_functions_answers_without_them(openvino: OpenVinoBackend) -> None:
    plain = await read_to_final(openvino, a_request("plain", "Say hello.", max_new_tokens=8))
    offered = await read_to_final(openvino, a_request("offered", "Say hello.", max_new_tokens=8, tools=FUNCTIONS))
    assert offered.text
    assert offered.usage.prompt >= plain.usage.prompt
