"""Graders by name: those of this app, and families registered by apps above, such as `workflow:<name>@<model>`.

A name with a colon belongs to the family in front of it. Families may be slow and run apart from quick graders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from apps.marks.graders.computational import COMPUTATIONAL, ComputationalGrader
from apps.marks.graders.port import Grader
from apps.marks.graders.scripted import SCRIPTED, ScriptedGrader
from apps.problems.models import ProblemVersion
from apps.reasoning.marking.schemes.scheme import Scheme

#: Suffixes before the `@` by field of a form, in the order of a name: a neutral rewriting is judged; formulas are marked.
MANNERS = {"is_neutral": "+neutral", "has_marks": "+marks"}
MARKS_LABEL = "Show the grader which formulas of the script the formula check proved or refuted"


class GraderUnknown(LookupError):
    """No grader has this name, or it does not suit this problem; the message gives the reason."""


@dataclass(frozen=True)
class Offer:
    """A grader that can be chosen; `group` is its heading in the form."""

    name: str
    label: str
    group: str


class Family(Protocol):
    """Creates graders from the part of a name after the colon."""

    def make(self, rest: str, stated: ProblemVersion, scheme: Scheme | None) -> Grader:
        """The grader for one problem. Raises `GraderUnknown`."""
        ...

    def label(self, rest: str) -> str:
        """Display name, also for graders that are no longer available."""
        ...

    def shown(self, rest: str, parts: Sequence[str]) -> str:
        """What the grader saw in addition to the script, in words; empty if unknown. `parts` as stored with a suggestion."""
        ...

    def offers(self) -> list[Offer]:
        """The graders that can be chosen."""
        ...


_FAMILIES: dict[str, Family] = {}


def family_register(prefix: str, family: Family) -> None:
    """Register a family under its prefix."""
    _FAMILIES[prefix] = family


def grader_of(name: str, stated: ProblemVersion, scheme: Scheme | None) -> Grader:
    """The grader with this name for a problem. Raises `GraderUnknown`."""
    if name == COMPUTATIONAL:
        return ComputationalGrader()
    prefix, colon, rest = name.partition(":")
    if not colon or prefix not in _FAMILIES:
        raise GraderUnknown(f"There is no grader {name}.")
    return _FAMILIES[prefix].make(rest, stated, scheme)


def label_of(name: str) -> str:
    """Display name of a grader."""
    own = {COMPUTATIONAL: ComputationalGrader().label, SCRIPTED: ScriptedGrader({}).label}
    prefix, _, rest = name.partition(":")
    if name in own or prefix not in _FAMILIES:
        return own.get(name, name)
    return _FAMILIES[prefix].label(rest)


def shown_to(name: str, parts: Sequence[str]) -> str:
    """What a grader saw in addition to the script, in words; empty if unknown. `parts` as stored with its suggestion."""
    prefix, _, rest = name.partition(":")
    return _FAMILIES[prefix].shown(rest, parts) if prefix in _FAMILIES else ""


def origin_of(name: str) -> Literal["", "model", "program"]:
    """Who wrote a grader's words: a model, a program, or people (empty)."""
    if name == COMPUTATIONAL:
        return "program"
    return "" if name == SCRIPTED else "model"


def manners_of(name: str) -> tuple[str, set[str]]:
    """The name without its manners of `MANNERS`, and their fields."""
    head, at, players = name.partition("@")
    kept, *suffixes = head.split("+")
    fields = {field for field, suffix in MANNERS.items() if suffix.removeprefix("+") in suffixes}
    others = [one for one in suffixes if f"+{one}" not in MANNERS.values()]
    return "+".join([kept, *others]) + at + players, fields


def with_players(name: str, players: str) -> str:
    """The grader name with these models: `role=model` pairs added to its model, or one model per role."""
    if not players.strip():
        return name
    parts = [part.strip() for part in players.split(",")]
    head, _, alias = name.partition("@")
    return f"{head}@{','.join([alias, *parts] if all('=' in part for part in parts) else parts)}"


def without_players(name: str) -> tuple[str, str]:
    """The name with its first model only, and the other models in the form that `with_players` takes."""
    head, at, players = name.partition("@")
    alias, _, more = players.partition(",")
    is_each = bool(more) and "=" not in more
    return f"{head}{at}{alias}", players if is_each else more


def offers() -> list[Offer]:
    """The graders of all families that can be chosen now."""
    return [offer for family in _FAMILIES.values() for offer in family.offers()]
