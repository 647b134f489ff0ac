"""Points, changes and origins of forks in words."""

import re
from dataclasses import dataclass

from apps.accounts.models import User
from apps.reasoning.domain.control import Branch
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.access import run_visible_to
from apps.runs.models import Run

_ROUND = re.compile(r"r(\d+)/(reason|summarise|verify|votes|end)")
_FINAL = re.compile(r"final/(write|check|votes|revise)(?:/(\d+))?")
_PARTS = {
    "reason": "at its beginning",
    "summarise": "before the summaries",
    "verify": "before the votes on its lemmas",
    "votes": "after the votes",
    "end": "at its end",
}
_FINALS = {
    "write": "before the proof is written",
    "check": "before the votes on proof {}",
    "votes": "after the votes on proof {}",
    "revise": "before revision {}",
}


def point_words(point: str) -> str:
    """A control point in words; those of other scaffolds keep their names."""
    if found := _ROUND.fullmatch(point):
        return f"round {found[1]}, {_PARTS[found[2]]}"
    if found := _FINAL.fullmatch(point):
        return _FINALS[found[1]].format(found[2])
    return f"the point {point}"


def change_words(branch: Branch) -> str:
    """What a fork changes, as the end of a sentence."""
    lemma = next((str(one.args["lemma"]) for one in branch.commands if "lemma" in one.args), "")
    return {
        "unchanged": "unchanged, with new draws",
        "hint": "with a hint",
        "without": f"without lemma {lemma}",
        "corrected": f"with lemma {lemma} corrected",
    }[branch.change]


def short_words(branch: Branch) -> str:
    """`change_words` for a button."""
    words = change_words(branch)
    return {"unchanged": "new draws", "hint": "hint"}.get(branch.change, words.replace("lemma ", "").removeprefix("with "))


@dataclass(frozen=True)
class Origin:
    """Where a fork comes from. `parent` is None if it was deleted or the reader may not see it.

    `begins`, `change`, `short` (for a button) and `text` (a hint or a statement) are "" for a fork of a whole run.
    """

    parent: Run | None
    seq: int = 0
    begins: str = ""
    change: str = ""
    short: str = ""
    text: str = ""


def origin_of_fork(run: Run, user: User) -> Origin | None:
    """The origin of a fork as `user` sees it; None for a run that is no fork."""
    branch = branch_of(run)
    if branch is None and run.forked_from_id is None:
        return None
    parent = run_visible_to(user).filter(forks=run).first()
    if branch is None:
        return Origin(parent)
    texts = (one.args.get("text") or one.args.get("statement") for one in branch.commands)
    text = next((str(one) for one in texts if one), "")
    return Origin(parent, branch.seq, point_words(branch.point), change_words(branch), short_words(branch), text)


def forks_of(run: Run, user: User, limit: int = 20) -> list[tuple[Run, str]]:
    """The forks of a run that `user` may see, oldest first, each with its change in words."""
    found = run_visible_to(user).filter(forked_from=run).order_by("pk")[:limit]
    return [(fork, change_words(branch) if (branch := branch_of(fork)) else "of the whole run") for fork in found]


def branch_of(run: Run) -> Branch | None:
    """The branch of a run's specification; None for other runs and unreadable specifications."""
    try:
        return RunSpec.model_validate(run.spec).branch if run.spec.get("branch") else None
    except ValueError:
        return None
