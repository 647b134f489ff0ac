"""The fake model in Gradio, streamed as in its documentation: an async generator into a text box, without a limit."""

import os
from collections.abc import AsyncIterator

import gradio  # type: ignore[import-not-found]
from fake_model import tokens  # type: ignore[import-not-found]


async def answer(_: str) -> AsyncIterator[str]:
    """Yield the text so far at every token. Gradio sends the additions."""
    text = ""
    async for token in tokens():
        text += token
        yield text


with gradio.Blocks(analytics_enabled=False) as demo:
    asked, written = gradio.Textbox(), gradio.Textbox()
    asked.submit(answer, asked, written, api_name="answer", concurrency_limit=None)

if __name__ == "__main__":
    demo.queue(max_size=None).launch(
        server_name="127.0.0.1", server_port=int(os.environ["RIVAL_PORT"]), ssr_mode=False, quiet=True
    )
