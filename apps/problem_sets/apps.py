from django.apps import AppConfig


class ProblemSetsConfig(AppConfig):
    name = "apps.problem_sets"
