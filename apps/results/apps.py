from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "apps.results"

    def ready(self) -> None:
        """Register waiting appeals and hints on the page Marking, and coaches' access to scanned pages of texts with hints."""
        from apps.marks.waiting import counter_register
        from apps.results.hint_material import page_shown_with_hints
        from apps.results.waiting import appeals_waiting, hints_waiting
        from apps.submissions.access import page_reader_register

        counter_register(appeals_waiting)
        counter_register(hints_waiting)
        page_reader_register(page_shown_with_hints)
