"""Where a scaffold of candidates works: the problem, what people said, prompts filled in, answers asked for and read."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateKind
from apps.reasoning.domain.control import Command
from apps.reasoning.domain.errors import CallFailed
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Final, OfferedTool, Place
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import fence, load, render
from apps.reasoning.reading.choices import read_own_score
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.proofs import ReadProof, read_proof
from apps.reasoning.scaffolds.answer_line import answer_line

EMPTY = "(none)"
MAX_HINT = 20_000
_TAKEN = {"hint", "write_up", "extend_budget"}


class Candidate(Value):
    """A whole solution under comparison, by an id like `c2.5`: round 2, fifth. `own_score` is what its writer gave it."""

    id: str
    steps: tuple[str, ...]
    round: int
    parents: tuple[str, ...] = ()
    own_score: float | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """Round and place: an order that no completion of calls can change."""
        return tuple(int(part) for part in self.id.removeprefix("c").split("."))

    @property
    def text(self) -> str:
        """The solution with its steps numbered, as prompts and pages show it."""
        return "\n".join(f"Step {number}. {step}" for number, step in enumerate(self.steps, 1))


@dataclass
class Desk:
    """The state that all scaffolds of candidates keep. It follows from recorded calls and commands alone.

    `calls` names for each candidate the call that wrote it. `structured` asks for JSON where a role has a schema. `wants_end`
    is set by a person's "write up": end with what is there.
    """

    problem: ProblemText
    ctx: Context
    structured: bool = False
    hints: list[str] = field(default_factory=list)
    wants_end: bool = False
    candidates: dict[str, Candidate] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)

    async def ask(
        self,
        key: str,
        *,
        role: str,
        prompt: str,
        values: Mapping[str, str],
        place: Place,
        schema: dict[str, Any] | None = None,
        tools: Sequence[OfferedTool] = (),
        writes_solution: bool = False,
    ) -> Final | Unscored:
        """One call with the prompt file `prompt`; Unscored where it failed for good (the failure is recorded).

        Where it `writes_solution` and the problem has an answer, the prompt asks for an answer line.
        """
        rule = load("shared/forms/fence_rule").system
        shared = {"fence_rule": rule, "problem": self.content(self.problem.statement)}
        closing = answer_line(self.problem) if writes_solution else ""
        filled = render(load(prompt), shared | dict(values), closing=closing)
        try:
            return await self.ctx.generate(
                key,
                role=role,
                messages=filled.messages,
                place=place,
                json_schema=schema if self.structured else None,
                parts=filled.parts,
                tools=tools,
            )
        except CallFailed as failure:
            return Unscored(reason=f"the call failed: {failure.reason}")

    async def draft(
        self,
        key: str,
        name: str,
        *,
        role: str,
        prompt: str,
        made_as: CandidateKind,
        place: Place,
        parents: tuple[Candidate, ...] = (),
        values: Mapping[str, str] | None = None,
        own_scores: tuple[float, ...] = (),
    ) -> Candidate | None:
        """Ask for a whole solution and keep it as candidate `name`; None where none could be read or none was given.

        `own_scores` are the values that the prompt lets its writer give it; where it asks for none, none is read.
        """
        form = load("shared/forms/proof_tags").system
        common = {"proof_form": form, "hints": self.content("\n".join(f"- {hint}" for hint in self.hints))}
        filled = common | dict(values or {})
        final = await self.ask(key, role=role, prompt=prompt, values=filled, place=place, writes_solution=True)
        found = final if isinstance(final, Unscored) else read_proof(final)
        if not isinstance(found, ReadProof):
            reason = found.reason if isinstance(found, Unscored) else f"it gives no solution: {found.reason}"
            self.refusals.append(found.reason)
            self.unread(key, role, reason)
            return None
        own = read_own_score(final, own_scores) if isinstance(final, Final) else None
        return self.keep(key, name, found.steps, made_as=made_as, round_=place.round, parents=parents, own_score=own)

    def keep(
        self,
        call: str,
        name: str,
        steps: tuple[str, ...],
        *,
        made_as: CandidateKind,
        round_: int,
        parents: tuple[Candidate, ...] = (),
        own_score: float | None = None,
    ) -> Candidate:
        """Tell a candidate and remember it."""
        lineage = tuple(parent.id for parent in parents)
        candidate = Candidate(id=name, steps=steps, round=round_, parents=lineage, own_score=own_score)
        self.candidates[name], self.calls[name] = candidate, call
        event = CandidateDrafted(
            candidate=name,
            made_as=made_as,
            text="\n\n".join(steps),
            steps=steps,
            call=call,
            round=round_,
            parents=lineage,
            own_score=own_score,
        )
        self.ctx.emit(f"candidate/{name}", event)
        return candidate

    def unread(self, call: str, role: str, reason: str) -> None:
        """Tell that a call's text could not be read; it stays behind the call."""
        self.ctx.emit(f"{call}/unread", OutputUnread(call=call, role=role, reason=reason))

    def form(self, name: str) -> str:
        """How to answer: the fragment for JSON, or the one for tags."""
        return load(f"shared/forms/{name}_{'json' if self.structured else 'tags'}").system

    def content(self, text: str) -> str:
        """Foreign text inside a fence whose delimiter follows from the seed and the text: no text can contain its own."""
        cleaned = clean_text(text).strip()
        return fence(cleaned, self.ctx.nonce(f"content/{sha_of(cleaned)}")) if cleaned else EMPTY

    def listed(self, pieces: Iterable[tuple[str, str]]) -> str:
        """Several foreign texts under their headings, each in a fence of its own: none can pretend that another begins."""
        return "\n\n".join(f"{heading}\n{self.content(text)}" for heading, text in pieces)

    def draw(self, key: str) -> random.Random:
        """Chance that follows from the run's seed and `key`, so that a replay draws the same."""
        return random.Random(self.ctx.nonce(key))  # noqa: S311  (it must be reproducible, not secret)

    async def steer(self, point: str) -> bool:
        """A control point: hints are shown to whoever writes next, "write up" ends the search, lemmas are refused.

        Returns whether the search shall end.
        """
        for command in await self.ctx.control(point, self._refusal):
            if command.name == "hint":
                self.hints.append(command.args["text"].strip())
            elif command.name == "write_up":
                self.wants_end = True
        return self.wants_end

    def _refusal(self, command: Command) -> str:
        if command.name not in _TAKEN:
            return "This scaffold compares whole solutions; it has no lemma library to change."
        if command.name == "write_up" and self.wants_end:
            return "The search is ending already."
        if command.name == "hint":
            text = command.args.get("text")
            if not isinstance(text, str) or not text.strip():
                return "The hint is empty."
            if len(text) > MAX_HINT:
                return f"The hint is longer than {MAX_HINT} characters."
        return ""
