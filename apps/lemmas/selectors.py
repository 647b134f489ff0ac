"""Reads over a run's lemmas and proofs for the panels. All take a run that passed `apps.runs.access`."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from apps.lemmas.anchors import Quoted, quoted
from apps.lemmas.final_answers import ShownAnswer, shown_answer
from apps.lemmas.formula_checks import CheckedFormula, FormulaCheck
from apps.lemmas.graph_data import graph_data as graph_data
from apps.lemmas.models import PROOF_PREFIX, HumanVerdict, Lemma, LemmaEdge, ProofVersion, Verdict
from apps.lemmas.rows import Rows, rows_of, shown_proof
from apps.lemmas.words import acceptance_words, confidence_words, vote_words
from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run, RunEvent


@dataclass(frozen=True)
class Use:
    """One "uses" edge for a panel: the node at the other end, and the evidence in the text.

    `named` are the merged lemmas under whose names the text cites the used one.
    """

    other: Lemma | ProofVersion | None
    name: str
    places: list[Quoted]
    named: list[str]


@dataclass(frozen=True)
class VoteRow:
    """A vote with its step log: the check of each step, if the verifier wrote one."""

    vote: Verdict
    words: str
    checks: list[dict[str, Any]]


@dataclass(frozen=True)
class Finding:
    """A fault at a step; votes with the same fault share one finding. `votes` are numbers from 1."""

    votes: list[int]
    severity: str
    comment: str


@dataclass(frozen=True)
class StepRow:
    """A step of a proof with the findings of votes and, separately, its refuted formulas.

    `html` is the text with its tested formulas marked.
    """

    number: int
    text: str
    findings: list[Finding]
    html: SafeString
    refuted: list[CheckedFormula]


@dataclass(frozen=True)
class LemmaDetail:
    """Content of the lemma panel. `statement` is its HTML with tested formulas marked, `refuted` are those in it.

    `used_by` are also users that name a lemma in `merged`, which this one represents. A merged lemma is
    `represented_by` another; its `used_by` are the users whose texts cite it.
    """

    lemma: Lemma
    confidence: str
    check: FormulaCheck
    statement: SafeString
    refuted: list[CheckedFormula]
    steps: list[StepRow]
    votes: list[VoteRow]
    uses: list[Use]
    used_by: list[Use]
    represented_by: str
    versions: list[Lemma]
    merged: list[Lemma]
    alike: list[tuple[Lemma, float]]
    people: list[HumanVerdict]


@dataclass(frozen=True)
class Standing:
    """State of a proof: accepted, not accepted, unscored or not judged. `solution` is the candidate with the same text, if any:
    then the candidate was judged, and the proof has no votes."""

    word: str
    solution: str = ""


@dataclass(frozen=True)
class ProofDetail:
    """Content of the proof panel. `revised` is the previous version; `notes` are references without an edge."""

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
    answer: ShownAnswer | None
    notes: list[str]

    @property
    def is_voted_on(self) -> bool:
        """Whether the proof itself has votes, or will have votes."""
        return bool(self.votes or self.proof.expected or self.standing.word == "not yet judged")


def lemma_rows(run: Run) -> QuerySet[Lemma]:
    """All lemma versions of a run, in the order they were proposed."""
    return Lemma.objects.filter(run=run)


def proof_versions(run: Run) -> QuerySet[ProofVersion]:
    """All proof versions of a run, in the order they were drafted."""
    return ProofVersion.objects.filter(run=run)


def votes(run: Run, **where: str) -> list[Verdict]:
    """The votes of a run that match, such as all on one `subject` or those of one `call`, with their texts on the steps."""
    return _with_checks(run, list(Verdict.objects.filter(run=run, **where)))


def _with_checks(run: Run, cast: list[Verdict]) -> list[Verdict]:
    bodies = dict(RunEvent.objects.filter(run=run, seq__in=[vote.seq for vote in cast]).values_list("seq", "body"))
    for vote in cast:
        vote.checks, vote.summary = bodies[vote.seq]["checks"], bodies[vote.seq]["summary"]
    return cast


def lemma_detail(run: Run, name: str, until: int | None = None) -> LemmaDetail | None:
    """The lemma version `name` with its votes, uses, versions and near-duplicates; with `until`, as of that event.

    None if the run has no such lemma (by then).
    """
    rows = rows_of(run, until, name)
    lemma = rows.lemma(name)
    if lemma is None:
        return None
    cast = _with_checks(run, rows.votes_on(name))
    by = rows.representatives()
    twins = [twin for twin, one in by.items() if one == name and twin != name]
    edges = rows.edges_of([name, *twins])
    others = rows.named({edge.user for edge in edges} | {by.get(edge.used, edge.used) for edge in edges} | set(twins))
    likenesses = rows.likenesses_of(name)
    alike = {row.other if row.lemma == name else row.lemma: row.similarity for row in reversed(likenesses)}
    check = rows.check_of(name)
    return LemmaDetail(
        lemma=lemma,
        confidence=confidence_words(lemma),
        check=check,
        statement=check.marked("statement", lemma.statement),
        refuted=check.refuted_at("statement"),
        steps=_steps(lemma.steps, cast, check),
        votes=_vote_rows(cast),
        uses=_uses([edge for edge in edges if edge.user == name], others, by),
        used_by=_used_by(name, [edge for edge in edges if edge.used in (name, *twins)], others),
        represented_by=by.get(name, name).removeprefix(name),
        versions=rows.versions_of(lemma),
        merged=[row for twin in twins if isinstance(row := others.get(twin), Lemma)],
        alike=_alike(rows, alike),
        people=rows.people_on(name),
    )


def proof_detail(run: Run, name: str, until: int | None = None) -> ProofDetail | None:
    """The proof version `name` (`2`, `3.2`) with findings at its steps; with `until`, as of that event.

    Without a name the selected version, else the newest; None if the run has none (by then).
    """
    rows = rows_of(run, until, PROOF_PREFIX + name)
    versions = rows.proofs()
    by_id = {proof.proof: proof for proof in versions}
    proof = by_id.get(PROOF_PREFIX + name) if name else shown_proof(versions)
    if proof is None:
        return None
    if not name and until is not None:
        return proof_detail(run, proof.name, until)
    cast = _with_checks(run, rows.votes_on(proof.proof))
    edges, by = rows.edges_of([proof.proof]), rows.representatives()
    check = rows.check_of(proof.proof)
    steps = _steps(proof.steps or [proof.text], cast, check)
    placed = {vote for step in steps for finding in step.findings for vote in finding.votes}
    faulty = [vote for vote in cast if not vote.unscored and not vote.is_pass and vote.index not in placed]
    return ProofDetail(
        proof=proof,
        standing=_standing(run, proof, until),
        confidence=confidence_words(proof),
        why=acceptance_words(proof),
        check=check,
        steps=steps,
        loose=[Finding([vote.index], "", vote.summary or vote_words(vote)) for vote in faulty],
        votes=_vote_rows(cast),
        uses=_uses(edges, rows.named({by.get(edge.used, edge.used) for edge in edges} | {proof.proof}), by),
        versions=versions,
        revised=by_id.get(proof.revises),
        answer=shown_answer(run, proof.text),
        notes=_notes(run, proof),
    )


def _notes(run: Run, proof: ProofVersion) -> list[str]:
    """Notes on references in the proof, such as an unknown lemma."""
    events = RunEvent.objects.filter(run=run, kind=Kind.OUTPUT_UNREAD, body__reason__startswith=f"{proof.proof}, step ")
    return [body["reason"].removeprefix(f"{proof.proof}, ") for body in events.order_by("seq").values_list("body", flat=True)]


def solution_behind(run: Run, call: str, text: str) -> str:
    """The candidate with this call and text, or "". Several candidates may have the same text, but only one has the call.

    In imported runs, and in old runs without the call in the event: the newest candidate with this text.
    """
    drafted = RunEvent.objects.filter(run=run, kind=Kind.CANDIDATE_DRAFTED).order_by("-seq")
    names = drafted.values_list("body__candidate", flat=True)
    return (names.filter(body__call=call).first() if call else None) or names.filter(body__text=text).first() or ""


def _alike(rows: Rows, alike: dict[str, float]) -> list[tuple[Lemma, float]]:
    found = rows.named(set(alike))
    return [(row, alike[row.lemma]) for row in found.values() if isinstance(row, Lemma)]


def _standing(run: Run, proof: ProofVersion, until: int | None = None) -> Standing:
    """The state by its votes; for the text of a candidate, by the judgement of the candidate."""
    if proof.status or proof.expected:
        return Standing(proof.status or "not yet judged")
    if until is not None and not proof.selected:
        return Standing("not yet judged")
    solution = solution_behind(run, proof.call, proof.text)
    if run.is_live and not solution:
        return Standing("not yet judged")
    accepted = (run.outcome or {}).get("accepted", proof.accepted or None) if proof.selected else None
    return Standing({True: "accepted", False: "not accepted", None: "not judged"}[accepted], solution)


def _uses(edges: list[LemmaEdge], others: dict[str, Lemma | ProofVersion], by: dict[str, str]) -> list[Use]:
    """The lemmas that one text uses, without duplicates; merged lemmas are replaced by their representatives."""
    return _grouped([(by.get(edge.used, edge.used), edge) for edge in edges], others)


def _used_by(name: str, edges: list[LemmaEdge], others: dict[str, Lemma | ProofVersion]) -> list[Use]:
    """The users of the lemma `name`, without itself: it may use a lemma that it represents."""
    return _grouped([(edge.user, edge) for edge in edges if edge.user != name], others, name)


def _grouped(edges: list[tuple[str, LemmaEdge]], others: dict[str, Lemma | ProofVersion], used: str = "") -> list[Use]:
    """Edges grouped by the node at the other end; evidence is always in the text of the user."""
    grouped: dict[str, Use] = {}
    for name, edge in edges:
        user = others.get(edge.user)
        text = user.text if isinstance(user, ProofVersion) else user.statement if user else ""
        use = grouped.setdefault(name, Use(others.get(name), name, [], []))
        use.places.append(quoted(edge.evidence, user.steps if user else [], text))
        if edge.used not in (used or name, *use.named):
            use.named.append(edge.used)
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
        faults = {check["step"]: check for check in vote.checks if not check["sound"]}
        if vote.first_fault is not None and vote.first_fault > 0:
            faults.setdefault(vote.first_fault, {"comment": vote.summary, "severity": ""})
        for step, check in faults.items():
            if 1 <= step <= len(rows):
                _add_finding(rows[step - 1].findings, vote.index, check.get("severity", ""), check.get("comment", ""))
    return rows


def _add_finding(findings: list[Finding], vote: int, severity: str, comment: str) -> None:
    for finding in findings:
        if (finding.severity, finding.comment) == (severity, comment):
            finding.votes.append(vote)
            return
    findings.append(Finding([vote], severity, comment))
