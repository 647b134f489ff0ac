from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, pre_delete


class LemmasConfig(AppConfig):
    name = "apps.lemmas"

    def ready(self) -> None:
        """Delete the words of a run with it, wherever runs are deleted."""
        from apps.lemmas.search.index import words_forget, words_of
        from apps.runs.models import Run

        words: dict[int, set[str]] = {}

        def remember(instance: Run, **_: Any) -> None:
            words[instance.pk] = words_of(instance)

        def forget(instance: Run, **_: Any) -> None:
            words_forget(words.pop(instance.pk, ()))

        pre_delete.connect(remember, sender=Run, weak=False, dispatch_uid="lemmas.words")
        post_delete.connect(forget, sender=Run, weak=False, dispatch_uid="lemmas.words")
