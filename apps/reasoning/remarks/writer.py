"""Write a remark with a model: several votes on the first broken step, and the words for it only if enough of them agree.

A vote is read like a verifier's; an unreadable answer is requested once more in a short form, as in the graders' workflows.
Votes follow one another, so that the engine has their prompt in its cache, and stop when the result is certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.errors import RunHalted
from apps.reasoning.domain.generation import Closing, Final, Place, Sampling
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import NO_FAULT, Vote
from apps.reasoning.graders.judging.asked_again import TEXTS
from apps.reasoning.graders.judging.suspicion import answers_inert
from apps.reasoning.hints.material import HintMaterial, Secret, numbered
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Dispatcher
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.schemas import choice_schema, object_schema
from apps.reasoning.reading.votes import read_lemma_vote, read_vote_again
from apps.reasoning.remarks.agreement import NoRemark, RemarkWritten, Silence, agreed_step, is_open
from apps.reasoning.remarks.wording import REASON_LEVEL, SCHEMA, SHORT_SCHEMA, Wording, leaks, reveals, wording_read
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.hearing import SHORT, Reading, ending
from apps.reasoning.scaffolds.spec import AWAITED, RoleSpec, RunSpec

LOCATOR, WRITER = "locator", "writer"
TEMPERATURES = {LOCATOR: 0.6, WRITER: 0.4}
_FAILED = "the call failed: "


#: A comment on a step in JSON: shorter than other texts, since there is one for every step.
_COMMENT = {"type": "string", "pattern": r'^[A-Za-z$]([^"\\\n]|\\\\){4,59}$'}


class RemarkFailed(Exception):
    """No call was answered; the message gives the reason."""


@dataclass
class RemarkWriter:
    """Ask the model `alias` through a dispatcher. `tokens`: limit of an answer. `votes`: the most votes of a remark.

    `structured` requests JSON at once, for a small model, whose prose is else cut off at the limit. `closing` and
    `context_tokens` are those of the alias; an engine that rejects schemas is asked in words. `calls` and `spent`
    (tokens) are counted over all requests.
    """

    dispatcher: Dispatcher
    run: str
    alias: str
    tokens: int = 2048
    deadline_s: float = 300.0
    votes: int = 3
    structured: bool = False
    closing: Closing = "schema"
    context_tokens: int | None = None
    calls: int = 0
    spent: int = 0

    async def write(self, material: HintMaterial, secret: Secret) -> RemarkWritten | NoRemark:
        """Return a remark on the first broken step, or the reason for none. Raises `RemarkFailed` if no call was answered.

        Only problem, steps and reference of the material are used. Problem and steps are known to the reader.
        """
        secret = secret.model_copy(update={"known": (*secret.known, material.problem, *material.steps)})
        journal = InMemoryJournal()
        try:
            return await self._written(self._desk(material, journal), material, secret)
        except RunHalted as error:
            raise RemarkFailed(str(error)) from error
        finally:
            self.calls += journal.spent.calls
            self.spent += journal.spent.tokens

    async def _written(self, desk: Desk, material: HintMaterial, secret: Secret) -> RemarkWritten | NoRemark:
        votes: tuple[Vote, ...] = ()
        while is_open(votes, self.votes):
            votes = (*votes, await self._vote(desk, material, len(votes) + 1))
        failed = [vote.unscored.reason for vote in votes if vote.unscored and vote.unscored.reason.startswith(_FAILED)]
        if failed and len(failed) == len(votes):
            raise RemarkFailed(failed[0].removeprefix(_FAILED))
        step = agreed_step(votes, self.votes)
        if isinstance(step, Silence):
            return NoRemark(reason=step, votes=votes)
        has_words = False
        for index, vote in enumerate(votes, 1):
            if vote.first_fault != step:
                continue
            said = await self._words(desk, material, secret, step, vote, index)
            if isinstance(said, Unscored):
                continue
            has_words = True
            if not reveals(said, secret):
                return RemarkWritten(step=step, kind=said.kind, question=said.question, reason=said.reason, votes=votes)
        return NoRemark(reason=Silence.REVEALS if has_words else Silence.UNWORDED, votes=votes)

    async def _vote(self, desk: Desk, material: HintMaterial, index: int) -> Vote:
        """Return one vote on the first broken step."""
        steps = len(material.steps)
        reference = numbered(material.reference) if material.reference else ""
        heading = load("grading/forms/reference").system
        values = {
            "answer_form": load("remarks/forms/place_json" if desk.structured else "remarks/forms/place_tags").system,
            "reference": f"{heading}\n\n{_foreign(desk, reference)}\n\n" if reference else "",
            "script": _foreign(desk, numbered(material.steps)),
        }

        def read(final: Final) -> Vote | Unscored:
            return _valid(read_lemma_vote(final, steps))

        def read_again(second: Final, first: str) -> Vote | Unscored:
            return _valid(read_vote_again(second, first, steps, may_name_lemma=False))

        places = (NO_FAULT, *range(1, steps + 1))
        reading = Reading[Vote](
            read,
            "vote",
            read_again,
            choice_schema("first_fault", *places),
            tokens=SHORT,
            ending=ending("verdict", *places),
            examined=read_again,
        )
        place = Place(subject="place", index=index)
        heard = await desk.hear(
            f"vote/{index}",
            role=LOCATOR,
            prompt="remarks/locator",
            values=values,
            place=place,
            reading=reading,
            schema=places_schema(steps),
        )
        return Vote(unscored=heard.value) if isinstance(heard.value, Unscored) else heard.value

    async def _words(
        self, desk: Desk, material: HintMaterial, secret: Secret, step: int, vote: Vote, index: int
    ) -> Wording | Unscored:
        """Ask for question and reason, with the note of this vote on the step unless it reveals too much."""
        note = _note(vote, step)
        tags, in_json = load("remarks/forms/remark_tags").system, load("remarks/forms/remark_json").system
        values = {
            "answer_form": in_json if desk.structured else tags,
            "fallacies": load("grading/forms/fallacies").system,
            "script": _foreign(desk, numbered(material.steps)),
            "broken": _foreign(desk, f"Step {step}. {material.steps[step - 1]}"),
            "note": _foreign(desk, "" if leaks(note, secret, REASON_LEVEL) else note),
        }
        reading = Reading[Wording](
            wording_read,
            "form",
            lambda second, _: wording_read(second),
            SHORT_SCHEMA,
            tokens=TEXTS,
            asks_json="form_json",
            values={"answer_form": tags, "answer_form_json": in_json},
        )
        place = Place(subject="words", index=index)
        heard = await desk.hear(
            f"words/{index}",
            role=WRITER,
            prompt="remarks/writer",
            values=values,
            place=place,
            reading=reading,
            schema=SCHEMA,
        )
        return heard.value

    def _desk(self, material: HintMaterial, journal: InMemoryJournal) -> Desk:
        problem = ProblemText(id=self.run, version=1, title="", statement=material.problem)
        roles = {
            role: RoleSpec(
                alias=self.alias,
                sampling=Sampling(temperature=temperature, max_new_tokens=self.tokens),
                deadline_s=self.deadline_s,
                closing=self.closing,
                context_tokens=self.context_tokens,
            )
            for role, temperature in TEMPERATURES.items()
        }
        spec = RunSpec(problem=problem, scaffold="remarks", roles=roles, priority=AWAITED)
        return Desk(problem, RunContext(spec, journal, self.dispatcher, NoControls(), run=self.run), self.structured)


def places_schema(steps: int) -> dict[str, Any]:
    """The JSON Schema of a vote on a proof with `steps` steps: a comment and a decision on each, then the first broken one."""
    numbers = list(range(1, steps + 1))
    check = object_schema({"step": {"enum": numbers}, "comment": _COMMENT, "sound": {"type": "boolean"}})
    checks = {"type": "array", "items": check, "minItems": steps, "maxItems": steps}
    return object_schema({"checks": checks, "first_fault": {"enum": [NO_FAULT, *numbers]}})


def _valid(vote: Vote) -> Vote | Unscored:
    return vote.unscored or vote


def _note(vote: Vote, step: int) -> str:
    """The remark of the vote on the step; without one, its prose."""
    said: Sequence[str] = [check.comment for check in vote.checks if check.step == step and not check.sound]
    return "\n".join(one for one in said if one) or vote.summary


def _foreign(desk: Desk, text: str) -> str:
    return desk.content(answers_inert(text))
