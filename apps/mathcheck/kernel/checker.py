"""The port to proof assistants: a theorem goes in, and whether its kernel checked a proof comes out."""

import os
import shutil
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from apps.mathcheck.kernel.terms import Theorem

Outcome = Literal["checked", "not_found", "not_expressible", "stopped", "absent"]


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The answer about one claim.

    checked: the kernel checked `file`, whose `statement` is to be compared with the formula. not_found: no tactic proved it.
    stopped: a limit ended the search. absent: the program is not there, or does not work. `reason` is for people.
    `axioms` are those that the proof uses.
    """

    outcome: Outcome
    tool: str = ""
    version: str = ""
    statement: str = ""
    tactic: str = ""
    file: str = ""
    file_name: str = ""
    cpu_s: float = 0.0
    axioms: tuple[str, ...] = ()
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The value as JSON types."""
        return asdict(self)


class KernelChecker(Protocol):
    """A proof assistant."""

    tool: str

    def version(self) -> str:
        """The version of the program; empty if it is absent."""
        ...

    def check(self, theorem: Theorem, comment: str = "") -> KernelResult:
        """Search for a proof and let the kernel check it. `comment` is shown in the file. Never raises for a theorem."""
        ...


def program(path: str, variable: str, name: str) -> str | None:
    """The path of a program: `path`, else the environment variable `variable`, else `name` in PATH; None if there is none."""
    chosen = path or os.environ.get(variable, "")
    return shutil.which(chosen or name) if chosen or name else None


def comment_line(text: str) -> str:
    """A formula for a comment: one line of printable characters that cannot end the comment or nest one."""
    kept = "".join(one if one.isprintable() else " " for one in text)
    kept = kept.replace('"', "''")
    for mark in ("(*", "*)", "/-", "-/"):
        kept = kept.replace(mark, " ".join(mark))
    return " ".join(kept.split())[:400]
