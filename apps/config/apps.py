from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "apps.config"

    def ready(self) -> None:
        from apps.config import checks  # noqa: F401  (registers them)
