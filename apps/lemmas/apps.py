from django.apps import AppConfig


class LemmasConfig(AppConfig):
    name = "apps.lemmas"
