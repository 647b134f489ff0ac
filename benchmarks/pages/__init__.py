"""Pages in a browser and their sockets: latency, viewers, curves, lists, sign-ins."""
