"""The rows of the panels: as stored, or as of an earlier event of the run.

Earlier rows come from the run's story, whose fold also wrote the stored ones.
"""

from collections.abc import Collection, Iterable

from django.db.models import Q

from apps.lemmas.fold import row_of
from apps.lemmas.formula_checks import FormulaCheck, check_of
from apps.lemmas.models import PROOF_PREFIX, HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, ProofVersion, Verdict
from apps.lemmas.network import representatives_among
from apps.reasoning.domain.event_base import Kind
from apps.reasoning.story.lemmas import Lemmas
from apps.runs.models import Run
from apps.runs.selectors import run_story


class Rows:
    """The rows of a run as they are stored, in the order of their events. `until` is None."""

    until: int | None = None

    def __init__(self, run: Run) -> None:
        self.run = run

    def lemmas(self) -> list[Lemma]:
        return list(Lemma.objects.filter(run=self.run))

    def proofs(self) -> list[ProofVersion]:
        return list(ProofVersion.objects.filter(run=self.run))

    def lemma(self, name: str) -> Lemma | None:
        return Lemma.objects.filter(run=self.run, lemma=name).first()

    def named(self, names: set[str]) -> dict[str, Lemma | ProofVersion]:
        """Lemmas and proofs by their ids; unknown ids are left out."""
        found: dict[str, Lemma | ProofVersion] = {row.lemma: row for row in Lemma.objects.filter(run=self.run, lemma__in=names)}
        if any(name.startswith(PROOF_PREFIX) for name in names):
            found |= {row.proof: row for row in ProofVersion.objects.filter(run=self.run, proof__in=names)}
        return found

    def versions_of(self, lemma: Lemma) -> list[Lemma]:
        return list(Lemma.objects.filter(run=self.run, number=lemma.number, rollout=lemma.rollout))

    def representatives(self) -> dict[str, str]:
        """By merged lemma, the lemma that represents it."""
        merged = Lemma.objects.filter(run=self.run).exclude(merged_into="")
        into = Lemma.objects.filter(run=self.run, lemma__in=merged.values("merged_into"))
        return representatives_among((merged | into).only("lemma", "merged_into", "judged", "is_retired"))

    def edges_of(self, names: Collection[str]) -> list[LemmaEdge]:
        """The uses in which one of `names` is the user or the used."""
        return list(LemmaEdge.objects.filter(Q(user__in=names) | Q(used__in=names), run=self.run))

    def likenesses_of(self, name: str) -> list[LemmaLikeness]:
        """Near-duplicates, the most alike first."""
        return list(LemmaLikeness.objects.filter(Q(lemma=name) | Q(other=name), run=self.run))

    def people_on(self, name: str) -> list[HumanVerdict]:
        return list(HumanVerdict.objects.filter(run=self.run, lemma=name))

    def votes_on(self, subject: str) -> list[Verdict]:
        return list(Verdict.objects.filter(run=self.run, subject=subject))

    def check_of(self, subject: str) -> FormulaCheck:
        return check_of(self.run, subject, self.until)


class RowsThen(Rows):
    """The rows as of event `until`, with votes on `subject` only."""

    def __init__(self, run: Run, until: int, subject: str = "") -> None:
        super().__init__(run)
        self.until = until
        kinds = Q(kind__in=Lemmas.KINDS - {Kind.VOTE_CAST}) | Q(kind=Kind.VOTE_CAST, body__subject=subject)
        self._story = run_story(run, Q(kinds, seq__lte=until)).lemmas
        self._lemmas = {name: Lemma(run=run, **row_of(one)) for name, one in self._story.versions.items()}
        self._proofs = {name: ProofVersion(run=run, **row_of(one)) for name, one in self._story.proofs.items()}

    def lemmas(self) -> list[Lemma]:
        return list(self._lemmas.values())

    def proofs(self) -> list[ProofVersion]:
        return list(self._proofs.values())

    def lemma(self, name: str) -> Lemma | None:
        return self._lemmas.get(name)

    def named(self, names: set[str]) -> dict[str, Lemma | ProofVersion]:
        known: dict[str, Lemma | ProofVersion] = {**self._lemmas, **self._proofs}
        return {name: known[name] for name in names if name in known}

    def versions_of(self, lemma: Lemma) -> list[Lemma]:
        return [row for row in self.lemmas() if (row.number, row.rollout) == (lemma.number, lemma.rollout)]

    def representatives(self) -> dict[str, str]:
        return representatives_among(self.lemmas())

    def edges_of(self, names: Collection[str]) -> list[LemmaEdge]:
        uses = [(seq, one) for seq, one in self._story.uses if one.user in names or one.used in names]
        return [LemmaEdge(run=self.run, seq=seq, **row_of(one)) for seq, one in uses]

    def likenesses_of(self, name: str) -> list[LemmaLikeness]:
        alike = [(seq, one) for seq, one in self._story.alike if name in (one.lemma, one.other)]
        found = [LemmaLikeness(run=self.run, seq=seq, **row_of(one)) for seq, one in alike]
        return sorted(found, key=lambda row: (-row.similarity, row.seq))

    def people_on(self, name: str) -> list[HumanVerdict]:
        return [HumanVerdict(run=self.run, **row_of(one)) for one in self._story.people.values() if one.lemma == name]

    def votes_on(self, subject: str) -> list[Verdict]:
        cast = [(seq, one) for seq, one in self._story.votes if one.subject == subject]
        return [Verdict(run=self.run, seq=seq, **row_of(one)) for seq, one in cast]


def rows_of(run: Run, until: int | None = None, subject: str = "") -> Rows:
    """The rows of `run`; with `until`, as of that event."""
    return Rows(run) if until is None else RowsThen(run, until, subject)


def shown_proof(proofs: Iterable[ProofVersion]) -> ProofVersion | None:
    """The selected proof, else the newest version."""
    ordered = sorted(proofs, key=lambda proof: proof.first_seq)
    selected = [proof for proof in ordered if proof.selected]
    return next(reversed(selected or ordered), None)
