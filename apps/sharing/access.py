"""Who shares a run, and when a link shows it.

| | owner of the run, staff | other readers of the run | with the link |
|---|---|---|---|
| make, list and revoke links | yes | no | no |
| statement, graph, proof and lemmas | yes | yes | until it ends or is revoked |

A link shows a run only while its maker may see the run and no text of the problem is held back from anyone.
"""

import hashlib
import uuid

from django.http import Http404

from apps.accounts.models import User
from apps.problems.holding import Text, held_back
from apps.problems.models import Problem
from apps.runs.access import run_get_for, run_visible_to
from apps.runs.models import TRIAL, Run
from apps.sharing.models import SharedLink


def run_share_for(user: User, run_id: uuid.UUID) -> Run:
    """The run, for a user who may share it. Raises `Http404`."""
    run = run_get_for(user, run_id)
    if not run_may_share(user, run):
        raise Http404("Only the owner of a run may share it.")
    return run


def run_may_share(user: User, run: Run) -> bool:
    """Whether the user may make links to the run and revoke them: its owner and staff may."""
    return user.is_active and (user.is_staff or run.owner_id == user.pk)


def sharing_refusal(run: Run) -> str:
    """Why no link may show the run; empty if one may."""
    if run.is_grading or run.is_about_problem or run.preset == TRIAL:
        return "Only explorations can be shared. This run grades a script, prepares a problem or tries a model."
    held = Problem.objects.filter(held_back(Text.SOLUTIONS, None), pk=run.problem_version.problem_id)
    if held.exists():
        return (
            "The problem of this run is held back for a contest or for marking, so the run cannot be shared. "
            "Existing links show nothing meanwhile. Try again when the contest has ended."
        )
    return ""


def token_digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def link_of(token: str) -> SharedLink | None:
    """The link with this token, if it shows its run now."""
    links = SharedLink.objects.select_related("made_by", "run__problem_version__problem")
    link = links.filter(token_hash=token_digest(token), revoked_at=None).first()
    if link is None or link.has_ended or link.made_by is None or sharing_refusal(link.run):
        return None
    return link if run_visible_to(link.made_by).filter(pk=link.run_id).exists() else None
