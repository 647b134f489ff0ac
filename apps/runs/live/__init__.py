"""The run socket and the live tail behind it, in the web process."""
