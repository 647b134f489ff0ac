from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "apps.experiments"

    def ready(self) -> None:
        """Let experiments share the capacity of gradings."""
        from apps.experiments.selectors import experiments_running, gradings_under_way
        from apps.processes.capacity import GRADINGS

        GRADINGS.join("experiments", parties=experiments_running, under_way=gradings_under_way)
