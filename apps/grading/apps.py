from django.apps import AppConfig


class GradingConfig(AppConfig):
    name = "apps.grading"

    def ready(self) -> None:
        """Register the workflows as graders of contests, hide runs that markers may not see yet, and record who saw them."""
        from apps.grading.experiment_access import runs_hidden
        from apps.grading.ledger import run_opened
        from apps.grading.suggesting import WORKFLOW, WorkflowFamily
        from apps.marks.graders.families import family_register
        from apps.runs.access import runs_hide, runs_watch

        runs_hide(runs_hidden)
        runs_watch(run_opened)
        family_register(WORKFLOW, WorkflowFamily())
