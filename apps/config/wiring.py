"""The table of rules that apps add to apps below them, which cannot import them. `ConfigConfig.ready` calls `wire` once."""

from pathlib import Path

from django.conf import settings


def wire() -> None:
    """Register every rule: on the left the app that asks, on the right the functions of apps above it that answer."""
    from apps.contests import keeping, opening, record_keepers
    from apps.contests.holding import problems_held
    from apps.graders.suggestions.family import WORKFLOW, WorkflowFamily
    from apps.marks import waiting
    from apps.marks.audit import audit
    from apps.marks.authors import author_kept
    from apps.marks.graders.families import family_register
    from apps.marks.holding import has_sealed_marks, scheme_use_refusal, solutions_held
    from apps.practice.access import page_shown_with_help
    from apps.practice.coaching.queue import questions_waiting
    from apps.problems.holding import Text, hold_register
    from apps.reasoning.inference.trained import read_also, trained_file
    from apps.results.hint_material import page_shown_with_hints
    from apps.results.waiting import appeals_waiting, hints_waiting
    from apps.schemes.holding import use_register
    from apps.submissions.access import page_reader_register
    from apps.submissions.selectors import has_texts

    # Problems ask who may not read a text yet; schemes ask what forbids a change.
    hold_register(Text.STATEMENT, problems_held)
    hold_register(Text.SOLUTIONS, solutions_held)
    use_register(scheme_use_refusal)
    # Contests ask what forbids a step back, a deletion or an opening, and who keeps the record.
    keeping.step_register(has_sealed_marks)
    keeping.content_register(has_texts)
    opening.opening_register(author_kept)
    record_keepers.keeper_register(audit)
    # Submissions ask who else may see a scanned page.
    page_reader_register(page_shown_with_hints)
    page_reader_register(page_shown_with_help)
    # Marking asks for waiting work, and for graders that give suggestions.
    for counter in (waiting.coordinations_waiting, appeals_waiting, hints_waiting, questions_waiting):
        waiting.counter_register(counter)
    family_register(WORKFLOW, WorkflowFamily())
    # The model registry also reads the file of trained models.
    read_also(trained_file(Path(settings.DATA_DIR)))
    _wire_runs()


def _wire_runs() -> None:
    """Runs ask which of them are hidden, report who opened one, and ask for lemmas that were accepted in earlier runs."""
    from apps.experiments.access import runs_hidden
    from apps.experiments.ledger import run_opened
    from apps.lemmas.search.retrieval import lemmas_offered
    from apps.reasoning.reading.turns.actions import LEMMAS
    from apps.runs.access import runs_hide, runs_watch
    from apps.runs.owners.searches import search_register

    runs_hide(runs_hidden)
    runs_watch(run_opened)
    search_register(LEMMAS, lemmas_offered)
