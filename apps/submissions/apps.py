from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "apps.submissions"

    def ready(self) -> None:
        """Keep contests that hold texts from being deleted."""
        from apps.contests.keeping import content_register
        from apps.submissions.selectors import has_texts

        content_register(has_texts)
