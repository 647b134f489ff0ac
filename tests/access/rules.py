"""Who may see which page. Every URL name has a row here; test_every_view_has_a_rule.py fails for a view without one.

A row has the status of a GET request per role:

| word | anonymous | student | coach | researcher |
|---|---|---|---|---|
| `EVERYONE` | 200 | 200 | 200 | 200 |
| `SIGNED_IN` | sent to the sign-in page | 200 | 200 | 200 |
| `RUN_READERS` | sent to the sign-in page | 404 | 200 | 200 |
| `AUTHORS` | sent to the sign-in page | 404 or 403 | 200 | 200 |
| `RESEARCHERS` | sent to the sign-in page | 404 | 404 | 200 |
| `POST_ONLY` | sent to the sign-in page | 405 | 405 | 405 |
| `API_POST_ONLY` | 405 | 405 | 405 | 405 |
| `API_SIGNED_IN` | 401 | 200 | 200 | 200 |
| `API_RUN_READERS` | 401 | 404 | 200 | 200 |
| `STAFF` | sent to the sign-in page | 404 | 404 | 404, and 200 for staff |
| `CONTEST_COACH` | sent to the sign-in page | 404 | 200 for the contest's coach | 404, for staff too |
| `CONTEST_STUDENT` | sent to the sign-in page | 200 for the contest's student | 404 | 404, for staff too |
| `OWN_MARK_OPEN` | sent to the sign-in page | 404 | 403 for its coach, who marks a script of it | 404, for staff too |
| `NOT_A_PAGE` | a redirect or a download that has tests of its own; not asked here |

A view with arguments gets them from `ARGUMENTS` below: a function of the `World` that the test makes.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.marks.models import MarkingTask
from apps.problems.models import Problem
from apps.runs.models import Run
from apps.schemes.models import MarkingScheme
from apps.submissions.models import SubmissionVersion
from tests.access.rules_of_experiments import ARGUMENTS_OF_EXPERIMENTS, OF_EXPERIMENTS
from tests.access.rules_of_notes import ARGUMENTS_OF_NOTES, OF_NOTES
from tests.access.rules_of_office import ARGUMENTS_OF_THE_OFFICE, OF_THE_OFFICE
from tests.access.rules_of_practice import ARGUMENTS_OF_PRACTICE, OF_PRACTICE
from tests.access.rules_of_scans import ARGUMENTS_OF_SCANS, OF_SCANS
from tests.access.rules_of_tables import ARGUMENTS_OF_TABLES, OF_TABLES
from tests.access.rules_of_team import ARGUMENTS_OF_TEAM, OF_TEAM
from tests.access.rules_of_the_api import ARGUMENTS_OF_THE_API, LEMMA, OF_THE_API
from tests.access.statuses import (
    ANY_ID,
    AUTHORS,
    CONTEST_COACH,
    CONTEST_STUDENT,
    EVERYONE,
    NOT_A_PAGE,
    OWN_MARK_OPEN,
    POST_ONLY,
    RESEARCHERS,
    RUN_READERS,
    SIGNED_IN,
    STAFF,
)
from tests.accounts.factory import a_group
from tests.datasets.factory import a_dataset
from tests.training_jobs.factory import a_job, a_model, a_sweep

Rule = tuple[int | tuple[int, ...], ...] | None


@dataclass(frozen=True)
class World:
    """What lies in the database when the rules are tried: a problem with a marking scheme, a run of Alice's on it with a
    lemma and a proof, and a text that Charlie handed in to a contest of Bob's that is being marked; Bob holds it for marking.
    """

    problem: Problem
    run: Run
    scheme: MarkingScheme
    handed_in: SubmissionVersion
    marking: MarkingTask

    @property
    def contest_id(self) -> uuid.UUID:
        return self.handed_in.submission.paper.contest.public_id


RULES: dict[str, Rule] = {
    "home": SIGNED_IN,
    "healthz": EVERYONE,
    "favicon": (302, 302, 302, 302),
    "api_docs": SIGNED_IN,
    "help:contents": EVERYONE,
    "help:page": EVERYONE,
    # accounts
    "accounts:login": (200, 302, 302, 302),
    "accounts:logout": POST_ONLY,
    "accounts:profile": SIGNED_IN,
    "accounts:password": SIGNED_IN,
    "accounts:token_create": POST_ONLY,
    "accounts:token_revoke": POST_ONLY,
    "accounts:group_list": RUN_READERS,
    "accounts:group": (302, 404, 200, 404, 200),  # Bob made it; coaches read it, of researchers staff alone.
    "accounts:group_rename": POST_ONLY,
    "accounts:member_remove": POST_ONLY,
    "accounts:group_delete": POST_ONLY,
    **OF_THE_API,
    # problems
    "problems:list": SIGNED_IN,
    "problems:detail": SIGNED_IN,
    "problems:geometry": SIGNED_IN,
    "problems:geometry_proof": SIGNED_IN,
    "problems:geometry_draft": POST_ONLY,
    "problems:create": AUTHORS,
    "problems:edit": AUTHORS,
    "problems:list_or_not": POST_ONLY,
    "problems:preview": POST_ONLY,
    "problems:import": AUTHORS,
    "problems:import_preview": (302, 404, 404, 404),  # Uploads are visible to their owner only; this one does not exist.
    "problems:import_confirm": POST_ONLY,
    "problems:export": AUTHORS,
    "problem_sets:list": RUN_READERS,
    "problem_sets:import": RUN_READERS,
    "problem_sets:from_library": RUN_READERS,
    **dict.fromkeys(("problem_sets:detail", "problem_sets:file"), (302, 404, 404, 404)),
    "problem_sets:split": POST_ONLY,
    # schemes
    "schemes:list": AUTHORS,
    "schemes:create": AUTHORS,
    "schemes:import": AUTHORS,
    "schemes:check": POST_ONLY,
    "schemes:detail": AUTHORS,
    "schemes:try": AUTHORS,
    "schemes:download": AUTHORS,
    "schemes:edit": AUTHORS,
    "schemes:command": POST_ONLY,
    # contests: Bob coaches and organises, Charlie takes part, Alice and Dana are strangers
    "contests:list": SIGNED_IN,
    "contests:create": RUN_READERS,
    "contests:detail": (302, 302, 200, 404, 404),  # A student is sent to the page of their own work.
    "contests:administration": STAFF,
    "contests:administer": POST_ONLY,
    "contests:edit": CONTEST_COACH,
    "contests:delete": POST_ONLY,
    "contests:problem_change": POST_ONLY,
    "contests:coach_change": POST_ONLY,
    "contests:move": POST_ONLY,
    "contests:roster": CONTEST_COACH,
    "contests:roster_group": POST_ONLY,
    "contests:student_remove": POST_ONLY,
    "contests:identity_reveal": CONTEST_COACH,
    "submissions:own": CONTEST_STUDENT,
    "submissions:write": CONTEST_STUDENT,
    "submissions:drafts_worker": EVERYONE,
    "submissions:draft": POST_ONLY,
    "submissions:preview": POST_ONLY,
    "submissions:pages_add": POST_ONLY,
    "submissions:page_change": POST_ONLY,
    "submissions:transcription": POST_ONLY,
    "submissions:transcription_state": (302, 404, 404, 404),  # This one does not exist, like the next.
    "submissions:page_image": (302, 404, 404, 404),  # This one does not exist; tests/submissions has real ones.
    "submissions:version_own": CONTEST_STUDENT,
    "submissions:version_withdraw": POST_ONLY,
    "submissions:paper_list": CONTEST_COACH,
    "submissions:script": CONTEST_COACH,
    "submissions:import": CONTEST_COACH,
    "submissions:import_preview": (302, 404, 404, 404),  # Uploads are visible to their owner only; this one does not exist.
    "submissions:import_confirm": POST_ONLY,
    # marking
    "marks:home": RUN_READERS,
    "marks:next": POST_ONLY,
    "marks:setup": CONTEST_COACH,
    "marks:phrases": CONTEST_COACH,
    "marks:script_list": CONTEST_COACH,
    "marks:questions": CONTEST_COACH,  # Bob organises; other coaches who are not captains get 404.
    "marks:question_answer": POST_ONLY,
    "marks:task": CONTEST_COACH,
    "marks:pane": CONTEST_COACH,
    "marks:next_up": (302, 404, 204, 404, 404),  # There is only one script.
    **{f"marks:{name}": POST_ONLY for name in ("command", "undo", "redo", "seal", "unseal", "heartbeat", "pass")},
    "marks:keys": RUN_READERS,
    "marks:single_keys": POST_ONLY,
    "marks:sealed_list": RUN_READERS,
    "marks:reveal": (302, 404, 404, 404, 404),  # Bob has not sealed; tests/marks has what he sees then.
    **{f"marks:{name}": POST_ONLY for name in ("reveal_show", "reveal_answer", "reveal_decide", "triage_show", "triage_keep")},
    "marks:coordination_list": RUN_READERS,
    "marks:coordination": (302, 404, 404, 404, 404),  # This one does not exist; tests/marks has real ones.
    "marks:case_ledger": (302, 404, 404, 404, 404),  # Bob organises and is marking this script just now.
    **{f"marks:{name}": POST_ONLY for name in ("coordination_do", "precedent_add", "fresh_skip", "calibration_change")},
    "marks:calibration": OWN_MARK_OPEN,
    "marks:hand_back": POST_ONLY,
    **OF_THE_OFFICE,
    # results: nothing is released yet; tests/results has appeals, requests and previews of people
    "results:release": CONTEST_COACH,
    "results:release_undo": POST_ONLY,
    "results:preview": (302, 404, 404, 404, 404),
    "results:own": CONTEST_STUDENT,
    "results:result": CONTEST_STUDENT,
    "results:result_pdf": (302, 404, 404, 404, 404),  # nothing is released
    "results:appeal_write": (302, 404, 404, 404, 404),
    "results:appeal_withdraw": POST_ONLY,
    "results:appeal_list": CONTEST_COACH,
    "results:appeal": (302, 404, 404, 404, 404),
    "results:appeal_command": POST_ONLY,
    "results:feedback_own": CONTEST_STUDENT,
    "results:feedback_ask": POST_ONLY,
    "results:feedback_queue": CONTEST_COACH,
    "results:feedback_rules": POST_ONLY,
    "results:feedback_answer": (302, 404, 404, 404, 404),
    "results:feedback_proposal": POST_ONLY,
    "results:revision": (302, 404, 404, 404, 404),
    **OF_NOTES,
    **OF_PRACTICE,
    **OF_SCANS,
    **OF_TABLES,
    **OF_TEAM,
    # lemmas
    "lemmas:search": RUN_READERS,
    "lemmas:graph": RUN_READERS,
    "lemmas:graph_data": RUN_READERS,
    "lemmas:graph_export": RUN_READERS,
    "lemmas:outline": RUN_READERS,
    "lemmas:lemma_panel": RUN_READERS,
    "lemmas:proof_panel": RUN_READERS,
    "lemmas:kernel_request": POST_ONLY,
    "lemmas:readings_request": POST_ONLY,
    "lemmas:readings_state": (302, 404, 404, 404),  # There are no such readings.
    **dict.fromkeys(("lemmas:kernel_state", "lemmas:kernel_file"), (302, 404, 404, 404)),  # There is no such check.
    # explorations
    "explorations:start": RUN_READERS,
    "graders:start": RUN_READERS,
    "graders:detail": (302, 404, 404, 404),
    **OF_EXPERIMENTS,
    "graded_sets:list": RUN_READERS,
    "graded_sets:import": RUN_READERS,
    **dict.fromkeys(("graded_sets:detail", "graded_sets:script"), (302, 404, 404, 404)),
    "preparation:prepare": RUN_READERS,
    "preparation:prepare_add": POST_ONLY,
    "preparation:prepare_remove": POST_ONLY,
    "preparation:piece": (302, 404, 404, 404),
    "preparation:scheme_writer": RUN_READERS,
    "preparation:quality": RUN_READERS,
    "preparation:quality_summary": RUN_READERS,
    "preparation:proposal": (302, 404, 404, 404),
    "preparation:piece_version": (302, 404, 404, 404),
    "preparation:piece_command": POST_ONLY,
    "agreement:list": RUN_READERS,
    "agreement:detail": CONTEST_COACH,  # Of the contest; tests/agreement has files and sets.
    "agreement:data": CONTEST_COACH,
    "agreement:json": CONTEST_COACH,
    "agreement:pairs": CONTEST_COACH,
    "agreement:cards": RUN_READERS,
    "agreement:places": CONTEST_COACH,
    "agreement:bucket": POST_ONLY,
    "agreement:columns": (302, 404, 404, 404),  # Files are visible to their owner only; this one does not exist.
    "agreement:file_delete": POST_ONLY,
    "explorations:estimate": POST_ONLY,
    "explorations:run_list": RUN_READERS,
    "explorations:run_import": RUN_READERS,
    "explorations:run_compare": RUN_READERS,
    "explorations:run_difference": (302, 404, 400, 400),  # No run is named here; tests/explorations has comparisons.
    "explorations:pairs_change": POST_ONLY,
    **dict.fromkeys(("explorations:run_selection", "explorations:run_view"), POST_ONLY),
    **dict.fromkeys(("explorations:run_delete", "explorations:run_export"), (302, 404, 302, 302)),  # Without a selection.
    "explorations:run_detail": RUN_READERS,
    "explorations:run_header": (302, 404, 302, 302),
    "explorations:run_timeline": (302, 404, 302, 302),
    "explorations:run_solutions": (302, 404, 302, 302),
    "explorations:run_lineage": RUN_READERS,
    "explorations:run_replay": RUN_READERS,
    "explorations:call_text": NOT_A_PAGE,
    "explorations:run_lineage_outline": RUN_READERS,
    "explorations:run_panel": (302, 404, 302, 302),
    "explorations:run_charts": RUN_READERS,
    "explorations:run_log": RUN_READERS,
    "explorations:call": RUN_READERS,
    "explorations:event": RUN_READERS,
    "explorations:command": POST_ONLY,
    "explorations:resume": POST_ONLY,
    "explorations:fork": RUN_READERS,
    "explorations:fork_here": RUN_READERS,
    "explorations:export": RUN_READERS,
    "explorations:take_away": RUN_READERS,
    "explorations:worked_example": POST_ONLY,
    "explorations:formula_list": STAFF,
    "explorations:formula_data": STAFF,
    "explorations:model_list": RUN_READERS,
    "explorations:model_test": POST_ONLY,
    "trials:trial": RUN_READERS,
    "trials:answers": NOT_A_PAGE,
    # learning
    "datasets:list": RESEARCHERS,
    "datasets:new": RESEARCHERS,
    "datasets:version": RESEARCHERS,
    "datasets:file": RESEARCHERS,
    "datasets:view": RESEARCHERS,
    "learning:job_list": RESEARCHERS,
    "learning:job_new": RESEARCHERS,
    "learning:job": RESEARCHERS,
    "learning:job_curves": RESEARCHERS,
    "learning:job_samples": RESEARCHERS,
    "learning:job_settings": RESEARCHERS,
    "learning:job_command": POST_ONLY,
    "learning:sweep_new": RESEARCHERS,
    "learning:sweep": RESEARCHERS,
    "learning:sweep_add": RESEARCHERS,
    "learning:sweep_stop": POST_ONLY,
    "learning:runs": RESEARCHERS,
    "learning:runs_curves": RESEARCHERS,
    "learning:model_list": RESEARCHERS,
    "learning:model_register": NOT_A_PAGE,  # tests/training_jobs/test_the_circle.py asks it, with a checkpoint.
    "learning:model": RESEARCHERS,
    "learning:model_compare": POST_ONLY,
    "learning:model_decision": POST_ONLY,
    "learning:schedule": RESEARCHERS,
    "learning:schedule_data": RESEARCHERS,
    # operations
    "operations:now": STAFF,
    "operations:history": STAFF,
    "operations:log": STAFF,
    "operations:metrics": (401, 404, 404, 404, 200),
}

PROOF = "1"
CALL = "s0/r1/reason"
GROUP_VIEWS = ("group", "group_rename", "member_remove", "group_delete")
ARGUMENTS: dict[str, Callable[[World], dict[str, Any]]] = {
    "accounts:token_revoke": lambda world: {"public_id": ANY_ID},
    **{f"accounts:{name}": lambda world: {"group_id": a_group().public_id} for name in GROUP_VIEWS},
    "help:page": lambda world: {"name": "marking"},
    **ARGUMENTS_OF_NOTES,
    **ARGUMENTS_OF_PRACTICE,
    **ARGUMENTS_OF_SCANS,
    **ARGUMENTS_OF_TABLES,
    **ARGUMENTS_OF_TEAM,
    **ARGUMENTS_OF_THE_API,
    "lemmas:graph": lambda world: {"run_id": world.run.public_id},
    "lemmas:graph_data": lambda world: {"run_id": world.run.public_id},
    "lemmas:graph_export": lambda world: {"run_id": world.run.public_id, "form": "json"},
    "explorations:take_away": lambda world: {"run_id": world.run.public_id, "form": "spans"},
    "lemmas:outline": lambda world: {"run_id": world.run.public_id},
    "lemmas:lemma_panel": lambda world: {"run_id": world.run.public_id, "lemma": LEMMA},
    "lemmas:proof_panel": lambda world: {"run_id": world.run.public_id, "name": PROOF},
    "lemmas:kernel_request": lambda world: {"run_id": world.run.public_id},
    "lemmas:readings_request": lambda world: {"run_id": world.run.public_id},
    "lemmas:readings_state": lambda world: {"run_id": world.run.public_id, "readings": 1},
    **{f"lemmas:kernel_{name}": lambda world: {"run_id": world.run.public_id, "check": 1} for name in ("state", "file")},
    **{f"schemes:{name}": lambda world: {"slug": world.problem.slug} for name in ("list", "create", "import")},
    **{
        f"schemes:{name}": lambda world: {"scheme_id": world.scheme.public_id} for name in ("detail", "try", "download", "edit")
    },
    "schemes:command": lambda world: {"scheme_id": world.scheme.public_id, "verb": "activate"},
    **{f"learning:{name}": lambda world: {"job_id": a_job().public_id} for name in ("job", "job_curves", "job_samples")},
    **{f"learning:{name}": lambda world: {"job_id": a_job().public_id} for name in ("job_settings", "sweep_new")},
    **{f"learning:{name}": lambda world: {"sweep_id": a_sweep().public_id} for name in ("sweep", "sweep_add", "sweep_stop")},
    "datasets:version": lambda world: a_dataset(),
    "datasets:file": lambda world: a_dataset() | {"path": "manifest.json"},
    "datasets:view": lambda world: a_dataset() | {"view": "trl-messages"},
    **{f"learning:{name}": lambda world: {"name": a_model().name} for name in ("model", "model_decision")},
    "learning:model_compare": lambda world: {"name": a_model().name, "kind": "toy"},
    "learning:job_command": lambda world: {"job_id": a_job().public_id, "verb": "stop"},
    **{
        name: lambda world: {"contest_id": world.contest_id}
        for name in (
            "contests:detail",
            "contests:edit",
            "contests:delete",
            "contests:problem_change",
            "contests:coach_change",
            "contests:roster",
            "contests:roster_group",
            "contests:student_remove",
            "submissions:own",
            "submissions:paper_list",
            "submissions:import",
        )
    },
    "contests:administer": lambda world: {"contest_id": world.contest_id, "verb": "show"},
    "contests:move": lambda world: {"contest_id": world.contest_id, "verb": "close"},
    "contests:identity_reveal": lambda world: {
        "contest_id": world.contest_id,
        "paper_id": world.handed_in.submission.paper.public_id,
    },
    **{
        f"submissions:{name}": lambda world: {"problem_id": world.handed_in.submission.problem.public_id}
        for name in ("write", "draft", "preview", "pages_add", "page_change")
    },
    **{
        f"submissions:{name}": lambda world: {"version_id": world.handed_in.public_id}
        for name in ("version_own", "version_withdraw", "script")
    },
    **{
        f"submissions:{name}": lambda world: {"contest_id": world.contest_id, "file_id": ANY_ID}
        for name in ("import_preview", "import_confirm")
    },
    "marks:hand_back": lambda world: {"contest_id": world.contest_id},
    **ARGUMENTS_OF_THE_OFFICE,
    "submissions:page_image": lambda world: {"scan_id": ANY_ID},
    "submissions:transcription_state": lambda world: {"scan_id": ANY_ID},
    "submissions:transcription": lambda world: {
        "problem_id": world.handed_in.submission.problem.public_id,
        "verb": "ask",
    },
    **{
        f"marks:{name}": lambda world: {"problem_id": world.handed_in.submission.problem.public_id}
        for name in ("next", "setup", "phrases", "script_list", "questions")
    },
    **{
        f"marks:{name}": lambda world: {"task_id": world.marking.public_id}
        for name in (
            "task",
            "next_up",
            "command",
            "undo",
            "redo",
            "seal",
            "unseal",
            "heartbeat",
            "pass",
            "reveal",
            "reveal_show",
            "reveal_answer",
            "reveal_decide",
        )
    },
    "marks:pane": lambda world: {"task_id": world.marking.public_id, "name": "problem"},
    "marks:question_answer": lambda world: {"pass_id": 1},
    "marks:coordination": lambda world: {"coordination_id": ANY_ID},
    "marks:coordination_do": lambda world: {"coordination_id": ANY_ID, "verb": "claim"},
    "marks:calibration": lambda world: {"problem_id": world.handed_in.submission.problem.public_id},
    **{
        f"marks:{name}": lambda world: {"case_id": world.marking.case.public_id}
        for name in ("case_ledger", "precedent_add", "fresh_skip", "calibration_change")
    },
    **{
        f"results:{name}": lambda world: {"contest_id": world.contest_id}
        for name in ("release", "own", "appeal_list", "feedback_queue")
    },
    "results:release_undo": lambda world: {"contest_id": world.contest_id, "batch_id": ANY_ID},
    "results:preview": lambda world: {"contest_id": world.contest_id, "case_id": ANY_ID},
    **{
        f"results:{name}": lambda world: {"version_id": world.handed_in.public_id}
        for name in ("result", "result_pdf", "appeal_write", "feedback_own", "revision")
    },
    **{f"results:{name}": lambda world: {"appeal_id": ANY_ID} for name in ("appeal", "appeal_withdraw")},
    "results:appeal_command": lambda world: {"appeal_id": ANY_ID, "verb": "take"},
    "results:feedback_ask": lambda world: {"request_id": ANY_ID, "level": 1},
    "results:feedback_answer": lambda world: {"request_id": ANY_ID},
    "results:feedback_proposal": lambda world: {"request_id": ANY_ID, "verb": "decline"},
    "results:feedback_rules": lambda world: {"problem_id": world.handed_in.submission.problem.public_id},
    **dict.fromkeys(("problem_sets:detail", "problem_sets:file", "problem_sets:split"), lambda world: {"slug": "none"}),
    "problems:import_preview": lambda world: {"draft_id": ANY_ID},
    "problems:import_confirm": lambda world: {"draft_id": ANY_ID},
    "problems:list_or_not": lambda world: {"slug": world.problem.slug},
    "problems:edit": lambda world: {"slug": world.problem.slug},
    "problems:detail": lambda world: {"slug": world.problem.slug},
    "explorations:start": lambda world: {"slug": world.problem.slug},
    "graders:start": lambda world: {"slug": world.problem.slug},
    **{
        f"preparation:{name}": lambda world: {"slug": world.problem.slug}
        for name in ("prepare", "prepare_add", "piece", "scheme_writer", "quality", "quality_summary")
    },
    "preparation:proposal": lambda world: {"run_id": world.run.public_id},
    "preparation:prepare_remove": lambda world: {"slug": world.problem.slug, "post_id": ANY_ID},
    "preparation:piece_version": lambda world: {"slug": world.problem.slug, "version_id": ANY_ID},
    "preparation:piece_command": lambda world: {"slug": world.problem.slug, "version_id": ANY_ID, "verb": "approve"},
    "graders:detail": lambda world: {"run_id": world.run.public_id},
    **ARGUMENTS_OF_EXPERIMENTS,
    "graded_sets:detail": lambda world: {"set_id": ANY_ID},
    "graded_sets:script": lambda world: {"set_id": ANY_ID, "script_id": ANY_ID},
    **{
        f"agreement:{name}": lambda world: {"kind": "contest", "source_id": world.contest_id}
        for name in ("detail", "data", "json", "pairs", "bucket")
    },
    "agreement:places": lambda world: {"source_id": world.contest_id},
    "agreement:columns": lambda world: {"file_id": ANY_ID},
    "agreement:file_delete": lambda world: {"file_id": ANY_ID},
    "explorations:estimate": lambda world: {"slug": world.problem.slug},
    "explorations:call": lambda world: {"run_id": world.run.public_id, "key": CALL},
    "explorations:event": lambda world: {"run_id": world.run.public_id, "seq": 1},
    "explorations:model_test": lambda world: {"alias": "smollm2"},
    "trials:trial": lambda world: {"alias": "smollm2"},
    "operations:log": lambda world: {"run_id": world.run.public_id},
    **{
        f"explorations:{name}": lambda world: {"run_id": world.run.public_id}
        for name in (
            "run_detail",
            "run_header",
            "run_timeline",
            "run_solutions",
            "run_lineage",
            "run_replay",
            "run_lineage_outline",
            "run_panel",
            "run_charts",
            "run_log",
            "command",
            "resume",
            "fork",
            "fork_here",
            "export",
        )
    },
}
