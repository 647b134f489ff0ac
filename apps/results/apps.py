from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "apps.results"

    def ready(self) -> None:
        """Say on the page Marking which appeals and hints wait."""
        from apps.marks.waiting import counter_register
        from apps.results.waiting import appeals_waiting, hints_waiting

        counter_register(appeals_waiting)
        counter_register(hints_waiting)
