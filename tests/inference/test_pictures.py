"""Which aliases accept pictures, how pictures are sent to a server, and what a script answers to one."""

import base64

import pytest

from apps.reasoning.domain.errors import AliasError, RequestRejected
from apps.reasoning.domain.generation import PICTURE_LENGTH, Final, Picture
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.scripted import ScriptedBackend, picture_key
from apps.reasoning.ports import Backend
from tests.inference.conftest import a_request, http_backend
from tests.inference.http.fake_server import FakeModelServer
from workers.slots import tokens_of

HTTP = 'backend = "openai_http"\nmodel = "m"\nbase_url = "http://localhost:1/v1"\n'
pytestmark = pytest.mark.asyncio


def picture(content: bytes = b"a page") -> Picture:
    return Picture(media="image/jpeg", data=base64.b64encode(content).decode())


async def final_of(backend: Backend, **fields: object) -> Final:
    items = [item async for item in backend.generate(a_request(**fields))]  # type: ignore[arg-type]  # fields of the request
    assert isinstance(items[-1], Final)
    return items[-1]


async def test_only_model_servers_and_scripts_can_have_vision() -> None:
    assert parse_aliases(f"[a]\n{HTTP}vision = true\n")["a"].vision
    assert not parse_aliases(f"[a]\n{HTTP}")["a"].vision
    for table in ('backend = "openvino"\nmodel = "m"', 'backend = "vllm"\nmodel = "m"'):
        with pytest.raises(AliasError, match="pictures go to model servers only"):
            parse_aliases(f"[a]\n{table}\nvision = true\n")


async def test_pictures_follow_the_text_of_the_last_message(model_server: FakeModelServer) -> None:
    shown = picture()
    await final_of(http_backend(model_server, vision=True), text="Read it.", pictures=(shown,))
    content = model_server.requests[-1]["messages"][-1]["content"]
    assert content == [
        {"type": "text", "text": "Read it."},
        {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{shown.data}"}},
    ]


async def test_a_server_without_vision_is_never_sent_a_picture(model_server: FakeModelServer) -> None:
    with pytest.raises(RequestRejected, match="vision = true"):
        await final_of(http_backend(model_server), pictures=(picture(),))
    assert not model_server.requests


async def test_a_script_answers_by_picture_for_every_key() -> None:
    backend = ScriptedBackend({picture_key(picture()): "the first", picture_key(picture(b"other")): "the second"}, vision=True)
    assert (await final_of(backend, key="x", pictures=(picture(b"other"),))).text == "the second"
    assert (await final_of(backend, key="y", pictures=(picture(),))).text == "the first"
    with pytest.raises(RequestRejected, match="no text for the call"):
        await final_of(backend, pictures=(picture(b"unknown"),))


async def test_a_picture_has_a_maximum_size_and_counts_as_tokens() -> None:
    with pytest.raises(ValueError, match="at most"):
        Picture(media="image/jpeg", data="A" * (PICTURE_LENGTH + 1))
    assert tokens_of(a_request(pictures=(picture(),))) > tokens_of(a_request()) + 1000
