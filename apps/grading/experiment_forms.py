"""The form of a new experiment, and that of an import."""

import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from apps.accounts.models import User
from apps.contests.models import AuthorKind
from apps.grading.experiment_access import contests_for_experiments
from apps.grading.experiment_models import TITLE_LENGTH
from apps.grading.experiment_scripts import Chosen
from apps.grading.experimenting import ExperimentDraft
from apps.grading.models import GradedSet
from apps.grading.option_forms import OptionsForm
from apps.grading.plans import PlanWrong
from apps.grading.player_forms import PlayersForm, in_neutral, variant_choices
from apps.problems.importing.files import FILE_BYTES
from apps.reasoning.inference.aliases import Alias

NAMES_LENGTH = 400
REPEATS_AT_MOST = 32
MOST_SEED = 2**31


JUDGED = (("script", "The script as it is"), ("neutral", "A neutral rewriting of it"))


class ExperimentForm(PlayersForm, OptionsForm):
    """Scripts × graders × models. `source` is `set:<id>` or `contest:<id>`. A model for a single role makes a team: one more
    choice beside the models, for the graders that have the role.
    """

    start_id = forms.UUIDField(required=False, widget=forms.HiddenInput, initial=uuid.uuid4)
    title = forms.CharField(label="Title", required=False, max_length=TITLE_LENGTH, help_text="Empty: scripts and graders.")
    source = forms.ChoiceField(label="Scripts")
    problems = forms.CharField(
        label="Problems", required=False, max_length=NAMES_LENGTH, help_text="Names or labels, with commas between. Empty: all."
    )
    author_kind = forms.ChoiceField(label="Authors", required=False, choices=[("", "all"), *AuthorKind.choices])
    only_with_points = forms.BooleanField(label="Only scripts with points by people", required=False)
    at_most = forms.IntegerField(
        label="At most", required=False, min_value=1, max_value=100_000, help_text="So many are drawn. Empty: all."
    )
    workflows = forms.MultipleChoiceField(label="Graders", widget=forms.CheckboxSelectMultiple, choices=variant_choices)
    judged = forms.MultipleChoiceField(
        label="What they judge", required=False, widget=forms.CheckboxSelectMultiple, choices=JUDGED, initial=["script"]
    )
    aliases = forms.MultipleChoiceField(
        label="Models", required=False, widget=forms.CheckboxSelectMultiple, help_text="Each plays every role."
    )
    at_once = forms.IntegerField(
        label="At once", min_value=1, max_value=64, initial=4, help_text="Gradings under way at a time."
    )
    max_new_tokens = forms.IntegerField(
        label="Longest answer", required=False, min_value=16, max_value=200_000, help_text="Tokens. Empty: as the grader says."
    )
    temperature = forms.FloatField(
        label="Temperature", required=False, min_value=0, max_value=2, help_text="Empty: as the grader says."
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=MOST_SEED, initial=0, help_text="Of the draw and of sampling."
    )
    repeats = forms.IntegerField(
        label="Repeats", required=False, min_value=1, max_value=REPEATS_AT_MOST, initial=1,
        help_text="Gradings of each script by each grader, with seeds that count up from the seed.",
    )  # fmt: skip
    seeds = forms.CharField(
        label="Seeds", required=False, max_length=NAMES_LENGTH,
        help_text="Instead of counting up: a seed for each repeat, with commas between.",
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
            raise forms.ValidationError("Who wrote the scripts of a contest, and what they got, is no filter: it would tell.")
        if not data.get("title") and data.get("source") and data.get("workflows"):
            made = {**self.sets, **self.contests}.get(data["source"])
            data["title"] = f"{made}: {', '.join(data['workflows'])}"[:TITLE_LENGTH]
        if data.get("workflows"):
            self.refuse_options(data["workflows"])
            self._clean_players(data)
        return data

    def clean_seeds(self) -> tuple[int, ...]:
        """The seeds that are named; none where they count up."""
        given = [one.strip() for one in self.cleaned_data["seeds"].split(",") if one.strip()]
        if wrong := next((one for one in given if not (one.isascii() and one.isdigit() and int(one) <= MOST_SEED)), ""):
            raise forms.ValidationError(
                f"“{wrong[:20]}” is no seed. Write whole numbers from 0 to {MOST_SEED:,}, such as 1, 2, 3."
            )
        seeds = tuple(map(int, given))
        if len(set(seeds)) < len(seeds):
            raise forms.ValidationError("A seed comes twice: the same seed gives the same answers. Take another one.")
        if len(seeds) > REPEATS_AT_MOST:
            raise forms.ValidationError(f"These are {len(seeds)} seeds; at most {REPEATS_AT_MOST} repeats are possible.")
        repeats = self.cleaned_data.get("repeats") or 1
        if seeds and repeats not in (1, len(seeds)):
            raise forms.ValidationError(f"{repeats} repeats need {repeats} seeds; these are {len(seeds)}.")
        return seeds

    @property
    def sampled(self) -> tuple[int, ...]:
        """The seed of each repeat of a valid form."""
        data = self.cleaned_data
        return data["seeds"] or tuple(range(data["seed"], data["seed"] + (data["repeats"] or 1)))

    def _clean_players(self, data: dict[str, Any]) -> None:
        self.refuse_strangers(data["workflows"])
        if not (data.get("aliases") or self.players() or "aliases" in self.errors):
            self.add_error("aliases", "Tick a model, or name some per role.")
        if not self.errors:
            try:
                _ = self.draft().graders
            except PlanWrong as error:
                self.add_error("aliases", f"{error} Tick it as a model, or name it for the role.")

    @property
    def chosen(self) -> Chosen:
        """The scripts that a valid form asks for."""
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
        """The graders chosen, each in the manners chosen."""
        data = self.cleaned_data
        judged = data["judged"] or ["script"]
        return [in_neutral(name).name if what == "neutral" else name for what in judged for name in data["workflows"]]

    def draft(self) -> ExperimentDraft:
        """The experiment that a valid form describes."""
        data = self.cleaned_data
        given = {name: data[name] for name in ("seed", "max_new_tokens", "temperature")}
        params = {name: value for name, value in given.items() if value is not None}
        named, aliases = self.players(), data["aliases"]
        team = ({"": aliases[0]} if aliases else {}) | named if named else {}
        if options := self.options():
            params["overrides"] = options
        if self.sampled != (data["seed"],):
            params["seeds"] = self.sampled
        return ExperimentDraft(data["title"], self.chosen, self.variants, aliases, data["at_once"], params, team)


class SetImportForm(forms.Form):
    """A file of graded scripts; `digest` is that of the file which was looked at."""

    file = forms.FileField(label="File", help_text="CSV, JSONL, JSON or a ZIP, of the layouts below.")
    out_of = forms.DecimalField(
        label="Out of", required=False, min_value=Decimal("0.01"), max_value=1_000, decimal_places=2,
        help_text="The maximum of points, for rows without a column max. Empty: as the layout is known.",
    )  # fmt: skip
    title = forms.CharField(label="Title", required=False, max_length=TITLE_LENGTH, help_text="Empty: layout and file name.")
    credit = forms.CharField(label="Credit", required=False, max_length=200, help_text="If the layout does not say.")
    licence = forms.CharField(label="Licence", required=False, max_length=80, help_text="If the layout does not say.")

    def clean_file(self) -> "UploadedFile[Any]":
        upload: UploadedFile[Any] = self.cleaned_data["file"]
        if (upload.size or 0) > FILE_BYTES:
            raise forms.ValidationError(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it.")
        return upload
