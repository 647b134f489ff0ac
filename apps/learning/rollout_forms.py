"""The fields of a job that makes its own rollouts: what is played, by whom, and how often."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.datasets.choosing import benchmark_hashes, content_hash
from apps.datasets.recipes import JUDGES, RECIPES, Family, Recipe
from apps.explorations.plans import Plan, plan_params, plan_refusal, problem_text
from apps.learning.job_settings import lines_read
from apps.learning.models import TrainingJob, under_way
from apps.learning.recipes import recipe_cards
from apps.learning.rollout_plan import RolloutPlan, follows, most_rank, player_title, players
from apps.problems.access import library_of
from apps.problems.models import Problem
from apps.reasoning.domain.values import Value
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.planning import role_limit
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.given import NOTHING_GIVEN

#: The value of *Learns from*.
ROLLOUTS = "rollouts"
MOST_PROBLEMS = 500
MOST_RUNS = 100_000


#: Families of recipes that only some scaffolds have anything for.
SERVED: dict[Family, tuple[str, ...]] = {"rounds": ("intern_s1_mo",), "states": ("reasoning_cache",)}
#: Scaffolds whose writers are given what their own run has found.
OWN_PROMPTS = ("intern_s1_mo",)


class RolloutFields(forms.Form):
    """Part of the form of a job. Empty where it learns from something else."""

    problems = forms.MultipleChoiceField(
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 8}),
        help_text="Each is played in every visit.",
    )
    scaffold = forms.ChoiceField(required=False, help_text="The recipe says which texts of a run are learned from.")
    player = forms.ChoiceField(
        label="Played by",
        required=False,
        help_text="One that follows the job plays with what it has learned.",
    )
    judge = forms.ChoiceField(label="Rewards", choices=[(name, title) for name, title in JUDGES], required=False)
    runs_a_group = forms.IntegerField(
        label="Runs compared with each other",
        min_value=1,
        max_value=1024,
        initial=8,
        required=False,
        help_text="One visit of a problem. 1 where a run holds whole groups: grouped agents, states tried again.",
    )
    visits = forms.IntegerField(label="Visits of each problem", min_value=1, max_value=10_000, initial=8, required=False)
    at_once = forms.IntegerField(label="Runs at once", min_value=1, max_value=64, initial=4, required=False)
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
        help_text="After so many tokens a longer answer goes on under the newest policy. Empty: whole, under one.",
    )
    temperature = forms.FloatField(
        min_value=0.01,
        max_value=2,
        required=False,
        help_text="Of all roles; top_p is 1, as in all recorded runs.",
    )
    most_lag = forms.IntegerField(
        label="Oldest policy",
        min_value=0,
        max_value=1_000_000,
        required=False,
        help_text="Rows of a policy so many steps behind are dropped and counted.",
    )

    overrides = forms.CharField(
        label="Parameters that differ",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "corrections = 2"}),
        help_text="Of the preset, one a line: name = value.",
    )

    ROLLOUT = (
        "problems",
        "scaffold",
        "player",
        "judge",
        "runs_a_group",
        "visits",
        "at_once",
        "answer_tokens",
        "segment_tokens",
        "temperature",
        "most_lag",
        "overrides",
    )

    def rollout_choices(self, user: User) -> None:
        """Fill the lists that depend on who asks and on models.toml."""
        found = library_of(user).order_by("title")[:MOST_PROBLEMS]
        presets = [
            (scaffold.title, [(f"{name}:{preset}", f"{scaffold.title}: {preset}") for preset in scaffold.presets])
            for name, scaffold in SCAFFOLDS.items()
        ]
        self._players = players()
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
        """Whether any model could play."""
        return bool(self._players)

    def check_rollouts(self, values: dict[str, Any]) -> None:
        """Refuses beside the field what would come to nothing."""
        for name in ("problems", "scaffold", "player"):
            if not values.get(name):
                self.add_error(name, "Choose at least one." if name == "problems" else "Choose one.")
        if self.errors:
            return
        try:
            plan = self.rollout_plan(values)
        except ValidationError as error:
            self.add_error("overrides", error)
            return
        player = self._players[values["player"]]
        self._check_plan(plan, RECIPES[values["recipe"]])
        if follows(player):
            self._check_follower(player.name, values)
            self._check_segments(plan, player)
        elif plan.segment_tokens:
            self.add_error("segment_tokens", "This model gets no newer policy on the way; leave this empty.")
        if values["base"] == "tiny":
            self.add_error("base", "The tiny model plays toys only; take the model that plays.")

    def _check_plan(self, plan: RolloutPlan, recipe: Recipe) -> None:
        benchmark = benchmark_hashes()
        for problem in Problem.objects.filter(slug__in=plan.problems):
            if content_hash(problem.current.statement) in benchmark:
                self.add_error("problems", f"{problem.title} is a problem of a benchmark, which is kept for measuring.")
            elif plan.judge == "answer" and not problem.current.answer:
                self.add_error("problems", f"{problem.title} has no answer to compare with; take the runs’ own verifiers.")
        try:
            params = plan_params(Plan(plan.scaffold, plan.preset, plan.overrides))
        except ValidationError as error:
            self.add_error("overrides", " ".join(error.messages))
        else:
            self._check_choice(plan, params)
            self._check_problems(plan)
            self._check_runs(plan, params, recipe)
        if plan.runs > MOST_RUNS:
            self.add_error("visits", f"That would be {plan.runs:,} runs; at most {MOST_RUNS:,} are made for one job.")

    def _check_choice(self, plan: RolloutPlan, params: Value) -> None:
        """Inputs are chosen by the answer. Without one any are taken, which is not what was asked."""
        if getattr(params, "choice", "random") == "random":
            return
        for problem in Problem.objects.filter(slug__in=plan.problems):
            if not problem.current.answer:
                advice = "Take another problem, or choice = random."
                self.add_error("problems", f"{problem.title} has no answer by which inputs could be chosen. {advice}")

    def _check_problems(self, plan: RolloutPlan) -> None:
        """Runs are given the statement alone."""
        chosen = Plan(plan.scaffold, plan.preset, plan.overrides)
        for problem in Problem.objects.filter(slug__in=plan.problems):
            if refused := plan_refusal(chosen, problem_text(problem.current), NOTHING_GIVEN):
                self.add_error("problems", f"{problem.title}: {refused}")

    def _check_runs(self, plan: RolloutPlan, params: Value, recipe: Recipe) -> None:
        """Whether runs of this scaffold hold what the recipe compares, and somebody judges it."""
        able = SERVED.get(recipe.family, (plan.scaffold,))
        if plan.scaffold not in able:
            titles = " or ".join(SCAFFOLDS[name].title for name in able)
            self.add_error("scaffold", f"{recipe.title} finds nothing to learn from in such runs. Take {titles}.")
        elif recipe.fresh_only and plan.scaffold in OWN_PROMPTS:
            self.add_error(
                "scaffold", "Each of these runs writes from its own lemmas, so no two answers have one prompt. Take another."
            )
        elif recipe.family == "rounds" and not recipe.is_supervised and getattr(params, "rollouts", 1) > 1:
            self.add_error("overrides", "Several rollouts are not one line of rounds. Write rollouts = 1.")
        elif recipe.family == "states" and not getattr(params, "states", 0):
            self.add_error("scaffold", "No state is tried again in these runs. Take the preset learning, or states = 2.")
        elif recipe.family == "states" and plan.judge == "verifiers" and not getattr(params, "marks", False):
            self.add_error("judge", "Nobody judges these attempts. Take the answer, the preset learning, or marks = true.")

    def _check_segments(self, plan: RolloutPlan, alias: Alias) -> None:
        """An answer that ends before its first segment does would never change its policy."""
        longest = max(role_limit(role, alias, plan.max_new_tokens) for role in SCAFFOLDS[plan.scaffold].roles)
        if plan.segment_tokens and plan.segment_tokens >= longest:
            self.add_error(
                "segment_tokens",
                f"An answer has at most {longest:,} tokens here: its longest answer, within half of the model’s context of "
                f"{alias.context_tokens:,}. Take a shorter segment.",
            )

    def _check_follower(self, name: str, values: dict[str, Any]) -> None:
        if not values["lora"]:
            self.add_error("lora", "The engine follows adapters only: tick this, or take a model that stays as it is.")
        elif (most := most_rank(self._players[name])) is not None and (values.get("lora_rank") or 16) > most:
            self.add_error("lora_rank", f"The engine of {name} takes adapters of rank {most} at most (options.max_lora_rank).")
        if other := TrainingJob.objects.filter(under_way(), rollouts__alias=name).first():
            self.add_error("player", f"It follows {other.title} just now. Wait until that one has ended, or stop it.")

    def rollout_plan(self, values: dict[str, Any]) -> RolloutPlan:
        """What valid fields ask for."""
        scaffold, _, preset = values["scaffold"].partition(":")
        return RolloutPlan(
            problems=tuple(values["problems"]),
            scaffold=scaffold,
            preset=preset,
            alias=values["player"],
            judge=values["judge"] or JUDGES[0][0],
            runs_a_group=values["runs_a_group"] or 8,
            visits=values["visits"] or 8,
            at_once=values["at_once"] or 4,
            max_new_tokens=values["answer_tokens"],
            segment_tokens=values["segment_tokens"],
            temperature=values["temperature"] or recipe_cards()[values["recipe"]].temperature,
            overrides=lines_read(values["overrides"]),
        )


def fields_of_plan(plan: RolloutPlan) -> dict[str, Any]:
    """The fields that ask for this plan."""
    names = ("judge", "runs_a_group", "visits", "at_once", "segment_tokens", "temperature")
    found = {name: getattr(plan, name) for name in names if getattr(plan, name) is not None}
    overrides = "\n".join(f"{name} = {json.dumps(value)}" for name, value in plan.overrides.items())
    more = {"problems": list(plan.problems), "scaffold": f"{plan.scaffold}:{plan.preset}", "player": plan.alias}
    return found | more | {"answer_tokens": plan.max_new_tokens, "overrides": overrides}
