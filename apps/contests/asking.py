"""Confirmation questions before changes of a contest that are hard to undo. Pages show them with `{% ask %}`."""

from django.utils import timezone

from apps.accounts.models import User
from apps.contests.holding import HOLDING, access_lost
from apps.contests.models import Contest, ContestCoach, ContestKind, ContestProblem


def move_question(contest: Contest, verb: str) -> str:
    """The question before a move (`services.MOVES`); empty if the move can be undone without loss."""
    if verb == "open" and contest.kind == ContestKind.SHEET:
        return (
            f"Open “{contest.title}”? Students can read the problems when its time begins, and coaches read what they hand in. "
            "Afterwards you cannot change problems, remove students or end anonymity."
        )
    if verb == "open":
        return (
            f"Open “{contest.title}”? Students can read the problems when its time begins. Afterwards you cannot change "
            f"problems, remove students or end anonymity. {access_notice(contest)}"
        )
    if verb == "mark":
        is_running = contest.closes_at is not None and timezone.now() < contest.closes_at
        early = "Its time is not over yet. " if is_running else ""
        if contest.kind == ContestKind.SHEET:
            return (
                f"Begin marking “{contest.title}”? Students can still hand in newer versions, but coaches answer no questions "
                "until it is reopened or results are released."
            )
        return (
            f"Begin marking “{contest.title}”? {early}Students can no longer hand in, and drafts are not marked. "
            "You can reopen the contest."
        )
    if verb == "reopen":
        return f"Reopen “{contest.title}”? Marking pauses, and students can hand in within its time window."
    if verb == "close":
        return (
            f"Close “{contest.title}”? The library shows its problems to all readers again, and appeals are suspended. "
            "You can resume marking later."
        )
    if verb == "resume":
        return f"Resume marking “{contest.title}”? {access_notice(contest)}"
    return ""


def hiding_question(contest: Contest) -> str:
    """The question before staff hide the problems of a contest again."""
    if contest.state not in HOLDING:
        return f"Hide the problems of “{contest.title}” in the library again while it is open or being marked?"
    return f"Hide the problems of “{contest.title}” again? {access_notice(contest, shows_problems=False)}"


def access_notice(contest: Contest, *, shows_problems: bool | None = None) -> str:
    """Describe who cannot read the problems in the library while the contest is open or being marked."""
    if contest.kind != ContestKind.CONTEST:
        return ""
    if contest.shows_problems if shows_problems is None else shows_problems:
        return "Staff keep its problems visible to all readers of the library."
    count, lost = contest.problems.count(), access_lost(contest)
    problems, them = ("its problem", "it") if count == 1 else (f"its {count} problems", "them")
    words = (
        f"Until it closes, the library hides {problems}, with solutions, schemes and runs, from all but its coaches: "
        f"{_counted(lost.readers, 'other coach or researcher', 'other coaches or researchers')} and "
        f"{_counted(lost.students, 'student', 'students')} can no longer read {them} there. Owners keep their runs on {them}."
    )
    if lost.contests:
        others = _counted(lost.contests, "contest", "contests")
        words += f" {others} in preparation cannot open with {them} until then, unless the organiser also coaches this contest."
    return words


def deletion_question(contest: Contest) -> str:
    """The question before a contest is deleted."""
    coaches = _counted(contest.coaches.count(), "coach", "coaches")
    students = _counted(contest.identities.count(), "student", "students")
    hides = contest.kind == ContestKind.CONTEST and contest.state in HOLDING and not contest.shows_problems
    shown = ", and the library shows its problems again" if hides else ""
    return f"Delete “{contest.title}”? Its {coaches} and {students} can no longer open it{shown}. Only staff can restore it."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def coach_question(coach: ContestCoach, problems: list[ContestProblem], user: User) -> str:
    """The question before a coach is removed, with another text for coaches who remove themselves."""
    led = [row.label for row in problems if row.captain_id == coach.person_id]
    captains = f" These problems lose their captain: {', '.join(led)}." if led else ""
    if coach.person_id == user.pk:
        return (
            f"Remove yourself from “{coach.contest.title}”? You lose access, and only another organiser can add you again. "
            f"Your sealed marks stay.{captains}"
        )
    return (
        f"Remove {coach.person.username} from “{coach.contest.title}”? Sealed marks stay; "
        f"unfinished scripts return to the queue.{captains}"
    )
