"""The run socket (docs/socket.md): authorise, catch up from the table, then follow the tail. Commands go by POST instead."""

import asyncio
import contextlib
import json
import time
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.http import Http404

from apps.runs import live_reads
from apps.runs.live import Subscription, hub
from apps.runs.live_reads import in_thread

FLUSH_S, STATE_S, BEAT_S, SLOW_S = 0.025, 1.0, 15.0, 10.0
MAX_WATCHED = 16
NOT_SIGNED_IN, NO_SUCH_RUN, TOO_SLOW = 4401, 4404, 4408


class RunConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One page's view of one run."""

    async def connect(self) -> None:
        await self.accept()
        self._sender: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        try:
            self._run = await in_thread(live_reads.run_for_socket, user, self.scope["url_route"]["kwargs"]["run"])
        except Http404:
            await self.close(NO_SUCH_RUN)
            return
        after = parse_qs(self.scope["query_string"].decode()).get("after", ["0"])[0]
        self._sent = int(after) if after.isdecimal() else 0
        self._subscription = await hub().subscribe(str(self._run.public_id))
        self._sender = asyncio.create_task(self._follow(self._subscription))

    async def disconnect(self, code: int) -> None:
        if self._subscription is not None:
            hub().unsubscribe(self._subscription)
        if self._sender is not None:
            self._sender.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = live_reads.client_message(text_data)
        if self._subscription is None or message is None:
            return
        if message["t"] == "watch":
            wanted = set(message["calls"][:MAX_WATCHED])
            new, self._subscription.watched = wanted - self._subscription.watched, wanted
            for call in sorted(new):
                await self._snapshot(call)
        elif message["t"] == "text":
            await self._snapshot(message["call"])

    async def _snapshot(self, call: str) -> None:
        await self._frame(await in_thread(live_reads.call_snapshot, self._run, call))

    async def _follow(self, subscription: Subscription) -> None:
        hello = await in_thread(live_reads.hello, self._run)
        await self._frame(hello)
        known_seq = hello["seq"]
        next_state = next_beat = 0.0
        while True:
            now = time.monotonic()
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
            subscription.news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STATE_S):
                    await subscription.news.wait()
            await asyncio.sleep(now + FLUSH_S - time.monotonic())  # News after a pause goes out at once.

    async def _send_events(self, subscription: Subscription, known_seq: int) -> None:
        """Send what follows the last sent event; page the table where the tail starts later than that."""
        while True:
            tail, subscription.events = subscription.events, {}
            batch = []
            while self._sent + 1 in tail:
                self._sent += 1
                batch.append(tail[self._sent])
            newest = max(tail, default=0)
            if batch:
                await self._frame({"t": "events", "events": batch, "has_more": newest > self._sent})
            if max(newest, known_seq) <= self._sent:
                return
            page = await in_thread(live_reads.page_after, self._run, self._sent)
            if not page:
                return
            self._sent = page[-1]["seq"]
            await self._frame({"t": "events", "events": page, "has_more": len(page) == live_reads.PAGE})

    async def _frame(self, frame: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(SLOW_S):
                await self.send(json.dumps(frame))
        except TimeoutError:
            await self.close(TOO_SLOW)
            raise
