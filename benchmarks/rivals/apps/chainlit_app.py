"""The fake model in Chainlit, streamed as in its documentation: `chainlit run chainlit_app.py --headless`."""

import chainlit  # type: ignore[import-not-found]
from fake_model import tokens  # type: ignore[import-not-found]


@chainlit.on_message  # type: ignore[untyped-decorator]
async def answer(_: chainlit.Message) -> None:
    """Stream the tokens into one message."""
    message = chainlit.Message(content="")
    async for token in tokens():
        await message.stream_token(token)
    await message.update()
