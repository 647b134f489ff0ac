"""Lengths of the prompts about a script, computed from their texts, and an estimate with these lengths.

Texts still to be written by a model (an analysis, a rubric) are assumed to be as long as a reference; unsorted references are
assumed to form two groups.
"""

from collections.abc import Iterable, Mapping
from statistics import fmean

from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders import deepseek_verifier, ensemble, jury, points8, single_turn, whole_points, with_scheme
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces import preparing
from apps.reasoning.graders.pieces.pieces import Clusters
from apps.reasoning.graders.with_references import MANNERS, REF3
from apps.reasoning.marking.schemes.text_form import text_written
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.deepseek_math import EVALUATOR, EXAMINATION, META, META_VERIFIER
from apps.reasoning.scaffolds.estimates import Estimate

#: Characters per token of English with formulas, roughly.
CHARACTERS = 4
#: Characters of a report on a script, without the thinking before it.
REPORT = 6_000
GROUPS = 2


def prompt_tokens(workflow: str, problem: ProblemText, material: Material) -> dict[str, int]:
    """Tokens of one prompt about this script by role, rounded up; the mean if a role has several prompts.

    `workflow` is a grader, or the program that prepares references.
    """
    prompts = _Prompts(problem, material)
    if workflow == deepseek_verifier.NAME:
        return prompts.examining()
    if workflow == preparing.NAME:
        return prompts.preparing(workflow)
    judge = prompts.judging(workflow)
    if workflow == jury.NAME:
        return dict.fromkeys(jury.JUDGES, judge)
    return prompts.preparing(workflow) | {"grader": judge}


def with_lengths(
    found: Estimate, prompts: Mapping[str, int], answers: Mapping[str, int], limits: Mapping[str, int] | None = None
) -> Estimate:
    """The estimate with these tokens for prompts and, for roles listed, for answers; `limits` bound the answers."""
    roles = []
    for role in found.roles:
        limit = (limits or {}).get(role.role)
        written = role.written_expected
        if role.role in answers:
            written = role.calls_expected * min(answers[role.role], limit or answers[role.role])
        prompt = role.calls_expected * prompts[role.role]
        roles.append(role.model_copy(update={"tokens_expected": prompt + written, "written_expected": written}))
    most = sum(role.calls_max * (prompts[role.role] + (limits or {}).get(role.role, 0)) for role in roles)
    total = sum(role.tokens_expected for role in roles)
    return found.model_copy(update={"roles": tuple(roles), "tokens_expected": total, "tokens_max": max(most, total)})


class _Prompts:
    """The lengths of the prompts of each role."""

    def __init__(self, problem: ProblemText, material: Material) -> None:
        self.material = material
        self.statement = len(problem.statement)
        self.references = [len(one) for one in material.references if one.strip()]
        self.reference = round(fmean(self.references)) if self.references else 0
        self.ways = "json" if material.structured else "tags"

    def preparing(self, workflow: str) -> dict[str, int]:
        """Prompt tokens by role before the grading; empty for graders without references."""
        members = self._members(workflow)
        if not members & {REF3, *MANNERS}:
            return {}
        script = len(self.material.numbered)
        scored = "approachability" if any(MANNERS[name].is_scored for name in members & set(MANNERS)) else "no_scoring"
        milestones = any(MANNERS[name].by_milestones for name in members & set(MANNERS))
        return {
            "clusterer": self._tokens(("clusterer", f"forms/clusters_{self.ways}"), self.references),
            "matcher": self._tokens(("matcher", f"forms/matching_{self.ways}"), [*self._representatives(), script]),
            "analyst": self._tokens(("analyst", f"forms/analysis_{self.ways}", f"forms/{scored}"), [self.reference]),
            "designer": self._tokens(
                ("designer", f"forms/rubric_{self.ways}", f"forms/by_{'milestones' if milestones else 'steps'}"),
                [self.reference, self.reference],
            ),
        }

    def examining(self) -> dict[str, int]:
        """Prompt tokens of an examination and of the check of its report."""
        script = len(self.material.numbered)
        return {
            EVALUATOR.name: self._tokens((EXAMINATION.prompt,), [script], folder=""),
            META_VERIFIER.name: self._tokens((META,), [script, REPORT], folder=""),
        }

    def judging(self, workflow: str) -> int:
        """Prompt tokens of the grading itself; for an ensemble the mean over its members."""
        return round(fmean(self._judging(name) for name in self._members(workflow)))

    def _members(self, workflow: str) -> set[str]:
        if isinstance(self.material, preparing.Params):
            return set(self.material.manners)
        return set(self.material.members) if isinstance(self.material, ensemble.Params) else {workflow}

    def _judging(self, name: str) -> int:
        script, guidelines = len(self.material.numbered), len(self.material.guidelines_shown)
        if name in MANNERS:
            routes = f"forms/routes_by_{'milestones' if MANNERS[name].by_milestones else 'steps'}"
            return self._grading(("with_rubric", "items", routes), [self.reference, self.reference, script])
        if name == REF3:
            return self._grading(("single_turn", "total", "forms/reference"), [self.reference, guidelines, script])
        if name in (single_turn.NAME, jury.NAME):
            return self._grading(("single_turn", "total"), [guidelines, script])
        scheme = len(text_written(self.material.scheme)) if self.material.scheme else 0
        if isinstance(self.material, with_scheme.Params):
            form, manner = ("ticks", "strict") if self.material.strict else ("advice", "advisory")
            return self._grading(("with_scheme", form, f"forms/{manner}"), [scheme, script])
        if name in whole_points.MANNERS:
            whole = whole_points.MANNERS[name]
            asked = [whole.fragment.removeprefix("grading/"), *(["forms/reference"] if whole.has_reference else [])]
            reference = len(whole_points.first_reference(self.material)) if whole.has_reference else 0
            return self._grading(("whole_points", "total", *asked), [scheme, reference, script])
        if name == points8.NAME:
            return self._grading(("by_points", "items"), [scheme, script])
        raise ValueError(f"unknown grader {name}")

    def _grading(self, asked: tuple[str, ...], texts: Iterable[int]) -> int:
        prompt, form, *more = asked
        return self._tokens((prompt, f"forms/{form}_{self.ways}", "forms/fallacies", *more), texts)

    def _representatives(self) -> list[int]:
        """The lengths of the references that a script is compared with: one per existing group, else per assumed group."""
        made = next((value for name, value in self.material.prepared.items() if name.startswith("clusters/")), None)
        if made is None:
            return [self.reference] * min(GROUPS, len(self.references))
        chosen = [cluster.representative for cluster in Clusters.model_validate(made).clusters]
        return [self.references[one - 1] for one in chosen if one <= len(self.references)]

    def _tokens(self, ours: Iterable[str], texts: Iterable[int], folder: str = "grading/") -> int:
        files = [load(f"{folder}{name}") for name in ours]
        rule = load("shared/forms/fence_rule").system
        characters = sum(len(one.system) + len(one.user) for one in files) + len(rule) + self.statement + sum(texts)
        return -(-characters // CHARACTERS)
