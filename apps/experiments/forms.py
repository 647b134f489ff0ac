"""The form for a new experiment."""

import uuid
from typing import Any

from django import forms

from apps.accounts.models import User
from apps.contests.models import AuthorKind
from apps.experiments.access import contests_for_experiments
from apps.experiments.models import TITLE_LENGTH
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft
from apps.graded_sets.models import GradedSet
from apps.graders.option_forms import OptionsForm
from apps.graders.planning.naming import APART
from apps.graders.planning.plans import PlanWrong
from apps.graders.player_forms import PlayersForm, variant_choices, variant_with
from apps.reasoning.inference.aliases import Alias

NAMES_LENGTH = 400
REPEATS_AT_MOST = 32
MOST_SEED = 2**31


JUDGED = (
    ("script", "The original script"),
    ("neutral", "A neutral rewriting of the script"),
    ("marks", "The original script, with marks of the formula check"),
)


class ExperimentForm(PlayersForm, OptionsForm):
    """Scripts × graders × models. `source` is `set:<id>` or `contest:<id>`.

    Models for single roles make a team, which is one more choice next to the ticked models, for graders with such a role.
    """

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    title = forms.CharField(
        label="Title",
        required=False,
        max_length=TITLE_LENGTH,
        help_text="Leave empty to name it after scripts and graders.",
    )
    source = forms.ChoiceField(label="Scripts")
    problems = forms.CharField(
        label="Problems",
        required=False,
        max_length=NAMES_LENGTH,
        help_text="Names or labels, separated by commas; leave empty for all.",
    )
    author_kind = forms.ChoiceField(label="Authors", required=False, choices=[("", "all"), *AuthorKind.choices])
    only_with_points = forms.BooleanField(label="Only scripts with points by people", required=False)
    at_most = forms.IntegerField(
        label="Sample size", required=False, min_value=1, max_value=100_000, help_text="Random sample; leave empty for all."
    )
    workflows = forms.MultipleChoiceField(label="Graders", widget=forms.CheckboxSelectMultiple, choices=variant_choices)
    judged = forms.MultipleChoiceField(
        label="Texts to judge", required=False, widget=forms.CheckboxSelectMultiple, choices=JUDGED, initial=["script"]
    )
    aliases = forms.MultipleChoiceField(
        label="Models", required=False, widget=forms.CheckboxSelectMultiple, help_text="Each one plays every role."
    )
    at_once = forms.IntegerField(
        label="Parallel gradings", min_value=1, max_value=64, initial=4, help_text="Maximum number of gradings at a time."
    )
    max_new_tokens = forms.IntegerField(
        label="Longest answer (tokens)",
        required=False,
        min_value=16,
        max_value=200_000,
        help_text="Leave empty for the grader’s default.",
    )
    temperature = forms.FloatField(
        label="Temperature", required=False, min_value=0, max_value=2, help_text="Leave empty for the grader’s default."
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=MOST_SEED, initial=0, help_text="Seed of the sample of scripts and of the models."
    )
    repeats = forms.IntegerField(
        label="Repeats", required=False, min_value=1, max_value=REPEATS_AT_MOST, initial=1,
        help_text="Number of gradings of each script by each grader, with consecutive seeds.",
    )  # fmt: skip
    seeds = forms.CharField(
        label="Seeds", required=False, max_length=NAMES_LENGTH,
        help_text="One seed per repeat, separated by commas, instead of consecutive seeds.",
    )  # fmt: skip

    def __init__(self, *args: Any, user: User, known: dict[str, Alias], **kwargs: Any) -> None:
        super().__init__(*args, aliases=known, **kwargs)
        self.sets = {f"set:{one.public_id}": one for one in GradedSet.objects.all()}
        self.contests = {f"contest:{one.public_id}": one for one in contests_for_experiments(user)}
        groups = [
            ("Imported sets", [(name, one.title) for name, one in self.sets.items()]),
            ("Contests", [(name, one.title) for name, one in self.contests.items()]),
        ]
        for name, choices in (
            ("source", [group for group in groups if group[1]]),
            ("aliases", [(name, one.title) for name, one in known.items()]),
        ):
            field = self.fields[name]
            if isinstance(field, forms.ChoiceField):
                field.choices = choices

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("source", "").startswith("contest:") and (data.get("author_kind") or data.get("only_with_points")):
            raise forms.ValidationError(
                "Scripts of a contest cannot be filtered by author or points, as that would reveal them. Remove these filters."
            )
        if not data.get("title") and data.get("source") and data.get("workflows"):
            made = {**self.sets, **self.contests}.get(data["source"])
            data["title"] = f"{made}: {', '.join(data['workflows'])}"[:TITLE_LENGTH]
        if data.get("workflows"):
            self.refuse_options(data["workflows"])
            self._clean_players(data)
        return data

    def clean_seeds(self) -> tuple[int, ...]:
        """The listed seeds; empty for consecutive ones."""
        given = [one.strip() for one in self.cleaned_data["seeds"].split(",") if one.strip()]
        if wrong := next((one for one in given if not (one.isascii() and one.isdigit() and int(one) <= MOST_SEED)), ""):
            raise forms.ValidationError(
                f"“{wrong[:20]}” is not a seed. Enter whole numbers from 0 to {MOST_SEED:,}, such as 1, 2, 3."
            )
        seeds = tuple(map(int, given))
        if len(set(seeds)) < len(seeds):
            raise forms.ValidationError("Duplicate seed: the same seed gives the same answers. Use different seeds.")
        if len(seeds) > REPEATS_AT_MOST:
            raise forms.ValidationError(
                f"You listed {len(seeds)} seeds, but an experiment has at most {REPEATS_AT_MOST} repeats. Remove some."
            )
        repeats = self.cleaned_data.get("repeats") or 1
        if seeds and repeats not in (1, len(seeds)):
            raise forms.ValidationError(f"{repeats} repeats need {repeats} seeds, but you listed {len(seeds)}.")
        return seeds

    @property
    def repeat_seeds(self) -> tuple[int, ...]:
        """The seed of each repeat of a valid form."""
        data = self.cleaned_data
        return data["seeds"] or tuple(range(data["seed"], data["seed"] + (data["repeats"] or 1)))

    def _clean_players(self, data: dict[str, Any]) -> None:
        self.refuse_unknown_roles(data["workflows"])
        if not (data.get("aliases") or self.players() or "aliases" in self.errors):
            self.add_error("aliases", "Tick a model, or choose models per role.")
        if not self.errors:
            try:
                _ = self.draft().graders
            except PlanWrong as error:
                self.add_error("aliases", f"{error} Tick a model, or choose one for the role.")

    @property
    def chosen(self) -> Chosen:
        """The scripts chosen in a valid form."""
        data = self.cleaned_data
        return Chosen(
            graded_set=self.sets.get(data["source"]),
            contest=self.contests.get(data["source"]),
            problems=tuple(filter(None, (part.strip() for part in data["problems"].split(",")))),
            author_kind=data["author_kind"],
            only_with_points=data["only_with_points"],
            at_most=data["at_most"],
            seed=data["seed"],
        )

    @property
    def variants(self) -> list[str]:
        """The chosen graders, each with the chosen variants."""
        data = self.cleaned_data
        judged = data["judged"] or ["script"]
        manners = {"script": (), **{what: (what,) for what in APART}}
        return [variant_with(name, *manners[what]).name for what in judged for name in data["workflows"]]

    def draft(self) -> ExperimentDraft:
        """The experiment of a valid form."""
        data = self.cleaned_data
        given = {name: data[name] for name in ("seed", "max_new_tokens", "temperature")}
        params = {name: value for name, value in given.items() if value is not None}
        named, aliases = self.players(), data["aliases"]
        team = ({"": aliases[0]} if aliases else {}) | named if named else {}
        if options := self.options():
            params["overrides"] = options
        if self.repeat_seeds != (data["seed"],):
            params["seeds"] = self.repeat_seeds
        return ExperimentDraft(data["title"], self.chosen, self.variants, aliases, data["at_once"], params, team)
