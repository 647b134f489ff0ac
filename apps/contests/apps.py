from django.apps import AppConfig


class ContestsConfig(AppConfig):
    name = "apps.contests"

    def ready(self) -> None:
        """Register the rule that holds back the problems of contests."""
        from apps.contests.holding import problems_held
        from apps.problems.holding import Text, hold_register

        hold_register(Text.STATEMENT, problems_held)
