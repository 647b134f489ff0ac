"""Who may see which page of a team of markers, as rows of rules.py. Bob organises, so he acts as captain."""

from typing import Any

from tests.access.statuses import CONTEST_COACH, POST_ONLY

_OF_CONTEST = ("team", "matrix", "blanks", "conflict_change")
_OF_PROBLEM = ("team_assign", "team_hand_over", "blanks_settle")

OF_TEAM: dict[str, Any] = {
    **{f"office:{name}": CONTEST_COACH for name in ("team", "matrix", "blanks")},
    "marks:groups": CONTEST_COACH,
    "marks:group": (302, 404, 302, 404, 404),  # One script is no group; Bob gets the list.
    "marks:items_take_back": POST_ONLY,
    **{f"office:{name}": POST_ONLY for name in ("conflict_change", "blanks_undo", *_OF_PROBLEM)},
}
ARGUMENTS_OF_TEAM: dict[str, Any] = {
    **{f"office:{name}": lambda world: {"contest_id": world.contest_id} for name in _OF_CONTEST},
    **{f"office:{name}": lambda world: {"problem_id": _problem(world)} for name in _OF_PROBLEM},
    "marks:groups": lambda world: {"problem_id": _problem(world)},
    "marks:group": lambda world: {"problem_id": _problem(world), "kind": "answer", "case_id": world.marking.case.public_id},
    "marks:items_take_back": lambda world: {"shared_id": 1},
    "office:blanks_undo": lambda world: {"problem_id": _problem(world), "event_id": 1},
}


def _problem(world: Any) -> Any:
    return world.handed_in.submission.problem.public_id
