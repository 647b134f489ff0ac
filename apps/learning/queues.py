"""The task of learning by name, for code that enqueues it. Its body is in `tasks`, which imports the driver."""

from celery import signature

TRAIN_QUEUE = "train"
train = signature("learning.train", options={"ignore_result": True})
