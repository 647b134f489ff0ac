"""Form fields of a job's rewards by a grader: the workflow, its model, and how long a reward is waited for."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from apps.datasets.rewards import JUDGES_OF_JOBS, judge_choices
from apps.experiments.solving.grading import solutions_require_open
from apps.graders.planning.naming import VARIANTS
from apps.graders.planning.plans import PlanWrong
from apps.learning.rollouts.plan import REWARD_WITHIN_S, RolloutPlan
from apps.learning.rollouts.rewards import reward_plan, spec_of
from apps.problems.models import ProblemVersion
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import load_usable

#: Problems for which the grader's material is checked before a job starts; the others fail with a reason.
MOST_CHECKED = 200


class RewardFields(forms.Form):
    """Part of the fields of a job's own runs."""

    judge = forms.ChoiceField(label="Rewards by", choices=judge_choices(JUDGES_OF_JOBS), required=False)
    reward_workflow = forms.ChoiceField(label="Grader", required=False, help_text="The same text is graded once.")
    reward_alias = forms.ChoiceField(label="Grader’s model", required=False)
    reward_within = forms.IntegerField(
        label="Reward within (seconds)",
        min_value=1,
        max_value=86_400,
        initial=int(REWARD_WITHIN_S),
        required=False,
        help_text="Counted from the start of its grading. A later reward is left out, and its group continues without it.",
    )

    def reward_choices(self) -> None:
        """Fill the choices of graders and their models."""
        workflows = [(name, one.title) for name, one in VARIANTS.items() if not one.manners]
        try:
            usable = load_usable(settings.MODELS_FILE)
        except AliasError:  # The page of models shows the reason.
            usable = {}
        models = [(name, alias.title) for name, alias in usable.items()]
        for name, choices in (("reward_workflow", workflows), ("reward_alias", models)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def reward_values(self, values: dict[str, Any]) -> dict[str, Any]:
        """Fields of the plan; those of a grader only where it gives the rewards."""
        judge = values["judge"] or JUDGES_OF_JOBS[0][0]
        if judge != "grader":
            return {"judge": judge}
        within = {"reward_within_s": float(values["reward_within"] or REWARD_WITHIN_S)}
        return {"judge": judge, "reward_workflow": values["reward_workflow"], "reward_alias": values["reward_alias"], **within}

    def check_rewards(self, plan: RolloutPlan, versions: Sequence[ProblemVersion], user: Any) -> None:
        """Reject a grader that could not grade a solution of these problems."""
        if plan.judge != "grader":
            return
        for name in ("reward_workflow", "reward_alias"):
            if not getattr(plan, name):
                self.add_error(name, "Choose one, or choose other rewards.")
        if self.errors:
            return
        try:
            grading = reward_plan(plan)
            for version in versions[:MOST_CHECKED]:
                solutions_require_open(user, version.problem)
                spec_of(grading, version, "A solution.")
        except (PlanWrong, AliasError) as error:
            self.add_error("reward_workflow", str(error))


def reward_fields_of(plan: RolloutPlan) -> dict[str, Any]:
    """Form values of a plan."""
    if plan.judge != "grader":
        return {"judge": plan.judge}
    names = {"reward_workflow": plan.reward_workflow, "reward_alias": plan.reward_alias}
    return {"judge": plan.judge, **names, "reward_within": int(plan.reward_within_s)}
