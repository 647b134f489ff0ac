"""Adds the logged calls of models to an imported run, one after another: beginning, prompt and answer."""

from datetime import datetime

from apps.explorations.importing.imported_run import ImportedEvent, ImportedRun
from apps.explorations.importing.log_payloads import Answer
from apps.reasoning.domain.events import CallBegan, CallEnded, CallFailed
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of


class Calls:
    """The open call, if there is one. `now` is the newest time in the log, or None."""

    def __init__(self, imported: ImportedRun) -> None:
        self.imported = imported
        self.model = ""
        self.rollout = 0
        self.now: datetime | None = None
        self._open: CallBegan | None = None
        self._began: ImportedEvent | None = None
        self._prompt: tuple[str, ...] = ()
        self._answer = Answer()
        self._used: set[str] = set()

    @property
    def is_open(self) -> bool:
        return self._open is not None

    @property
    def role(self) -> str:
        return self._open.role if self._open else ""

    def see(self, at: datetime | None) -> None:
        """Note a time of the log."""
        if at is not None and (self.now is None or at > self.now):
            self.now = at

    def begin(self, key: str, role: str, round_: int, subject: str = "", index: int = 0, prompt: tuple[str, ...] = ()) -> None:
        """Begin a call. A call that is still open fails without an answer."""
        self.fail("the log continues without its answer")
        while key in self._used:
            key += "+"
        self._used.add(key)
        self._open = CallBegan(
            call=key, role=role, alias=self.model, rollout=self.rollout, round=round_, subject=subject, index=index
        )
        self._began = ImportedEvent(f"{key}/began", self._open, self.now)
        self.imported.events.append(self._began)
        self._prompt, self._answer = prompt, Answer()

    def ensure(self, key: str, role: str, round_: int, subject: str = "", index: int = 0) -> None:
        """Begin a call if it is not open, because its answer is in the log."""
        if self._open is None or self._open.role != role:
            self.begin(key, role, round_, subject, index)

    def note(self, answer: Answer) -> None:
        """Note the data of an answer; its request time is the beginning of the call."""
        self._answer = answer
        if self._began is not None and self._began.at is None:
            self._began.at = answer.asked_at

    def end(self, text: str) -> str:
        """End the open call with `text`. Returns its key, or "" without an open call."""
        began, self._open = self._open, None
        if began is None or self._began is None:
            return ""
        answer = self._answer
        took = (self.now - self._began.at).total_seconds() if self.now and self._began.at else 0.0
        final = Final(
            text=text,
            finish_reason="length" if answer.cut_off else "stop",
            usage=answer.usage,
            duration_s=max(0.0, took),
            model_revision=answer.model,
        )
        shas = tuple(sha_of(part) for part in self._prompt)
        place = Place(rollout=began.rollout, round=began.round, subject=began.subject, index=began.index)
        record = StepRecord(key=began.call, role=began.role, alias=self.model, place=place, prompt_shas=shas, final=final)
        event = CallEnded(
            call=began.call,
            attempt=1,
            finish_reason=final.finish_reason,
            usage=answer.usage,
            ttft_s=None,
            duration_s=final.duration_s,
            text_sha=sha_of(text),
        )
        self.imported.events.append(ImportedEvent(f"{began.call}/ended", event, self.now, record, self._prompt))
        return began.call

    def fail(self, reason: str) -> None:
        """Fail the open call, if there is one."""
        began, self._open = self._open, None
        if began is None:
            return
        place = Place(rollout=began.rollout, round=began.round, subject=began.subject, index=began.index)
        shas = tuple(sha_of(part) for part in self._prompt)
        record = StepRecord(
            key=began.call, role=began.role, alias=self.model, place=place, prompt_shas=shas, failure=reason[:500]
        )
        self.imported.events.append(
            ImportedEvent(f"{began.call}/failed", CallFailed(call=began.call, reason=reason), self.now, record, self._prompt)
        )
