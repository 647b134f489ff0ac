"""Other ways to show a text as it is written: plain Channels, Chainlit and Gradio, each in an environment of its own."""
