"""Authored answers for the roles that are not on trial, in the forms that the prompts ask for."""

import re
from collections.abc import Callable, Mapping

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.trying.material import Attempt

Answer = Callable[[str, Attempt], str]
"""From the text of a prompt and the attempt that the stage is set with to an answer."""
_NUMBERED = re.compile(r"^#*\s*Solution (\d{1,3})\b", re.MULTILINE)
_FENCED = re.compile(r"^<<<CONTENT \w{4,64}>>>$", re.MULTILINE)
_OF_A_KIND = re.compile(r"_\d\Z")
_EXAMINED = "I went through it step by step."


def _proof(_: str, attempt: Attempt) -> str:
    steps = "\n".join(f"<step>{step}</step>" for step in attempt.steps)
    return f"<proof>\n{steps}\n</proof>"


def _with_own_score(prompt: str, attempt: Attempt) -> str:
    return f"{_proof(prompt, attempt)}\n<own-score>1</own-score>"


def _in_turns(_: str, attempt: Attempt) -> str:
    steps = "\n".join(f"<step>{step}</step>" for step in attempt.steps)
    return f"<answer>\n{steps}\n</answer>"


def _decision(_: str, attempt: Attempt) -> str:
    if attempt.kind == "right":
        return "Every step follows.\n<decision>pass</decision>"
    issue = f'<issue severity="critical"><quote>{attempt.steps[-1][:80]}</quote>This does not follow.</issue>'
    return f"The argument is not complete.\n{issue}\n<decision>fail</decision>"


def _points(_: str, attempt: Attempt) -> str:
    return f"{_EXAMINED}\n<score>{attempt.points:g}</score>"


def _share(_: str, attempt: Attempt) -> str:
    value = {"right": "1", "gap": "0.5", "wrong": "0"}[attempt.kind]
    return f"{_EXAMINED}\n<score>{value}</score>"


def _vote(_: str, attempt: Attempt) -> str:
    if attempt.kind == "right":
        return '<check step="1" sound="yes">It holds.</check>\n<verdict>-1</verdict>'
    return '<check step="1" sound="no" severity="critical">It does not follow.</check>\n<verdict>1</verdict>'


def _work(_: str, attempt: Attempt) -> str:
    return f"**Results.** The statement of the problem.\n\n{attempt.text}\n\n<claim>complete</claim>"


def _lemma(prompt: str, attempt: Attempt) -> str:
    steps = "\n".join(f"<step>{step}</step>" for step in attempt.steps)
    return f'<lemma number="1">\n<statement>The statement of the problem holds.</statement>\n{steps}\n</lemma>'


def _groups(prompt: str, _: Attempt) -> str:
    members = ", ".join(sorted(set(_NUMBERED.findall(prompt)), key=int)) or "1"
    return f'They agree.\n<group number="1">{members}</group>\n<likeliest>1</likeliest>'


def _report(_: str, attempt: Attempt) -> str:
    return f"<report>{_EXAMINED}\n{int(attempt.kind == 'right')}</report>"


def _analysis(prompt: str, _: Attempt) -> str:
    return _SCORED if "approachability" in prompt else _ANALYSIS


def _said(text: str) -> Answer:
    return lambda _prompt, _attempt: text


def _clusters(prompt: str, _: Attempt) -> str:
    """Put every reference into its own cluster: one fence is the problem's, the others are theirs."""
    steps = "<main-step>Set up.</main-step><main-step>Conclude.</main-step>"
    each = (f'<cluster members="{n}" representative="{n}">{steps}</cluster>' for n in range(1, len(_FENCED.findall(prompt))))
    return f"<clusters>{''.join(each)}</clusters>"


_ANALYSIS = (
    '<analysis><main-step title="Set up"><why>It gives the form that is used.</why><substep>Rewrite it.</substep></main-step>'
    '<main-step title="Conclude"><why>It ends the proof.</why></main-step></analysis>'
)
_SCORED = _ANALYSIS.replace('title="Set up"', 'title="Set up" approachability="3"').replace(
    'title="Conclude"', 'title="Conclude" approachability="4"'
)
_RUBRIC = (
    '<rubric><item title="Set up" points="3"><full>It is set up.</full><deduction>No reason: 1.</deduction></item>'
    '<item title="Conclude" points="4"><full>It is proved.</full><deduction>No reason: 1.</deduction></item></rubric>'
)
_MATCHING = '<matching><main-step>Set up.</main-step><same step="1" cluster="C1" other="1"/></matching>'
_DEEPSEEK: Mapping[str, Answer] = {
    "solver": _with_own_score,
    "evaluator": _share,
    "refiner": _with_own_score,
    "meta_verifier": _said("The report is founded.\n<score>1</score>"),
}
_BY_METHOD: Mapping[str, Mapping[str, Answer]] = {
    "intern_s1_mo": {
        "reasoner": _work,
        "summarizer": _lemma,
        "theorem_verifier": _said("<verdict>-1</verdict>"),
        "process_verifier": _vote,
    },
    "reasoning_cache": {"grader": _points, "summarizer": _said("<state>We have a solution; check each step.</state>")},
    "deepseek_math": _DEEPSEEK,
    "deepseek_verifier": _DEEPSEEK,
    "alpha_apollo": {
        "solver": _in_turns,
        "abstractor": _said("<checkpoints>1. Set up. 2. Proved.</checkpoints>"),
        "evaluator": _report,
        "summarizer": _said("<judgement>All agree.</judgement>"),
        "rewriter": _said("<query>solve an equation</query>"),
        "librarian": _said("<summary>Call sympy.solve.</summary>"),
    },
}
#: Roles that are the same in every method that has them.
_BY_ROLE: Mapping[str, Answer] = {
    **dict.fromkeys(("solver", "improver", "corrector", "aggregator", "writer", "reviser"), _proof),
    "verifier": _decision,
    "grader": _points,
    "judge": _said("<better>A</better>"),
    "consolidator": _groups,
    "clusterer": _clusters,
    "analyst": _analysis,
    "designer": _said(_RUBRIC),
    "matcher": _said(_MATCHING),
}


def stand_in(method: str, request: GenerationRequest, attempt: Attempt) -> str:
    """The authored answer of a role; "" if there is none, which counts as unreadable in the run around a trial."""
    role = _OF_A_KIND.sub("", request.role)
    answer = _BY_METHOD.get(method, {}).get(role) or _BY_ROLE.get(role)
    return answer("\n".join(message.content for message in request.messages), attempt) if answer else ""
