"""The examples of docs/library.md run as they stand, against a model server of this machine; its tables are complete."""

import re
import sys
from pathlib import Path

import pytest

import apps.reasoning.library
from apps.reasoning.library import RunOptions
from apps.reasoning.library.options import CheckedOptions
from tests.library.conftest import ModelServer

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SAID = (
    "True Accepted: 2 checks in a row found no fault.",
    "2\n2 proof-by-example Three instances prove nothing.\n",
    "run.finished\n",
)


def _played(example: str, server: ModelServer) -> None:
    server.listed = [{"id": "Qwen/Qwen3-8B", "max_model_len": 40_960}]
    exec(
        compile(example.replace("http://127.0.0.1:8000/v1", server.base_url), "docs/library.md", "exec"),
        {"__name__": "example"},
    )


@pytest.mark.parametrize("number", range(len(SAID)))
def test_an_example_runs_as_printed(
    number: int, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lemmascope", apps.reasoning.library)
    monkeypatch.chdir(tmp_path)
    _played(EXAMPLES[number], server)
    assert SAID[number] in capsys.readouterr().out
    asked = len(server.requests)
    assert asked
    _played(EXAMPLES[number], server)
    assert (len(server.requests) == asked) == ("journal" in EXAMPLES[number])


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == len(SAID)


def test_a_scaffold_is_run_in_at_most_ten_lines() -> None:
    assert len(EXAMPLES[0].strip().splitlines()) <= 11  # with an empty one after the import


def test_every_keyword_is_on_the_page() -> None:
    table = PAGE[PAGE.index("## Keywords") : PAGE.index("## Results")]
    explained = set(
        re.findall(r"`([a-z_]+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `")))
    )
    assert explained == set(RunOptions.__annotations__) == set(CheckedOptions.model_fields)
