"""Answers of a model that follows every scaffold's formats: by call key, as long as those of contest_texts.py.

No search ends early: some checks find a fault, examinations are never sure, judges prefer the first text.
"""

import functools
from collections.abc import Callable
from fnmatch import fnmatchcase

from apps.reasoning.inference.scripted import Reply
from benchmarks.contest import contest_texts
from benchmarks.contest.contest_texts import PROOF_STEPS, REASONING, VOTE_REASONING, prose

STEP = 400
REPORT = 1_200
STATE = 3_000


@functools.lru_cache(maxsize=4096)
def reply(key: str, role: str) -> Reply:
    """The answer to a call of any scaffold: by its key, or by its role, or a solution."""
    if fnmatchcase(key, "s*/r*/*") or (key.startswith("final/") and role in contest_texts.ROLES):
        return contest_texts.reply_to(key, role)
    for pattern, write in _WRITERS:
        if fnmatchcase(key, pattern):
            return write(key)
    return _BY_ROLE.get(role, _solution)(key)


def _solution(key: str, tag: str = "proof") -> Reply:
    texts = [prose(f"{key}/{number}", STEP) for number in range(PROOF_STEPS)]
    texts[-1] += "\nAnswer: $2$"  # Required if the problem has an answer, otherwise ignored.
    steps = [f"<step>{text}</step>" for text in texts]
    return Reply(text="\n".join([f"<{tag}>", *steps, f"</{tag}>"]), reasoning=prose(f"{key}/thinking", REASONING))


def _answer(key: str) -> Reply:
    return _solution(key, "answer")


def _in(tag: str, size: int, ending: str = "") -> Callable[[str], Reply]:
    def write(key: str) -> Reply:
        text = f"<{tag}>{prose(key, size)}{ending}</{tag}>"
        return Reply(text=text, reasoning=prose(f"{key}/thinking", VOTE_REASONING))

    return write


def _ending(ending: str) -> Callable[[str], Reply]:
    """A writer of reports in words that end with a tag."""

    def write(key: str) -> Reply:
        return Reply(text=f"{prose(key, REPORT)}\n{ending}", reasoning=prose(f"{key}/thinking", VOTE_REASONING))

    return write


def _check(key: str) -> Reply:
    """A check; every third one fails, so five in a row never pass and ten in a row never fail."""
    issue = f'<issue severity="critical"><quote>{prose(key, 40)}</quote>{prose(f"{key}/why", 200)}</issue>\n'
    fails = int(key.rpartition("/")[2]) % 3 == 0
    return _ending(f"{issue}<decision>fail</decision>" if fails else "<decision>pass</decision>")(key)


def _groups(key: str) -> Reply:
    numbers = ", ".join(str(number) for number in range(1, 17))
    return _ending(f'<group number="1">{numbers}</group>\n<likeliest>1</likeliest>')(key)


_WRITERS: tuple[tuple[str, Callable[[str], Reply]], ...] = (
    ("turn/*/summarise", _in("state", STATE)),
    ("check/*", _check),
    ("step/[24]/c*", _check),  # Verdicts of grouped agents; steps of an aggregation have no candidate in their key.
    ("mark/*", _ending("<score>4</score>")),
    ("consolidate", _groups),
    ("final/*", _ending("<better>A</better>")),
    ("grade/*", _ending("<grading><feedback>It holds.</feedback><points>4</points></grading>")),
    ("examine/*", _ending("<score>0.5</score>")),
    ("solve/*/turn/*", _answer),
    ("judge/*/turn/*", _in("report", REPORT, "\n0")),
    ("condense/*", _in("checkpoints", STATE)),
    ("sum-up/*", _in("judgement", REPORT)),
)
#: Answers by role, for calls without a known key; all other roles write solutions.
_BY_ROLE: dict[str, Callable[[str], Reply]] = {
    "judge": _ending("<better>A</better>"),
    "grader": _ending("<score>4</score>"),
    "verifier": _check,
}
