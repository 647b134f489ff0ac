"""The plain Channels design: every token is sent to a group of consumers, one for each socket, with the layer channels-redis.

`uvicorn channels_app:application` serves. `python channels_app.py` waits for a line and then sends the fake model's tokens to
the group, as a worker process would.
"""

import asyncio
import json
import os
import sys
from typing import Any

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    CHANNEL_LAYERS={
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [os.environ["RIVAL_REDIS"]]},
        }
    },
)
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.layers import get_channel_layer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path  # noqa: E402
from fake_model import tokens  # type: ignore[import-not-found]  # noqa: E402

GROUP = "run"


class Tail(AsyncWebsocketConsumer):  # type: ignore[misc]
    """A socket that receives the group's tokens."""

    async def connect(self) -> None:
        await self.channel_layer.group_add(GROUP, self.channel_name)
        await self.accept()
        await self.send(text_data="ready")

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(GROUP, self.channel_name)

    async def token(self, event: dict[str, Any]) -> None:
        await self.send(text_data=json.dumps({"text": event["text"]}))


application = ProtocolTypeRouter({"websocket": URLRouter([path("tail/", Tail.as_asgi())])})


async def publish() -> None:
    """Send the model's tokens to the group."""
    layer = get_channel_layer()
    async for token in tokens():
        await layer.group_send(GROUP, {"type": "token", "text": token})


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    asyncio.run(publish())
