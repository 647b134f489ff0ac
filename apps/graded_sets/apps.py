from django.apps import AppConfig


class GradedSetsConfig(AppConfig):
    name = "apps.graded_sets"
