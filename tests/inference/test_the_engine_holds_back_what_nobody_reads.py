"""The engine's process tells of a call that nobody reads now and then, of one that somebody reads as it writes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from apps.reasoning.domain.generation import Delta, Final
from apps.reasoning.inference.aliases import load_aliases
from tests.inference.conftest import a_request
from workers.engines.openvino import OpenVinoBackend
from workers.readers import Readers

MODELS = Path(__file__).resolve().parents[2] / "apps" / "config" / "models.toml"
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
    async for item in backend.generate(a_request(key, LONG, max_new_tokens=300)):
        if isinstance(item, Final):
            return pieces, item
        pieces.append(item)
    raise AssertionError("no result")


async def test_an_answer_that_nobody_reads_comes_in_few_pieces_and_whole(backend: OpenVinoBackend, readers: Readers) -> None:
    await _answer(backend, "loads the model")
    readers.update(frozenset({a_request().run}))
    read, final = await _answer(backend, "read")
    readers.update(frozenset())
    unread, same = await _answer(backend, "unread")
    assert same.text == final.text == "".join(piece.text for piece in unread)
    assert sum(piece.tokens for piece in unread) == same.usage.completion
    assert len(unread) < len(read) / 2


async def test_its_first_piece_is_told_at_once_so_that_the_wait_for_it_is_measured(
    backend: OpenVinoBackend, readers: Readers
) -> None:
    readers.update(frozenset())
    pieces, final = await _answer(backend, "first")
    assert pieces[0].tokens < 5
    assert final.ttft_s is not None
    assert final.ttft_s < final.duration_s


async def test_whoever_comes_while_it_writes_reads_along_from_there(backend: OpenVinoBackend, readers: Readers) -> None:
    readers.update(frozenset())
    pieces: list[Delta] = []
    request = a_request("comes late", LONG, max_new_tokens=300)
    async for item in backend.generate(request):
        if isinstance(item, Delta):
            pieces.append(item)
            readers.update(frozenset({request.run}))
    assert len(pieces) > 10
