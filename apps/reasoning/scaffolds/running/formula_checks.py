"""Computational checks alongside a run: every emitted lemma, proof and candidate is checked, whatever the scaffold.

They run in the sandbox in the background. Only the end of a run waits for them, briefly. They take neither a place in the
window nor any budget, and scaffolds do not see the findings. The selected proof is checked before all other texts.
A check is recorded like a call, so that a replay does not repeat it. A check ended by a time limit is reported as stopped and
not recorded, so that it can be repeated. Source: reasoning notes §9.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Coroutine, Sequence
from typing import Any

from apps.reasoning.domain.candidate_events import CandidateDrafted
from apps.reasoning.domain.check_events import FormulaChecksOff, FormulasChecked
from apps.reasoning.domain.errors import BackendError, DeadlineExceeded, ReasoningError
from apps.reasoning.domain.events import Event, LemmaProposed, ProofDrafted, ProofSelected
from apps.reasoning.domain.generation import Final, GenerationRequest, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.tools import MathJob, MathText, read_findings
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.ports import Dispatcher, Journal
from apps.reasoning.scaffolds.running.check_answers import formulas_checked, part_of, was_stopped
from apps.reasoning.scaffolds.running.checking_first import is_testable, statement_part, step_parts
from apps.reasoning.scaffolds.running.tooling import hash_of_tool, tool_answer, tool_record, tool_request

logger = logging.getLogger(__name__)

AT_ONCE = 2
ATTEMPTS = 2
#: Limits of one job.
MOST_SUBJECTS, MOST_PARTS = 8, 60
#: Pause in seconds after the sandbox was found unavailable; it may be under repair.
OFF_FOR_S = 60.0
#: Answers kept for texts that return under another name: the winning candidate is drafted as the proof.
_KEPT = 256
ENDED_BEFORE = "the run ended before its turn"


class Subject(Value):
    """The object of a check: its id, its position in the run, and its texts by name."""

    id: str
    place: Place
    parts: tuple[MathText, ...]

    @property
    def key(self) -> str:
        """The key of its record; the key of its event is `<key>/told`."""
        return f"check/{self.id}"

    @property
    def texts(self) -> dict[str, str]:
        """The texts by name."""
        return {part.id: part.text for part in self.parts}

    @property
    def digest(self) -> str:
        """A hash that is equal for equal texts under equal names."""
        return sha_of("\0".join(f"{part.id}\0{part.text}" for part in self.parts))


def subject_of(event: Event) -> Subject | None:
    """The checkable content of an event, in the scaffold's steps; None for other events and texts without formulas."""
    match event:
        case LemmaProposed():
            place = Place(rollout=event.rollout, round=event.round, subject=f"lemma {event.lemma}")
            subject = Subject(id=event.lemma, place=place, parts=(statement_part(event.statement), *step_parts(event.steps)))
        case ProofDrafted():
            place = Place(rollout=event.rollout, subject=event.proof.replace("/", " "))
            subject = Subject(id=event.proof, place=place, parts=step_parts(event.steps or (event.text,)))
        case CandidateDrafted():
            place = Place(round=event.round, subject=event.candidate)
            subject = Subject(id=event.candidate, place=place, parts=step_parts(event.steps or (event.text,)))
        case _:
            return None
    return subject if is_testable(subject.parts) else None


class FormulaChecks:
    """The checks of one run, in the context of the problem's statement. `observe` every event; then `settle` or `close`.

    Texts that wait at the same time share a job, because starting a process takes longer than most checks.
    """

    def __init__(self, context: str, journal: Journal, dispatcher: Dispatcher, *, run: str = "run", priority: int = 6) -> None:
        self._context = context
        self._journal = journal
        self._dispatcher = dispatcher
        self._run = run
        self._priority = priority
        self._off_until = 0.0
        self._open: dict[str, list[Subject]] = {}
        self._proofs: dict[str, Subject] = {}
        self._selected = ""
        self._waiting: deque[Subject] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._answers: OrderedDict[str, StepRecord] = OrderedDict()
        self._done: set[str] = set()

    def observe(self, event: Event) -> None:
        """Schedule the check of an event's content, unless it is done. Returns immediately; call it in the run's event loop."""
        if isinstance(event, ProofSelected):
            self._put_first(event.proof)
            return
        subject = subject_of(event)
        if subject is None:
            return
        if isinstance(event, ProofDrafted):
            self._proofs[subject.id] = subject
        if subject.key in self._done:
            return
        if record := self._journal.recorded(subject.key):
            self._done.add(subject.key)
            self._remember(subject, record)
        elif same := self._open.get(subject.digest):
            same.append(subject)
        elif not self._is_off:
            self._open[subject.digest] = [subject]
            self._waiting.append(subject)
            if len(self._workers) < AT_ONCE:
                self._begin(self._work())

    def _put_first(self, proof: str) -> None:
        """Check the selected proof immediately in a separate job, unless it is done or under way."""
        subject = self._proofs.get(proof)
        if subject is None or subject.key in self._done:
            return
        self._selected = subject.digest
        first = next((one for one in self._waiting if one.digest == subject.digest), subject)
        if first in self._waiting:
            self._waiting.remove(first)
        elif subject.digest in self._open:
            return
        self._open.setdefault(subject.digest, [subject])
        self._begin(self._work([first]))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        worker = asyncio.create_task(work)
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    async def settle(self, within_s: float, selected_within_s: float) -> None:
        """Wait at most `within_s` for running checks, and at most `selected_within_s` longer for the selected proof's check.

        Report all remaining checks as stopped by the end of the run.
        """
        if self._workers:
            await asyncio.wait(self._workers, timeout=within_s)
        self._waiting.clear()
        now = asyncio.get_running_loop().time
        end = now() + selected_within_s
        while self._selected in self._open and self._workers and now() < end:
            await asyncio.wait(self._workers, timeout=end - now(), return_when=asyncio.FIRST_COMPLETED)
        late = [subject for subjects in self._open.values() for subject in subjects]
        await self.close()
        for subject in late:
            stopped = FormulasChecked(subject=subject.id, outcome="stopped", unchecked=ENDED_BEFORE)
            self._journal.emit(f"{subject.key}/late", stopped)

    async def close(self) -> None:
        """Cancel running checks without a report."""
        self._waiting.clear()
        workers = list(self._workers)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, first: Sequence[Subject] = ()) -> None:
        try:
            if first:
                await self._check(first)
                return
            await asyncio.sleep(0)  # Lemmas of one text are emitted together.
            while self._waiting:
                await self._check(self._next())
        except ReasoningError as error:  # The run fails with the same error and reports it.
            logger.debug("run %s: could not record a check: %s", self._run, error)

    def _next(self) -> list[Subject]:
        """The subjects of the next job: as many waiting ones as fit, at least one."""
        batch = [self._waiting.popleft()]
        room = MOST_PARTS - len(batch[0].parts)
        while self._waiting and len(batch) < MOST_SUBJECTS and len(self._waiting[0].parts) <= room:
            room -= len(self._waiting[0].parts)
            batch.append(self._waiting.popleft())
        return batch

    async def _check(self, batch: Sequence[Subject]) -> None:
        """Check the subjects of the batch that have no answer yet, and record all results."""
        for subject in batch:
            if known := self._answers.get(subject.digest):
                await self._record(subject, known)
        asked = [subject for subject in batch if subject.digest in self._open]
        if not asked:
            return
        is_selected = any(subject.digest == self._selected for subject in asked)
        record = None if self._is_off and not is_selected else await self._ask(asked)
        if record is None:
            for subject in asked:
                del self._open[subject.digest]
        elif len(asked) > 1 and isinstance(read_findings(tool_answer(record, "check_math")), Unscored):
            for subject in asked:
                await self._check([subject])
        else:
            for subject in asked:
                await self._record(subject, record)

    async def _ask(self, batch: Sequence[Subject]) -> StepRecord | None:
        """The answer as a record; None if the sandbox is off or the run is stopping, so that a later owner repeats it."""
        texts = tuple(part.model_copy(update={"group": subject.id}) for subject in batch for part in subject.parts)
        job = MathJob(texts=texts, context=self._context)
        request = tool_request(self._run, batch[0].key, "check_math", job.model_dump_json(), self._priority)
        result, attempt = await self._attempts(request)
        if isinstance(result, Final) and result.finish_reason == "cancelled":
            return None
        record = tool_record(request, hash_of_tool(request), batch[0].place, result, attempt)
        if isinstance(result, DeadlineExceeded):
            return record.model_copy(update={"value": {"stopped": True}})
        if not tool_answer(record, "check_math").is_off:
            return record.model_copy(update={"prompt_shas": ()})  # It follows from the events that were checked.
        off = FormulaChecksOff(reason=record.failure)
        self._journal.emit(f"checks/off/{sha_of(off.reason)[:8]}", off)
        self._off_until = asyncio.get_running_loop().time() + OFF_FOR_S
        return None

    async def _attempts(self, request: GenerationRequest) -> tuple[Final | BackendError, int]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._dispatcher.dispatch(request.model_copy(update={"attempt": attempt})), attempt
            except BackendError as error:
                if not error.retryable or error.fatal_for_run or attempt == ATTEMPTS:
                    return error, attempt
        raise AssertionError("unreachable")

    async def _record(self, subject: Subject, record: StepRecord) -> None:
        """Record the answer for the subject and for all subjects with equal texts."""
        own = part_of(record, subject.id)
        if was_stopped(own):
            for same in self._open.pop(subject.digest):
                self._journal.emit(
                    f"{same.key}/stopped", formulas_checked(same.id, same.texts, own).model_copy(update={"call": ""})
                )
            return
        for same in self._open[subject.digest]:
            kept = own.model_copy(update={"key": same.key, "place": same.place})
            await self._journal.append(kept, [(f"{same.key}/told", formulas_checked(same.id, same.texts, kept))])
            self._done.add(same.key)
        self._remember(subject, own)
        del self._open[subject.digest]

    def _remember(self, subject: Subject, record: StepRecord) -> None:
        self._answers[subject.digest] = record
        if len(self._answers) > _KEPT:
            self._answers.popitem(last=False)

    @property
    def _is_off(self) -> bool:
        return asyncio.get_running_loop().time() < self._off_until
