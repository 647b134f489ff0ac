from django.apps import AppConfig


class MarksConfig(AppConfig):
    name = "apps.marks"

    def ready(self) -> None:
        """Hold the solutions of contests back until they are released."""
        from apps.marks.holding import solutions_held
        from apps.problems.holding import Text, hold_register

        hold_register(Text.SOLUTIONS, solutions_held)
