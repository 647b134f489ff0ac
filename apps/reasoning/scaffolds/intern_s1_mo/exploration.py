"""The state of a run of Intern-S1-MO, its events and its model calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import networkx as nx

from apps.reasoning.domain.errors import BudgetKeptBack
from apps.reasoning.domain.events import EdgeAdded, Event, LemmaRestored, LemmaRetired, OutputUnread, TextAnchor
from apps.reasoning.domain.generation import OfferedTool, Place
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import Confidence
from apps.reasoning.graph.lemma_graph import closes_cycle
from apps.reasoning.graph.statements import AlikeIndex
from apps.reasoning.ports import BudgetKind, Context
from apps.reasoning.prompts.loader import RenderedPrompt
from apps.reasoning.reading.mentions import is_use, mentions
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Lemmas, Rollout
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.running.hearing import Heard, Reading, heard

T = TypeVar("T")


@dataclass
class Proof:
    """One version of the final proof."""

    id: str
    steps: tuple[str, ...]
    uses: list[str] = field(default_factory=list)
    #: Cited lemmas that do not exist, as written in the proof.
    missing: list[str] = field(default_factory=list)
    confidence: Confidence | Unscored | None = None
    findings: list[str] = field(default_factory=list)
    accepted: bool = False
    objection: str = ""

    @property
    def name(self) -> str:
        """The id without `proof/`, as in call keys."""
        return self.id.removeprefix("proof/")

    @property
    def share(self) -> float:
        return self.confidence.share if isinstance(self.confidence, Confidence) else -1.0


@dataclass
class Exploration:
    """The state of a run between two control points. It depends only on recorded calls and commands."""

    problem: ProblemText
    params: Params
    ctx: Context
    lemmas: Lemmas
    hints: list[str] = field(default_factory=list)
    #: Normal forms of the statements that a fork leaves out.
    left_out: set[str] = field(default_factory=set)
    proofs: list[Proof] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    alike: AlikeIndex = field(default_factory=AlikeIndex)
    edges: "nx.DiGraph[str]" = field(default_factory=nx.DiGraph)
    write_up: bool = False
    written_up_early: bool = False
    was_written_up: bool = False
    cut_short: BudgetKeptBack | None = None
    votes_read: int = 0
    answered: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def is_merged(self) -> bool:
        """Whether lemmas of several rollouts are merged, so that only ids are unambiguous."""
        return len(self.lemmas.rollouts) > 1

    def final_label(self, lemma: Lemma) -> str:
        """The label of a lemma in the final phase."""
        return lemma.id if self.is_merged and lemma.id not in self.lemmas.human else lemma.label

    def kept_back(self, which: BudgetKind, limit: float) -> float:
        """The part of a limit reserved for the write-up; 0 while there is nothing to write up."""
        if not self.params.kept_back or not any(lemma.in_library for lemma in self.lemmas):
            return 0
        share = self.params.kept_back * limit
        return min(max(share, self.params.proof_calls), limit / 2) if which == "calls" else share

    async def hear(
        self,
        key: str,
        role: str,
        prompt: RenderedPrompt,
        place: Place,
        reading: Reading[T],
        json_schema: dict[str, object] | None = None,
        tools: Sequence[OfferedTool] = (),
        stops: tuple[str, ...] = (),
    ) -> Heard[T]:
        """Make a call and read its answer; ask once more if it is unreadable. The answer ends at one of `stops`."""
        schema = json_schema if self.params.structured_output else None
        found = await heard(
            self.ctx, key, role=role, prompt=prompt, place=place, reading=reading, schema=schema, tools=tools, stops=stops
        )
        if found.final is not None:
            self.answered += 1
        elif isinstance(found.value, Unscored):
            self.failures[key] = found.value.reason.removeprefix("the call failed: ")
        return found

    def emit(self, key: str, event: Event) -> None:
        self.ctx.emit(key, event)

    def unread(self, call: str, role: str, reason: str, note: int = 0) -> None:
        """Record that a call's text is unreadable; with `note`, that a part of it is."""
        event = OutputUnread(call=call, role=role, reason=reason, part=bool(note))
        self.emit(f"{call}/unread/{note}" if note else f"{call}/unread", event)

    def connect(
        self, user: str, text: str, where: str, rollout: Rollout | None, ambiguous: frozenset[str] = frozenset()
    ) -> tuple[list[str], list[str]]:
        """Add the edges for lemmas cited in `text`. Returns the ids used and, in words, the citations without an edge."""
        used: list[str] = []
        refused: list[str] = []
        for mention in mentions(text):
            if mention.label in ambiguous:
                refused.append(f"{user}, {where}: {mention.quote!r} may mean an old or a new lemma of that number")
                continue
            lemma = self.lemmas.named(mention.label, rollout)
            if lemma is None:
                refused.append(f"{user}, {where}: {mention.quote!r} names a lemma that does not exist")
                continue
            if rollout is None:
                lemma = self.lemmas.standing(lemma)
            if lemma.id == user and is_use(text, mention):
                refused.append(f"{user}, {where}: {mention.quote!r} would make the lemma rest on itself")
            if lemma.id in (user, *used):
                continue
            if closes_cycle(self.edges, user, lemma.id):
                refused.append(f"{user}, {where}: {mention.quote!r} would make the argument circular")
                continue
            self.edges.add_edge(lemma.id, user)
            anchor = TextAnchor(where=where, start=mention.start, end=mention.end, quote=mention.quote)
            self.emit(f"edge/{user}/{lemma.id}", EdgeAdded(user=user, used=lemma.id, evidence=anchor))
            used.append(lemma.id)
        return used, refused

    def connect_all(
        self, user: str, texts: list[tuple[str, str]], rollout: Rollout | None, ambiguous: frozenset[str] = frozenset()
    ) -> tuple[list[str], list[str]]:
        """`connect` for several `(where, text)` of one user, without repeated lemmas."""
        used: list[str] = []
        refused: list[str] = []
        for where, text in texts:
            new, bad = self.connect(user, text, where, rollout, ambiguous)
            used += [name for name in new if name not in used]
            refused += bad
        return used, list(dict.fromkeys(refused))

    def retire(self, lemma: Lemma, reason: str) -> None:
        """Remove a lemma from the library, with a reason."""
        lemma.in_library, lemma.status = False, "retired"
        lemma.times_moved += 1
        self.emit(f"lemma/{lemma.id}/retired/{lemma.times_moved}", LemmaRetired(lemma=lemma.id, reason=reason))

    def restore(self, lemma: Lemma, reason: str) -> None:
        """Put a lemma into the library because a person accepted it."""
        lemma.in_library, lemma.status, lemma.accepted_by_person = True, "verified", True
        lemma.times_moved += 1
        self.emit(f"lemma/{lemma.id}/restored/{lemma.times_moved}", LemmaRestored(lemma=lemma.id, reason=reason))
