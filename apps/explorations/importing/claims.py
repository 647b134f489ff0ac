"""Claims with dependencies, as proof graphs and proof ledgers have them, told as lemmas, uses and one verifier's votes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.explorations.importing.story import Story
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
    """One claim of a file. `uses` are ids that it names; `about` is what the file says of it beside the statement."""

    id: str
    statement: str
    at: datetime | None = None
    depth: int = 1
    about: str = ""
    uses: list[tuple[str, str]] = field(default_factory=list)
    """Ids with the words of the file that say so."""
    supersedes: str = ""
    where: str = ""


@dataclass
class Ballot:
    """A verifier's word on a claim."""

    claim: str
    holds: bool
    words: str
    at: datetime | None = None


class Claims:
    """Tells claims into a story: each once, its uses as soon as both ends are known, no circle and no use of nothing."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.told: dict[str, Claim] = {}
        self.uses: dict[str, set[str]] = {}
        self.votes: dict[str, list[bool]] = {}
        self._waiting: dict[str, list[tuple[Claim, str]]] = {}

    def tell(self, claim: Claim) -> None:
        """A claim, and the uses that can be told now."""
        if claim.id in self.told:
            self.story.unread(claim.where or claim.id, f"the id {claim.id} is there twice; the first one counts", claim.at)
            return
        self.told[claim.id] = claim
        self.uses[claim.id] = set()
        event = LemmaProposed(
            lemma=claim.id,
            number=len(self.told),
            rollout=0,
            round=claim.depth,
            statement=claim.statement,
            steps=(claim.about,) if claim.about else (),
            supersedes=claim.supersedes if claim.supersedes in self.told else "",
        )
        self.story.tell(f"lemma/{claim.id}", event, claim.at)
        for used, words in claim.uses:
            self._use(claim, used, words, claim.at)
        for user, words in self._waiting.pop(claim.id, []):
            self._use(user, claim.id, words, claim.at)

    def vote(self, ballot: Ballot) -> None:
        """A vote, and what all votes on the claim add up to."""
        if ballot.claim not in self.told:
            self.story.unread(ballot.claim, "a verdict on a claim that the file does not have", ballot.at)
            return
        cast = self.votes.setdefault(ballot.claim, [])
        cast.append(ballot.holds)
        fault = NO_FAULT if ballot.holds else 1
        key = f"vote/{ballot.claim}/{len(cast)}"
        vote = VoteCast(subject=ballot.claim, index=len(cast), of=len(cast), call="", first_fault=fault, summary=ballot.words)
        self.story.tell(key, vote, ballot.at)
        passes, valid = sum(cast), len(cast)
        low, high = wilson_interval(passes, valid)
        status = "verified" if ballot.holds else "rejected"
        verdict = VerdictReached(
            subject=ballot.claim, passes=passes, valid=valid, total=valid, confidence=passes / valid, low=low, high=high,
            status=status,
        )  # fmt: skip
        self.story.tell(f"verdict/{ballot.claim}/{len(cast)}", verdict, ballot.at)

    def retire(self, claim: str, reason: str, at: datetime | None = None) -> None:
        """A claim that the file keeps apart from those in use."""
        if claim in self.told:
            self.story.tell(f"retired/{claim}", LemmaRetired(lemma=claim, reason=reason), at)

    def conclude(self, ends: Sequence[str], accepted: bool | None, reason: str, at: datetime | None = None) -> None:
        """Say which uses lead nowhere, then the proof: what `ends` rest on, in an order in which it can be read."""
        for missing, users in self._waiting.items():
            for user, _ in users:
                where = user.where or user.id
                self.story.unread(where, f"{user.id} depends on {missing}, which the file does not have", user.at)
        order = self._order(ends)
        if not order:
            self.story.outcome = Outcome(accepted=None, reason="The file holds no claim.", ended_by="nothing-readable")
            return
        steps = tuple(self.told[claim].statement for claim in order)
        draft = ProofDrafted(proof=PROOF, text="\n\n".join(steps), steps=steps, call="", rollout=0)
        self.story.tell(PROOF, draft, at)
        for claim in ends:
            self.story.tell(f"edge/{PROOF}/{claim}", _edge(PROOF, claim, "the file's conclusion"), at)
        self.story.tell("proof/selected", ProofSelected(proof=PROOF, accepted=bool(accepted), reason=reason), at)
        ended_by = "accepted" if accepted else "exhausted"
        self.story.outcome = Outcome.model_validate(
            {"accepted": accepted, "proof": PROOF, "reason": reason, "ended_by": ended_by}
        )

    def use(self, user: str, used: str, words: str) -> None:
        """A use between two claims that are told already."""
        self._use(self.told[user], used, words, None)

    def sinks(self) -> list[str]:
        """Claims that no other claim uses."""
        used = set().union(*self.uses.values()) if self.uses else set()
        return [claim for claim in self.told if claim not in used]

    def _use(self, user: Claim, used: str, words: str, at: datetime | None) -> None:
        if used not in self.told:
            self._waiting.setdefault(used, []).append((user, words))
        elif used in self.uses[user.id]:
            return
        elif used == user.id or self._reaches(used, user.id):
            why = "itself" if used == user.id else f"{used}, which depends on it; this dependency is left out"
            self.story.unread(user.where or user.id, f"{user.id} depends on {why}", at)
        else:
            self.uses[user.id].add(used)
            self.story.tell(f"edge/{user.id}/{used}", _edge(user.id, used, words), at)

    def _reaches(self, start: str, goal: str) -> bool:
        """Does `start` rest on `goal`?"""
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
        """What `ends` rest on and they themselves: what is used comes first, else in the order of the file."""
        place = {claim: number for number, claim in enumerate(self.told)}
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
    """An id as it can stand in an address; empty where there is none."""
    return _UNSAFE.sub("-", str(value)).strip("-")[:LONGEST_ID] if isinstance(value, str | int) else ""


def words_of(found: Mapping[str, Any], **names: str) -> str:
    """Fields of the file in words: `justification="Justified by"` gives "Justified by: modus ponens."."""
    said = [
        f"{word}: {str(found[name]).replace('-', ' ').replace('_', ' ')}." for name, word in names.items() if found.get(name)
    ]
    return " ".join(said)


def _edge(user: str, used: str, words: str) -> EdgeAdded:
    return EdgeAdded(user=user, used=used, evidence=TextAnchor(where="the file", start=0, end=len(words), quote=words))
