from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "apps.results"

    def ready(self) -> None:
        """Say on the page Marking which appeals and hints wait; show coaches the pages of texts that hints are about."""
        from apps.marks.waiting import counter_register
        from apps.results.hint_material import pages_beside_hints
        from apps.results.waiting import appeals_waiting, hints_waiting
        from apps.submissions.access import page_reader_register

        counter_register(appeals_waiting)
        counter_register(hints_waiting)
        page_reader_register(pages_beside_hints)
