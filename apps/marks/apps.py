from django.apps import AppConfig


class MarksConfig(AppConfig):
    name = "apps.marks"

    def ready(self) -> None:
        """Hold solutions back until they are released; keep schemes in use and the step of points that were given."""
        from apps.contests.keeping import step_register
        from apps.marks.holding import has_sealed_marks, scheme_use_refusal, solutions_held
        from apps.problems.holding import Text, hold_register
        from apps.schemes.holding import use_register

        hold_register(Text.SOLUTIONS, solutions_held)
        use_register(scheme_use_refusal)
        step_register(has_sealed_marks)
