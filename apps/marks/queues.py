"""The task of marking by name, for code that enqueues it. Its body is in `tasks`, which imports the answering of questions."""

from celery import signature

suggest = signature("marks.suggest", options={"ignore_result": True})
