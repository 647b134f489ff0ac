"""A client of the run socket for tests, based on asgiref's communicator (channels.testing needs the daphne server)."""

import asyncio
import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client

from apps.accounts.models import User
from apps.runs.live.consumers import RunConsumer
from apps.runs.models import Run


class RunSocket(ApplicationCommunicator):
    """One connection of `user` to a run, with the query `after`. `browser` is signed in with the socket's session."""

    def __init__(self, run: Run, user: User | AnonymousUser, after: int = 0) -> None:
        scope: dict[str, Any] = {
            "type": "websocket",
            "path": f"/ws/runs/{run.public_id}/",
            "query_string": f"after={after}".encode(),
            "headers": [],
            "subprotocols": [],
            "session": None,
            "url_route": {"kwargs": {"run": str(run.public_id)}},
        }
        super().__init__(RunConsumer.as_asgi(), scope)
        self._scope = scope
        self._user = user
        self.browser = Client()

    def _sign_in(self) -> SessionBase | None:
        if isinstance(self._user, AnonymousUser):
            return None
        self.browser.force_login(self._user)
        return self.browser.session

    async def connect(self) -> None:
        self._scope["session"] = await database_sync_to_async(self._sign_in)()
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(5))["type"] == "websocket.accept"

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)

    async def close_code(self) -> int:
        """The code with which the server closes."""
        message = await self.receive_output(5)
        assert message["type"] == "websocket.close"
        return int(message["code"])

    async def say(self, message: Any) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        await self.send_input({"type": "websocket.receive", "text": text})

    async def frame(self, kind: str = "") -> dict[str, Any]:
        """The next frame, or the next of the given kind."""
        async with asyncio.timeout(10):
            while True:
                found: dict[str, Any] = json.loads((await self.receive_output(10))["text"])
                if not kind or found["t"] == kind:
                    return found

    async def seqs_until(self, seq: int) -> list[int]:
        """The sequence numbers of received events up to `seq`."""
        seen: list[int] = []
        async with asyncio.timeout(10):
            while not seen or seen[-1] < seq:
                seen += [event["seq"] for event in (await self.frame("events"))["events"]]
        return seen
