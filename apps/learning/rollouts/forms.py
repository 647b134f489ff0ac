"""Form fields of a job that makes its own rollouts: problems, scaffold, model and number of runs."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.datasets.versions.choosing import benchmark_hashes, content_hash
from apps.explorations.starting.plans import Plan, plan_params, plan_refusal, problem_text
from apps.learning.jobs.bases import FOR_PROMPTS, TINY
from apps.learning.jobs.settings import lines_read
from apps.learning.models import TrainingJob, under_way
from apps.learning.rollouts.curriculum import words_of
from apps.learning.rollouts.curriculum_fields import CurriculumFields, curriculum_fields_of
from apps.learning.rollouts.plan import RolloutPlan, follows, most_rank, player_title, players
from apps.learning.rollouts.problems import current_versions
from apps.learning.rollouts.reward_fields import RewardFields, reward_fields_of
from apps.problems.access import library_of
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.planning import role_limit
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.given import NOTHING_GIVEN
from apps.recipes.recipe import Family, Training
from apps.recipes.registry import TRAININGS

#: Value of the field *Learns from*.
ROLLOUTS = "rollouts"
MOST_PROBLEMS = 5_000
MOST_AT_ONCE = 1_024
#: Problems that a rejected plan names.
MOST_NAMED = 10
MOST_RUNS = 100_000


#: Families of recipes that learn from some scaffolds only.
SCAFFOLDS_OF_FAMILY: dict[Family, tuple[str, ...]] = {"rounds": ("intern_s1_mo",), "states": ("reasoning_cache",)}
#: Scaffolds whose prompts contain the lemmas of their own run.
OWN_PROMPTS = ("intern_s1_mo",)


class RolloutFields(RewardFields, CurriculumFields):
    """Part of a job's form; left empty where the job learns from a dataset or a toy."""

    problems = forms.MultipleChoiceField(
        required=False, widget=forms.SelectMultiple(attrs={"size": 8}), help_text="Every visit plays each of them."
    )
    scaffold = forms.ChoiceField(required=False, help_text="The recipe chooses the texts of a run to learn from.")
    player = forms.ChoiceField(
        label="Played by",
        required=False,
        help_text="A model that follows the job plays with its newest weights.",
    )
    runs_a_group = forms.IntegerField(
        label="Runs per group",
        min_value=1,
        max_value=1024,
        initial=8,
        required=False,
        help_text="Runs compared in one visit of a problem; 1 for grouped agents and repeated states.",
    )
    visits = forms.IntegerField(label="Visits per problem", min_value=1, max_value=10_000, initial=8, required=False)
    at_once = forms.IntegerField(
        label="Runs at once",
        min_value=1,
        max_value=MOST_AT_ONCE,
        initial=4,
        required=False,
        help_text="All jobs together have at most ROLLOUTS_AT_ONCE runs under way.",
    )
    answer_tokens = forms.IntegerField(
        label="Longest answer (tokens)",
        min_value=16,
        max_value=1_000_000,
        required=False,
    )
    segment_tokens = forms.IntegerField(
        label="Segment (tokens)",
        min_value=16,
        max_value=1_000_000,
        required=False,
        help_text="Length after which an answer continues under the newest policy; leave empty for one policy.",
    )
    temperature = forms.FloatField(
        min_value=0.01,
        max_value=2,
        required=False,
        help_text="At which all roles draw; top_p is 1, as in all recorded runs. The sentence under “Basics” says at which "
        "temperature the trainer scores.",
    )
    most_lag = forms.IntegerField(
        label="Oldest policy (steps)",
        min_value=0,
        max_value=1_000_000,
        required=False,
        help_text="Maximum age; rows of older policies are dropped and counted.",
    )

    overrides = forms.CharField(
        label="Changed parameters",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "corrections = 2"}),
        help_text="Changes to the preset, one per line: name = value.",
    )

    def rollout_choices(self, user: User) -> None:
        """Fill the choices that depend on the user and on models.toml."""
        found = library_of(user).order_by("title")[:MOST_PROBLEMS]
        presets = [
            (scaffold.title, [(f"{name}:{preset}", f"{scaffold.title}: {preset}") for preset in scaffold.presets])
            for name, scaffold in SCAFFOLDS.items()
        ]
        self._user, self._players = user, players()
        self.reward_choices()
        self.curriculum_choices(user)
        for name, choices in (
            ("problems", [(problem.slug, problem.title) for problem in found]),
            ("scaffold", presets),
            ("player", [(name, player_title(alias)) for name, alias in self._players.items()]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    @property
    def has_players(self) -> bool:
        """Whether any model can play."""
        return bool(self._players)

    def check_rollouts(self, values: dict[str, Any]) -> None:
        """Add errors for choices that could not give rows."""
        if not values.get("problems") and not values.get("problem_set"):
            self.add_error("problems", "Choose at least one, or a problem set.")
        for name in ("scaffold", "player"):
            if not values.get(name):
                self.add_error(name, "Choose one.")
        if self.errors:
            return
        try:
            plan = self.rollout_plan(values)
        except ValidationError as error:
            self.add_error(None if hasattr(error, "error_dict") else "overrides", error)
            return
        if not plan.problems or len(plan.problems) > MOST_PROBLEMS:
            words = " ".join(words_of(plan.chosen))
            self.add_error("problem_set", f"A job plays 1 to {MOST_PROBLEMS:,} problems. {words}")
            return
        player = self._players[values["player"]]
        self._check_plan(plan, TRAININGS[values["recipe"]])
        if follows(player):
            self._check_follower(player.name, values)
            self._check_segments(plan, player)
        elif plan.segment_tokens:
            self.add_error(
                "segment_tokens", "This model does not follow the job, so its policy never changes. Leave this empty."
            )
        if values["base"] in (TINY, FOR_PROMPTS):
            self.add_error("base", "The tiny model plays toys only. Choose the model that plays the runs.")

    def _check_plan(self, plan: RolloutPlan, recipe: Training) -> None:
        versions = current_versions(plan.problems)
        self._reject(versions, self._unfit(plan))
        try:
            params = plan_params(Plan(plan.scaffold, plan.preset, plan.overrides))
        except ValidationError as error:
            self.add_error("overrides", " ".join(error.messages))
        else:
            if getattr(params, "choice", "random") != "random":
                self._reject(versions, _without_choice)
            self._reject(versions, partial(_refused, Plan(plan.scaffold, plan.preset, plan.overrides)))
            self._check_runs(plan, params, recipe)
            self.check_rewards(plan, versions, self._user)
        if plan.runs > MOST_RUNS:
            self.add_error("visits", f"This plan has {plan.runs:,} runs; a job may have at most {MOST_RUNS:,}.")

    def _reject(self, versions: Sequence[ProblemVersion], why: Callable[[ProblemVersion], str]) -> None:
        """Add an error for each problem that `why` gives a reason for; the first ones are named."""
        found = [reason for version in versions if (reason := why(version))]
        for reason in found[:MOST_NAMED]:
            self.add_error("problems", reason)
        if len(found) > MOST_NAMED:
            self.add_error("problems", f"The same applies to {len(found) - MOST_NAMED:,} more problems.")

    def _unfit(self, plan: RolloutPlan) -> Callable[[ProblemVersion], str]:
        """Why a problem cannot be learned from: it belongs to a benchmark, or has no answer to compare with."""
        benchmark = benchmark_hashes()

        def why(version: ProblemVersion) -> str:
            if content_hash(version.statement) in benchmark:
                return f"{version.problem.title} belongs to a benchmark and is reserved for measuring."
            if plan.judge == "answer" and not version.answer:
                return f"{version.problem.title} has no answer to compare with. Choose the runs’ own verifiers."
            return ""

        return why

    def _check_runs(self, plan: RolloutPlan, params: Value, recipe: Training) -> None:
        """Reject a scaffold whose runs lack what the recipe compares, or a judge for it."""
        able = SCAFFOLDS_OF_FAMILY.get(recipe.family, (plan.scaffold,))
        if plan.scaffold not in able:
            titles = " or ".join(SCAFFOLDS[name].title for name in able)
            self.add_error("scaffold", f"{recipe.title} cannot learn from runs of this scaffold. Choose {titles}.")
        elif recipe.fresh_only and plan.scaffold in OWN_PROMPTS:
            self.add_error(
                "scaffold", "Each run of this scaffold uses its own lemmas, so no two answers share a prompt. Choose another."
            )
        elif recipe.family == "rounds" and not recipe.is_supervised and getattr(params, "rollouts", 1) > 1:
            self.add_error("overrides", "This recipe needs a single line of rounds. Set rollouts = 1.")
        elif recipe.family == "rounds" and plan.judge == "grader":
            self.add_error("judge", "This recipe takes votes on rounds, which a grader does not give. Choose other rewards.")
        elif recipe.family == "states" and not getattr(params, "states", 0):
            self.add_error("scaffold", "These runs repeat no state. Choose the preset learning, or set states = 2.")
        elif recipe.family == "states" and plan.judge == "verifiers" and not getattr(params, "marks", False):
            self.add_error("judge", "No verifier judges these attempts. Choose the answer, or set marks = true.")

    def _check_segments(self, plan: RolloutPlan, alias: Alias) -> None:
        """Reject a segment so long that every answer ends within it."""
        longest = max(role_limit(role, alias, plan.max_new_tokens) for role in SCAFFOLDS[plan.scaffold].roles)
        if plan.segment_tokens and plan.segment_tokens >= longest:
            self.add_error(
                "segment_tokens",
                f"Answers have at most {longest:,} tokens here: the longest answer, or half of the model’s context of "
                f"{alias.context_tokens:,}. Choose a shorter segment.",
            )

    def _check_follower(self, name: str, values: dict[str, Any]) -> None:
        if self._players[name].weights:
            if values["lora"]:
                self.add_error("lora", "This model’s engine follows all weights. Leave this unticked, or choose another model.")
        elif not values["lora"]:
            self.add_error("lora", "The engine follows adapters only. Tick this, or choose a model that follows all weights.")
        elif (most := most_rank(self._players[name])) is not None and (values.get("lora_rank") or 16) > most:
            self.add_error("lora_rank", f"The engine of {name} accepts adapters up to rank {most} (options.max_lora_rank).")
        if other := TrainingJob.objects.filter(under_way(), rollouts__alias=name).first():
            self.add_error("player", f"This model is following {other.title}. Wait for that job to end, or stop it.")

    def rollout_plan(self, values: dict[str, Any]) -> RolloutPlan:
        """Plan of valid fields."""
        scaffold, _, preset = values["scaffold"].partition(":")
        return RolloutPlan(
            **self.problem_values(values),
            scaffold=scaffold,
            preset=preset,
            alias=values["player"],
            **self.reward_values(values),
            runs_a_group=values["runs_a_group"] or 8,
            visits=values["visits"] or 8,
            at_once=values["at_once"] or 4,
            max_new_tokens=values["answer_tokens"],
            segment_tokens=values["segment_tokens"],
            temperature=values["temperature"] or TRAININGS[values["recipe"]].temperature,
            overrides=lines_read(values["overrides"]),
        )


def _without_choice(version: ProblemVersion) -> str:
    """Why inputs cannot be chosen by the answer of a problem."""
    if version.answer:
        return ""
    return f"{version.problem.title} has no answer to choose inputs by. Choose another problem, or set choice = random."


def _refused(chosen: Plan, version: ProblemVersion) -> str:
    """Why a plan cannot run on a problem with the statement alone."""
    refused = plan_refusal(chosen, problem_text(version), NOTHING_GIVEN)
    return f"{version.problem.title}: {refused}" if refused else ""


#: The names of these fields, in the order of the form.
_REWARDS, _CURRICULUM = tuple(RewardFields.base_fields), tuple(CurriculumFields.base_fields)
_OWN = tuple(name for name in RolloutFields.base_fields if name not in (*_REWARDS, *_CURRICULUM))
ROLLOUT_FIELDS = (*_OWN[:1], *_CURRICULUM, *_OWN[1:3], *_REWARDS, *_OWN[3:])


def fields_of_plan(plan: RolloutPlan) -> dict[str, Any]:
    """Form values of a plan."""
    names = ("runs_a_group", "visits", "at_once", "segment_tokens", "temperature")
    found = {name: getattr(plan, name) for name in names if getattr(plan, name) is not None}
    overrides = "\n".join(f"{name} = {json.dumps(value)}" for name, value in plan.overrides.items())
    more = {"scaffold": f"{plan.scaffold}:{plan.preset}", "player": plan.alias, "answer_tokens": plan.max_new_tokens}
    return found | more | reward_fields_of(plan) | curriculum_fields_of(plan) | {"overrides": overrides}
