"""The computational verifier beside a run: every lemma, proof and candidate that is told is checked, whatever the scaffold.

It watches what a run tells and asks the sandbox behind its back. Nothing waits for it but the end of the run, for a moment;
it takes no place in the window and nothing of the budget, and no scaffold sees what it finds. A check is recorded like a call,
so a replay asks nothing twice. Source: reasoning notes §9.
"""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Sequence

from apps.reasoning.domain.candidate_events import CandidateDrafted
from apps.reasoning.domain.check_events import FormulaChecksOff, FormulasChecked
from apps.reasoning.domain.errors import BackendError, ReasoningError
from apps.reasoning.domain.events import Event, LemmaProposed, ProofDrafted
from apps.reasoning.domain.generation import Final, GenerationRequest, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tools import MathFinding, MathJob, MathText, read_findings
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.ports import Dispatcher, Journal
from apps.reasoning.scaffolds.tooling import hash_of_tool, tool_answer, tool_record, tool_request

logger = logging.getLogger(__name__)

SECONDS_PER_STEP = 2.0
AT_ONCE = 2
ATTEMPTS = 2
#: How long nothing is asked after the sandbox was found to be off; somebody may be mending it.
OFF_FOR_S = 60.0
#: Findings that an event holds; the counts are of all.
MOST_REFUTED, MOST_SURVIVED = 20, 40
#: Answers kept for texts that come again under another name: the winning candidate is drafted as the proof.
_KEPT = 256
_TESTABLE = re.compile(r"[$\\\d]")
ENDED_BEFORE = "the run ended before its turn"


class Subject(Value):
    """What is checked: its id, where it stands, and its texts by name."""

    id: str
    place: Place
    parts: tuple[MathText, ...]

    @property
    def digest(self) -> str:
        """Equal for equal texts under equal names."""
        return sha_of("\0".join(f"{part.id}\0{part.text}" for part in self.parts))


def subject_of(event: Event) -> Subject | None:
    """What an event says that can be checked, in steps as the scaffold has read them; None for other events and bare words."""
    match event:
        case LemmaProposed():
            place = Place(rollout=event.rollout, round=event.round, subject=f"lemma {event.lemma}")
            subject = Subject(id=event.lemma, place=place, parts=(_statement(event.statement), *_steps(event.steps)))
        case ProofDrafted():
            place = Place(rollout=event.rollout, subject=event.proof.replace("/", " "))
            subject = Subject(id=event.proof, place=place, parts=_steps(event.steps or (event.text,)))
        case CandidateDrafted():
            place = Place(round=event.round, subject=event.candidate)
            subject = Subject(id=event.candidate, place=place, parts=_steps(event.steps or (event.text,)))
        case _:
            return None
    return subject if any(_TESTABLE.search(part.text) for part in subject.parts) else None


class FormulaChecks:
    """The checks of one run, under the problem's statement. Hand it every event that the run tells; settle or close it."""

    def __init__(self, context: str, journal: Journal, dispatcher: Dispatcher, *, run: str = "run", priority: int = 6) -> None:
        self._context = context
        self._journal = journal
        self._dispatcher = dispatcher
        self._run = run
        self._priority = priority
        self._off_until = 0.0
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._answers: OrderedDict[str, asyncio.Future[StepRecord | None]] = OrderedDict()

    def told(self, event: Event) -> None:
        """Check what the event says, unless that was done. Returns at once; call it in the run's event loop."""
        subject = subject_of(event)
        if subject is None or subject.id in self._tasks:
            return
        if record := self._journal.recorded(_key(subject)):
            self._remember(subject).set_result(record)
        elif not self._is_off:
            self._tasks[subject.id] = asyncio.create_task(self._check(subject))

    async def settle(self, within_s: float) -> None:
        """Wait for checks that are under way, at most so long; tell of the others that the run ended before them."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=within_s)
        late = [name for name, task in self._tasks.items() if not task.done()]
        await self.close()
        for name in late:
            self._journal.emit(f"check/{name}/late", FormulasChecked(subject=name, outcome="unchecked", unchecked=ENDED_BEFORE))

    async def close(self) -> None:
        """Stop what is under way; nothing is told of it."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    @property
    def _is_off(self) -> bool:
        return asyncio.get_running_loop().time() < self._off_until

    def _request(self, subject: Subject) -> GenerationRequest:
        job = MathJob(texts=subject.parts, context=self._context, time_s=SECONDS_PER_STEP)
        return tool_request(self._run, _key(subject), "check_math", job.model_dump_json(), self._priority)

    async def _check(self, subject: Subject) -> None:
        try:
            known = self._answers.get(subject.digest)
            answered = await asyncio.shield(known) if known else await self._ask(subject)
            if answered is None:
                return
            record = answered.model_copy(update={"key": _key(subject), "place": subject.place})
            await self._journal.append(record, [(f"{record.key}/told", told_of(subject, record))])
        except ReasoningError as error:  # The run itself meets it as well and says so.
            logger.debug("run %s: the check of %s was not kept: %s", self._run, subject.id, error)

    async def _ask(self, subject: Subject) -> StepRecord | None:
        """The answer as a record; None where the sandbox is off or the run is being stopped: a later owner asks again."""
        answer = self._remember(subject)
        try:
            async with self._places:
                if self._is_off:
                    return None
                request = self._request(subject)
                result, attempt = await self._attempts(request)
            if isinstance(result, Final) and result.finish_reason == "cancelled":
                return None
            record = tool_record(request, hash_of_tool(request), subject.place, result, attempt)
            record = record.model_copy(update={"prompt_shas": ()})  # It follows from the event that was checked.
            if tool_answer(record, "check_math").is_off:
                off = FormulaChecksOff(reason=record.failure)
                self._journal.emit(f"checks/off/{sha_of(off.reason)[:8]}", off)
                self._off_until = asyncio.get_running_loop().time() + OFF_FOR_S
                return None
            answer.set_result(record)
            return record
        finally:
            if not answer.done():
                answer.set_result(None)
                self._answers.pop(subject.digest, None)

    async def _attempts(self, request: GenerationRequest) -> tuple[Final | BackendError, int]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._dispatcher.dispatch(request.model_copy(update={"attempt": attempt})), attempt
            except BackendError as error:
                if not error.retryable or error.fatal_for_run or attempt == ATTEMPTS:
                    return error, attempt
        raise AssertionError("unreachable")

    def _remember(self, subject: Subject) -> "asyncio.Future[StepRecord | None]":
        answer: asyncio.Future[StepRecord | None] = asyncio.get_running_loop().create_future()
        self._answers[subject.digest] = answer
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        return answer


def told_of(subject: Subject, record: StepRecord) -> FormulasChecked:
    """The event for an answer. Findings about texts that were not asked about are left out."""
    found = read_findings(tool_answer(record, "check_math"))
    if isinstance(found, Unscored):
        return FormulasChecked(subject=subject.id, outcome="unchecked", unchecked=found.reason, call=record.key)
    asked = {part.id: part.text for part in subject.parts}
    found = tuple(one for one in found if asked.get(one.text_id, "")[one.anchor.start : one.anchor.end] == one.anchor.quote)
    refuted = [one for one in found if one.outcome == "refuted"]
    survived = [one for one in found if one.outcome == "survived"]
    return FormulasChecked(
        subject=subject.id,
        outcome="refuted" if refuted else "survived" if survived else "not_understood",
        findings=_in_order((*refuted[:MOST_REFUTED], *survived[:MOST_SURVIVED]), list(asked)),
        refuted=len(refuted),
        survived=len(survived),
        not_understood=len(found) - len(refuted) - len(survived),
        call=record.key,
    )


def _key(subject: Subject) -> str:
    return f"check/{subject.id}"


def _in_order(findings: Sequence[MathFinding], names: list[str]) -> tuple[MathFinding, ...]:
    return tuple(sorted(findings, key=lambda one: (names.index(one.text_id), one.anchor.start, one.anchor.end)))


def _statement(text: str) -> MathText:
    return MathText(id="statement", text=text)


def _steps(steps: Sequence[str]) -> tuple[MathText, ...]:
    return tuple(MathText(id=f"step {number}", text=text) for number, text in enumerate(steps, 1))
