"""Lemma versions and proofs of a run: votes, verdicts, merges, uses and the verdicts of people.

The rows of apps/lemmas are this part of the story, kept in tables: `apps.lemmas.fold` gives it the rows that a batch of events
concerns. A field of `LemmaProposed`, `ProofDrafted`, `VoteCast` or `EdgeAdded` is a column of the same name there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar, cast, get_args

from apps.reasoning.domain.control import ControlApplied, ControlRefused, ControlRequested
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.events import (
    EdgeAdded,
    LemmaMerged,
    LemmaProposed,
    LemmaRestored,
    LemmaRetired,
    LemmasAlike,
    LemmaStatus,
    ProofDrafted,
    ProofSelected,
    VerdictReached,
    VoteCast,
)
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.reasoning.story.parts import Numbered, Part

PROOF_PREFIX = "proof/"
#: Commands by which a person judges a lemma.
JUDGING: dict[str, bool] = {"accept_lemma": True, "reject_lemma": False}
_LEMMA_STATES = get_args(LemmaStatus)


@dataclass(kw_only=True)
class Judged:
    """Combined votes on one subject. `confidence` is None while unverified, or with a reason in `unscored`.

    Until the verdict the counts grow with each vote; `expected` is the number of requested votes.
    """

    first_seq: int
    last_seq: int
    expected: int = 0
    passes: int = 0
    valid: int = 0
    total: int = 0
    confidence: float | None = None
    low: float | None = None
    high: float | None = None
    unscored: str = ""

    def count(self, vote: VoteCast) -> None:
        """Add a vote."""
        self.total += 1
        self.expected = max(vote.of, self.total)
        self.valid += not vote.unscored
        self.passes += is_pass(vote)

    def judge(self, verdict: VerdictReached) -> None:
        """Replace the counts by those of the verdict."""
        self.passes, self.valid, self.total = verdict.passes, verdict.valid, verdict.total
        self.expected = max(self.expected, verdict.total)
        self.confidence, self.low, self.high, self.unscored = verdict.confidence, verdict.low, verdict.high, verdict.unscored


def is_pass(vote: VoteCast) -> bool:
    """Whether the vote finds no fault."""
    return not vote.unscored and vote.first_fault == NO_FAULT and not vote.wrong_lemma


@dataclass(kw_only=True)
class LemmaVersion(Judged):
    """A lemma version. `judged` is its state by votes; `found_in` are the rollouts that found it or a lemma merged into it."""

    proposed: LemmaProposed
    version: int = 1
    found_in: list[int]
    judged: LemmaStatus = "proposed"
    merged_into: str = ""
    is_retired: bool = False
    retired_reason: str = ""

    @property
    def status(self) -> LemmaStatus:
        """The shown state: merged and retired override the verdict."""
        return "merged" if self.merged_into else "retired" if self.is_retired else self.judged

    def judge(self, verdict: VerdictReached) -> None:
        super().judge(verdict)
        if verdict.status in _LEMMA_STATES:
            self.judged = cast(LemmaStatus, verdict.status)


@dataclass(kw_only=True)
class ProofVersion(Judged):
    """A version of the proof. `accepted` and `selected_reason` belong to the selected one."""

    drafted: ProofDrafted
    status: str = ""
    selected: bool = False
    accepted: bool | None = None
    selected_reason: str = ""

    def judge(self, verdict: VerdictReached) -> None:
        super().judge(verdict)
        self.status = verdict.status


@dataclass
class PersonVerdict:
    """A person's accept or reject of a lemma. It counts from `applied_seq` on; None means requested, not yet in effect."""

    command: str
    lemma: str
    accepted: bool
    by: str
    reason: str
    requested_seq: int
    refused: str = ""
    applied_seq: int | None = None


@dataclass
class Lemmas(Part):
    """Lemma versions, proofs and commands of people by id. An event that a subject already includes has no effect on it."""

    KINDS = frozenset(
        {
            Kind.LEMMA_PROPOSED, Kind.LEMMA_MERGED, Kind.LEMMA_ALIKE, Kind.LEMMA_RETIRED, Kind.LEMMA_RESTORED, Kind.EDGE_ADDED,
            Kind.VOTE_CAST, Kind.VERDICT_REACHED, Kind.PROOF_DRAFTED, Kind.PROOF_SELECTED, Kind.CONTROL_REQUESTED,
            Kind.CONTROL_APPLIED, Kind.CONTROL_REFUSED,
        }
    )  # fmt: skip

    versions: dict[str, LemmaVersion] = field(default_factory=dict)
    proofs: dict[str, ProofVersion] = field(default_factory=dict)
    people: dict[str, PersonVerdict] = field(default_factory=dict)
    uses: list[Numbered[EdgeAdded]] = field(default_factory=list)
    alike: list[Numbered[LemmasAlike]] = field(default_factory=list)
    votes: list[Numbered[VoteCast]] = field(default_factory=list)

    @property
    def people_words(self) -> dict[str, str]:
        """`accepted`, `rejected`, or `disputed` if people disagree, by lemma; only applied verdicts count."""
        applied = sorted((one.applied_seq, one.lemma, one.by, one.accepted) for one in self.people.values() if one.applied_seq)
        return words_of_people(row[1:] for row in applied)

    def add(self, seq: int, event: Event) -> None:
        match event:
            case LemmaProposed():
                self._propose(seq, event)
            case LemmaMerged():
                self._merge(seq, event)
            case LemmaRetired() | LemmaRestored():
                if lemma := self._lemma(event.lemma, seq):
                    lemma.is_retired = isinstance(event, LemmaRetired)
                    lemma.retired_reason = event.reason if lemma.is_retired else ""
            case LemmasAlike():
                self.alike.append((seq, event))
            case EdgeAdded():
                self.uses.append((seq, event))
            case VoteCast():
                self.votes.append((seq, event))
                if subject := self._subject(event.subject, seq):
                    subject.count(event)
            case VerdictReached():
                if subject := self._subject(event.subject, seq):
                    subject.judge(event)
            case ProofDrafted() if event.proof not in self.proofs:
                self.proofs[event.proof] = ProofVersion(drafted=event, first_seq=seq, last_seq=seq)
            case ProofSelected():
                self._select(seq, event)
            case ControlRequested() | ControlApplied() | ControlRefused() if event.name in JUDGING:
                self._control(seq, event)

    def _lemma(self, name: str, seq: int) -> LemmaVersion | None:
        """The lemma, which from now on includes `seq`; None if it is unknown or already does."""
        return _reached(self.versions.get(name), seq)

    def _proof(self, name: str, seq: int) -> ProofVersion | None:
        return _reached(self.proofs.get(name), seq)

    def _subject(self, name: str, seq: int) -> Judged | None:
        return self._proof(name, seq) if name.startswith(PROOF_PREFIX) else self._lemma(name, seq)

    def _propose(self, seq: int, event: LemmaProposed) -> None:
        if event.lemma in self.versions:
            return
        older = self.versions.get(event.supersedes)
        version = older.version + 1 if older else 1
        self.versions[event.lemma] = LemmaVersion(
            proposed=event, version=version, found_in=[event.rollout], first_seq=seq, last_seq=seq
        )

    def _merge(self, seq: int, event: LemmaMerged) -> None:
        lemma, into = self._lemma(event.lemma, seq), self._lemma(event.into, seq)
        if lemma:
            lemma.merged_into = event.into
        if into:
            found_in = self.versions[event.lemma].found_in if event.lemma in self.versions else []
            into.found_in = sorted({*into.found_in, *found_in})

    def _select(self, seq: int, event: ProofSelected) -> None:
        proof = self._proof(event.proof, seq)
        if proof is None:
            return
        for other in [name for name, one in self.proofs.items() if one.selected and name != event.proof]:
            if before := self._proof(other, seq):
                before.selected, before.accepted, before.selected_reason = False, None, ""
        proof.selected, proof.accepted, proof.selected_reason = True, event.accepted, event.reason

    def _control(self, seq: int, event: ControlRequested | ControlApplied | ControlRefused) -> None:
        person = self.people.get(event.command)
        if isinstance(event, ControlRequested):
            if person is None and (lemma := event.args.get("lemma")):
                reason = event.args.get("reason", "")
                self.people[event.command] = PersonVerdict(event.command, lemma, JUDGING[event.name], event.by, reason, seq)
        elif person and not (person.applied_seq or person.refused):
            if isinstance(event, ControlApplied):
                person.applied_seq = seq
            else:
                person.refused = event.reason
            self._lemma(person.lemma, seq)


S = TypeVar("S", bound=Judged)


def _reached(subject: S | None, seq: int) -> S | None:
    if subject is None or subject.last_seq >= seq:
        return None
    subject.last_seq = seq
    return subject


def words_of_people(applied: Iterable[tuple[str, str, bool]]) -> dict[str, str]:
    """By lemma `accepted`, `rejected`, or `disputed` if people disagree, from `(lemma, person, accepted)` in order of effect.

    A person's newest verdict counts.
    """
    newest: dict[str, dict[str, bool]] = {}
    for lemma, by, accepted in applied:
        newest.setdefault(lemma, {})[by] = accepted
    words = {frozenset([True]): "accepted", frozenset([False]): "rejected"}
    return {lemma: words.get(frozenset(said.values()), "disputed") for lemma, said in newest.items()}
