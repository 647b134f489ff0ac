"""Take one free script for a marker: the rules of `claims`, points 2 to 5, as a statement that lists the first candidates.

Composing and planning this query for each claim took several times as long as answering it. Candidates are locked by a second,
small statement: PostgreSQL checks the conditions of a locked row again if it changed meanwhile.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from django.db import connection

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.leases import LEASE
from apps.marks.models import CLAIM_PARTS, MarkingSetup

#: Orders are cubic polynomials modulo this prime, so that both databases compute them in 64 bits.
_PRIME = 2**31 - 1

#: `papers`, `kept`: what a coach must not mark, because they wrote it, opened the identity, know the author, or by a conflict.
#: `known`: scripts about which the marker knows something; of those with a `task_id`, only other tasks are excluded.
_FREE = """
WITH papers AS (
    SELECT paper_id, person_id FROM contests_identity WHERE contest_id = %(contest)s AND {people}
    UNION ALL
    SELECT seen.paper_id, seen.by_id FROM contests_identityreveal seen JOIN contests_paper paper ON paper.id = seen.paper_id
        JOIN contests_contest contest ON contest.id = paper.contest_id
        WHERE contest.id = %(contest)s AND contest.is_anonymous AND seen.by_id IS NOT NULL
    {conflicts}
), kept AS (
    SELECT marked.id AS case_id, papers.person_id FROM papers
        JOIN submissions_submission text ON text.paper_id = papers.paper_id AND text.problem_id = %(problem)s
        JOIN submissions_submissionversion version ON version.submission_id = text.id
        JOIN marks_markingcase marked ON marked.version_id = version.id
    UNION ALL
    SELECT task.case_id, passed.person_id FROM marks_pass passed JOIN marks_markingtask task ON task.id = passed.task_id
        WHERE passed.reason = 'conflict'
), known AS (
    SELECT case_id, 0 AS task_id FROM kept WHERE person_id = %(user)s
    UNION ALL
    SELECT part.case_id, -1 FROM marks_markingtask part WHERE part.assignee_id = %(user)s
    UNION ALL
    SELECT shown.case_id, -1 FROM marks_reveal shown WHERE shown.person_id = %(user)s AND shown.kind <> 'precedents'
    UNION ALL
    SELECT task.case_id, task.id FROM marks_pass ruled JOIN marks_markingtask task ON task.id = ruled.task_id
        WHERE ruled.answered_by_id = %(user)s
) {reserved}
SELECT task.id FROM (
    SELECT task.id, task.case_id, task.slot, marked.version_id,
        task.case_id IN (SELECT put_off.case_id FROM marks_pass passed JOIN marks_markingtask put_off
            ON put_off.id = passed.task_id WHERE passed.person_id = %(user)s AND passed.reason = 'skip') AS is_put_off,
        {is_for_others} AS is_for_others,
        task.id IN (SELECT task_id FROM marks_mark
            WHERE state = 'draft' AND row_version > 0 AND marker_id <> %(user)s) AS is_begun,
        (((((task.case_id * %(c3)s + %(c2)s) %% 2147483647) * task.case_id + %(c1)s) %% 2147483647) * task.case_id + %(c0)s)
            %% 2147483647 AS place
    FROM marks_markingtask task JOIN marks_markingcase marked ON marked.id = task.case_id
    WHERE marked.problem_id = %(problem)s AND task.done_at IS NULL
        AND (task.assignee_id IS NULL OR task.lease_until < %(now)s)
        AND task.slot IN ('first', 'second', 'third', 'again') {{among}}
    ORDER BY is_put_off, is_for_others, is_begun, place, task.id {{first}}
) task
WHERE {{fresh}} NOT EXISTS (SELECT 1 FROM known WHERE known.case_id = task.case_id
        AND (known.task_id = 0 OR (task.slot <> 'again' AND known.task_id <> task.id)))
    AND (task.slot <> 'third' OR NOT EXISTS (SELECT 1 FROM marks_earlyreveal early
        JOIN submissions_submissionversion version ON version.submission_id = early.submission_id
        WHERE version.id = task.version_id AND early.person_id = %(user)s))
    AND (task.slot <> 'third' OR NOT %(leads)s OR NOT EXISTS (SELECT 1 FROM marks_finalgrade grade
        WHERE grade.case_id = task.case_id))
    {is_not_reserved}
ORDER BY task.is_put_off, task.is_for_others, task.is_begun, task.place, task.id
"""
#: `reserved`: scripts all of whose free slots wait for the markers to whom they are assigned. A marker who holds or sealed a
#: part, or who may not have the script any more, does not wait.
_RESERVED = """, own AS (
    SELECT case_id FROM marks_assignment WHERE marker_id = %(user)s
), reserved AS (
    SELECT given.case_id FROM marks_assignment given JOIN marks_markingcase marked ON marked.id = given.case_id
        WHERE marked.problem_id = %(problem)s AND NOT given.is_shared AND given.marker_id <> %(user)s
        AND given.marker_id IN (SELECT person_id FROM contests_contestcoach WHERE contest_id = %(contest)s)
        AND NOT EXISTS (SELECT 1 FROM kept WHERE kept.case_id = given.case_id AND kept.person_id = given.marker_id)
        AND NOT EXISTS (SELECT 1 FROM marks_markingtask part WHERE part.case_id = given.case_id
            AND part.assignee_id = given.marker_id
            AND (part.done_at IS NOT NULL OR part.lease_until IS NULL OR part.lease_until >= %(now)s))
        AND NOT EXISTS (SELECT 1 FROM marks_reveal shown WHERE shown.case_id = given.case_id
            AND shown.person_id = given.marker_id AND shown.kind <> 'precedents')
        AND NOT EXISTS (SELECT 1 FROM marks_pass ruled JOIN marks_markingtask asked ON asked.id = ruled.task_id
            WHERE asked.case_id = given.case_id AND ruled.answered_by_id = given.marker_id)
        GROUP BY given.case_id
        HAVING count(*) >= (SELECT count(*) FROM marks_markingtask free WHERE free.case_id = given.case_id
            AND free.slot IN ('first', 'second') AND free.done_at IS NULL
            AND (free.assignee_id IS NULL OR free.lease_until < %(now)s))
)"""
_CONFLICTS = """UNION ALL
    SELECT author.paper_id, conflict.person_id FROM marks_markerconflict conflict
        JOIN contests_identity author ON author.contest_id = conflict.contest_id
        WHERE conflict.contest_id = %(contest)s AND ((conflict.school <> ''
                AND LOWER(TRIM(author.school)) = LOWER(TRIM(conflict.school)))
            OR author.person_id IN (SELECT person_id FROM accounts_groupmember WHERE group_id = conflict.group_id))"""
_OF_TEAM = _FREE.format(
    people="person_id IN (SELECT person_id FROM contests_contestcoach WHERE contest_id = %(contest)s)",
    conflicts=_CONFLICTS,
    reserved=_RESERVED,
    is_for_others="task.case_id NOT IN (SELECT case_id FROM own)",
    is_not_reserved="AND (task.slot NOT IN ('first', 'second') OR NOT task.is_for_others"
    " OR task.case_id NOT IN (SELECT case_id FROM reserved))",
)
#: Without assignments and conflicts, which takes less planning.
_OF_ALL = _FREE.format(people="person_id = %(user)s", conflicts="", reserved="", is_for_others="1", is_not_reserved="")
#: Which of the free scripts are looked at, as `(among, first, fresh)`: one part without those that come last, the first in the
#: marker's order, and all.
_OF_PART = (f"AND (task.case_id %% {CLAIM_PARTS}) = %(part)s", "", "NOT task.is_put_off AND NOT task.is_begun AND")
_WINDOWS = (("", "LIMIT 48", ""), ("", "", ""))
_IS_FREE = "done_at IS NULL AND (assignee_id IS NULL OR lease_until < %(now)s)"
_FIRST_OF = {
    "sqlite": f"SELECT id FROM marks_markingtask WHERE id = %(key)s AND {_IS_FREE}",  # noqa: S608  (words of ours)
    "postgresql": f"""
SELECT id FROM marks_markingtask WHERE id = ANY(CAST(%(keys)s AS bigint[])) AND {_IS_FREE}
    ORDER BY array_position(CAST(%(keys)s AS bigint[]), id) LIMIT 1 FOR UPDATE SKIP LOCKED""",  # noqa: S608  (words of ours)
}
_TAKE = """
UPDATE marks_markingtask SET assignee_id = %(user)s, lease_until = %(until)s WHERE id = ({first}) RETURNING id,
    EXISTS (SELECT 1 FROM marks_mark WHERE task_id = marks_markingtask.id)
"""
_LOCK = "SELECT is_organiser FROM contests_contestcoach WHERE contest_id = %(contest)s AND person_id = %(user)s"
#: Django's own statements bind their values in the client and are never prepared, whatever this is.
_PREPARED_FROM = 5
_LOCKED = {"postgresql": " FOR UPDATE"}
_WORK = """
SELECT EXISTS (SELECT 1 FROM marks_markerconflict WHERE contest_id = %(contest)s)
    OR (EXISTS (SELECT 1 FROM marks_assignment) AND EXISTS (SELECT 1
        FROM marks_assignment given JOIN marks_markingcase marked ON marked.id = given.case_id
        WHERE marked.problem_id = %(problem)s)),
    EXISTS (SELECT 1 FROM marks_markingtask task JOIN marks_markingcase marked ON marked.id = task.case_id
        WHERE task.assignee_id = %(user)s AND task.done_at IS NULL AND marked.problem_id = %(problem)s)
    OR EXISTS (SELECT 1 FROM marks_markingcase WHERE problem_id = %(problem)s AND is_calibration),
    (SELECT count(*) FROM marks_markingtask WHERE assignee_id = %(user)s)
"""


@dataclass(frozen=True)
class Standing:
    """What a claim depends on. `leads`: the marker is captain or organiser. `has_team`: there are assignments or conflicts.

    `has_work`: the marker holds a script, or the problem has calibration scripts or re-marks, which come first. `claims`: how
    many tasks the marker has had, of any problem.
    """

    leads: bool
    has_team: bool
    has_work: bool
    claims: int


def free_take(problem: ContestProblem, user: User, now: datetime, standing: Standing, case: int = 0) -> tuple[int, bool] | None:
    """Assign the next free task to a marker, of one case only if `case` is its key. None without one.

    Returns the key of the task, and whether a marker began a mark on it. Call it in the transaction of `standing_locked`.
    """
    statement = _OF_TEAM if standing.has_team else _OF_ALL
    adapt = connection.ops.adapt_datetimefield_value
    values = {"user": user.pk, "problem": problem.pk, "contest": problem.contest_id, "case": case}
    values |= {"leads": standing.leads}
    values |= zip(("c3", "c2", "c1", "c0"), _factors(problem.setup.seed, user.pk), strict=True)
    taken = {"user": user.pk, "now": adapt(now), "until": adapt(now + LEASE)}
    values["part"] = (values["c0"] + standing.claims) % CLAIM_PARTS
    lost: set[int] = set()
    for among, first, fresh in _windows(standing, case):
        listed = statement.format(among=among, first=first, fresh=fresh)
        while keys := [key for (key,) in _rows(listed, values | {"now": adapt(now)}) if key not in lost]:
            chosen = {"keys": keys} if connection.vendor == "postgresql" else {"key": keys[0]}
            for key, is_begun in _rows(_TAKE.format(first=_FIRST_OF[connection.vendor]), taken | chosen):
                return key, bool(is_begun)
            lost.update(keys)
    return None


def _windows(standing: Standing, case: int) -> tuple[tuple[str, str, str], ...]:
    """What is looked at, one after another. With assignments, a marker's own scripts come first, whatever their part."""
    if case:
        return (("AND task.case_id = %(case)s", "", ""),)
    return _WINDOWS if standing.has_team else (_OF_PART, *_WINDOWS)


def standing_locked(problem: ContestProblem, user: User) -> Standing:
    """The standing of a marker, whose row is locked until the end of the transaction.

    The lock serialises claims of one marker from several windows.
    """
    values = {"contest": problem.contest_id, "problem": problem.pk, "user": user.pk}
    found = _rows(_LOCK + _LOCKED.get(connection.vendor, ""), values)
    leads = problem.captain_id == user.pk or any(is_organiser for (is_organiser,) in found)
    ((has_team, has_work, claims),) = _rows(_WORK, values)
    return Standing(leads, bool(has_team), bool(has_work) or problem.setup.remark_percent > 0, claims)


def _rows(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Execute a statement and return its rows. PostgreSQL plans it once for each connection."""
    database: Any = connection
    rows: list[tuple[Any, ...]]
    if database.vendor == "postgresql":
        database.ensure_connection()
        # Django switches prepared statements off by None, and `prepare` has no effect then.
        database.connection.prepare_threshold = _PREPARED_FROM
        with database.wrap_database_errors, database.Database.Cursor(database.connection) as cursor:
            rows = cursor.execute(statement, values, prepare=True).fetchall()
    else:
        with database.cursor() as cursor:
            cursor.execute(statement, values)
            rows = cursor.fetchall()
    return rows


def order_of(setup: MarkingSetup, user: User, cases: Iterable[int]) -> Iterator[int]:
    """The order in which a marker who had no task yet claims these cases, if none is assigned and all stay free."""
    factors, left = _factors(setup.seed, user.pk), set(cases)
    for claims in range(len(left)):
        part = {case for case in left if case % CLAIM_PARTS == (factors[-1] + claims) % CLAIM_PARTS}
        chosen = min(part or left, key=lambda case: _place(factors, case))
        left.remove(chosen)
        yield chosen


def _place(factors: Sequence[int], case: int) -> int:
    """The number that the statement sorts by."""
    place = 0
    for factor in factors:
        place = (place * case + factor) % _PRIME
    return place


def _factors(seed: int, marker: int) -> tuple[int, int, int, int]:
    """The factors of a marker's polynomial, highest power first."""
    drawn = blake2b(f"{seed}:{marker}".encode(), digest_size=32).digest()
    first, *others = (int.from_bytes(drawn[at : at + 8]) for at in range(0, 32, 8))
    return (1 + first % (_PRIME - 1), *(one % _PRIME for one in others))  # type: ignore[return-value]
