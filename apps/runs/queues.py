"""The tasks of runs by name, for code that enqueues them. Their bodies are in `tasks`, which imports what they drive."""

from celery import signature

orchestrate = signature("runs.orchestrate")
generate = signature("inference.generate")
