"""The engine process sends the text of a call without readers in few large pieces, and of a call with readers at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from apps.reasoning.domain.generation import Delta, Final
from apps.reasoning.inference.aliases import load_aliases
from tests.inference.conftest import a_request
from workers.engines.openvino import OpenVinoBackend
from workers.readers import Readers

MODELS = Path(__file__).resolve().parents[3] / "apps" / "config" / "models.toml"
#: Long enough for many pieces on a fast machine as well.
LONG = "Write a very long story about foxes and crows."
pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def readers() -> Readers:
    return Readers()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def backend(readers: Readers) -> AsyncIterator[OpenVinoBackend]:
    backend = OpenVinoBackend(load_aliases(MODELS)["smollm2"], readers)
    yield backend
    await backend.close()


async def _answer(backend: OpenVinoBackend, key: str) -> tuple[list[Delta], Final]:
    pieces: list[Delta] = []
    async for item in backend.generate(a_request(key, LONG, max_new_tokens=150)):
        if isinstance(item, Final):
            return pieces, item
        pieces.append(item)
    raise AssertionError("no result")


async def test_an_answer_without_readers_arrives_complete_in_few_pieces(backend: OpenVinoBackend, readers: Readers) -> None:
    await _answer(backend, "loads the model")
    readers.update(frozenset({a_request().run}))
    read, final = await _answer(backend, "read")
    readers.update(frozenset())
    unread, same = await _answer(backend, "unread")
    assert same.text == final.text == "".join(piece.text for piece in unread)
    assert sum(piece.tokens for piece in unread) == same.usage.completion
    assert len(unread) < len(read) / 2


async def test_the_first_piece_without_readers_is_sent_at_once(backend: OpenVinoBackend, readers: Readers) -> None:
    """The time to the first token can be measured only so."""
    readers.update(frozenset())
    pieces, final = await _answer(backend, "first")
    assert pieces[0].tokens < 5
    assert final.ttft_s is not None
    assert final.ttft_s < final.duration_s


async def test_a_reader_who_arrives_during_generation_gets_the_text_from_there(
    backend: OpenVinoBackend, readers: Readers
) -> None:
    readers.update(frozenset())
    pieces: list[Delta] = []
    request = a_request("comes late", LONG, max_new_tokens=150)
    async for item in backend.generate(request):
        if isinstance(item, Delta):
            pieces.append(item)
            readers.update(frozenset({request.run}))
    assert len(pieces) > 10
