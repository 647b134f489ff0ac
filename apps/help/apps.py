from django.apps import AppConfig


class HelpConfig(AppConfig):
    name = "apps.help"
