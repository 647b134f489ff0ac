"""One trial: a role of a program with one attempt, and the result of the answer."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from apps.reasoning.domain.candidate_events import CandidateJudged, CandidateScored
from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import OutputUnread, VoteCast
from apps.reasoning.domain.generation import Sampling
from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.prompt_events import PromptRefused
from apps.reasoning.domain.trial_events import AttemptKind, Reading, RoleTried
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.judging.totals import DECLINES as NO_JUDGEMENT
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem
from apps.reasoning.programs.registry import PROGRAMS, SCAFFOLDS
from apps.reasoning.scaffolds.scaffold import Preset, Role
from apps.reasoning.trying.material import Attempt
from apps.reasoning.trying.stage import Asked, Stage

_JUDGES = re.compile(r"(?:theorem_|process_|meta_)?verifier(?:_\d)?|grader|evaluator|juror.*|judge_\w+")
_MENDERS = re.compile(r"corrector(?:_\d)?|refiner|reviser|improver")
#: Share of the points from which a judge accepts a proof: 6 of 7.
ACCEPTS_FROM = 6 / 7
#: Prefixes of the reasons for answers that decline to give a solution or a judgement.
DECLINES = ("it gives no solution", NO_JUDGEMENT)
#: Points8 takes no chains, deductions or caps.
PLAIN = Scheme(
    scale=Decimal(7),
    step=Decimal(1),
    items=(
        SchemeItem(code="A1", points=Decimal(3), text="States the idea that carries a complete proof."),
        SchemeItem(code="A2", points=Decimal(4), text="Carries it out without a gap."),
    ),
)
#: Parameters without which some roles of a quick preset are never used.
_SO_THAT_ALL_PLAY: Mapping[str, Mapping[str, Any]] = {
    "points8": {"scheme": PLAIN.model_dump()},
    "deepseek_math": {"meta": True},
    "reasoning_cache": {"turns": 1, "states": 1, "attempts": 2, "marks": True},
}


def methods() -> tuple[str, ...]:
    """The programs used for trials: all scaffolds, then all graders of scripts."""
    return (*SCAFFOLDS, *GRADERS)


def preset_of(method: str) -> Preset:
    """The preset for trials: `quick` if it exists."""
    program = PROGRAMS[method]
    return program.presets[program.first_preset]


def kinds_for(role: str) -> tuple[AttemptKind, ...]:
    """The attempts shown to a role: all kinds to judges, one with a gap to correctors, a correct one to all others."""
    if _JUDGES.fullmatch(role):
        return ("right", "gap", "wrong")
    return ("gap",) if _MENDERS.fullmatch(role) else ("right",)


def sampling_of(role: Role, preset: Preset, limit: int) -> Sampling:
    """The sampling of a role in its preset, with at most `limit` new tokens."""
    temperature = preset.temperatures.get(role.name, role.temperature)
    return Sampling(temperature=temperature, max_new_tokens=min(limit, role.max_new_tokens))


def params_of(method: str, attempt: Attempt, supplied: Mapping[str, Any]) -> Value:
    """The parameters of the method's preset; for a grader, the attempt as script and `supplied` as its other material."""
    program, params = PROGRAMS[method], preset_of(method).params
    own = _SO_THAT_ALL_PLAY.get(method, {})
    if isinstance(program, Grader):
        shown = {"script": attempt.text, "view": program.view.model_dump()}
        return program.read_params(params.model_dump() | shown | dict(supplied) | dict(own))
    taken = {name: supplied[name] for name in program.takes}
    return program.read_params(params.model_dump() | taken | dict(own))


async def tried(
    asked: Asked, problem: ProblemText, method: str, role: Role, attempt: Attempt, params: Value, limit: int
) -> RoleTried | None:
    """The result of the model's answer; None if the program never uses the role. Raises `BudgetExhausted`."""
    stage = Stage(asked, method, role.name, attempt, sampling_of(role, preset_of(method), limit))
    try:
        await PROGRAMS[method].solve(problem, stage, params)
    except CallFailed as failure:
        stage.failure = failure.reason
    if stage.is_over:
        raise stage.is_over
    refused = next((one.reason for one in stage.events if isinstance(one, PromptRefused) and one.role == role.name), "")
    if not stage.key and not refused:
        return None
    reading, reason = _reading(stage) if stage.key else ("failed", refused)
    calls = [call for _, call, _ in stage.finals]
    finals = [final for _, _, final in stage.finals]
    return RoleTried(
        method=method,
        role=role.name,
        attempt=attempt.kind,
        reading=reading,
        reason=reason,
        call=calls[0] if calls else "",
        again=calls[-1] if len(calls) > 1 else "",
        is_cut=bool(finals) and finals[0].finish_reason == "length",
        accepts=_accepts(stage) if reading in ("at once", "again") else None,
        tokens=sum(final.usage.completion for final in finals),
        seconds=sum(final.duration_s for final in finals),
    )


def _reading(stage: Stage) -> tuple[Reading, str]:
    """How the answer was read, with the reason if the first one is unreadable."""
    if not stage.finals:
        return "failed", stage.failure or "the model gave no answer"
    unread = {event.call: event.reason for event in stage.events if isinstance(event, OutputUnread) and not event.part}
    last = stage.finals[-1][0]
    if last in unread and unread[last].startswith(DECLINES):
        return "declined", unread[last]
    if stage.key not in unread:
        return "at once", ""
    if last != stage.key and last not in unread:
        return "again", unread[stage.key]
    return "unread", unread[last] if last in unread else unread[stage.key]


def _accepts(stage: Stage) -> bool | None:
    """Whether the judge on trial accepts the attempt; None for a role that is no judge."""
    calls = {key for key, _, _ in stage.finals}
    return next(_said(stage, calls), None)


def _said(stage: Stage, calls: set[str]) -> Iterator[bool | None]:
    for event in stage.events:
        if isinstance(event, GradingReached) and stage.role == "grader" and event.points is not None:
            yield event.points >= ACCEPTS_FROM * float(event.grading.get("scale", 7))
        elif getattr(event, "call", "") not in calls:
            continue
        elif isinstance(event, CandidateJudged):
            yield event.passed
        elif isinstance(event, CandidateScored) and event.score is not None:
            yield event.score >= ACCEPTS_FROM * event.scale
        elif isinstance(event, VoteCast) and not event.unscored:
            yield event.first_fault == -1 and not event.wrong_lemma
