"""Graders by name: those of this app, and families that apps above register, such as `workflow:<name>@<model>`.

A name with a colon belongs to the family before it. Families may take long and are asked apart from the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from apps.marks.graders.computational import COMPUTATIONAL, ComputationalGrader
from apps.marks.graders.port import Grader
from apps.marks.graders.scripted import SCRIPTED, ScriptedGrader
from apps.problems.models import ProblemVersion
from apps.reasoning.marking.scheme import Scheme

#: A grader of a family with this before its `@` judges a neutral rewriting of the script.
NEUTRAL = "+neutral"


class GraderUnknown(LookupError):
    """There is no grader of this name, or it cannot be asked about this problem; the message says why."""


@dataclass(frozen=True)
class Offer:
    """A grader that may be chosen: `group` is the heading under which a form lists it."""

    name: str
    label: str
    group: str


class Family(Protocol):
    """Makes graders from the part of a name after the colon."""

    def make(self, rest: str, stated: ProblemVersion, scheme: Scheme | None) -> Grader:
        """The grader, for one problem. Raises `GraderUnknown`."""
        ...

    def label(self, rest: str) -> str:
        """How pages name it, also where it can no longer be asked."""
        ...

    def shown(self, rest: str, parts: Sequence[str]) -> str:
        """What it was shown besides the script, in words; `parts` as a suggestion keeps them. Empty where nobody knows."""
        ...

    def offers(self) -> list[Offer]:
        """What may be chosen."""
        ...


_FAMILIES: dict[str, Family] = {}


def family_register(prefix: str, family: Family) -> None:
    """Make a family known under its prefix."""
    _FAMILIES[prefix] = family


def grader_of(name: str, stated: ProblemVersion, scheme: Scheme | None) -> Grader:
    """The grader of this name for a problem. Raises `GraderUnknown`."""
    if name == COMPUTATIONAL:
        return ComputationalGrader()
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in _FAMILIES:
        raise GraderUnknown(f"There is no grader {name}.")
    return _FAMILIES[prefix].make(rest, stated, scheme)


def label_of(name: str) -> str:
    """How pages name a grader."""
    own = {COMPUTATIONAL: ComputationalGrader().label, SCRIPTED: ScriptedGrader({}).label}
    prefix, _, rest = name.partition(":")
    if name in own or prefix not in _FAMILIES:
        return own.get(name, name)
    return _FAMILIES[prefix].label(rest)


def shown_to(name: str, parts: Sequence[str]) -> str:
    """What a grader was shown besides the script, in words; `parts` as its suggestion keeps them. Empty where nobody knows."""
    prefix, _, rest = name.partition(":")
    return _FAMILIES[prefix].shown(rest, parts) if prefix in _FAMILIES else ""


def origin_of(name: str) -> Literal["", "model", "program"]:
    """Whose words a grader's are; empty for those that people wrote."""
    if name == COMPUTATIONAL:
        return "program"
    return "" if name == SCRIPTED else "model"


def with_players(name: str, players: str) -> str:
    """The name with the models of single roles in it: `role=model` beside the one that it names, or a model for each role."""
    if not players.strip():
        return name
    parts = [part.strip() for part in players.split(",")]
    head, _, alias = name.partition("@")
    return f"{head}@{','.join([alias, *parts] if all('=' in part for part in parts) else parts)}"


def without_players(name: str) -> tuple[str, str]:
    """A name with its first model alone, and the models of single roles as `with_players` takes them."""
    head, at, players = name.partition("@")
    alias, _, more = players.partition(",")
    is_each = bool(more) and "=" not in more
    return f"{head}{at}{alias}", players if is_each else more


def offers() -> list[Offer]:
    """Every grader of a family that may be chosen now."""
    return [offer for family in _FAMILIES.values() for offer in family.offers()]
