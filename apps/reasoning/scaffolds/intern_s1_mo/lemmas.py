"""The lemma library of a running exploration: versions, names and membership."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.reasoning.domain.events import LemmaStatus
from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import Confidence
from apps.reasoning.graph.statements import normalise_statement

_ROLLOUT = re.compile(r"s(\d{1,9})\.")
HUMAN = -1
"""The rollout of people's lemmas; events show them under rollout 0."""


@dataclass
class Lemma:
    """One version of a lemma. `label` is its name in its own rollout (`7`, `7-fixed`, `H1`); `uses` are ids of lemmas."""

    id: str
    number: int
    label: str
    rollout: int
    round: int
    statement: str
    steps: tuple[str, ...]
    call: str = ""
    supersedes: str = ""
    title: str = ""
    uses: list[str] = field(default_factory=list)
    status: LemmaStatus = "proposed"
    confidence: Confidence | Unscored | None = None
    faults: list[str] = field(default_factory=list)
    in_library: bool = False
    accepted_by_person: bool = False
    merged_into: str = ""
    times_moved: int = 0

    @functools.cached_property
    def normal(self) -> str:
        """The normal form of the statement."""
        return normalise_statement(self.statement)


@dataclass
class Rollout:
    """One exploration: its lemmas in order of arrival, and its state."""

    index: int
    lemmas: dict[str, Lemma] = field(default_factory=dict)
    work: str = ""
    thinking: str = ""
    #: The call that ended the reasoner's text of the round.
    reasoned_in: str = ""
    claims_complete: bool = False
    solved: bool = False
    summary_read: bool = False
    summary_read_once: bool = False
    fresh: list[str] = field(default_factory=list)
    idle_rounds: int = 0
    stop: str = ""

    @property
    def next_number(self) -> int:
        return 1 + max((lemma.number for lemma in self.lemmas.values()), default=0)

    def library(self) -> list[Lemma]:
        """The lemmas that later rounds may use, by number."""
        return sorted((lemma for lemma in self.lemmas.values() if lemma.in_library), key=lambda lemma: lemma.number)

    def failed(self, limit: int = 6) -> list[Lemma]:
        """The newest lemmas that votes or a refuted formula kept out and that have no correction yet."""
        corrected = {lemma.supersedes for lemma in self.lemmas.values()}
        kept_out = (lemma for lemma in self.lemmas.values() if lemma.status in ("doubtful", "rejected", "refuted"))
        out = [lemma for lemma in kept_out if lemma.faults and not lemma.in_library and lemma.id not in corrected]
        return out[-limit:]

    def newest(self, number: int) -> Lemma | None:
        """The version of lemma `number` that a text refers to: the newest in the library, else the newest."""
        versions = [lemma for lemma in self.lemmas.values() if lemma.number == number]
        return next((lemma for lemma in reversed(versions) if lemma.in_library), versions[-1] if versions else None)


class Lemmas:
    """All lemmas of a run: those of its rollouts and those of people."""

    def __init__(self, rollouts: int) -> None:
        self.rollouts = [Rollout(index) for index in range(rollouts)]
        self.human: dict[str, Lemma] = {}
        self.same_as: dict[str, str] = {}

    def __iter__(self) -> Iterator[Lemma]:
        for rollout in self.rollouts:
            yield from rollout.lemmas.values()
        yield from self.human.values()

    def get(self, lemma_id: str) -> Lemma | None:
        """The lemma of this id, or None."""
        if found := _ROLLOUT.match(lemma_id):
            index = int(found.group(1))
            return self.rollouts[index].lemmas.get(lemma_id) if index < len(self.rollouts) else None
        return self.human.get(lemma_id)

    def human_library(self) -> list[Lemma]:
        return [lemma for lemma in self.human.values() if lemma.in_library]

    def named(self, label: str, rollout: Rollout | None) -> Lemma | None:
        """The lemma that `Lemma <label>` refers to: a rollout's own number, an id, or a person's lemma."""
        if found := self.get(label) or self.get(label.replace("H", "h.", 1) if label.startswith("H") else label):
            return found
        if rollout is None:
            rollout = self.rollouts[0] if len(self.rollouts) == 1 else None
        if rollout is None or not label.split("-")[0].isdigit():
            return None
        exact = next((lemma for lemma in reversed(rollout.lemmas.values()) if lemma.label == label), None)
        return exact if exact and not label.isdigit() else rollout.newest(int(label.split("-")[0]))

    def representative(self, lemma: Lemma) -> Lemma:
        """The lemma that represents this one after merging."""
        while lemma.merged_into and (into := self.get(lemma.merged_into)):
            lemma = into
        return lemma

    def standing(self, lemma: Lemma) -> Lemma:
        """The representative if it is in the library, else the lemma itself: its twin may have been retired alone."""
        chief = self.representative(lemma)
        return chief if chief.in_library else lemma

    def twins(self, lemma: Lemma) -> list[Lemma]:
        """All lemmas merged into one node with this one, including itself."""
        chief = self.representative(lemma)
        return [other for other in self if self.representative(other) is chief]

    def dependants(self, lemma: Lemma) -> list[Lemma]:
        """All lemmas that depend on this one, directly or not, in order."""
        found: dict[str, Lemma] = {}
        names = {lemma.id}
        grew = True
        while grew:
            grew = False
            for other in self:
                if other.id not in names and names.intersection(other.uses):
                    found[other.id] = other
                    names.add(other.id)
                    grew = True
        return list(found.values())

    def support(self, roots: list[Lemma]) -> list[Lemma]:
        """These lemmas and all their dependencies, without repetition, in order of first use."""
        found: dict[str, Lemma] = {}
        todo = list(roots)
        while todo:
            lemma = self.standing(todo.pop(0))
            if lemma.id not in found:
                found[lemma.id] = lemma
                todo += [used for name in lemma.uses if (used := self.get(name))]
        return list(found.values())
