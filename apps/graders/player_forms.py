"""Optional fields for models of single roles of graders. If they are empty, one model plays all roles."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from apps.graders.planning.naming import APART, VARIANTS, Variant, variant_of
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.aliases import Alias

PREFIX = "plays_"
AS_ABOVE = "As above"


def _fields() -> dict[str, tuple[str, list[str]]]:
    """The roles of graders with several roles: title of the role, titles of its graders."""
    found: dict[str, tuple[str, list[str]]] = {}
    for grader in GRADERS.values():
        for role in grader.roles if len(grader.roles) > 1 else ():
            found.setdefault(role.name, (role.title, []))[1].append(grader.title)
    return found


ROLES = _fields()


class PlayersForm(forms.Form):
    """A field `plays_<role>` for each role of `ROLES`, with the given aliases as choices."""

    def __init__(self, *args: Any, aliases: Mapping[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = aliases
        choices = [("", AS_ABOVE), *((name, one.title) for name, one in aliases.items())]
        for role, (title, graders) in ROLES.items():
            of = graders[0] if len(graders) == 1 else f"{len(graders)} graders with references"
            self.fields[PREFIX + role] = forms.ChoiceField(
                required=False, label=title, choices=choices, help_text=f"Role of {of}."
            )

    @property
    def role_fields(self) -> list[forms.BoundField]:
        """The fields of roles, for a template."""
        return [self[PREFIX + role] for role in ROLES]

    @property
    def has_players(self) -> bool:
        """Whether a role has a model or an error, so that the template expands the fields."""
        return any(field.errors or field.value() for field in self.role_fields)

    def players(self) -> dict[str, str]:
        """The chosen aliases by role of a valid form."""
        return {role: alias for role in ROLES if (alias := self.cleaned_data.get(PREFIX + role))}

    def refuse_unknown_roles(self, variants: Sequence[str]) -> None:
        """Add an error to each chosen role that none of these graders has."""
        graders = [VARIANTS[name].grader for name in variants]
        known = {role.name for grader in graders for role in grader.roles}
        for role in set(self.players()) - known:
            self.add_error(PREFIX + role, f"{', '.join(one.title for one in graders)}: no such role. Leave this field empty.")


def variant_choices() -> list[tuple[str, str]]:
    """The graders, for a form with separate choices of a neutral rewriting and of marks."""
    return [(name, one.title) for name, one in VARIANTS.items() if not set(APART) & set(one.manners)]


def variant_with(variant: str, *manners: str) -> Variant:
    """The variant of the same grader that also has these manners of `APART`."""
    return variant_of("+".join([variant, *manners]))
