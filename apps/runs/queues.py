"""The tasks of runs by name, for code that enqueues them. Their bodies are in `tasks`, which imports what they drive."""

from celery import signature

orchestrate = signature("runs.orchestrate", options={"ignore_result": True})
generate = signature("inference.generate", options={"ignore_result": True})
