"""What is asked once before a contest is changed in a way that is hard to take back. Pages ask it in `data-confirm`."""

from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestCoach, ContestProblem


def move_question(contest: Contest, verb: str) -> str:
    """What to ask before a move (`services.MOVES`); empty where it loses nothing and can be taken back."""
    if verb == "open":
        return (
            f"Open “{contest.title}”? Its students read the problems as soon as its time begins. From then on problems can no "
            "longer be changed, students no longer be taken out, and it stays anonymous if it is."
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
    return ""


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
