from django.apps import AppConfig


class LearningConfig(AppConfig):
    name = "apps.learning"

    def ready(self) -> None:
        """Add the file of trained models to the model registry."""
        from pathlib import Path

        from django.conf import settings

        from apps.reasoning.inference.trained import read_also, trained_file

        read_also(trained_file(Path(settings.DATA_DIR)))
