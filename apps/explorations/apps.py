from django.apps import AppConfig


class ExplorationsConfig(AppConfig):
    name = "apps.explorations"
