"""The common state and calls of scaffolds with candidates: the problem, people's hints, prompts, answers and their reading."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateKind
from apps.reasoning.domain.control import Command
from apps.reasoning.domain.events import OutputUnread
from apps.reasoning.domain.generation import Final, OfferedTool, Place
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.ports import Context
from apps.reasoning.prompts.fitting import Growing, Last, Passage, render_fitted
from apps.reasoning.prompts.loader import RenderedPrompt, fence, load
from apps.reasoning.reading.choices import read_own_score
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.layouts import UNCHANGED
from apps.reasoning.reading.proofs import STEPS_SCHEMA, NoProof, ReadProof, Way, read_proof
from apps.reasoning.scaffolds.answer_line import AnswerAsked, answer_line
from apps.reasoning.scaffolds.candidates.candidate import Candidate as Candidate
from apps.reasoning.scaffolds.candidates.judged_formulas import JudgedFormulas
from apps.reasoning.scaffolds.running.asking import asked, room_for
from apps.reasoning.scaffolds.running.hearing import Heard, Reading, heard

T = TypeVar("T")
#: A value of a prompt: fixed text, text fitted to the model's context, or text placed after all others.
Part = str | Growing | Last
EMPTY = "(none)"
MAX_HINT = 20_000
_TAKEN = {"hint", "write_up", "extend_budget"}


class Solution(NamedTuple):
    """A solution as read, and its writer's own score."""

    proof: ReadProof
    own_score: float | None = None


@dataclass
class Desk:
    """The state of every scaffold with candidates. It depends only on recorded calls and commands.

    `calls` names the call that wrote each candidate. `structured` requests JSON from roles with a schema. A person's command
    "write up" sets `wants_end`: end with the existing candidates.
    """

    problem: ProblemText
    ctx: Context
    structured: bool = False
    hints: list[str] = field(default_factory=list)
    wants_end: bool = False
    candidates: dict[str, Candidate] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    formulas: JudgedFormulas = field(default_factory=JudgedFormulas)

    async def ask(
        self,
        key: str,
        *,
        role: str,
        prompt: str,
        values: Mapping[str, Part],
        place: Place,
        schema: dict[str, Any] | None = None,
        tools: Sequence[OfferedTool] = (),
        writes_solution: bool = False,
    ) -> Final | Unscored:
        """Make one call with the prompt file `prompt`; `Unscored` if it failed finally (the failure is recorded).

        With `writes_solution`, the prompt asks for an answer line if the problem has an answer.
        """
        filled = self.filled(role, prompt, values, writes_solution=writes_solution)
        schema = schema if self.structured else None
        return await asked(self.ctx, key, role=role, prompt=filled, place=place, schema=schema, tools=tools)

    async def hear(
        self,
        key: str,
        *,
        role: str,
        prompt: str | RenderedPrompt,
        values: Mapping[str, Part] | None = None,
        place: Place,
        reading: Reading[T],
        schema: dict[str, Any] | None = None,
        tools: Sequence[OfferedTool] = (),
        stops: tuple[str, ...] = (),
        ending: str = "",
    ) -> Heard[T]:
        """Make one call and read its answer; ask once more if it is unreadable.

        `prompt` is the name of a prompt file, which the `ending` follows, or a result of `filled`. The answer ends at one of
        `stops`.
        """
        filled = self.filled(role, prompt, values or {}, ending=ending) if isinstance(prompt, str) else prompt
        asks_json = schema if self.structured else None
        return await heard(
            self.ctx, key, role=role, prompt=filled, place=place, reading=reading, schema=asks_json, tools=tools, stops=stops
        )

    def filled(
        self, role: str, prompt: str, values: Mapping[str, Part], *, writes_solution: bool = False, ending: str = ""
    ) -> RenderedPrompt:
        """Fill a prompt file with its values, the problem and the rule of fences; fit growing parts to the model of `role`."""
        shared: dict[str, Part] = {
            "fence_rule": load("shared/forms/fence_rule").system,
            "problem": self.content(self.problem.statement),
        }
        closing = answer_line(self.problem) if writes_solution else ""
        shared |= values
        return render_fitted(load(prompt), shared, room_for(self.ctx, role), closing=closing, ending=ending)

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
        values: Mapping[str, Part] | None = None,
        own_scores: tuple[float, ...] = (),
        may_stay: bool = False,
    ) -> Candidate | None:
        """Ask for a whole solution and keep it as candidate `name`; None if the answer has no readable solution.

        `own_scores` are the scores that the prompt offers its writer; without them none is read. With `may_stay` the writer
        may submit its only parent unchanged.
        """
        given = parents[0].steps if may_stay else ()
        drafted = await self.solution(
            key, role=role, prompt=prompt, values=values or {}, place=place, own_scores=own_scores, given=given
        )
        if not isinstance(drafted.value, Solution):
            return None
        proof, own = drafted.value
        return self.keep(
            drafted.call, name, proof.steps, made_as=made_as, round_=place.round, parents=parents, own_score=own, way=proof.way
        )

    async def solution(
        self,
        key: str,
        *,
        role: str,
        prompt: str,
        values: Mapping[str, Part],
        place: Place,
        own_scores: tuple[float, ...] = (),
        given: tuple[str, ...] = (),
    ) -> Heard[Solution]:
        """Ask for a whole solution; if there is none, record the reason. The `given` steps unchanged are a solution too."""
        common: dict[str, Part] = {"proof_form": self.form_of(role, "proof_tags"), "hints": self.hints_given()}
        filled = self.filled(role, prompt, common | dict(values), writes_solution=True)

        def read(final: Final, first: str = "") -> Solution | NoProof | Unscored:
            found = read_proof(final, filled.text)
            if given and found == Unscored(reason=UNCHANGED):
                return Solution(ReadProof(steps=given, way="unchanged"), None)
            if not isinstance(found, ReadProof):
                return found
            return Solution(found, read_own_score(final, own_scores) if own_scores else None)

        reading = Reading[Solution | NoProof](read, "solution", read, STEPS_SCHEMA, asks_json="solution_json")
        asking = AnswerAsked[Solution | NoProof](
            reading,
            filled,
            lambda found: found.proof if isinstance(found, Solution) else None,
            lambda found, proof: found._replace(proof=proof) if isinstance(found, Solution) else found,
        )
        drafted = await asking.hear(key, self.problem, partial(heard, self.ctx, key, role=role, prompt=filled, place=place))
        if isinstance(drafted.value, Solution):
            return Heard(drafted.value, drafted.call, drafted.final)
        if isinstance(drafted.value, NoProof):
            self.unread(drafted.call, role, f"it gives no solution: {drafted.value.reason}")
        self.refusals.append(drafted.value.reason)
        return Heard(Unscored(reason=drafted.value.reason), drafted.call, drafted.final)

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
        way: Way = "tags",
    ) -> Candidate:
        """Keep a candidate and emit its event."""
        lineage = tuple(parent.id for parent in parents)
        candidate = Candidate(id=name, steps=steps, round=round_, parents=lineage, own_score=own_score, read_as=way)
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
            read_as=way,
        )
        self.ctx.emit(f"candidate/{name}", event)
        return candidate

    def unread(self, call: str, role: str, reason: str) -> None:
        """Record that a call's text is unreadable; the text is kept with the call."""
        self.ctx.emit(f"{call}/unread", OutputUnread(call=call, role=role, reason=reason))

    def form(self, name: str) -> str:
        """The fragment that describes the answer's form, in JSON or in tags."""
        return load(f"shared/forms/{name}_{'json' if self.structured else 'tags'}").system

    def form_of(self, role: str, name: str) -> Part:
        """A fragment; for models with small prompts its short variant, placed last."""
        if not self.ctx.has_small_prompts(role):
            return load(f"shared/forms/{name}").system
        return Last(load(f"shared/forms/{name}_small").system, load("shared/forms/said_last").system)

    def content(self, text: str) -> str:
        """Fence a foreign text. The delimiter depends on the seed and the text, so that no text can contain its own."""
        cleaned = clean_text(text).strip()
        return fence(cleaned, self.ctx.nonce(f"content/{sha_of(cleaned)}")) if cleaned else EMPTY

    def growing(self, name: str, text: str, worth: float = 0.0) -> Growing:
        """One foreign text that may be shortened."""
        return Growing((Passage(name, text, worth),), lambda shown: self.content(shown[0].text), least=1)

    def growing_list(self, passages: Iterable[Passage], least: int = 1, *, heading: str = "") -> Growing:
        """Foreign texts that may be shortened, and left out except for the `least` best ones.

        Each has its name as heading or, with `heading`, that word and its number among the texts shown.
        """

        def show(shown: Sequence[Passage]) -> str:
            headings = (f"{heading} {number}" if heading else one.name for number, one in enumerate(shown, 1))
            return self.listed(zip(headings, (one.text for one in shown), strict=True)) or EMPTY

        return Growing(tuple(passages), show, least=least)

    def hints_given(self) -> Growing:
        """The hints of people: may be shortened, but not left out."""
        return self.growing("the remarks of people", "\n".join(f"- {hint}" for hint in self.hints))

    def listed(self, pieces: Iterable[tuple[str, str]]) -> str:
        """Several foreign texts under headings, each in its own fence, so that none can imitate the start of another."""
        return "\n\n".join(f"{heading}\n{self.content(text)}" for heading, text in pieces)

    def draw(self, key: str) -> random.Random:
        """A random generator seeded by the run's seed and `key`, so that a replay draws the same values."""
        return random.Random(self.ctx.nonce(key))  # noqa: S311  (it must be reproducible, not secret)

    async def steer(self, point: str, *, reads_hints: bool = True) -> bool:
        """Take commands at a control point; returns whether the search should end. Lemmas are refused.

        Later writers see hints. Without `reads_hints` no writer follows directly, and hints wait for a later point.
        """
        for command in await self.ctx.control(point, lambda command: self._refusal(command, reads_hints=reads_hints)):
            if command.name == "hint":
                self.hints.append(command.args["text"].strip())
            elif command.name == "write_up":
                self.wants_end = True
        return self.wants_end

    def _refusal(self, command: Command, *, reads_hints: bool) -> str | None:
        if command.name not in _TAKEN:
            return "This scaffold compares whole solutions; it has no lemma library to change."
        if command.name == "write_up" and self.wants_end:
            return "The search is ending already."
        if command.name == "hint":
            text = command.args.get("text")
            if not isinstance(text, str) or not text.strip():
                return "The hint is empty."
            too_long = f"The hint is longer than {MAX_HINT} characters." if len(text) > MAX_HINT else ""
            return too_long if too_long or reads_hints else None
        return ""
