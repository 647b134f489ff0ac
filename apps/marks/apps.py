from django.apps import AppConfig


class MarksConfig(AppConfig):
    name = "apps.marks"

    def ready(self) -> None:
        """Hold solutions back until released; keep schemes in use, the step of points, a record of contests; say what waits."""
        from apps.contests.keeping import step_register
        from apps.contests.opening import opening_register
        from apps.contests.telling import keeper_register
        from apps.marks.audit import audit
        from apps.marks.authors import author_kept
        from apps.marks.holding import has_sealed_marks, scheme_use_refusal, solutions_held
        from apps.marks.waiting import coordinations_waiting, counter_register
        from apps.problems.holding import Text, hold_register
        from apps.schemes.holding import use_register

        hold_register(Text.SOLUTIONS, solutions_held)
        use_register(scheme_use_refusal)
        step_register(has_sealed_marks)
        opening_register(author_kept)
        keeper_register(audit)
        counter_register(coordinations_waiting)
