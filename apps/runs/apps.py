from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "apps.runs"

    def ready(self) -> None:
        from apps.runs.live.admission import follow_sign_outs

        follow_sign_outs()
