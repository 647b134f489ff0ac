"""What is asked once before a contest is changed in a way that is hard to take back. Pages ask it in `{% ask %}`."""

from django.utils import timezone

from apps.accounts.models import User
from apps.contests.holding import HOLDING, sight_lost
from apps.contests.models import Contest, ContestCoach, ContestProblem


def move_question(contest: Contest, verb: str) -> str:
    """What to ask before a move (`services.MOVES`); empty where it loses nothing and can be taken back."""
    if verb == "open":
        return (
            f"Open “{contest.title}”? Its students read the problems as soon as its time begins. From then on problems can no "
            f"longer be changed, students no longer be taken out, and it stays anonymous if it is. {sight_words(contest)}"
        )
    if verb == "mark":
        is_running = contest.closes_at is not None and timezone.now() < contest.closes_at
        whose = "Its time is not over yet, but nobody" if is_running else "Nobody"
        return (
            f"Begin marking “{contest.title}”? {whose} can hand in any more, and what is only a draft is not marked. "
            "You can open it again."
        )
    if verb == "reopen":
        return f"Open “{contest.title}” again? Marking rests meanwhile, and students may hand in within its time."
    if verb == "close":
        return (
            f"Close “{contest.title}”? Everybody finds its problems in the library again, and appeals wait. "
            "You can go on marking later."
        )
    if verb == "resume":
        return f"Go on marking “{contest.title}”? {sight_words(contest)}"
    return ""


def hiding_question(contest: Contest) -> str:
    """What to ask before staff let the library hide the problems of a contest again."""
    if contest.state not in HOLDING:
        return f"Let the library hide the problems of “{contest.title}” again, as far as its state hides them?"
    return f"Hide the problems of “{contest.title}” again? {sight_words(contest, shows_problems=False)}"


def sight_words(contest: Contest, *, shows_problems: bool | None = None) -> str:
    """Who loses sight of what in the library, as long as the contest is open or being marked."""
    if contest.shows_problems if shows_problems is None else shows_problems:
        return "Staff decided that the library goes on showing its problems to everybody."
    count, lost = contest.problems.count(), sight_lost(contest)
    what, them = ("its problem", "it") if count == 1 else (f"its {count} problems", "them")
    words = (
        f"Until it is closed, the library hides {what}, with solutions, schemes and runs, from everybody but its coaches: "
        f"{_counted(lost.readers, 'other coach or researcher', 'other coaches or researchers')} and "
        f"{_counted(lost.students, 'student', 'students')} no longer find {them} there. Runs on {them} stay with their owners."
    )
    if lost.contests:
        others = _counted(lost.contests, "contest", "contests")
        words += f" {others} in preparation cannot open with {them} meanwhile, unless the organiser coaches this contest too."
    return words


def deletion_question(contest: Contest) -> str:
    """What to ask before a contest is deleted."""
    coaches = _counted(contest.coaches.count(), "coach", "coaches")
    students = _counted(contest.identities.count(), "student", "students")
    hides = contest.state in HOLDING and not contest.shows_problems
    shown = ", and the library shows its problems again" if hides else ""
    return f"Delete “{contest.title}”? Its {coaches} and {students} no longer find it{shown}. Only staff can restore it."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def coach_question(coach: ContestCoach, problems: list[ContestProblem], user: User) -> str:
    """What to ask before a coach is taken out; whoever takes themselves out loses the contest from sight."""
    led = [row.label for row in problems if row.captain_id == coach.person_id]
    captains = f" Without a captain then: problem {', '.join(led)}." if led else ""
    if coach.person_id == user.pk:
        return (
            f"Take yourself out of “{coach.contest.title}”? You no longer see the contest, and only another organiser can let "
            f"you in again. Marks that you sealed stay.{captains}"
        )
    return (
        f"Take {coach.person.username} out of “{coach.contest.title}”? Marks that were sealed stay; "
        f"scripts that were begun go to others.{captains}"
    )
