"""Other ways to stream a text to viewers: plain Channels, Chainlit and Gradio, each in its own environment."""
