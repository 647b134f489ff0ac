"""Agents that write while viewers watch: calls of one run, driven from a thread through context, journal, broker and worker."""

import asyncio
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.models import Run


class Agents:
    """`count` calls of `tokens` tokens each, started together. A context manager whose exit waits for their ends."""

    def __init__(self, run: "Run", count: int, tokens: int) -> None:
        self._run, self._count, self._tokens = run, count, tokens
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._drive, name="agents")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error

    def _drive(self) -> None:
        from apps.runs.journal.run_journal import RunJournal
        from apps.runs.owners.execution import process_writer

        try:
            journal = RunJournal(self._run, process_writer())
            asyncio.run(self._generate(journal))
        except BaseException as error:
            self._error = error

    async def _generate(self, journal: "RunJournal") -> None:
        from apps.reasoning.domain.generation import Message, Place, Sampling
        from apps.reasoning.ports import Ask
        from apps.reasoning.scaffolds.running.context import RunContext
        from apps.reasoning.scaffolds.running.controls import NoControls
        from apps.reasoning.scaffolds.spec import RunSpec
        from apps.runs.owners.execution import celery_dispatcher

        async with celery_dispatcher(self._run, journal) as dispatcher:
            spec = RunSpec.model_validate(self._run.spec)
            context = RunContext(spec, journal, dispatcher, NoControls(), run=str(self._run.public_id))
            asking = (
                context.generate(
                    f"s0/r1/write/{number}",
                    Ask(
                        role="reasoner",
                        messages=[Message(role="user", content=f"Write, number {number}.")],
                        place=Place(round=1, subject=f"agent {number}"),
                        sampling=Sampling(max_new_tokens=self._tokens),
                    ),
                )
                for number in range(self._count)
            )
            await asyncio.gather(*asking)
