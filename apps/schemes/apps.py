from django.apps import AppConfig


class SchemesConfig(AppConfig):
    name = "apps.schemes"
