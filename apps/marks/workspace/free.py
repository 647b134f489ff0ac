"""Take one free script for a marker, in a single statement: the rules of `claims`, points 2 to 5, in SQL.

Composing and planning this query for each claim took several times as long as answering it.
"""

from datetime import datetime
from functools import cache
from hashlib import blake2b
from typing import Any

from django.db import connection

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.leases import LEASE
from apps.marks.models import MarkingSetup

#: Orders are cubic polynomials modulo this prime, so that both databases compute them in 64 bits.
_PRIME = 2**31 - 1

#: `kept`: scripts that a coach must not mark, because they wrote them, opened the identity, or declared a conflict.
#: `known`: scripts about which the marker knows something. `reserved`: scripts all of whose free slots wait for their markers.
_FREE = """
WITH people AS (
    SELECT person_id FROM contests_contestcoach WHERE contest_id = %(contest)s UNION SELECT CAST(%(user)s AS bigint)
), papers AS (
    SELECT paper_id, person_id FROM contests_identity
        WHERE contest_id = %(contest)s AND person_id IN (SELECT person_id FROM people)
    UNION ALL
    SELECT seen.paper_id, seen.by_id FROM contests_identityreveal seen JOIN contests_paper paper ON paper.id = seen.paper_id
        JOIN contests_contest contest ON contest.id = paper.contest_id
        WHERE contest.id = %(contest)s AND contest.is_anonymous AND seen.by_id IS NOT NULL
    UNION ALL
    SELECT author.paper_id, conflict.person_id FROM marks_markerconflict conflict
        JOIN contests_identity author ON author.contest_id = conflict.contest_id
        WHERE conflict.contest_id = %(contest)s AND ((conflict.school <> '' AND author.school = conflict.school)
            OR author.person_id IN (SELECT person_id FROM accounts_groupmember WHERE group_id = conflict.group_id))
), kept AS (
    SELECT marked.id AS case_id, papers.person_id FROM papers
        JOIN submissions_submission text ON text.paper_id = papers.paper_id AND text.problem_id = %(problem)s
        JOIN submissions_submissionversion version ON version.submission_id = text.id
        JOIN marks_markingcase marked ON marked.version_id = version.id
    UNION ALL
    SELECT task.case_id, passed.person_id FROM marks_pass passed JOIN marks_markingtask task ON task.id = passed.task_id
        JOIN marks_markingcase marked ON marked.id = task.case_id
        WHERE marked.problem_id = %(problem)s AND passed.reason = 'conflict'
), known AS (
    SELECT part.case_id, 0 AS task_id FROM marks_markingtask part WHERE part.assignee_id = %(user)s
    UNION ALL
    SELECT shown.case_id, 0 FROM marks_reveal shown WHERE shown.person_id = %(user)s AND shown.kind <> 'precedents'
    UNION ALL
    SELECT task.case_id, task.id FROM marks_pass ruled JOIN marks_markingtask task ON task.id = ruled.task_id
        WHERE ruled.answered_by_id = %(user)s
), reserved AS (
    SELECT given.case_id FROM marks_assignment given JOIN marks_markingcase marked ON marked.id = given.case_id
        WHERE marked.problem_id = %(problem)s AND NOT given.is_shared
        AND given.marker_id IN (SELECT person_id FROM people WHERE person_id <> %(user)s)
        AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.case_id = given.case_id AND kept.person_id = given.marker_id)
        AND NOT EXISTS (SELECT 1 FROM marks_markingtask own
            WHERE own.case_id = given.case_id AND own.assignee_id = given.marker_id)
        GROUP BY given.case_id
        HAVING count(*) >= (SELECT count(*) FROM marks_markingtask free WHERE free.case_id = given.case_id
            AND free.slot IN ('first', 'second') AND free.done_at IS NULL
            AND (free.assignee_id IS NULL OR free.lease_until < %(now)s))
), own AS (
    SELECT case_id FROM marks_assignment WHERE marker_id = %(user)s
)
SELECT task.id FROM marks_markingtask task JOIN marks_markingcase marked ON marked.id = task.case_id
    LEFT JOIN marks_mark mark ON mark.task_id = task.id
WHERE marked.problem_id = %(problem)s AND task.done_at IS NULL
    AND (task.assignee_id IS NULL OR task.lease_until < %(now)s)
    AND task.slot IN ('first', 'second', 'third', 'again') AND %(case)s IN (0, task.case_id)
    AND task.case_id NOT IN (SELECT case_id FROM kept WHERE person_id = %(user)s)
    AND (task.slot = 'again' OR task.case_id NOT IN (SELECT case_id FROM known WHERE task_id = 0))
    AND (task.slot = 'again' OR task.case_id NOT IN (SELECT case_id FROM known WHERE task_id <> 0)
        OR task.id IN (SELECT task_id FROM known))
    AND (task.slot NOT IN ('first', 'second') OR task.case_id IN (SELECT case_id FROM own)
        OR task.case_id NOT IN (SELECT case_id FROM reserved))
    AND (task.slot <> 'third' OR NOT EXISTS (SELECT 1 FROM marks_earlyreveal early
        JOIN submissions_submissionversion version ON version.submission_id = early.submission_id
        WHERE version.id = marked.version_id AND early.person_id = %(user)s))
    AND (task.slot <> 'third' OR NOT %(leads)s OR NOT EXISTS (SELECT 1 FROM marks_finalgrade grade
        WHERE grade.case_id = task.case_id))
ORDER BY task.case_id IN (SELECT put_off.case_id FROM marks_pass passed JOIN marks_markingtask put_off
        ON put_off.id = passed.task_id WHERE passed.person_id = %(user)s AND passed.reason = 'skip'),
    task.case_id NOT IN (SELECT case_id FROM own),
    coalesce(mark.row_version, 0) > 0 AND mark.marker_id <> %(user)s,
    (((((task.case_id * %(c3)s + %(c2)s) %% 2147483647) * task.case_id + %(c1)s) %% 2147483647) * task.case_id + %(c0)s)
        %% 2147483647,
    task.id
LIMIT 1
"""
_TAKE = """
UPDATE marks_markingtask SET assignee_id = %(user)s, lease_until = %(until)s WHERE id = ({free}) RETURNING id,
    EXISTS (SELECT 1 FROM marks_mark WHERE task_id = marks_markingtask.id)
"""

_LOCK = "SELECT is_organiser FROM contests_contestcoach WHERE contest_id = %(contest)s AND person_id = %(user)s"
_LOCKED = {"postgresql": " FOR UPDATE"}
_WORK = """
SELECT EXISTS (SELECT 1 FROM marks_markingtask task JOIN marks_markingcase marked ON marked.id = task.case_id
        WHERE task.assignee_id = %(user)s AND task.done_at IS NULL AND marked.problem_id = %(problem)s)
    OR EXISTS (SELECT 1 FROM marks_markingcase WHERE problem_id = %(problem)s AND is_calibration)
"""


def free_take(problem: ContestProblem, user: User, now: datetime, *, leads: bool, case: int = 0) -> tuple[int, bool] | None:
    """Assign the next free task to a marker, of one case only if `case` is its key. None without one.

    Returns the key of the task, and whether a marker began a mark on it. `leads`: the marker is captain or organiser. The caller
    holds the lock of `marker_lock`.
    """
    values = {"user": user.pk, "problem": problem.pk, "contest": problem.contest_id, "case": case, "leads": leads}
    adapt = connection.ops.adapt_datetimefield_value
    times = {"now": adapt(now), "until": adapt(now + LEASE)}
    factors = dict(zip(("c3", "c2", "c1", "c0"), _factors(problem.setup.seed, user.pk), strict=True))
    row = _row(_take(connection.vendor), values | times | factors)
    return (row[0], bool(row[1])) if row else None


def marker_lock(problem: ContestProblem, user: User) -> bool:
    """Lock the marker's row until the end of the transaction, which serialises claims from several windows.

    Returns whether the marker is captain or organiser.
    """
    found = _row(_LOCK + _LOCKED.get(connection.vendor, ""), {"contest": problem.contest_id, "user": user.pk})
    return problem.captain_id == user.pk or bool(found and found[0])


def has_work(problem: ContestProblem, user: User) -> bool:
    """Whether the marker holds a script, or the problem has work that comes before free scripts."""
    found = _row(_WORK, {"problem": problem.pk, "user": user.pk})
    return bool(found and found[0]) or problem.setup.remark_percent > 0


def _row(statement: str, values: dict[str, Any]) -> tuple[Any, ...] | None:
    """Execute a statement and return its first row. PostgreSQL plans it once for each connection."""
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchone()
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.Database.Cursor(connection.connection) as cursor:
        return cursor.execute(statement, values, prepare=True).fetchone()


def order_key(setup: MarkingSetup, user: User, case: int) -> int:
    """Place of a case in the order of a marker: the same number that the statement sorts by."""
    place = 0
    for factor in _factors(setup.seed, user.pk):
        place = (place * case + factor) % _PRIME
    return place


@cache
def _take(vendor: str) -> str:
    return _TAKE.format(free=_FREE + ("FOR UPDATE OF task SKIP LOCKED" if vendor == "postgresql" else ""))


def _factors(seed: int, marker: int) -> tuple[int, int, int, int]:
    """The factors of a marker's polynomial, highest power first."""
    drawn = blake2b(f"{seed}:{marker}".encode(), digest_size=32).digest()
    first, *others = (int.from_bytes(drawn[at : at + 8]) for at in range(0, 32, 8))
    return (1 + first % (_PRIME - 1), *(one % _PRIME for one in others))  # type: ignore[return-value]
