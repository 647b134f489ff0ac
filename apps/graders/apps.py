from django.apps import AppConfig


class GradersConfig(AppConfig):
    name = "apps.graders"
    label = "grading"  # Its tables and migrations are older than its name.
