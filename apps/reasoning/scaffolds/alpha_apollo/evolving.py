"""Rounds of evolution: solve, condense, judge, sum up, remember.

Source: AlphaApollo §2.3, App. D. Solvers of a round work at the same time and see the memory as it stood when the round began,
so that the order in which they end changes nothing.
"""

from dataclasses import dataclass, field

from apps.reasoning.domain.agent_events import MemoryStored
from apps.reasoning.domain.candidate_events import CandidateKind, CandidateScored, PoolKept
from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.actions import Report, read_report
from apps.reasoning.reading.answers import tag_pattern
from apps.reasoning.reading.proofs import read_steps
from apps.reasoning.scaffolds.alpha_apollo.conversing import Conversation, Seat, converse
from apps.reasoning.scaffolds.alpha_apollo.memory import Judgement, Memory, best, judged, recalled
from apps.reasoning.scaffolds.alpha_apollo.params import SOLVERS, Params
from apps.reasoning.scaffolds.alpha_apollo.responses import cut
from apps.reasoning.scaffolds.alpha_apollo.tags import held
from apps.reasoning.scaffolds.candidates.concluding import NOTHING_READABLE, Selection
from apps.reasoning.scaffolds.candidates.desk import EMPTY, Candidate, Desk
from apps.reasoning.scaffolds.concurrently import concurrently

MOST_CONDENSED = 8_000
MOST_OF_A_TRAJECTORY = 60_000
_CHECKPOINTS = tag_pattern("checkpoints")
_JUDGEMENT = tag_pattern("judgement")


@dataclass
class Evolution:
    """The state of a run: what is remembered, by the candidate that it is about."""

    desk: Desk
    params: Params
    stored: dict[str, Memory] = field(default_factory=dict)

    @property
    def memories(self) -> list[Memory]:
        """By round and solver, in whatever order they came."""
        return sorted(self.stored.values(), key=lambda memory: memory.candidate.order)

    async def run(self) -> Selection:
        """All rounds, or until a solution is confirmed or a person ends it."""
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
        """The best memory; without one, the newest solution, which nobody judged."""
        memory = best(self.memories)
        if memory is not None:
            return Selection(candidate=memory.candidate, accepted=memory.judgement.correct, reason=_reason(memory))
        newest = max(self.desk.candidates.values(), key=lambda one: one.order, default=None)
        if newest is None:
            return Selection(candidate=None, reason=NOTHING_READABLE)
        why = "Nobody judged it." if self.params.mode == "reasoning" else "The evaluators did not finish with it."
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
        """One solver's way through a round, remembered as soon as a panel has judged its solution."""
        solved = await self._solved(round_, thread, shown)
        if solved is None:
            return
        candidate, talk = solved
        condensed, by = await self._condensed(candidate, talk)
        reports = await self._panel(candidate, 1)
        self.stored[candidate.id] = Memory(candidate=candidate, condensed=condensed, judgement=judged(reports), report="")
        try:
            summed_by = await self._confirmed(candidate, reports)
        except BudgetExhausted:
            self._tell(self.stored[candidate.id], by, "")
            raise
        self._tell(self.stored[candidate.id], by, summed_by)

    async def _confirmed(self, candidate: Candidate, reports: list[Report | None]) -> str:
        """A second panel where the first one asks for it, and the reports as one; the call that summed them up."""
        memory = self.stored[candidate.id]
        if self.params.stop_early and memory.judgement.is_unanimous:
            again = await self._panel(candidate, 2)
            reports = [*reports, *again]
            seen_twice = {"judgement": judged(reports), "confirmed": judged(again).is_unanimous}
            memory = self.stored[candidate.id] = memory.model_copy(update=seen_twice)
        text, summed_by = await self._summed_up(candidate, memory.judgement, reports)
        self.stored[candidate.id] = memory.model_copy(update={"report": text})
        return summed_by

    # --- the parts of a round ----------------------------------------------------------------------------------------

    async def _solved(self, round_: int, thread: int, shown: list[Memory]) -> tuple[Candidate, Conversation] | None:
        desk, name, role = self.desk, f"c{round_}.{thread}", SOLVERS[thread - 1]
        values = {
            "memories": "\n\n".join(self._as_prompt(memory) for memory in shown) or EMPTY,
            "hints": desk.content("\n".join(f"- {hint}" for hint in desk.hints)),
        }
        seat = Seat(role, "alpha_apollo/solver", "answer", f"solve/{name}", name, round_, thread, values)
        talk = await converse(desk, self.params, seat)
        steps = Unscored(reason=talk.why_not) if talk.ending is None else read_steps(talk.ending.content)
        if isinstance(steps, Unscored):
            desk.unread(talk.call, role, steps.reason)
            return None
        parents = tuple(memory.candidate for memory in shown)
        made_as: CandidateKind = "improvement" if parents else "solution"
        candidate = desk.keep(talk.call, name, steps.steps, made_as=made_as, round_=round_, parents=parents)
        return candidate, talk

    async def _condensed(self, candidate: Candidate, talk: Conversation) -> tuple[str, str]:
        """The checkpoints of a trajectory with the call that wrote them; the solution itself where none can be read."""
        call = f"condense/{candidate.id}"
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}")
        values = {"trajectory": self.desk.content(cut(talk.text, MOST_OF_A_TRAJECTORY))}
        final = await self.desk.ask(call, role="abstractor", prompt="alpha_apollo/abstractor", values=values, place=place)
        found = held(self.desk, call, "abstractor", final, _CHECKPOINTS)
        return cut(found or candidate.text, MOST_CONDENSED), call if found else ""

    async def _panel(self, candidate: Candidate, panel: int) -> list[Report | None]:
        count, panels = self.params.evaluators, 2 if self.params.stop_early else 1
        first = (panel - 1) * count
        return await concurrently(
            self._report(candidate, index, count * panels) for index in range(first + 1, first + count + 1)
        )

    async def _report(self, candidate: Candidate, index: int, of: int) -> Report | None:
        prefix = f"judge/{candidate.id}/{index}"
        values = {"solution": self.desk.content(candidate.text)}
        seat = Seat("evaluator", "alpha_apollo/evaluator", "report", prefix, candidate.id, candidate.round, index, values)
        talk = await converse(self.desk, self.params, seat)
        found = Unscored(reason=talk.why_not) if talk.ending is None else read_report(talk.ending.content)
        report = found if isinstance(found, Report) else None
        event = CandidateScored(
            candidate=candidate.id,
            index=index,
            of=of,
            call=talk.call,
            scale=1.0,
            score=float(report.correct) if report else None,
            unscored=found.reason if isinstance(found, Unscored) else "",
            report=report.text if report else "",
        )
        self.desk.ctx.emit(f"{prefix}/score", event)
        if isinstance(found, Unscored):
            self.desk.unread(talk.call, "evaluator", found.reason)
        return report

    async def _summed_up(self, candidate: Candidate, judgement: Judgement, reports: list[Report | None]) -> tuple[str, str]:
        """The reports of the majority as one, with the call that wrote it. Without a majority there is nothing to sum up."""
        of_majority = [one.text for one in reports if one is not None and one.correct == judgement.correct and one.text]
        if len(of_majority) < 2:
            return cut("\n\n".join(of_majority), MOST_CONDENSED), ""
        call = f"sum-up/{candidate.id}"
        share = MOST_OF_A_TRAJECTORY // len(of_majority)
        values = {
            "solution": self.desk.content(candidate.text),
            "verdict": "correct" if judgement.correct else "incorrect",
            "reports": self.desk.listed((f"Report {at}", cut(text, share)) for at, text in enumerate(of_majority, 1)),
        }
        place = Place(round=candidate.round, subject=f"candidate {candidate.id}")
        final = await self.desk.ask(call, role="summarizer", prompt="alpha_apollo/summarizer", values=values, place=place)
        found = held(self.desk, call, "summarizer", final, _JUDGEMENT)
        return cut(found or of_majority[0], MOST_CONDENSED), call if found else ""

    def _tell(self, memory: Memory, by: str, summed_by: str) -> None:
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

    def _as_prompt(self, memory: Memory) -> str:
        judged_so = (
            f"{memory.judgement.ayes} of {memory.judgement.valid} evaluators" if memory.judgement.valid else "no evaluator"
        )
        why = f"\n\nWhat was found on it:\n{self.desk.content(memory.report)}" if memory.report else ""
        return f"### An earlier attempt, {memory.verdict} (correct by {judged_so})\n{self.desk.content(memory.condensed)}{why}"


def _reason(memory: Memory) -> str:
    judgement = memory.judgement
    if not judgement.valid:
        return "None of the evaluators' reports could be read."
    share = f"{judgement.ayes} of {judgement.valid} evaluators found it correct"
    if memory.confirmed:
        return f"Accepted: {share}, in two panels."
    if not judgement.has_quorum:
        return f"Undecided: {share}, but of {judgement.of} reports no more could be read."
    if judgement.correct is None:
        return f"Undecided: {share}."
    return (
        f"Accepted: {share}." if judgement.correct else f"Not accepted: {share}; no solution of the run has a better judgement."
    )
