"""Who may see which page of the contest office and of rankings, as rows of rules.py. Bob organises, so he acts as captain.

tests/marks/office and tests/results have what is seen once his own mark is sealed.
"""

from typing import Any

from tests.access.statuses import CONTEST_COACH, OWN_MARK_OPEN, POST_ONLY

_OF_CONTEST = ("awards", "totals_data", "results", "scripts_csv", "research")
_OF_PAPER = ("paper", "paper_pdf")
_OF_PROBLEM = ("scheme_change", "marks_table", "marks_table_download")

OF_THE_OFFICE: dict[str, Any] = {
    **{f"office:{name}": CONTEST_COACH for name in ("statistics", "record", "marks_table", "marks_table_download")},
    **{
        f"office:{name}": OWN_MARK_OPEN
        for name in (*_OF_CONTEST, *_OF_PAPER, "scheme_change", "statistics_data", "download", "letters", "letters_pdf")
    },
    "office:names_open": POST_ONLY,
    "results:ranking": OWN_MARK_OPEN,
    "results:ranking_file": OWN_MARK_OPEN,
    "results:ranking_change": POST_ONLY,
}

ARGUMENTS_OF_THE_OFFICE: dict[str, Any] = {
    **{
        f"office:{name}": lambda world: {"contest_id": world.contest_id}
        for name in (*_OF_CONTEST, "statistics", "record", "names_open")
    },
    **{f"results:{name}": lambda world: {"contest_id": world.contest_id} for name in ("ranking", "ranking_change")},
    "results:ranking_file": lambda world: {"contest_id": world.contest_id, "form": "csv"},
    **{
        f"office:{name}": lambda world: {"contest_id": world.contest_id, "kind": "certificate"}
        for name in ("letters", "letters_pdf")
    },
    "office:statistics_data": lambda world: {
        "contest_id": world.contest_id,
        "problem_id": world.handed_in.submission.problem.public_id,
    },
    **{
        f"office:{name}": lambda world: {"contest_id": world.contest_id, "number": world.handed_in.submission.paper.number}
        for name in _OF_PAPER
    },
    "office:download": lambda world: {"contest_id": world.contest_id, "form": "csv"},
    **{f"office:{name}": lambda world: {"problem_id": world.handed_in.submission.problem.public_id} for name in _OF_PROBLEM},
}
