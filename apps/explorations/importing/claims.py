"""Claims with dependencies from proof graphs and proof ledgers, as lemmas, uses and votes of one verifier."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.explorations.importing.imported_run import ImportedRun
from apps.reasoning.domain.events import (
    EdgeAdded,
    LemmaProposed,
    LemmaRetired,
    ProofDrafted,
    ProofSelected,
    TextAnchor,
    VerdictReached,
    VoteCast,
)
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.verdicts import NO_FAULT, wilson_interval

PROOF = "proof/1"
LONGEST_ID = 80
_UNSAFE = re.compile(r"[^\w.:+-]+")


@dataclass
class Claim:
    """One claim of a file. `uses` are ids of its dependencies; `about` has further data of the file in words."""

    id: str
    statement: str
    at: datetime | None = None
    depth: int = 1
    about: str = ""
    uses: list[tuple[str, str]] = field(default_factory=list)
    """Ids, each with its evidence: the citation in the statement, or words about the file."""
    supersedes: str = ""
    where: str = ""


@dataclass
class Ballot:
    """A verifier's verdict on a claim."""

    claim: str
    holds: bool
    words: str
    at: datetime | None = None


class Claims:
    """Adds claims to an imported run, each once, with its uses once both ends are known. Leaves out cycles and unknown ids."""

    def __init__(self, imported: ImportedRun) -> None:
        self.imported = imported
        self.known: dict[str, Claim] = {}
        self.uses: dict[str, set[str]] = {}
        self.votes: dict[str, list[bool]] = {}
        self._waiting: dict[str, list[tuple[Claim, str]]] = {}

    def add(self, claim: Claim) -> None:
        """Add a claim and the uses whose ends are known."""
        if claim.id in self.known:
            self.imported.unread(claim.where or claim.id, f"duplicate id {claim.id}; the first one counts", claim.at)
            return
        self.known[claim.id] = claim
        self.uses[claim.id] = set()
        event = LemmaProposed(
            lemma=claim.id,
            number=len(self.known),
            rollout=0,
            round=claim.depth,
            statement=claim.statement,
            steps=(claim.about,) if claim.about else (),
            supersedes=claim.supersedes if claim.supersedes in self.known else "",
        )
        self.imported.add(f"lemma/{claim.id}", event, claim.at)
        for used, words in claim.uses:
            self._use(claim, used, words, claim.at)
        for user, words in self._waiting.pop(claim.id, []):
            self._use(user, claim.id, words, claim.at)

    def vote(self, ballot: Ballot) -> None:
        """Add a vote and the verdict of all votes on its claim."""
        if ballot.claim not in self.known:
            self.imported.unread(ballot.claim, "a verdict on an unknown claim", ballot.at)
            return
        cast = self.votes.setdefault(ballot.claim, [])
        cast.append(ballot.holds)
        fault = NO_FAULT if ballot.holds else 1
        key = f"vote/{ballot.claim}/{len(cast)}"
        vote = VoteCast(subject=ballot.claim, index=len(cast), of=len(cast), call="", first_fault=fault, summary=ballot.words)
        self.imported.add(key, vote, ballot.at)
        passes, valid = sum(cast), len(cast)
        low, high = wilson_interval(passes, valid)
        status = "verified" if ballot.holds else "rejected"
        verdict = VerdictReached(
            subject=ballot.claim, passes=passes, valid=valid, total=valid, confidence=passes / valid, low=low, high=high,
            status=status,
        )  # fmt: skip
        self.imported.add(f"verdict/{ballot.claim}/{len(cast)}", verdict, ballot.at)

    def retire(self, claim: str, reason: str, at: datetime | None = None) -> None:
        """Retire a claim that the file archives."""
        if claim in self.known:
            self.imported.add(f"retired/{claim}", LemmaRetired(lemma=claim, reason=reason), at)

    def conclude(self, ends: Sequence[str], accepted: bool | None, reason: str, at: datetime | None = None) -> None:
        """Report uses of unknown claims, then add the proof: `ends` and their dependencies in topological order."""
        for missing, users in self._waiting.items():
            for user, _ in users:
                where = user.where or user.id
                self.imported.unread(where, f"{user.id} depends on the unknown id {missing}", user.at)
        order = self._order(ends)
        if not order:
            self.imported.outcome = Outcome(accepted=None, reason="The file has no claims.", ended_by="nothing-readable")
            return
        steps = tuple(self.known[claim].statement for claim in order)
        draft = ProofDrafted(proof=PROOF, text="\n\n".join(steps), steps=steps, call="", rollout=0)
        self.imported.add(PROOF, draft, at)
        for claim in ends:
            self.imported.add(f"edge/{PROOF}/{claim}", _edge(PROOF, claim, "the file's conclusion"), at)
        self.imported.add("proof/selected", ProofSelected(proof=PROOF, accepted=bool(accepted), reason=reason), at)
        ended_by = "accepted" if accepted else "exhausted"
        self.imported.outcome = Outcome.model_validate(
            {"accepted": accepted, "proof": PROOF, "reason": reason, "ended_by": ended_by}
        )

    def use(self, user: str, used: str, words: str) -> None:
        """Add a use between two known claims."""
        self._use(self.known[user], used, words, None)

    def sinks(self) -> list[str]:
        """Claims that no other claim uses."""
        used = set().union(*self.uses.values()) if self.uses else set()
        return [claim for claim in self.known if claim not in used]

    def _use(self, user: Claim, used: str, words: str, at: datetime | None) -> None:
        if used not in self.known:
            self._waiting.setdefault(used, []).append((user, words))
        elif used in self.uses[user.id]:
            return
        elif used == user.id or self._reaches(used, user.id):
            why = "itself" if used == user.id else f"{used}, which depends on it; this dependency is left out"
            self.imported.unread(user.where or user.id, f"{user.id} depends on {why}", at)
        else:
            self.uses[user.id].add(used)
            self.imported.add(f"edge/{user.id}/{used}", _edge(user.id, used, words, user.statement), at)

    def _reaches(self, start: str, goal: str) -> bool:
        """Whether `start` depends on `goal`."""
        seen, open_ = {start}, [start]
        while open_:
            for used in self.uses.get(open_.pop(), ()):
                if used == goal:
                    return True
                if used not in seen:
                    seen.add(used)
                    open_.append(used)
        return False

    def _order(self, ends: Sequence[str]) -> list[str]:
        """`ends` and their dependencies in topological order; ties in the order of the file."""
        place = {claim: number for number, claim in enumerate(self.known)}
        order: list[str] = []
        done: set[str] = set()
        stack = [(claim, False) for claim in reversed(ends)]
        while stack:
            claim, is_ready = stack.pop()
            if claim in done:
                continue
            if is_ready:
                done.add(claim)
                order.append(claim)
                continue
            stack.append((claim, True))
            stack += [(used, False) for used in sorted(self.uses[claim], key=place.__getitem__, reverse=True)]
        return order


def claim_id(value: Any) -> str:
    """An id that is valid in an address; empty if there is none."""
    return _UNSAFE.sub("-", str(value)).strip("-")[:LONGEST_ID] if isinstance(value, str | int) else ""


def words_of(found: Mapping[str, Any], **names: str) -> str:
    """Fields of the file in words: `justification="Justified by"` gives "Justified by: modus ponens."."""
    parts = [
        f"{word}: {str(found[name]).replace('-', ' ').replace('_', ' ')}." for name, word in names.items() if found.get(name)
    ]
    return " ".join(parts)


def _edge(user: str, used: str, words: str, statement: str = "") -> EdgeAdded:
    """A use; its evidence is the citation in the user's statement, else words about the file."""
    start = statement.find(words)
    where, start = ("statement", start) if start >= 0 else ("the file", 0)
    anchor = TextAnchor(where=where, start=start, end=start + len(words), quote=words)
    return EdgeAdded(user=user, used=used, evidence=anchor)
