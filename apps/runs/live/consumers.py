"""The run socket (docs/socket.md): authorise, catch up from the table, then follow the tail. Commands go by POST instead."""

import asyncio
import json
import logging
import time
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer

from apps.runs.live import reads as live_reads
from apps.runs.live.admission import NOT_SIGNED_IN, SocketRefused, admitted, session_name
from apps.runs.live.following import ADMIT_S, BEAT_S, STATE_S, events_after
from apps.runs.live.reads import in_thread
from apps.runs.live.tail import Subscription, hub
from apps.ui.sent import whole_number

logger = logging.getLogger(__name__)
FLUSH_S, SLOW_S = 0.025, 10.0
MAX_WATCHED = 16
TOO_SLOW, BROKEN = 4408, 1011


class RunConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One page's view of one run."""

    _sender: asyncio.Task[None] | None = None
    _subscription: Subscription | None = None

    async def connect(self) -> None:
        await self.accept()
        self._session_key = getattr(self.scope.get("session"), "session_key", None)
        if not await self._is_admitted():
            return
        after = parse_qs(self.scope["query_string"].decode(errors="replace")).get("after", [""])[0]
        self._sent = whole_number(after) or 0
        self._subscription = await hub().subscribe(str(self._run.public_id), session_name(self._session_key))
        self._sender = asyncio.create_task(self._send(self._subscription))

    async def _is_admitted(self) -> bool:
        """Whether this session may watch the run now; if not, close the socket."""
        try:
            self._run = await in_thread(admitted, self._session_key, str(self.scope["url_route"]["kwargs"]["run"]))
        except SocketRefused as refused:
            await self.close(refused.code)
            return False
        return True

    async def disconnect(self, code: int) -> None:
        if self._subscription is not None:
            hub().unsubscribe(self._subscription)
        if self._sender is not None:
            self._sender.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = live_reads.client_message(text_data)
        if self._subscription is None or message is None:
            return
        asked = wanted = set(message["calls"][:MAX_WATCHED])
        if message["t"] == "watch":
            asked, self._subscription.watched = wanted - self._subscription.watched, wanted
        for call in sorted(asked):
            await self._frame(await in_thread(live_reads.call_snapshot, self._run, call))

    async def _send(self, subscription: Subscription) -> None:
        try:
            await self._follow(subscription)
        except Exception as error:  # A silent socket would look live to its page for half a minute.
            logger.warning("run %s: closing a socket; its page will reconnect", self._run.public_id, exc_info=True)
            await self.close(TOO_SLOW if isinstance(error, TimeoutError) else BROKEN)

    async def _follow(self, subscription: Subscription) -> None:
        await self._frame(hello := await in_thread(live_reads.hello, self._run))
        known_seq, next_state, next_beat, next_admission = hello["seq"], 0.0, 0.0, time.monotonic() + ADMIT_S
        while True:
            now = time.monotonic()
            if subscription.is_signed_out:
                await self.close(NOT_SIGNED_IN)
                return
            if now >= next_admission:
                next_admission = now + ADMIT_S
                if not await self._is_admitted():
                    return
            await self._send_events(subscription, known_seq)
            tokens, resync = subscription.take_tokens()
            if tokens:
                await self._frame({"t": "tokens", "items": tokens})
            if resync:
                await self._frame({"t": "resync", "calls": resync})
            if now >= next_state:
                next_state = now + STATE_S
                state = await live_reads.shared_state(self._run)
                known_seq = state["seq"]
                await self._frame({**state, "generating": hub().running(subscription.run)})
            if now >= next_beat:
                next_beat = now + BEAT_S
                await self._frame({"t": "beat", "seq": self._sent})
            if known_seq > self._sent:
                continue
            await subscription.wait(STATE_S)
            await asyncio.sleep(now + FLUSH_S - time.monotonic())  # Frames after a pause are sent at once.

    async def _send_events(self, subscription: Subscription, known_seq: int) -> None:
        """Send the events after the last sent one."""
        async for events, has_more in events_after(self._run, subscription, self._sent, known_seq):
            self._sent = events[-1]["seq"]
            await self._frame({"t": "events", "events": events, "has_more": has_more})

    async def _frame(self, frame: dict[str, Any]) -> None:
        async with asyncio.timeout(SLOW_S):
            await self.send(json.dumps(frame))
