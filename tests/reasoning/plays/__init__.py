"""How scaffolds are played in the tests that are asked of every one of them (tests/reasoning/README.md).

Each scaffold has a module `test_<name>.py` here with its `PLAYS` and tests of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from tests.reasoning.candidates import PASS, named
from tests.reasoning.play import PROBLEM, Answer

Table = Mapping[str, Answer | Callable[[GenerationRequest], Answer]]
Course = tuple[Value, Table]

WORDS = "Step 1 assumes what is to be shown."
PROSE_FAIL = f"{WORDS}\n<decision>fail</decision>"
UNREAD = "I cannot say."


@dataclass(frozen=True)
class Golden:
    """What is played, the calls it makes (`a/{1,2}` is two), and how it ends."""

    params: Value
    table: Table
    calls: str
    ended_by: str
    accepted: bool | None
    reason: str

    @property
    def keys(self) -> list[str]:
        """The keys of its calls."""
        found: list[str] = []
        for key in self.calls.split():
            before, opened, rest = key.partition("{")
            choices, _, after = rest.partition("}")
            found += [f"{before}{choice}{after}" for choice in choices.split(",")] if opened else [key]
        return found


@dataclass(frozen=True)
class Shown(Golden):
    """A trace in which the prompt of the call `to` holds the verifier's prose, `WORDS`."""

    to: str = ""


@dataclass(frozen=True)
class AlwaysYes:
    """A judge that says yes to all it reads: its calls, and how often it must be asked before anything ends."""

    params: Value
    table: Table
    calls: str
    times: int
    accepted: bool | None = True


@dataclass(frozen=True)
class Verdicts:
    """The same with fails that stand in prose alone, with verdicts that disagree, and with checks that cannot be read."""

    prose_only: Shown
    mixed: Shown
    unread_between: Shown


@dataclass(frozen=True)
class Plays:
    """`course`: a model that half follows; some of its answers cannot be read. `most`: the most calls that can happen.

    `golden` is a small case that shows the rule by which it stops. Where calls judge solutions, `yes` and `verdicts` are
    needed. `problem` is what is played where the usual one does not do.
    """

    course: Course
    most: Course
    golden: Golden
    yes: AlwaysYes | None = None
    verdicts: Verdicts | None = None
    problem: ProblemText = PROBLEM


def plays_of(name: str) -> Plays:
    """The plays of a scaffold. Raises `AssertionError` that says which file is missing."""
    module = f"{__name__}.test_{name}"
    try:
        found: Plays = import_module(module).PLAYS
    except (ModuleNotFoundError, AttributeError) as error:
        path = f"{module.replace('.', '/')}.py"
        raise AssertionError(f"The scaffold {name} needs {path} with its PLAYS ({error}).") from error
    return found


def every_third_passes(request: Any) -> str:
    """A verifier that passes the third, the sixth, …"""
    return PASS if int(request.key.rpartition("/")[2]) % 3 == 0 else PROSE_FAIL


def checks(
    params: Value, table: dict[str, Any], calls: str, ended_by: str, accepted: bool | None, reason: str, to: str = ""
) -> Shown:
    """A trace of check and correct in which every other call writes a solution."""
    return Shown(params, {**table, "*": named}, calls, ended_by, accepted, reason, to)
