"""A model server that keeps to every form, and the keywords that lead to it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.graders.answers import FOLLOWS
from tests.graders.grade import finding, grading
from tests.inference.conftest import running_server
from tests.inference.http.fake_server import FakeModelServer, Receive, Send, _answer
from tests.reasoning.candidates import PASS
from tests.reasoning.play import proof

#: By the beginning of the system prompt.
ANSWERS = {
    "You examine a solution of an olympiad problem": PASS,
    "You examine a script handed in": grading(2, finding()),
    "You sort": FOLLOWS["cluster"],
    "": proof("By Lemma 2 we have $2S=n(n+1)$.", "Divide by $2$."),
}
#: Keywords of `solve` and `grade`.
Served = dict[str, Any]
CONTEXT = 20_000
PROBLEM = "Prove that $n^2+n$ is even for every integer $n$."
SCRIPT = "We have $n^2+n=n(n+1)$.\n\nFor $n=1,2,3$ it is even, so it is even for all $n$."


class ModelServer(FakeModelServer):
    """Answers by what it is asked to be. `key` is the one that it wants; `listed` are its models, None: it lists none."""

    def __init__(self) -> None:
        super().__init__()
        self.context = 1_000_000
        self.answers = dict(ANSWERS)
        self.key = ""
        self.listed: list[dict[str, Any]] | None = [{"id": "fake-model", "max_model_len": CONTEXT}]
        self.lists_asked = 0

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        sent = dict(scope["headers"]).get(b"authorization", b"").decode()
        if self.key and sent != f"Bearer {self.key}":
            await _answer(send, 401, b'{"error": {"message": "Incorrect API key."}}', "application/json")
        elif scope["path"] == "/v1/models":
            self.lists_asked += 1
            body = json.dumps({"object": "list", "data": self.listed}).encode()
            await _answer(send, 404 if self.listed is None else 200, body, "application/json")
        else:
            await super().__call__(scope, receive, send)

    def _tokens(self, body: dict[str, Any]) -> list[str]:
        system = body["messages"][0]["content"]
        text = next(text for opening, text in self.answers.items() if system.startswith(opening))
        return re.findall(r"\s*\S+|\s+\Z", text)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    app = ModelServer()
    with running_server(app):
        yield app


@pytest.fixture
def served(server: ModelServer) -> Served:
    """The keywords that every call needs."""
    return {"base_url": server.base_url, "model": "fake-model"}
