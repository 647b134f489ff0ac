from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "apps.config"

    def ready(self) -> None:
        """Register the checks of the settings, and the rules between apps."""
        from apps.config import checks  # noqa: F401  (registers them)
        from apps.config.wiring import wire
        from apps.processes.sqlite_anchor import follow_connections

        wire()
        follow_connections()
