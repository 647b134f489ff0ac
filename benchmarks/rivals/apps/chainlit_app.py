"""The fake model in Chainlit as its documentation streams: `chainlit run chainlit_app.py --headless`."""

import chainlit
from fake_model import tokens


@chainlit.on_message
async def answer(_: chainlit.Message) -> None:
    """Stream the tokens into one message."""
    message = chainlit.Message(content="")
    async for token in tokens():
        await message.stream_token(token)
    await message.update()
