from django.apps import AppConfig


class MarksConfig(AppConfig):
    name = "apps.marks"

    def ready(self) -> None:
        """Register the rules that marking adds to apps below it, its record of contests, and its counts of waiting work."""
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
