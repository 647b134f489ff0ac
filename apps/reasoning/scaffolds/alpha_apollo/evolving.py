"""Rounds of evolution: solve, condense, judge, summarise, remember.

Source: AlphaApollo §2.3, App. D. Solvers of a round run concurrently and see the memory of the round's start, so that the
order in which they finish does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.candidate_events import CandidateKind, CandidateScored, PoolKept
from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.prompts.fitting import Growing, Passage
from apps.reasoning.reading.proofs import ReadProof
from apps.reasoning.reading.turns.actions import Report
from apps.reasoning.scaffolds.alpha_apollo.conversing import Seat, converse
from apps.reasoning.scaffolds.alpha_apollo.hearing_turns import Talk
from apps.reasoning.scaffolds.alpha_apollo.memory import Judgement, Memory, best, judged, recalled
from apps.reasoning.scaffolds.alpha_apollo.params import SOLVERS, Params
from apps.reasoning.scaffolds.alpha_apollo.tags import condensed
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection
from apps.reasoning.scaffolds.candidates.desk import EMPTY, Candidate, Desk, Part
from apps.reasoning.scaffolds.running.concurrently import concurrently


@dataclass
class Evolution:
    """The state of a run: memories by candidate."""

    desk: Desk
    params: Params
    stored: dict[str, Memory] = field(default_factory=dict)
    shown_to_evaluators: dict[str, str] = field(default_factory=dict)

    @property
    def memories(self) -> list[Memory]:
        """All memories, sorted by round and solver."""
        return sorted(self.stored.values(), key=lambda memory: memory.candidate.order)

    async def run(self) -> Selection:
        """Run all rounds, or until a solution is confirmed or a person ends the search."""
        if self.params.mode == "reasoning":
            await self.desk.steer("round/1")
            if not self.desk.wants_end:
                await self._solved(1, 1, [])
            return self.selection()
        for round_ in range(1, self.params.rounds + 1):
            await self.desk.steer(f"round/{round_}")
            if self.desk.wants_end:
                break
            await self._round(round_)
            if any(memory.confirmed for memory in self.memories):
                break
        return self.selection()

    def selection(self) -> Selection:
        """The best memory; without one, the newest solution, unjudged."""
        memory = best(self.memories)
        if memory is not None:
            return Selection(candidate=memory.candidate, accepted=memory.judgement.correct, reason=_reason(memory))
        newest = max(self.desk.candidates.values(), key=lambda one: one.order, default=None)
        if newest is None:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        why = "It was not judged." if self.params.mode == "reasoning" else "The evaluators did not finish judging it."
        return Selection(candidate=newest, reason=f"The solution of round {newest.round}. {why}")

    async def _round(self, round_: int) -> None:
        shown = recalled(self.memories, self.params.memories)
        await concurrently(self._evolved(round_, thread, shown) for thread in range(1, self.params.threads + 1))
        kept = recalled(self.memories, self.params.memories)
        means = {one.candidate.id: one.judgement.ayes / one.judgement.valid for one in kept if one.judgement.valid}
        reason = "Remembered for the next round: judged correct first, then the shorter ones."
        event = PoolKept(round=round_, kept=tuple(one.candidate.id for one in kept), means=means, reason=reason)
        self.desk.ctx.emit(f"round/{round_}/kept", event)

    async def _evolved(self, round_: int, thread: int, shown: list[Memory]) -> None:
        """Run one solver's part of a round; its solution is stored as soon as a panel has judged it."""
        solved = await self._solved(round_, thread, shown)
        if solved is None:
            return
        candidate, talk = solved
        checkpoints, by = await self._condensed(candidate, talk)
        self.shown_to_evaluators[candidate.id] = checkpoints if self.params.evaluated == "condensed" and by else candidate.text
        reports = await self._panel(candidate, 1)
        self.stored[candidate.id] = Memory(candidate=candidate, condensed=checkpoints, judgement=judged(reports), report="")
        try:
            summed_by = await self._confirmed(candidate, reports)
        except BudgetExhausted:
            self._emit_memory(self.stored[candidate.id], by, "")
            raise
        self._emit_memory(self.stored[candidate.id], by, summed_by)

    async def _confirmed(self, candidate: Candidate, reports: list[Report | None]) -> str:
        """Ask a second panel after a unanimous first one, merge the reports, and return the call of the summary."""
        memory = self.stored[candidate.id]
        if self.params.stop_early and memory.judgement.is_unanimous:
            again = await self._panel(candidate, 2)
            reports = [*reports, *again]
            judgement = judged(reports)
            seen_twice = {"judgement": judgement, "confirmed": judgement.is_confirmed(self.params.evaluators)}
            memory = self.stored[candidate.id] = memory.model_copy(update=seen_twice)
        text, summed_by = await self._summed_up(candidate, memory.judgement, reports)
        self.stored[candidate.id] = memory.model_copy(update={"report": text})
        return summed_by

    # --- the parts of a round ----------------------------------------------------------------------------------------

    async def _solved(self, round_: int, thread: int, shown: list[Memory]) -> tuple[Candidate, Talk] | None:
        desk, name, role = self.desk, f"c{round_}.{thread}", SOLVERS[(thread - 1) % len(SOLVERS)]
        values: dict[str, Part] = {"memories": self._memories(shown), "hints": desk.hints_given()}
        seat = Seat(role, "alpha_apollo/solver", "answer", f"solve/{name}", name, round_, thread, values)
        talk = await converse(desk, self.params, seat)
        if not isinstance(talk.ending, ReadProof):
            desk.unread(talk.call, role, talk.why_not)
            return None
        parents = tuple(memory.candidate for memory in shown)
        made_as: CandidateKind = "improvement" if parents else "solution"
        proof = talk.ending
        candidate = desk.keep(talk.call, name, proof.steps, made_as=made_as, round_=round_, parents=parents, way=proof.way)
        return candidate, talk

    async def _condensed(self, candidate: Candidate, talk: Talk) -> tuple[str, str]:
        """The checkpoints of a trajectory with the call that wrote them; the solution itself if they are unreadable.

        Source: AlphaApollo §2.3: evaluators read the condensed solution, and the memory keeps it.
        """
        call = f"condense/{candidate.id}"
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}")
        values: dict[str, Part] = {"trajectory": self.desk.growing("the record", talk.text)}
        prompt = self.desk.filled("abstractor", "alpha_apollo/abstractor", values)
        reading = condensed("checkpoints", prompt.text)
        found, said_in, _ = await self.desk.hear(call, role="abstractor", prompt=prompt, place=place, reading=reading)
        return (candidate.text, "") if isinstance(found, Unscored) else (found, said_in)

    async def _panel(self, candidate: Candidate, panel: int) -> list[Report | None]:
        count, panels = self.params.evaluators, 2 if self.params.stop_early else 1
        first = (panel - 1) * count
        return await concurrently(
            self._report(candidate, index, count * panels) for index in range(first + 1, first + count + 1)
        )

    async def _report(self, candidate: Candidate, index: int, of: int) -> Report | None:
        prefix = f"judge/{candidate.id}/{index}"
        values = {"solution": self.desk.content(self.shown_to_evaluators[candidate.id])}
        round_, marks = candidate.round, await self.desk.formulas.marks(self.desk, candidate)
        seat = Seat("evaluator", "alpha_apollo/evaluator", "report", prefix, candidate.id, round_, index, values, marks)
        talk = await converse(self.desk, self.params, seat)
        report = talk.ending if isinstance(talk.ending, Report) else None
        event = CandidateScored(
            candidate=candidate.id,
            index=index,
            of=of,
            call=talk.call,
            scale=1.0,
            score=float(report.correct) if report else None,
            unscored="" if report else talk.why_not,
            report=report.text if report else "",
        )
        self.desk.ctx.emit(f"{prefix}/score", event)
        if report is None:
            self.desk.unread(talk.call, "evaluator", talk.why_not)
        return report

    async def _summed_up(self, candidate: Candidate, judgement: Judgement, reports: list[Report | None]) -> tuple[str, str]:
        """The merged reports of the majority, with the call that wrote them. Without a majority there is nothing to merge."""
        of_majority = [one.text for one in reports if one is not None and one.correct == judgement.correct and one.text]
        if len(of_majority) < 2:
            return "\n\n".join(of_majority), ""
        call = f"sum-up/{candidate.id}"
        values: dict[str, Part] = {
            "solution": self.desk.growing("the solution", self.shown_to_evaluators[candidate.id]),
            "verdict": "correct" if judgement.correct else "incorrect",
            "reports": self.desk.growing_list(Passage(f"Report {at}", text) for at, text in enumerate(of_majority, 1)),
        }
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}")
        prompt = self.desk.filled("summarizer", "alpha_apollo/summarizer", values)
        reading = condensed("judgement", prompt.text)
        found, said_in, _ = await self.desk.hear(call, role="summarizer", prompt=prompt, place=place, reading=reading)
        return (of_majority[0], "") if isinstance(found, Unscored) else (found, said_in)

    def _emit_memory(self, memory: Memory, by: str, summed_by: str) -> None:
        candidate, judgement = memory.candidate, memory.judgement
        event = MemoryStored(
            candidate=candidate.id,
            round=candidate.round,
            condensed=memory.condensed,
            condensed_by=by,
            judgement=memory.report,
            judged_by=summed_by,
            ayes=judgement.ayes,
            valid=judgement.valid,
            of=judgement.of,
            correct=judgement.correct,
        )
        self.desk.ctx.emit(f"memory/{candidate.id}", event)

    def _memories(self, shown: list[Memory]) -> Growing:
        """Earlier attempts for a solver, best first; the worst are left out if they do not all fit."""
        by_name = {f"the attempt {memory.candidate.id}": memory for memory in shown}
        passages = (
            Passage(
                name, "\n\nWhat was found on it:\n".join(part for part in (memory.condensed, memory.report) if part), -place
            )
            for place, (name, memory) in enumerate(by_name.items())
        )

        def show(kept: Sequence[Passage]) -> str:
            return self.desk.listed((_heading(by_name[one.name]), one.text) for one in kept) or EMPTY

        return Growing(tuple(passages), show)


def _heading(memory: Memory) -> str:
    judgement = memory.judgement
    judged_so = f"{judgement.ayes} of {judgement.valid} evaluators" if judgement.valid else "no evaluator"
    return f"### An earlier attempt, {memory.verdict} (correct by {judged_so})"


def _reason(memory: Memory) -> str:
    judgement = memory.judgement
    if not judgement.valid:
        return "None of the evaluators' reports could be read."
    share = f"{judgement.ayes} of {judgement.valid} evaluators found it correct"
    if memory.confirmed:
        return f"Accepted: {share}, in two panels."
    if not judgement.has_quorum:
        return f"Undecided: {share}, but only {judgement.valid} of {judgement.of} reports could be read."
    if judgement.correct is None:
        return f"Undecided: {share}."
    return (
        f"Accepted: {share}." if judgement.correct else f"Not accepted: {share}; no solution of the run has a better judgement."
    )
