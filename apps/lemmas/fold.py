"""The fold itself: one batch of events applied to the rows they concern, each row loaded once and written once."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from apps.lemmas.models import PROOF_PREFIX, HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, LemmaState, ProofVersion, Verdict
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.runs.journal.rows import insert, load, update
from apps.runs.models import Run

FOLDED_KINDS = frozenset(
    event.kind
    for event in (
        ev.LemmaProposed, ev.LemmaMerged, ev.LemmasAlike, ev.LemmaRetired, ev.LemmaRestored, ev.EdgeAdded, ev.VoteCast,
        ev.VerdictReached, ev.ProofDrafted, ev.ProofSelected, ev.ControlRequested, ev.ControlApplied, ev.ControlRefused,
    )
)  # fmt: skip

_HUMAN_VERDICTS = {"accept_lemma": True, "reject_lemma": False}
_JUDGED = ("expected", "passes", "valid", "total", "confidence", "low", "high", "unscored", "last_seq")
_LEMMA_FIELDS = (*_JUDGED, "judged", "status", "merged_into", "is_retired", "retired_reason", "found_in")
_PROOF_FIELDS = (*_JUDGED, "status", "selected", "accepted", "selected_reason")


class Fold:
    """Applies one batch of events to the rows of a run. Use once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.lemmas: dict[str, Lemma] = {}
        self.proofs: dict[str, ProofVersion] = {}
        self.humans: dict[str, HumanVerdict] = {}
        self.edges: list[dict[str, Any]] = []
        self.likenesses: list[dict[str, Any]] = []
        self.votes: list[dict[str, Any]] = []
        self.changed: set[str] = set()

    def apply(self, events: Sequence[tuple[int, ev.Event]]) -> None:
        """Fold the events, ascending by seq, and write the changed rows."""
        self._load([event for _seq, event in events])
        for seq, event in events:
            self._one(seq, event)
        self._save()

    def replay(self, events: Iterable[tuple[int, ev.Event]]) -> None:
        """Fold all events of the run in memory, without reading or writing rows."""
        for seq, event in events:
            self._one(seq, event)

    # --- reading ---------------------------------------------------------------------------------------------------

    def _load(self, events: Sequence[ev.Event]) -> None:
        lemmas, proofs, commands = _concerned(events)
        if commands:
            self.humans = {row.command: row for row in HumanVerdict.objects.filter(run=self.run, command__in=commands)}
            lemmas |= {row.lemma for row in self.humans.values()}
        if lemmas:
            self.lemmas = {row.lemma: row for row in load(Lemma, self.run.pk, "lemma", lemmas)}
        if proofs:
            was_selected = Q(selected=True) if any(isinstance(event, ev.ProofSelected) for event in events) else Q(pk=None)
            rows = ProofVersion.objects.filter(Q(proof__in=proofs) | was_selected, run=self.run)
            self.proofs = {row.proof: row for row in rows}

    def _lemma(self, name: str, seq: int) -> Lemma | None:
        """The lemma, marked as changed by `seq`; None if it is unknown or already includes `seq`."""
        row = self.lemmas.get(name)
        if row is None or row.last_seq >= seq:
            return None
        row.last_seq = seq
        self.changed.add(name)
        return row

    def _proof(self, name: str, seq: int) -> ProofVersion | None:
        row = self.proofs.get(name)
        if row is None or row.last_seq >= seq:
            return None
        row.last_seq = seq
        self.changed.add(name)
        return row

    # --- folding ---------------------------------------------------------------------------------------------------

    def _one(self, seq: int, event: ev.Event) -> None:
        match event:
            case ev.LemmaProposed():
                self._proposed(seq, event)
            case ev.LemmaMerged():
                self._merged(seq, event)
            case ev.LemmaRetired() | ev.LemmaRestored():
                self._retired(seq, event)
            case ev.LemmasAlike():
                self.likenesses.append(self._row(seq, event.model_dump()))
            case ev.EdgeAdded():
                self.edges.append(self._row(seq, event.model_dump(mode="json")))
            case ev.VoteCast():
                self._voted(seq, event)
            case ev.VerdictReached():
                self._judged(seq, event)
            case ev.ProofDrafted():
                self._drafted(seq, event)
            case ev.ProofSelected():
                self._selected(seq, event)
            case ev.ControlRequested() | ev.ControlApplied() | ev.ControlRefused():
                self._control(seq, event)

    def _proposed(self, seq: int, event: ev.LemmaProposed) -> None:
        if event.lemma in self.lemmas:
            return
        older = self.lemmas.get(event.supersedes)
        self.lemmas[event.lemma] = Lemma(
            run=self.run,
            lemma=event.lemma,
            number=event.number,
            version=older.version + 1 if older else 1,
            rollout=event.rollout,
            round=event.round,
            statement=event.statement,
            steps=list(event.steps),
            origin=event.origin,
            call=event.call,
            supersedes=event.supersedes,
            found_in=[event.rollout],
            first_seq=seq,
            last_seq=seq,
        )

    def _merged(self, seq: int, event: ev.LemmaMerged) -> None:
        lemma, into = self._lemma(event.lemma, seq), self._lemma(event.into, seq)
        if lemma:
            lemma.merged_into = event.into
            _set_status(lemma)
        if into:
            found_in = self.lemmas[event.lemma].found_in if event.lemma in self.lemmas else []
            into.found_in = sorted({*into.found_in, *found_in})

    def _retired(self, seq: int, event: ev.LemmaRetired | ev.LemmaRestored) -> None:
        if lemma := self._lemma(event.lemma, seq):
            lemma.is_retired = isinstance(event, ev.LemmaRetired)
            lemma.retired_reason = event.reason if lemma.is_retired else ""
            _set_status(lemma)

    def _voted(self, seq: int, event: ev.VoteCast) -> None:
        self.votes.append(self._row(seq, event.model_dump(exclude={"checks", "summary"})))
        if row := self._subject(event.subject, seq):
            row.total += 1
            row.expected = max(event.of, row.total)
            row.valid += not event.unscored
            row.passes += not event.unscored and event.first_fault == NO_FAULT and not event.wrong_lemma

    def _judged(self, seq: int, event: ev.VerdictReached) -> None:
        row = self._subject(event.subject, seq)
        if row is None:
            return
        row.passes, row.valid, row.total = event.passes, event.valid, event.total
        row.expected = max(row.expected, event.total)
        row.confidence, row.low, row.high, row.unscored = event.confidence, event.low, event.high, event.unscored
        if isinstance(row, ProofVersion):
            row.status = event.status
        elif event.status in LemmaState.values:
            row.judged = event.status
            _set_status(row)

    def _row(self, seq: int, fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "run_id": self.run.pk, "seq": seq}

    def _subject(self, name: str, seq: int) -> Lemma | ProofVersion | None:
        return self._proof(name, seq) if name.startswith(PROOF_PREFIX) else self._lemma(name, seq)

    def _drafted(self, seq: int, event: ev.ProofDrafted) -> None:
        if event.proof not in self.proofs:
            fields = event.model_dump(exclude={"steps"})
            self.proofs[event.proof] = ProofVersion(
                run=self.run, steps=list(event.steps), first_seq=seq, last_seq=seq, **fields
            )

    def _selected(self, seq: int, event: ev.ProofSelected) -> None:
        proof = self._proof(event.proof, seq)
        if proof is None:
            return
        for other in [name for name, row in self.proofs.items() if row.selected and name != event.proof]:
            if row := self._proof(other, seq):
                row.selected, row.accepted, row.selected_reason = False, None, ""
        proof.selected, proof.accepted, proof.selected_reason = True, event.accepted, event.reason

    def _control(self, seq: int, event: ev.ControlRequested | ev.ControlApplied | ev.ControlRefused) -> None:
        if event.name not in _HUMAN_VERDICTS:
            return
        row = self.humans.get(event.command)
        if isinstance(event, ev.ControlRequested):
            if row is None and event.args.get("lemma"):
                self.humans[event.command] = HumanVerdict(
                    run=self.run,
                    command=event.command,
                    lemma=event.args["lemma"],
                    accepted=_HUMAN_VERDICTS[event.name],
                    by=event.by,
                    reason=event.args.get("reason", ""),
                    requested_seq=seq,
                )
            return
        if row is None or row.applied_seq or row.refused:
            return
        if isinstance(event, ev.ControlApplied):
            row.applied_seq = seq
        else:
            row.refused = event.reason
        self.changed.add(event.command)
        self._lemma(row.lemma, seq)

    # --- writing ---------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        lemmas, proofs = list(self.lemmas.values()), list(self.proofs.values())
        humans = list(self.humans.values())
        old_lemmas = [row for row in lemmas if row.pk and row.lemma in self.changed]
        old_proofs = [row for row in proofs if row.pk and row.proof in self.changed]
        old_humans = [row for row in humans if row.pk and row.command in self.changed]
        insert(Lemma, [vars(row) for row in lemmas if row.pk is None])
        insert(ProofVersion, [vars(row) for row in proofs if row.pk is None])
        insert(HumanVerdict, [vars(row) for row in humans if row.pk is None])
        insert(LemmaEdge, self.edges, new_only=True)
        insert(LemmaLikeness, self.likenesses, new_only=True)
        insert(Verdict, self.votes, new_only=True)
        update(Lemma, _LEMMA_FIELDS, [vars(row) for row in old_lemmas])
        update(ProofVersion, _PROOF_FIELDS, [vars(row) for row in old_proofs])
        update(HumanVerdict, ("applied_seq", "refused"), [vars(row) for row in old_humans])


def _concerned(events: Iterable[ev.Event]) -> tuple[set[str], set[str], set[str]]:
    """Ids of the lemmas, proofs and commands that the events may read or change."""
    subjects: set[str] = set()
    commands: set[str] = set()
    asked: set[str] = set()
    answered = False
    for event in events:
        match event:
            case ev.LemmaProposed():
                subjects |= {event.lemma, event.supersedes}
            case ev.LemmaMerged():
                subjects |= {event.lemma, event.into}
            case ev.LemmaRetired() | ev.LemmaRestored():
                subjects.add(event.lemma)
            case ev.VoteCast() | ev.VerdictReached():
                subjects.add(event.subject)
            case ev.ProofDrafted() | ev.ProofSelected():
                subjects.add(event.proof)
            case ev.ControlRequested() if event.name in _HUMAN_VERDICTS:
                commands.add(event.command)
                asked.add(str(event.args.get("lemma", "")))
            case ev.ControlApplied() | ev.ControlRefused() if event.name in _HUMAN_VERDICTS:
                commands.add(event.command)
                answered = True
    subjects |= asked if answered else set()
    proofs = {name for name in subjects if name.startswith(PROOF_PREFIX)}
    return subjects - proofs - {""}, proofs, commands


def _set_status(row: Lemma) -> None:
    if row.merged_into:
        row.status = LemmaState.MERGED
    else:
        row.status = LemmaState.RETIRED if row.is_retired else row.judged
