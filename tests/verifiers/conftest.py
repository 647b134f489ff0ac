"""Our package as a stranger installs it, the model server that it plays against, and what verifiers makes of it."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.inference.conftest import running_server
from tests.inference.http.fake_server import Receive, Send, _answer
from tests.library.conftest import ModelServer
from tests.reasoning.candidates import PASS
from tests.reasoning.play import lemma, proof, verdict

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv-verifiers" / "bin"
SUM = {"question": "Find the sum $1+2+\\dots+100$.", "answer": "5050", "info": {"level": 1}}
RIGHT = proof("We pair the numbers.", "So it is.\nAnswer: 5050")
INTERN = {
    "You are a mathematician working on a hard": "We pair the numbers.",
    "You keep the lemma library": lemma(1, "$1+100=101$.", "It is plain."),
    "You check one lemma": verdict(-1, steps=1),
    "You mark a solution": verdict(-1, steps=2),
    "You write the final solution": RIGHT,
}
USUAL = {"You examine a solution of an olympiad problem": PASS, "": RIGHT}
#: By the model's name: what it writes to each system prompt, by its beginning.
MODELS: dict[str, dict[str, str]] = {
    "right": {},
    "wrong": {"": proof("We guess.", "So it is.\nAnswer: 5051")},
    "unstated": {"": proof("We pair the numbers.", "The rest is clear to everybody.")},
    "unread": {"": "I cannot say."},
    "doubting": {"You examine a solution of an olympiad problem": "I cannot say."},
    "intern": INTERN,
    "broken": {},
    "without length": {},
}
Played = dict[str, list[dict[str, Any]]]


class PlayServer(ModelServer):
    """Writes what its model is for. The model `broken` fails at every call."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = [{"id": name} | ({} if name == "without length" else {"max_model_len": 20_000}) for name in MODELS]

    async def _stream(self, body: dict[str, Any], receive: Receive, send: Send) -> None:
        if body["model"] == "broken":
            await _answer(send, 500, b'{"error": {"message": "The engine has no memory left."}}', "application/json")
        else:
            await super()._stream(body, receive, send)

    def _tokens(self, body: dict[str, Any]) -> list[str]:
        own = MODELS[body["model"]]
        self.answers = own | {opening: text for opening, text in USUAL.items() if opening not in own}
        return super()._tokens(body)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our package, built by pip from a copy of what it is made of; a build writes next to its sources."""
    source, folder = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("site")
    for name in ("clients/verifiers", "apps/reasoning"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    for name in ("LICENSE", "CHANGELOG.md", "pyproject.toml", "docs/verifiers.md"):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    install = [
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
    ]
    command: list[str | Path] = [BIN / "python", *install, folder, source / "clients" / "verifiers"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def play_server() -> Iterator[PlayServer]:
    """A model server for all plays."""
    app = PlayServer()
    with running_server(app):
        yield app


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def run(site: Path) -> Run:
    """Runs a program of verifiers' environment outside the checkout, so that only the installed package is seen."""

    def ran(*command: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PRIME_", "DJANGO_"))}
        env |= {"PYTHONPATH": str(site), "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
        return subprocess.run(
            [BIN / command[0], *command[1:]], cwd=cwd or site, env=env, capture_output=True, text=True, check=False, timeout=120
        )

    return ran


@pytest.fixture(scope="session")
def play(run: Run, play_server: PlayServer, tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], Played]:
    """Plays cases in one process of verifiers: by name, the records of their episodes."""

    def played(cases: dict[str, Any]) -> Played:
        folder = tmp_path_factory.mktemp("cases")
        (folder / "cases.json").write_text(json.dumps(cases))
        done = run("python", Path(__file__).with_name("playing.py"), play_server.base_url, folder / "cases.json")
        assert done.returncode == 0, done.stderr[-4_000:]
        found: Played = json.loads(done.stdout)
        return found

    return played
