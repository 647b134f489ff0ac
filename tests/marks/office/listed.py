"""A contest with a list of results: four marked papers, and papers without a grade."""

from apps.accounts.models import User
from apps.contests.models import ContestProblem, Identity
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from tests.marks.factory import claimed, marker, past_grace, problem_to_mark, script_add, sealed

POINTS = {"Ada Ampere": "7", "Bo Bohr": "2", "Cy Curie": "2", "=SUM(1)": "0"}
LINES = {"7": "B1", "2": "A1 -D1", "0": "-D1"}


def listed(organiser: User, *, unmarked: int = 0) -> ContestProblem:
    """Four marked papers with 7, 2, 2 and 0 points, marked by Eve, and `unmarked` ones by "Late 0" and so on."""
    eve = marker("eve")
    problem = problem_to_mark(organiser, eve, scripts=0, asks_place=False)
    for name in POINTS:
        script_add(problem, name)
    Identity.objects.filter(name="Ada Ampere").update(school="Gymnasium Hohenstein", external_id="DE-0017")
    cases_prepare(problem)
    for _ in POINTS:
        task = claimed(problem, eve)
        points = POINTS[Identity.objects.get(paper__submissions__versions=task.case.version).name]
        past_grace(sealed(task, eve, ("claim", {"line": LINES[points]}), ("reason", {"words": "So."})))
    cases_settle(problem.contest)
    for number in range(unmarked):
        script_add(problem, f"Late {number}")
    return problem
