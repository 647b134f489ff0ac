"""Reads over a run's lemmas and proofs for the panels. All take a run that `apps.runs.access` has let through."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString

from apps.lemmas.anchors import Quoted, quoted
from apps.lemmas.formula_checks import CheckedFormula, FormulaCheck, check_of
from apps.lemmas.graph_data import graph_data as graph_data
from apps.lemmas.models import PROOF_PREFIX, HumanVerdict, Lemma, LemmaEdge, LemmaLikeness, ProofVersion, Verdict
from apps.lemmas.words import acceptance_words, confidence_words, vote_words
from apps.runs.models import Run, RunEvent


@dataclass(frozen=True)
class Use:
    """One "uses" edge as a panel shows it: the thing at the other end, and the places where the text says so."""

    other: Lemma | ProofVersion | None
    name: str
    places: list[Quoted]


@dataclass(frozen=True)
class VoteRow:
    """A vote with its step log: for each step of the subject the check, if the verifier wrote one."""

    vote: Verdict
    words: str
    checks: list[dict[str, Any]]


@dataclass(frozen=True)
class Finding:
    """A fault found at a step; votes that say the same are one finding. `votes` counts from 1."""

    votes: list[int]
    severity: str
    comment: str


@dataclass(frozen=True)
class StepRow:
    """A step of a proof with what the votes found there, and apart from them the formulas that the formula check refuted.

    `html` is the text with its tested formulas marked.
    """

    number: int
    text: str
    findings: list[Finding]
    html: SafeString
    refuted: list[CheckedFormula]


@dataclass(frozen=True)
class LemmaDetail:
    """All that the lemma panel shows. `statement` is its HTML with tested formulas marked, `refuted` are those in it."""

    lemma: Lemma
    confidence: str
    check: FormulaCheck
    statement: SafeString
    refuted: list[CheckedFormula]
    steps: list[StepRow]
    votes: list[VoteRow]
    uses: list[Use]
    used_by: list[Use]
    versions: list[Lemma]
    merged: list[Lemma]
    alike: list[tuple[Lemma, float]]
    people: list[HumanVerdict]


@dataclass(frozen=True)
class Standing:
    """A proof in a word: accepted, not accepted, unscored, not judged. `solution` is the candidate whose text it is, if it is
    one: then the candidate was judged, and the proof has no votes of its own."""

    word: str
    solution: str = ""


@dataclass(frozen=True)
class ProofDetail:
    """All that the proof panel shows. `revised` is the version this one answers."""

    proof: ProofVersion
    standing: Standing
    confidence: str
    why: str
    check: FormulaCheck
    steps: list[StepRow]
    loose: list[Finding]
    votes: list[VoteRow]
    uses: list[Use]
    versions: list[ProofVersion]
    revised: ProofVersion | None

    @property
    def is_voted_on(self) -> bool:
        """Are there votes on the proof itself, or are they still to come?"""
        return bool(self.votes or self.proof.expected or self.standing.word == "not yet judged")


def lemma_rows(run: Run) -> QuerySet[Lemma]:
    """All lemma versions of a run, in the order they were proposed."""
    return Lemma.objects.filter(run=run)


def proof_versions(run: Run) -> QuerySet[ProofVersion]:
    """All proof versions of a run, in the order they were drafted."""
    return ProofVersion.objects.filter(run=run)


def votes(run: Run, **where: str) -> list[Verdict]:
    """The votes of a run that match, such as all on one `subject` or those of one `call`, with what they say of the steps."""
    cast = list(Verdict.objects.filter(run=run, **where))
    told = dict(RunEvent.objects.filter(run=run, seq__in=[vote.seq for vote in cast]).values_list("seq", "body"))
    for vote in cast:
        vote.checks, vote.summary = told[vote.seq]["checks"], told[vote.seq]["summary"]
    return cast


def lemma_detail(run: Run, name: str) -> LemmaDetail | None:
    """The lemma version `name` with its votes, uses, versions and near-duplicates; None where the run has none."""
    lemma = lemma_rows(run).filter(lemma=name).first()
    if lemma is None:
        return None
    cast = votes(run, subject=name)
    edges = list(LemmaEdge.objects.filter(Q(user=name) | Q(used=name), run=run))
    others = _by_name(run, {edge.user for edge in edges} | {edge.used for edge in edges})
    likenesses = list(LemmaLikeness.objects.filter(Q(lemma=name) | Q(other=name), run=run))
    alike = {row.other if row.lemma == name else row.lemma: row.similarity for row in reversed(likenesses)}
    check = check_of(run, name)
    return LemmaDetail(
        lemma=lemma,
        confidence=confidence_words(lemma),
        check=check,
        statement=check.marked("statement", lemma.statement),
        refuted=check.refuted_at("statement"),
        steps=_steps(lemma.steps, cast, check),
        votes=_vote_rows(cast),
        uses=_uses([edge for edge in edges if edge.user == name], others, by_user=False),
        used_by=_uses([edge for edge in edges if edge.used == name], others, by_user=True),
        versions=list(lemma_rows(run).filter(number=lemma.number, rollout=lemma.rollout)),
        merged=list(lemma_rows(run).filter(merged_into=name)),
        alike=[(row, alike[row.lemma]) for row in lemma_rows(run).filter(lemma__in=alike)],
        people=list(HumanVerdict.objects.filter(run=run, lemma=name)),
    )


def proof_detail(run: Run, name: str) -> ProofDetail | None:
    """The proof version people call `name` (`2`, `3.2`) with findings at its steps; None where the run has none."""
    versions = list(proof_versions(run))
    by_id = {proof.proof: proof for proof in versions}
    proof = by_id.get(PROOF_PREFIX + name)
    if proof is None:
        return None
    cast = votes(run, subject=proof.proof)
    edges = list(LemmaEdge.objects.filter(run=run, user=proof.proof))
    check = check_of(run, proof.proof)
    steps = _steps(proof.steps or [proof.text], cast, check)
    placed = {vote for step in steps for finding in step.findings for vote in finding.votes}
    faulty = [vote for vote in cast if not vote.unscored and not vote.is_pass and vote.index not in placed]
    return ProofDetail(
        proof=proof,
        standing=_standing(run, proof),
        confidence=confidence_words(proof),
        why=acceptance_words(proof),
        check=check,
        steps=steps,
        loose=[Finding([vote.index], "", vote.summary or vote_words(vote)) for vote in faulty],
        votes=_vote_rows(cast),
        uses=_uses(edges, _by_name(run, {edge.used for edge in edges} | {proof.proof}), by_user=False),
        versions=versions,
        revised=by_id.get(proof.revises),
    )


def _standing(run: Run, proof: ProofVersion) -> Standing:
    """What its votes say; of the text of a candidate, what was made of that."""
    if proof.status or proof.expected:
        return Standing(proof.status or "not yet judged")
    same = RunEvent.objects.filter(run=run, kind="candidate.drafted", body__text=proof.text).order_by("-seq")
    solution = same.values_list("body__candidate", flat=True).first() or ""
    if run.is_live and not solution:
        return Standing("not yet judged")
    accepted = (run.outcome or {}).get("accepted", proof.accepted or None) if proof.selected else None
    return Standing({True: "accepted", False: "not accepted", None: "not judged"}[accepted], solution)


def _by_name(run: Run, names: set[str]) -> dict[str, Lemma | ProofVersion]:
    found: dict[str, Lemma | ProofVersion] = {row.lemma: row for row in lemma_rows(run).filter(lemma__in=names)}
    if any(name.startswith(PROOF_PREFIX) for name in names):
        found |= {row.proof: row for row in proof_versions(run).filter(proof__in=names)}
    return found


def _uses(edges: list[LemmaEdge], others: dict[str, Lemma | ProofVersion], *, by_user: bool) -> list[Use]:
    """Edges grouped by the thing at the other end; the places always lie in the text of the user."""
    grouped: dict[str, Use] = {}
    for edge in edges:
        name = edge.user if by_user else edge.used
        user = others.get(edge.user)
        text = user.text if isinstance(user, ProofVersion) else user.statement if user else ""
        use = grouped.setdefault(name, Use(others.get(name), name, []))
        use.places.append(quoted(edge.evidence, user.steps if user else [], text))
    return list(grouped.values())


def _vote_rows(votes: list[Verdict]) -> list[VoteRow]:
    ordered = sorted(votes, key=lambda vote: vote.index)
    return [VoteRow(vote, vote_words(vote), sorted(vote.checks, key=lambda check: check["step"])) for vote in ordered]


def _steps(steps: list[str], votes: list[Verdict], tested: FormulaCheck) -> list[StepRow]:
    rows = [
        StepRow(number, text, [], tested.marked(f"step {number}", text), tested.refuted_at(f"step {number}"))
        for number, text in enumerate(steps, 1)
    ]
    for vote in sorted(votes, key=lambda vote: vote.index):
        told = {check["step"]: check for check in vote.checks if not check["sound"]}
        if vote.first_fault is not None and vote.first_fault > 0:
            told.setdefault(vote.first_fault, {"comment": vote.summary, "severity": ""})
        for step, check in told.items():
            if 1 <= step <= len(rows):
                _add_finding(rows[step - 1].findings, vote.index, check.get("severity", ""), check.get("comment", ""))
    return rows


def _add_finding(findings: list[Finding], vote: int, severity: str, comment: str) -> None:
    for finding in findings:
        if (finding.severity, finding.comment) == (severity, comment):
            finding.votes.append(vote)
            return
    findings.append(Finding([vote], severity, comment))
