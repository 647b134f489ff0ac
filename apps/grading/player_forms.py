"""Fields that let single roles of graders be played by models of their own. They are quiet: empty, one model plays all."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from apps.grading.naming import VARIANTS, Variant
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

PREFIX = "plays_"
AS_ABOVE = "As above"


def _fields() -> dict[str, tuple[str, list[str]]]:
    """Every role of graders that have several: its title, and the titles of its graders."""
    found: dict[str, tuple[str, list[str]]] = {}
    for grader in GRADERS.values():
        for role in grader.roles if len(grader.roles) > 1 else ():
            found.setdefault(role.name, (role.title, []))[1].append(grader.title)
    return found


ROLES = _fields()


class PlayersForm(forms.Form):
    """A field `plays_<role>` for each role of `ROLES`, of the aliases that are given."""

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = aliases
        choices = [("", AS_ABOVE), *((name, one.title) for name, one in aliases.items())]
        for role, (title, graders) in ROLES.items():
            of = graders[0] if len(graders) == 1 else f"{len(graders)} graders with references"
            self.fields[PREFIX + role] = forms.ChoiceField(required=False, label=title, choices=choices, help_text=f"Of: {of}.")

    @property
    def role_fields(self) -> list[forms.BoundField]:
        """The fields of roles, for a template."""
        return [self[PREFIX + role] for role in ROLES]

    @property
    def has_players(self) -> bool:
        """Whether one of them says something, or is wrong: then a template shows them."""
        return any(field.errors or field.value() for field in self.role_fields)

    def players(self) -> dict[str, str]:
        """The aliases by role that valid fields name."""
        return {role: alias for role in ROLES if (alias := self.cleaned_data.get(PREFIX + role))}

    def refuse_strangers(self, variants: Sequence[str]) -> None:
        """Add an error to each role with a model that none of these graders has."""
        graders = [VARIANTS[name].grader for name in variants]
        known = {role.name for grader in graders for role in grader.roles}
        for role in set(self.players()) - known:
            self.add_error(PREFIX + role, f"{', '.join(one.title for one in graders)}: there is no such role. Leave it empty.")


def variant_choices() -> list[tuple[str, str]]:
    """The graders for a form that asks apart whether a neutral rewriting is judged."""
    return [(name, one.title) for name, one in VARIANTS.items() if "neutral" not in one.manners]


def in_neutral(variant: str) -> Variant:
    """The same grader, judging a neutral rewriting."""
    return VARIANTS[f"{variant}+neutral"]
