"""A recorded answer, read again: its program plays on the stage of a trial and is given the recorded texts.

What was read is taken from the events of the play, as one small JSON value (`values.py`). Needs Django to be set up.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from apps.problems.samples import FIRST_STEPS, FOLDER, first_steps, sample_read
from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.generation import Final, GenerationRequest, Sampling, Usage
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.marking.importing import scheme_import
from apps.reasoning.ports import Ask
from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.reading.examinations import UNEXAMINED
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
from apps.reasoning.trying.material import Attempt
from apps.reasoning.trying.program import NAME, Params
from apps.reasoning.trying.stage import MODEL, Asked, Stage
from apps.reasoning.trying.trial import params_of, preset_of, sampling_of
from apps.trials.services import SEED
from benchmarks.reading.corpus import Answer, Said
from benchmarks.reading.values import value_read

NO_SECOND = "no second answer was recorded"
NEW_TOKENS = 4_096


class Replayed(NamedTuple):
    """What was read of an answer (None: nothing, and why), and whether what the program asked for was not recorded.

    `asked_less`: a second answer was recorded, and the program does not ask for it any more.
    """

    value: dict[str, Any] | None
    reason: str = ""
    is_unrecorded: bool = False
    asked_less: bool = False


class _Recorded(Asked):
    """Hands out recorded texts, one for each question."""

    def __init__(self, ctx: RunContext, said: Sequence[Said]) -> None:
        super().__init__(ctx)
        self._said = list(said)
        self.is_short = False

    @property
    def has_more(self) -> bool:
        """Is a recorded text left that the program did not ask for?"""
        return bool(self._said)

    async def answer(self, ask: Ask) -> tuple[str, Final]:
        if not self._said:
            self.is_short = True
            raise CallFailed(MODEL, NO_SECOND)
        one = self._said.pop(0)
        return one.finish, Final(text=one.text, reasoning=one.thinking, finish_reason=one.finish, usage=Usage())


async def replayed(answer: Answer, method: str, role_name: str) -> Replayed:
    """What the program reads today of a recorded answer to one of its roles."""
    problem, params = _material(answer.problem)
    attempt = params.of_kind(answer.attempt)
    role = next(one for one in PROGRAMS[method].roles if one.name == role_name)
    assert attempt is not None
    asked = _Recorded(_context(problem), answer.said)
    stage = Stage(asked, method, role_name, attempt, sampling_of(role, preset_of(method), NEW_TOKENS))
    try:
        await PROGRAMS[method].solve(problem, stage, params_of(method, attempt, params.material))
    except CallFailed as failure:
        stage.failure = failure.reason
    if not stage.key:
        return Replayed(None, "the program no longer comes to this role", is_unrecorded=True)
    if asked.is_short:
        return Replayed(None, NO_SECOND, is_unrecorded=True)
    value, reason = value_read(answer.kind, stage)
    # The recorded models were asked for the closing alone.
    return Replayed(value, reason, value is None and reason == UNEXAMINED, asked.has_more)


class _UnaskedBackend:
    """A backend that is never asked."""

    async def dispatch(self, request: GenerationRequest) -> Final:
        raise AssertionError(f"{request.key} was sent to a model")


def _context(problem: ProblemText) -> RunContext:
    """Its context has room for every prompt, so that an echo of any part of one is known as such."""
    role = RoleSpec(alias="recorded", sampling=Sampling(max_new_tokens=NEW_TOKENS), closing="schema")
    spec = RunSpec(problem=problem, scaffold=NAME, roles={MODEL: role}, seed=SEED)
    return RunContext(spec, InMemoryJournal(), _UnaskedBackend(), NoControls())


@functools.cache
def _material(slug: str) -> tuple[ProblemText, Params]:
    """A problem of the first steps with what a trial shows of it, as `trial_params` has it."""
    draft = sample_read(FOLDER / FIRST_STEPS / f"{slug}.md")
    attempts = tuple(Attempt.model_validate(one.shown) for one in first_steps()[slug])
    right = [one.text for one in attempts if one.kind == "right"][:1]
    scheme = scheme_import(draft.scheme_text).scheme if draft.scheme_text else None
    references = (*right, *(one.text for one in draft.solutions))
    problem = ProblemText(id=slug, version=1, title=draft.title, statement=draft.statement, answer=draft.answer)
    return problem, Params(attempts=attempts, references=references, scheme=scheme, limit=NEW_TOKENS)
