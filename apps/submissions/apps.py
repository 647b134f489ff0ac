from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "apps.submissions"

    def ready(self) -> None:
        """Register the rule that prevents the deletion of contests with texts."""
        from apps.contests.keeping import content_register
        from apps.submissions.selectors import has_texts

        content_register(has_texts)
