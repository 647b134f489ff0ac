"""The documentation index: building it, searching it, and the errors without it."""

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from apps.reasoning.domain.errors import BackendRefused, RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.tools import SearchJob, ToolAnswer, read_execution, read_hits
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request
from workers.library.index import FILE, STEP, WINDOW, NoIndex, build, is_fresh, passages, search, terms
from workers.sandbox.backend import SandboxBackend
from workers.sandbox.environment import DEFAULT
from workers.sandbox.sandbox import SandboxOptions

installed = pytest.mark.skipif(not (DEFAULT / FILE).exists(), reason="there is no index; `make sandbox` builds it")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with only the standard library."""
    folder = tmp_path_factory.mktemp("environment")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (folder / "bin" / "python").chmod(0o755)
    assert build(folder) > 50
    return folder


@pytest.mark.parametrize(
    ("query", "library", "name"),
    [
        ("greatest common divisor", "math", "math.gcd"),
        ("limit the denominator of a fraction", "", "fractions.Fraction.limit_denominator"),
        ("successive permutations of elements", "itertools", "itertools.permutations"),
        ("phase of a complex number", "", "cmath.phase"),
        ("AttributeError: module 'math' has no attribute 'gdc'", "", "math.gcd"),
    ],
)
def test_a_query_finds_the_function_to_call(small: Path, query: str, library: str, name: str) -> None:
    hits = search(small, SearchJob(query=query, library=library))
    assert hits[0].name == name
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.name for hit in hits}) == len(hits)


@installed
@pytest.mark.parametrize(
    ("query", "library", "name"),
    [
        ("solve a quadratic equation symbolically for a variable", "sympy", "sympy.solve"),
        ("roots of a polynomial", "numpy", "numpy.roots"),
        ("minimize a function of several variables", "scipy", "scipy.optimize.minimize"),
        ("shortest path between two nodes", "networkx", "networkx.bidirectional_shortest_path"),
        ("AttributeError: module 'sympy' has no attribute 'slove'", "", "sympy.solve"),
    ],
)
def test_the_installed_libraries_are_found(query: str, library: str, name: str) -> None:
    assert name in [hit.name for hit in search(DEFAULT, SearchJob(query=query, library=library))]


@pytest.mark.parametrize("query", ["", "the of a", '" OR name:*', "NEAR(", "∑∫", "x" * 5000])
def test_no_query_breaks_the_search(small: Path, query: str) -> None:
    assert isinstance(search(small, SearchJob(query=query)), list)


def test_a_query_of_common_words_keeps_them() -> None:
    assert terms("how do I use the") == ["how", "do", "i", "use", "the"]
    assert terms("how do I factor an integer") == ["factor", "integer"]


def test_passages_overlap_and_cover_all_words() -> None:
    words = [f"w{number}" for number in range(2 * WINDOW)]
    found = list(passages(" ".join(words)))
    assert found[0].split()[-1] == words[WINDOW - 1]
    assert found[1].split()[0] == words[STEP]
    assert set(" ".join(found).split()) == set(words)
    assert list(passages("one line")) == ["one line"]


def test_an_index_is_rebuilt_when_the_packages_change(small: Path) -> None:
    assert is_fresh(small)
    package = small / "lib" / "python3.11" / "site-packages" / "new-1.0.dist-info"
    package.mkdir(parents=True)
    assert not is_fresh(small)
    package.rmdir()
    assert is_fresh(small)


def test_the_error_without_an_index_names_the_command(tmp_path: Path) -> None:
    assert not is_fresh(tmp_path)
    with pytest.raises(NoIndex, match="make sandbox"):
        search(tmp_path, SearchJob(query="gcd"))


def _asked(query: object) -> GenerationRequest:
    return a_request(text=json.dumps({"query": query}), job="search")


async def test_the_sandbox_worker_answers_searches_without_a_fence(small: Path, tmp_path: Path) -> None:
    backend = SandboxBackend(SandboxOptions(level="off", environment=small))
    final = await read_to_final(backend, _asked("greatest common divisor"))
    hits = read_hits(ToolAnswer(job="search", execution=read_execution(final.text)))
    assert isinstance(hits, tuple)
    assert hits[0].name == "math.gcd"
    with pytest.raises(RequestRejected, match="search"):
        await read_to_final(backend, _asked(3))
    await backend.close()
    without = SandboxBackend(SandboxOptions(level="off", environment=tmp_path))
    with pytest.raises(BackendRefused, match="make sandbox"):
        await read_to_final(without, _asked("gcd"))
    await without.close()


def test_the_file_cannot_be_changed_by_a_search(small: Path) -> None:
    before = (small / FILE).read_bytes()
    search(small, SearchJob(query="gcd"))
    assert (small / FILE).read_bytes() == before
    with sqlite3.connect(small / FILE) as database:
        assert database.execute("SELECT count(*) FROM made_of").fetchone() == (1,)
