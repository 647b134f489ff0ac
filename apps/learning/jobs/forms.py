"""Form that starts a training job. Empty fields take the recipe's values: those of its paper, except the batch size."""

import uuid
from contextlib import suppress
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.datasets.models import DatasetVersion
from apps.datasets.selectors import datasets_visible_to
from apps.datasets.versions.manifest import UNSCORABLE, scored_at
from apps.learning.jobs.bases import FOR_PROMPTS, TINY, Base, bases
from apps.learning.jobs.configs import config_from, loss_of, settings_of
from apps.learning.jobs.folders import TEXTS
from apps.learning.jobs.jobs import Draft, manifest_of
from apps.learning.jobs.more_fields import LimitField, MoreFields, shown_defaults
from apps.learning.jobs.readers import cannot_ask
from apps.learning.jobs.settings import LIMITS, lines_read
from apps.learning.models import TITLE_LENGTH
from apps.learning.presets import OF_PROMPTS, PRESETS, TOYS, ToyCard
from apps.learning.rollouts.forms import ROLLOUTS, RolloutFields
from apps.learning.rollouts.plan import drawn_at
from apps.learning.rollouts.temperatures import WORDS, is_raw, of_dataset
from apps.recipes.recipe import Family, Training
from apps.recipes.registry import TRAININGS

MOST_STEPS = 1_000_000
ARITHMETIC = (("auto", "bfloat16 on CUDA, else float32"), ("float32", "float32"), ("bfloat16", "bfloat16"))
NO_PLAYERS = "A job’s own runs need a model whose tokens are recorded: an alias of the backend vllm in models.toml."
IMITATED: tuple[Family, ...] = ("proofs", "turns")
#: Input that the recipes of a family compare.
NEEDS: dict[Family, str] = {
    "proofs": "attempts with a reward",
    "turns": "attempts with a reward",
    "rounds": "rounds with lemmas and votes",
    "agents": "individually rewarded agents",
    "states": "individually rewarded attempts",
}


class JobForm(RolloutFields, MoreFields):
    """Form of a new job; `draft()` returns the job of a valid form."""

    start_id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    title = forms.CharField(max_length=TITLE_LENGTH, required=False, help_text="Leave empty to use its recipe and source.")
    recipe = forms.ChoiceField()
    source = forms.ChoiceField(label="Learns from")
    base = forms.ChoiceField(label="Starts from")
    demonstrations = forms.BooleanField(
        label="Use the toy’s teacher instead of rollouts", required=False, help_text="For a supervised cold start."
    )
    steps = forms.IntegerField(min_value=1, max_value=MOST_STEPS, initial=200)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)
    rows_per_step = forms.IntegerField(
        label="Rows per step",
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text="Papers count prompts: 64 prompts of 16 answers are 1,024 rows.",
    )
    micro_rows = forms.IntegerField(
        label="Rows at once",
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text="Affects memory only; must divide the rows per step.",
    )
    learning_rate = forms.FloatField(min_value=0, max_value=1, required=False)
    last_learning_rate = forms.FloatField(label="Last learning rate", min_value=0, max_value=1, required=False)
    warmup_steps = forms.IntegerField(
        label="Warm-up steps",
        min_value=0,
        max_value=MOST_STEPS,
        required=False,
        help_text="Leave empty for the default; with a supervised recipe, a tenth of the steps.",
    )
    gradient_clip = forms.FloatField(label="Gradient clip", min_value=0, max_value=1000, required=False)
    beta = forms.FloatField(label="KL weight β", min_value=0, max_value=100, required=False)
    low = forms.FloatField(label="Clip below ε", min_value=0, max_value=100, required=False)
    high = forms.FloatField(label="Clip above ε", min_value=0, max_value=100, required=False)
    settings = forms.CharField(
        label="Other settings",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "loss.aggregation = seq"}),
        help_text="One per line: loss.…, recipe.…, toy.… or held_out.… = value. Example: held_out.every = 10 (steps).",
    )
    lora = forms.BooleanField(label="Train only a LoRA adapter", required=False)
    lora_rank = forms.IntegerField(label="LoRA rank", min_value=1, max_value=1024, initial=16, required=False)
    lora_alpha = forms.IntegerField(label="LoRA α", min_value=1, max_value=4096, initial=32, required=False)
    save_every = forms.IntegerField(label="Save every … steps", min_value=1, max_value=MOST_STEPS, initial=50)
    keep = forms.IntegerField(label="Checkpoints kept", min_value=1, max_value=1000, initial=2)
    device = forms.ChoiceField(choices=[("auto", "CUDA if available"), ("cpu", "CPU"), ("cuda", "CUDA, or fail")])
    dtype = forms.ChoiceField(label="Arithmetic (trained weights are float32)", choices=ARITHMETIC)
    threads = forms.IntegerField(
        label="CPU threads",
        min_value=1,
        max_value=1024,
        required=False,
        help_text="With 1 thread, a resumed job is exactly reproducible.",
    )

    MACHINE = ("device", "dtype", "threads", "micro_tokens", "packing")
    MAIN = ("title", "recipe", "source", "base", "demonstrations", "steps", "seed")
    MORE = ("any_template", "settings")
    OPTIMISER = ("rows_per_step", "micro_rows", "learning_rate", "last_learning_rate", "warmup_steps", "gradient_clip")
    LOSS = ("beta", "low", "high", *LIMITS)
    REST = ("lora", "lora_rank", "lora_alpha", "save_every", "keep", "trackers", *MACHINE)

    def __init__(self, data: Any = None, *, user: User, preset: str = "", base: Base | None = None, **more: Any) -> None:
        initial = {"start_id": uuid.uuid4(), "device": "auto", "dtype": "auto", **more.pop("initial", {})}
        if preset in PRESETS:
            initial |= {"title": PRESETS[preset].title, **PRESETS[preset].fields}
        super().__init__(data, initial=initial, **more)
        self._datasets = {f"dataset:{one.pk}": one for one in datasets_visible_to(user)[:200]}
        self._bases = {one.value: one for one in (*bases(), *([base] if base else []))}
        toys = [(f"toy:{toy.name}", f"Toy: {toy.title}") for toy in TOYS.values()]
        made = [(value, _dataset_title(one)) for value, one in self._datasets.items()]
        self._choices("recipe", [(card.name, f"{card.title} ({card.name})") for card in TRAININGS.values()])
        self.rollout_choices(user)
        played = [(ROLLOUTS, "The job’s own runs")] if self.has_players else []
        sources = [("Datasets", made), ("Toys", toys), ("New rollouts", played)]
        self._choices("source", [(title, choices) for title, choices in sources if choices])
        if not self.has_players:
            self.fields["source"].help_text = NO_PLAYERS
        self._choices("base", [(one.value, one.title) for one in self._bases.values()])
        self._show_defaults()

    def _choices(self, name: str, choices: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def _show_defaults(self) -> None:
        """Show the chosen recipe's defaults as placeholders."""
        name = str(self.data.get("recipe") or self.initial.get("recipe") or next(iter(TRAININGS)))
        for field in self.fields.values():
            if isinstance(field, forms.FloatField) and not isinstance(field, LimitField):
                field.widget.attrs["step"] = "any"
        for field_name, shown in shown_defaults().get(name, {}).items():
            self.fields[field_name].widget.attrs["placeholder"] = shown

    def clean(self) -> dict[str, Any]:
        """Reject what the trainer would reject, with the error at the field to change."""
        values = super().clean() or self.cleaned_data
        if self.errors:
            return values
        card = TRAININGS[values["recipe"]]
        dataset = self._datasets.get(values["source"])
        if dataset is not None:
            self._check_dataset(dataset, values)
        elif values["source"] == ROLLOUTS:
            self.check_rollouts(values)
        else:
            self._check_toy(card, values)
        if not self.errors:
            self._check_settings(values)
        rows = values["rows_per_step"] or card.rows_per_step
        if values["micro_rows"] and rows % min(values["micro_rows"], rows):
            self.add_error("micro_rows", f"Enter a divisor of the {rows} rows per step.")
        return values

    def _check_settings(self, values: dict[str, Any]) -> None:
        try:
            more = settings_of(values)
        except ValidationError as error:
            self.add_error("settings", error)
        else:
            self.check_limits(values, TRAININGS[values["recipe"]], loss_of(values, more))

    def _check_toy(self, card: Training, values: dict[str, Any]) -> None:
        supervised = card.objective == "supervised"
        if supervised and not values["demonstrations"]:
            self.add_error("demonstrations", "A supervised recipe needs the toy’s teacher. Tick this.")
        if not supervised and values["demonstrations"]:
            self.add_error("demonstrations", "A teacher’s turns have no log-probabilities. Choose a supervised recipe.")
        toy = TOYS[values["source"].removeprefix("toy:")]
        if reason := cannot_ask(toy.name, self._bases[values["base"]].config):
            which = "Small Llama that reads scaffolds’ prompts" if toy.name in OF_PROMPTS else "tiny Llama"
            self.add_error("base", f"{reason} Choose the {which}, or a model trained from it.")
        families: tuple[Family, ...] = ()
        with suppress(ValidationError):  # It is reported with the other settings.
            families = toy.single if lines_read(values["settings"]).get("toy.single") is True else ()
        self._check_family(card, toy, families)

    def _check_family(self, card: Training, toy: ToyCard, more: tuple[Family, ...]) -> None:
        """Reject a toy without the input that the recipe compares; imitating recipes can use the teacher's turns."""
        family = TRAININGS[card.name].family
        if family in (*toy.families, *more) or (card.objective == "supervised" and family in IMITATED):
            return
        able = " or ".join(f"“{one.title}”" for one in TOYS.values() if family in one.families)
        self.add_error("source", f"{card.title} learns from {NEEDS[family]}, and this toy has none. Choose {able}.")

    def _check_dataset(self, dataset: DatasetVersion, values: dict[str, Any]) -> None:
        card = TRAININGS[values["recipe"]]
        if dataset.recipe != card.name:
            self.add_error("recipe", f"{dataset} has advantages of the recipe {dataset.recipe}. Choose that recipe.")
        if not dataset.has_tokens:
            self._check_texts(dataset, card)
        elif card.needs_logprobs and not dataset.has_logprobs:
            self.add_error("source", f"{dataset} has no log-probabilities, so only supervised recipes can use it.")
        elif card.needs_logprobs and scored_at(manifest_of(dataset)) is None:
            self.add_error("source", f"{dataset} cannot be scored again. {UNSCORABLE}")
        if values["base"] in (TINY, FOR_PROMPTS):
            self.add_error("base", "The tiny model only plays toys. Choose the model that wrote the rows.")
        if values["demonstrations"]:
            self.add_error("demonstrations", "A dataset has no teacher. Clear this.")

    def _check_texts(self, dataset: DatasetVersion, card: Training) -> None:
        """Reject recipes that need log-probabilities, which rows tokenised from texts lack."""
        if card.needs_logprobs:
            able = ", ".join(one.name for one in TRAININGS.values() if not one.needs_logprobs)
            self.add_error(
                "source",
                f"{dataset} has texts without log-probabilities, which {card.title} needs. Choose a supervised recipe"
                f" ({able}), or make a dataset of runs recorded for learning with a model on vLLM.",
            )
        elif not (dataset.folder / TEXTS).is_file():
            self.add_error("source", f"The texts of {dataset} are missing. Make the dataset again.")

    def temperatures(self) -> dict[str, Any]:
        """What the form says about temperatures: of datasets, and of models that play the job's own runs."""
        known = {value: of_dataset(manifest_of(one)) for value, one in self._datasets.items() if one.has_tokens}
        raw = {name: is_raw(alias) for name, alias in self._players.items()}
        unused = [card.name for card in TRAININGS.values() if not card.needs_logprobs]
        return {"datasets": known, "raw": raw, "words": WORDS, "unused": unused}

    def draft(self) -> Draft:
        """Job of a valid form."""
        values = self.cleaned_data
        base, dataset = self._bases[values["base"]], self._datasets.get(values["source"])
        title = values["title"].strip() or f"{values['recipe']} on {dataset or values['source'].removeprefix('toy:')}"
        plan = self.rollout_plan(values) if values["source"] == ROLLOUTS else None
        config = config_from(values, base, dataset)
        if (temperature := self._temperature(values, dataset)) != 1:
            config["temperature"] = temperature
        return Draft(title[:TITLE_LENGTH], base.title[:200], config, dataset, plan)

    def _temperature(self, values: dict[str, Any], dataset: DatasetVersion | None) -> float:
        """Temperature at which the trainer scores rows: that of their recorded log-probabilities."""
        if not TRAININGS[values["recipe"]].needs_logprobs:
            return 1.0
        if values["source"] == ROLLOUTS:
            return drawn_at(self._players[values["player"]], self.rollout_plan(values).temperature)
        return (scored_at(manifest_of(dataset)) or 1.0) if dataset else 1.0


def _dataset_title(one: DatasetVersion) -> str:
    probabilities = "" if one.has_logprobs else ", no log-probabilities" if one.has_tokens else ", texts only"
    return f"{one} · {one.recipe} · {one.rows_count:,} rows{probabilities}"
