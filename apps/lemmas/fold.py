"""The lemmas of the story kept in tables: one batch of events is applied to the rows it concerns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.db import models
from django.db.models import Q

from apps.lemmas.models import HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, ProofVersion, Verdict
from apps.lemmas.run_columns import run_columns_write
from apps.lemmas.titles import plain_of, title_of
from apps.reasoning.domain import control as cv
from apps.reasoning.domain import events as ev
from apps.reasoning.domain.values import unchecked
from apps.reasoning.story import lemmas as parts
from apps.reasoning.story.parts import E, Numbered
from apps.runs.journal.rows import insert, load, update
from apps.runs.models import Run

Row = dict[str, Any]
_JUDGED = ("expected", "passes", "valid", "total", "confidence", "low", "high", "unscored", "last_seq")
_LEMMA_FIELDS = (*_JUDGED, "judged", "status", "merged_into", "is_retired", "retired_reason", "found_in")
_PROOF_FIELDS = (*_JUDGED, "status", "selected", "accepted", "selected_reason")
#: Texts of a vote on the steps; they stay in its event.
_NOT_KEPT = {"checks", "summary"}


class Fold(parts.Lemmas):
    """Applies one batch of events to the rows of a run. Use once."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self._stored: dict[type[models.Model], dict[str, tuple[int, Row]]] = {Lemma: {}, ProofVersion: {}, HumanVerdict: {}}

    def apply(self, events: Sequence[Numbered[ev.Event]]) -> None:
        """Fold the events, ascending by seq, and write the changed rows."""
        self._load([event for _seq, event in events])
        for seq, event in events:
            self.add(seq, event)
        self._save()

    def _load(self, events: Sequence[ev.Event]) -> None:
        lemmas, proofs, commands = _concerned(events)
        if commands:
            for person in HumanVerdict.objects.filter(run=self.run, command__in=commands):
                self.people[person.command] = parts.PersonVerdict(**_values(parts.PersonVerdict, person))
                self._keep(person, person.command, self.people)
            lemmas |= {person.lemma for person in self.people.values()}
        for lemma in load(Lemma, self.run.pk, "lemma", lemmas) if lemmas else ():
            proposed = _event(ev.LemmaProposed, lemma)
            self.versions[lemma.lemma] = parts.LemmaVersion(proposed=proposed, **_values(parts.LemmaVersion, lemma))
            self._keep(lemma, lemma.lemma, self.versions)
        if proofs:
            was_selected = Q(selected=True) if any(isinstance(event, ev.ProofSelected) for event in events) else Q(pk=None)
            for proof in ProofVersion.objects.filter(Q(proof__in=proofs) | was_selected, run=self.run):
                drafted = _event(ev.ProofDrafted, proof)
                self.proofs[proof.proof] = parts.ProofVersion(drafted=drafted, **_values(parts.ProofVersion, proof))
                self._keep(proof, proof.proof, self.proofs)

    def _keep(self, row: models.Model, name: str, found: Mapping[str, object]) -> None:
        self._stored[type(row)][name] = row.pk, row_of(found[name])

    def _save(self) -> None:
        lemmas = self._write(Lemma, self.versions, _LEMMA_FIELDS)
        proofs = self._write(ProofVersion, self.proofs, _PROOF_FIELDS)
        if any(old is None or old["status"] != row["status"] for old, row in lemmas) or any(
            row["selected"] or (old or row)["selected"] for old, row in proofs
        ):
            run_columns_write(self.run.pk)
        self._write(HumanVerdict, self.people, ("applied_seq", "refused"))
        insert(LemmaEdge, self._numbered(self.uses), new_only=True)
        insert(LemmaLikeness, self._numbered(self.alike), new_only=True)
        insert(Verdict, self._numbered(self.votes), new_only=True)

    def _write(
        self, model: type[models.Model], found: Mapping[str, object], changing: tuple[str, ...]
    ) -> list[tuple[Row | None, Row]]:
        """Insert new rows, and update those that the events changed. Returns them, each after what was stored (None: new)."""
        stored = self._stored[model]
        rows = {name: row_of(part) for name, part in found.items()}
        new = [{**row, "run_id": self.run.pk} for name, row in rows.items() if name not in stored]
        if model is Lemma:
            new = [{**row, "title": plain_of(row["title"])[:120] or title_of(row["statement"])} for row in new]
        insert(model, new)
        changed = {name: row for name, row in rows.items() if name in stored and stored[name][1] != row}
        update(model, changing, [{**row, "id": stored[name][0]} for name, row in changed.items()])
        return [*((None, row) for row in new), *((stored[name][1], row) for name, row in changed.items())]

    def _numbered(self, events: Iterable[Numbered[Any]]) -> list[Row]:
        return [{**row_of(event), "seq": seq, "run_id": self.run.pk} for seq, event in events]


def row_of(part: Any) -> Row:
    """The columns of an event or of a part of the story, by name; those of the event behind a part are among them."""
    if isinstance(part, ev.Event):
        return part.model_dump(mode="json", exclude=_NOT_KEPT)
    row = dict(vars(part))
    if isinstance(part, parts.LemmaVersion):
        return {**row_of(row.pop("proposed")), **row, "status": part.status}
    return {**row_of(row.pop("drafted")), **row} if isinstance(part, parts.ProofVersion) else row


def _event(kind: type[E], row: models.Model) -> E:
    """The event behind a row."""
    found = {name: getattr(row, name) for name in kind.model_fields}
    return unchecked(kind, **{name: tuple(value) if isinstance(value, list) else value for name, value in found.items()})


def _values(kind: Any, row: models.Model) -> Row:
    """The fields of a part of the story that have columns: all but the event behind it."""
    return {one.name: getattr(row, one.name) for one in fields(kind) if hasattr(row, one.name)}


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
            case cv.ControlRequested() if event.name in parts.JUDGING:
                commands.add(event.command)
                asked.add(str(event.args.get("lemma", "")))
            case cv.ControlApplied() | cv.ControlRefused() if event.name in parts.JUDGING:
                commands.add(event.command)
                answered = True
    subjects |= asked if answered else set()
    proofs = {name for name in subjects if name.startswith(parts.PROOF_PREFIX)}
    return subjects - proofs - {""}, proofs, commands
