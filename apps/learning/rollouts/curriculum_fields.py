"""Form fields that choose a job's problems from a problem set by earlier attempts of a model."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from apps.accounts.models import User
from apps.learning.rollouts.curriculum import ORDERS, Choice, Selection, choose
from apps.learning.rollouts.plan import RolloutPlan
from apps.learning.rollouts.problems import current_versions
from apps.problem_sets.access import hidden_of
from apps.problem_sets.models import ProblemSetVersion
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import load_measurable

MOST_SETS = 200
#: Split of a set that no job learns from.
TEST = "test"


class CurriculumFields(forms.Form):
    """Part of the fields of a job's own runs."""

    problem_set = forms.ChoiceField(required=False, help_text="Its problems are added to those above.")
    attempts_by = forms.ChoiceField(
        label="Difficulty by attempts of",
        required=False,
        help_text="Counts difficulty runs and scored cells of experiments.",
    )
    least_attempts = forms.IntegerField(label="At least … attempts", min_value=1, max_value=10_000, initial=4, required=False)
    lowest_rate = forms.FloatField(label="Solved in at least (share)", min_value=0, max_value=1, required=False)
    highest_rate = forms.FloatField(
        label="Solved in less than (share)", min_value=0, max_value=1, required=False, help_text="QED-Nano: 0.7."
    )
    hardest = forms.IntegerField(
        label="Only the hardest …",
        min_value=1,
        max_value=100_000,
        required=False,
        help_text="Of those that are solved at least once, as LIMO does.",
    )
    order = forms.ChoiceField(choices=ORDERS, required=False)
    rest_solved = forms.BooleanField(
        label="Visit solved problems less",
        required=False,
        help_text="A problem whose last visit was solved by all answers misses its next visit.",
    )

    def curriculum_choices(self, user: User) -> None:
        """Fill the choices of sets and models."""
        self._reader = user
        found = ProblemSetVersion.objects.select_related("problem_set").order_by("problem_set__title", "-number")[:MOST_SETS]
        self._sets = {str(version): version for version in found}
        sets = [(name, f"{one.problem_set.title}, version {one.number}") for name, one in self._sets.items()]
        try:
            models = [(name, alias.title) for name, alias in load_measurable(settings.MODELS_FILE).items()]
        except AliasError:  # The page of models shows the reason.
            models = []
        for name, choices in (("problem_set", sets), ("attempts_by", models)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "None"), *choices]

    def problem_values(self, values: dict[str, Any]) -> dict[str, Any]:
        """Fields of the plan: its problems, and how those of a set were chosen. Raises `ValidationError`."""
        by_hand, rests = list(values["problems"]), {"rest_solved": bool(values["rest_solved"])}
        if not values["problem_set"]:
            return {"problems": tuple(by_hand), **rests}
        selection = _selection(values)
        if selection.needs_attempts and not selection.attempts_by:
            advice = "Choose whose attempts count, or leave the limits empty and choose another order."
            raise ValidationError({"attempts_by": advice})
        lowest, highest = selection.lowest, selection.highest
        if lowest is not None and highest is not None and lowest >= highest:
            between = f"No share is at least {lowest:g} and less than {highest:g}."
            raise ValidationError({"highest_rate": f"{between} Enter a higher limit."})
        choice = self._chosen(self._sets[values["problem_set"]], selection, int(values.get("seed") or 0))
        chosen = {"set": values["problem_set"], "selection": selection.model_dump(mode="json"), "by_hand": by_hand}
        chosen |= {"kept": len(choice.problems), "left": dict(choice.left)}
        return {"problems": tuple(dict.fromkeys([*by_hand, *choice.problems])), "chosen": chosen, **rests}

    def _chosen(self, version: ProblemSetVersion, selection: Selection, seed: int) -> Choice:
        items = list(version.items.select_related("problem__problem"))
        hidden = hidden_of(self._reader, items)
        current = {one.pk for one in current_versions([item.problem.problem.slug for item in items])}
        left: dict[str, int] = {}
        usable = []
        for item in items:
            reason = "reserved for testing" if item.split == TEST else ""
            reason = reason or ("held back from you" if item.problem.problem_id in hidden else "")
            reason = reason or ("changed since this version of the set" if item.problem_id not in current else "")
            if reason:
                left[reason] = left.get(reason, 0) + 1
            else:
                usable.append(item.problem)
        choice = choose(usable, selection, seed)
        return Choice(choice.problems, {**left, **choice.left})


def _selection(values: dict[str, Any]) -> Selection:
    return Selection(
        attempts_by=values["attempts_by"],
        least_attempts=values["least_attempts"] or 4,
        lowest=values["lowest_rate"],
        highest=values["highest_rate"],
        hardest=values["hardest"],
        order=values["order"] or "listed",
    )


def curriculum_fields_of(plan: RolloutPlan) -> dict[str, Any]:
    """Form values of a plan."""
    rests = {"rest_solved": plan.rest_solved}
    if not plan.chosen:
        return {"problems": list(plan.problems), **rests}
    selection = Selection.model_validate(plan.chosen["selection"])
    found = {"problems": plan.chosen["by_hand"], "problem_set": plan.chosen["set"], "order": selection.order}
    found |= {"attempts_by": selection.attempts_by, "least_attempts": selection.least_attempts, "hardest": selection.hardest}
    return found | {"lowest_rate": selection.lowest, "highest_rate": selection.highest, **rests}
