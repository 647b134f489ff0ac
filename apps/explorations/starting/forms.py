"""The start form: scaffold, preset, parameters of the scaffold's class, models per role, budget, seed."""

import uuid
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.explorations.starting.plans import (
    MOST_SEED,
    Duration,
    Plan,
    is_large,
    plan_aliases,
    plan_duration,
    plan_estimate,
    plan_params,
    plan_refusal,
)
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.estimates import Estimate, RoleEstimate
from apps.reasoning.scaffolds.given import NOTHING_GIVEN, Given
from apps.reasoning.scaffolds.spec import Budget
from apps.trials.rates import RoleRates
from apps.trials.selectors import weak_players
from apps.ui.param_fields import param_field


class ExplorationForm(forms.Form):
    """Parameter fields are named `p_<name>`, role fields `role_<role>`.

    `shown_preset` is the preset whose values fill the parameter fields. A field with its value unchanged follows the newly
    chosen preset, so that presets work without JavaScript.
    """

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    scaffold = forms.ChoiceField(label="Scaffold")
    preset = forms.ChoiceField(label="Preset", widget=forms.RadioSelect)
    shown_preset = forms.CharField(required=False, widget=forms.HiddenInput)
    alias = forms.ChoiceField(label="Model", help_text="Model for all roles, unless you choose others below.")
    tokens = forms.IntegerField(label="Tokens", required=False, min_value=1, help_text="Prompt and completion tokens together.")
    calls = forms.IntegerField(label="Calls", required=False, min_value=1)
    seconds = forms.FloatField(label="Seconds", required=False, min_value=1, help_text="Counted only while the run is active.")
    max_new_tokens = forms.IntegerField(
        label="New tokens per call",
        required=False,
        min_value=16,
        help_text="Limit per call, at most half of the model's context; leave empty for the scaffold's limits.",
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        min_value=0,
        max_value=2,
        help_text="Sampling temperature; leave empty for the scaffold's values.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=MOST_SEED - 1,
        help_text="Random seed; leave empty to draw one, which is recorded.",
    )
    capture = forms.BooleanField(
        label="Record for learning",
        required=False,
        help_text="Keep the sampled tokens of every call with their log-probabilities, for training datasets.",
    )
    confirm = forms.BooleanField(label="Yes, start a run of this size", required=False)

    def __init__(
        self,
        *args: Any,
        aliases: dict[str, Alias],
        problem: ProblemText | None = None,
        given: Given = NOTHING_GIVEN,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.aliases = aliases
        self.problem = problem
        self.given = given
        self.estimate: Estimate | None = None
        self.duration: Duration | None = None
        self.weak_roles: list[tuple[str, str, RoleRates]] = []
        self.is_large = False
        self.refused = ""
        self.method = SCAFFOLDS.get(self._given("scaffold"), next(iter(SCAFFOLDS.values())))
        options = [(name, alias.title) for name, alias in aliases.items()]
        _choices(self.fields["scaffold"], [(name, found.title) for name, found in SCAFFOLDS.items()])
        _choices(self.fields["preset"], [(name, preset.title) for name, preset in self.method.presets.items()])
        _choices(self.fields["alias"], options)
        self.fields["scaffold"].initial = self.method.name
        self.fields["preset"].initial = self.method.first_preset
        if not self.is_bound and self.initial.get("preset") not in self.method.presets:
            self.initial["preset"] = self.method.first_preset
        for role in self.method.roles:
            field = forms.ChoiceField(label=role.title, required=False, help_text=role.description)
            _choices(field, [("", "the model above"), *options])
            self.fields[f"role_{role.name}"] = field
        for name, info in self.method.params.model_fields.items():
            if name not in self.method.takes:
                offered = self.method.choices.get(name)
                self.fields[f"p_{name}"] = param_field(name, info, offered(given) if offered else None)
        self._draw_params()

    def _given(self, name: str) -> str:
        value = self.data.get(name) if self.is_bound else self.initial.get(name)
        return str(value or "")

    def _preset_values(self, name: str) -> dict[str, Any]:
        preset = self.method.presets.get(name)
        return preset.params.model_dump() if preset else self.method.read_params({}).model_dump()

    def _draw_params(self) -> None:
        """Set initial values of the parameter fields from the chosen preset; values of the caller override them."""
        chosen = self._given("preset") or self.method.first_preset
        for name, value in self._preset_values(chosen).items():
            if f"p_{name}" in self.fields:
                self.fields[f"p_{name}"].initial = value
        self.fields["shown_preset"].initial = chosen

    @property
    def scaffold_about(self) -> str:
        return self.method.description

    @property
    def scaffold_source(self) -> str:
        return self.method.source

    @property
    def scaffold_cost(self) -> str:
        return self.method.cost_hint

    @property
    def preset_rows(self) -> list[tuple[Any, str]]:
        """Radio buttons of the presets, each with its description."""
        descriptions = [preset.description for preset in self.method.presets.values()]
        return list(zip(self["preset"], descriptions, strict=True))

    @property
    def role_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("role_")]

    @property
    def param_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("p_")]

    @property
    def opens_roles(self) -> bool:
        return any(bound.value() for bound in self.role_fields) or any(bound.errors for bound in self.role_fields)

    @property
    def opens_params(self) -> bool:
        return bool(self.is_bound and self.overrides()) or any(bound.errors for bound in self.param_fields)

    @property
    def estimate_rows(self) -> list[tuple[str, RoleEstimate]]:
        """Titles and estimates of the roles that the parameters use."""
        titles = {role.name: role.title for role in self.method.roles}
        rows = self.estimate.roles if self.estimate else ()
        return [(titles.get(row.role, row.role), row) for row in rows if row.calls_max]

    def _weak_roles(self, plan: Plan) -> list[tuple[str, str, RoleRates]]:
        """Roles whose model had too few readable answers in its trial: title of the role, model, rates."""
        titles = {role.name: role.title for role in self.method.roles}
        players = {role: alias.name for role, alias in plan_aliases(plan, self.aliases).items()}
        return [(titles.get(one.role, one.role), alias, one) for alias, one in weak_players(self.method.name, players)]

    def overrides(self) -> dict[str, Any]:
        """The parameters that differ from the preset they were drawn with."""
        shown = (
            self._preset_values(self.cleaned_data.get("shown_preset") or self.method.first_preset)
            if hasattr(self, "cleaned_data")
            else {}
        )
        found = {}
        for name, base in shown.items():
            value = self.cleaned_data.get(f"p_{name}")
            if f"p_{name}" in self.cleaned_data and value != base and not (value is None and base is None):
                found[name] = value
        return found

    def plan(self) -> Plan:
        """The chosen plan. Valid only after `is_valid()` or inside `clean`."""
        data = self.cleaned_data
        roles = {role.name: data.get(f"role_{role.name}", "") for role in self.method.roles}
        return Plan(
            scaffold=data.get("scaffold", ""),
            preset=data.get("preset", ""),
            overrides=self.overrides(),
            role_aliases={"": data.get("alias", ""), **{role: name for role, name in roles.items() if name}},
            budget=Budget(tokens=data.get("tokens"), calls=data.get("calls"), seconds=data.get("seconds")),
            seed=data.get("seed"),
            max_new_tokens=data.get("max_new_tokens"),
            temperature=data.get("temperature"),
            capture=data.get("capture", False),
        )

    def clean(self) -> dict[str, Any]:
        """Validate the parameters together; require confirmation of a large run. Sets `estimate`, `duration`, `weak_roles`."""
        if self.errors:
            return self.cleaned_data
        plan = self.plan()
        try:
            plan_params(plan, self.given)
            if self.problem and (refused := plan_refusal(plan, self.problem, self.given)):
                self.refused = refused
                raise ValidationError({"scaffold": refused})
            self.estimate = plan_estimate(plan, self.aliases, self.given)
            self.duration = plan_duration(plan, self.estimate, self.aliases)
            self.weak_roles = self._weak_roles(plan)
        except ValidationError as error:
            self.add_error(None, error)
            return self.cleaned_data
        self.is_large = is_large(self.estimate, plan.budget)
        if self.is_large and not self.cleaned_data.get("confirm"):
            most = min(self.estimate.calls_max, plan.budget.calls or self.estimate.calls_max)
            self.add_error("confirm", f"This run may make {most:,} calls. Tick the box to start it, or limit the calls.")
        return self.cleaned_data


def _choices(field: forms.Field, options: list[tuple[str, str]]) -> None:
    if isinstance(field, forms.ChoiceField):
        field.choices = options


def initial_from(plan: Plan) -> dict[str, Any]:
    """Initial values of the form from the plan of a forked run."""
    given = {
        "scaffold": plan.scaffold,
        "preset": plan.preset,
        "alias": plan.role_aliases.get("", ""),
        "seed": plan.seed,
        "max_new_tokens": plan.max_new_tokens,
        "temperature": plan.temperature,
        "capture": plan.capture,
        **plan.budget.model_dump(),
    }
    given |= {f"role_{role}": alias for role, alias in plan.role_aliases.items() if role}
    return given | {f"p_{name}": value for name, value in plan.overrides.items()}
