from django.apps import AppConfig


class ScanningConfig(AppConfig):
    name = "apps.scanning"
