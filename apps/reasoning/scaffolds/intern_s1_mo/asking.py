"""The prompts of a run: which parts each role is given, in which order, and what stands inside a fence.

Parts that many calls share come first (problem, then library), so that engines with a prefix cache and the content-addressed
store use them once. A fence's delimiter follows from the run's seed and the text it encloses: no text can contain its own, and
equal texts make equal parts.
"""

from collections.abc import Sequence
from typing import Any

from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import Confidence
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.prompts.loader import RenderedPrompt, fence, load, render
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.mentions import relabel
from apps.reasoning.reading.summaries import SummaryJson
from apps.reasoning.reading.votes import LemmaVerdictJson, ProofVerdictJson
from apps.reasoning.scaffolds.answer_line import answer_line
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration, Proof
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Rollout

METHOD = "intern_s1_mo"
EMPTY = "(none)"
SUMMARY_SCHEMA: dict[str, Any] = SummaryJson.model_json_schema()
LEMMA_VERDICT_SCHEMA: dict[str, Any] = LemmaVerdictJson.model_json_schema()
PROOF_VERDICT_SCHEMA: dict[str, Any] = ProofVerdictJson.model_json_schema()


def reason_prompt(x: Exploration, rollout: Rollout, round_: int) -> RenderedPrompt:
    values = {
        "problem": _content(x, x.problem.statement),
        "library": _library(x, rollout),
        "failed": _failed(x, rollout),
        "hints": _hints(x),
        "round": str(round_),
        "rounds": str(x.params.max_rounds),
    }
    return _filled("reasoner", values)


def summary_prompt(x: Exploration, rollout: Rollout) -> RenderedPrompt:
    values = {
        "answer_form": _form(x, "summary"),
        "problem": _content(x, x.problem.statement),
        "library": _library(x, rollout),
        "failed": _failed(x, rollout),
        "work": _content(x, rollout.work),
        "next_number": str(rollout.next_number),
    }
    return _filled("summarizer", values)


def lemma_check_prompt(x: Exploration, lemma: Lemma, rollout: Rollout | None) -> RenderedPrompt:
    """The library as the round found it, the fresh lemmas that this one names (statements only), and the lemma.

    `rollout` is None for a person's lemma, which is given just the lemmas it names.
    """
    named = [other for name in lemma.uses if (other := x.lemmas.get(name))]
    fresh = named
    if rollout is not None:
        fresh = [other for other in named if other.status == "proposed" and other.round == lemma.round]
    values = {
        "answer_form": _form(x, "lemma_verdict"),
        "problem": _content(x, x.problem.statement),
        "library": _library(x, rollout),
        "named": _content(x, "\n\n".join(_statement(x, other, scores=False, final=rollout is None) for other in fresh)),
        "lemma": _content(x, _with_proof(x, lemma, scores=False)),
    }
    return _filled("theorem_verifier", values)


def write_prompt(x: Exploration, library: str, candidate: int) -> RenderedPrompt:
    """`library` is `final_library`, made once for all candidates."""
    values = {
        "problem": _content(x, x.problem.statement),
        "library": library,
        "notes": _content(x, complete_work(x)),
        "candidate": str(candidate),
        "candidates": str(x.params.candidates),
    }
    return _filled("writer", values, closing=answer_line(x.problem))


def proof_check_prompt(x: Exploration, proof: Proof) -> RenderedPrompt:
    cited = [lemma for name in proof.uses if (lemma := x.lemmas.get(name))]
    # By id: to compare lemmas is to compare their fields, nine thousand times a list in a large run.
    needed = {lemma.id for lemma in x.lemmas.support(cited)}
    used = [lemma for lemma in x.lemmas if lemma.id in needed]
    values = {
        "answer_form": _form(x, "proof_verdict"),
        "problem": _content(x, x.problem.statement),
        "lemmas": _content(x, "\n\n".join(_with_proof(x, lemma, scores=False, final=True) for lemma in used)),
        "proof": _content(x, _numbered(proof.steps)),
    }
    return _filled("process_verifier", values)


def revise_prompt(x: Exploration, library: str, proof: Proof, revision: int, candidate: int) -> RenderedPrompt:
    """`library` is `final_library`, made once for all candidates."""
    findings = "\n".join(f"Finding {number}. {text}" for number, text in enumerate(proof.findings, 1))
    values = {
        "problem": _content(x, x.problem.statement),
        "library": library,
        "proof": _content(x, _numbered(proof.steps)),
        "findings": _content(x, findings),
        "hints": _hints(x),
        "revision": str(revision),
        "revisions": str(x.params.revisions),
        "candidate": str(candidate),
        "candidates": str(x.params.candidates),
    }
    return _filled("reviser", values, closing=answer_line(x.problem))


def final_lemmas(x: Exploration) -> list[Lemma]:
    """What the writer is given: the merged library, in the order of rollouts and numbers.

    Where it is too long, lemmas of rollouts that claim a complete solution come first, then those with more confidence; what
    a chosen lemma rests on comes with it.
    """
    entries = [lemma for lemma in x.lemmas if lemma.in_library and x.lemmas.standing(lemma) is lemma]
    if len(entries) <= x.params.final_lemmas:
        return entries
    complete = {rollout.index for rollout in x.lemmas.rollouts if rollout.claims_complete}
    ranked = sorted(entries, key=lambda lemma: (lemma.rollout not in complete, not lemma.accepted_by_person, -_share(lemma)))
    chosen: dict[str, Lemma] = {}
    for lemma in ranked:
        if len(chosen) == x.params.final_lemmas:
            break
        group = {other.id: other for other in x.lemmas.support([lemma])}
        if len({*chosen, *group}) <= x.params.final_lemmas:
            chosen |= group
    return [lemma for lemma in entries if lemma.id in chosen]


def final_library(x: Exploration) -> str:
    """What the writer and the reviser are given, between its fence."""
    entries = final_lemmas(x)
    return _content(x, "\n\n".join(_with_proof(x, entry, scores=x.params.shows_scores, final=True) for entry in entries))


def _filled(role: str, values: dict[str, str], *, closing: str = "") -> RenderedPrompt:
    rule = load(f"{METHOD}/forms/fence_rule").system
    return render(load(f"{METHOD}/{role}"), {"fence_rule": rule, **values}, closing=closing)


def _form(x: Exploration, name: str) -> str:
    kind = "json" if x.params.structured_output else "tags"
    return load(f"{METHOD}/forms/{name}_{kind}").system


def _content(x: Exploration, text: str) -> str:
    cleaned = clean_text(text).strip()
    return fence(cleaned, x.ctx.nonce(f"content/{sha_of(cleaned)}")) if cleaned else EMPTY


def _library(x: Exploration, rollout: Rollout | None) -> str:
    entries = [*(rollout.library() if rollout else ()), *x.lemmas.human_library()]
    return _content(x, "\n\n".join(_statement(x, lemma, scores=x.params.shows_scores) for lemma in entries))


def _failed(x: Exploration, rollout: Rollout) -> str:
    entries = [
        "\n".join([_statement(x, lemma, scores=False), *(f"Objection: {fault}" for fault in lemma.faults[:2])])
        for lemma in rollout.failed()
    ]
    return _content(x, "\n\n".join(entries))


def _hints(x: Exploration) -> str:
    unproved = [
        f"Lemma {lemma.label}, not proved: {lemma.statement}"
        for lemma in x.lemmas.human.values()
        if not lemma.in_library and lemma.status == "proposed"
    ]
    return _content(x, "\n".join([*(f"- {hint}" for hint in x.hints), *unproved]))


def complete_work(x: Exploration) -> str:
    """The last text of the first rollout that claims a complete solution."""
    return next((rollout.work for rollout in x.lemmas.rollouts if rollout.claims_complete), "")


def _statement(x: Exploration, lemma: Lemma, *, scores: bool, final: bool = False) -> str:
    label = x.final_label(lemma) if final else lemma.label
    note = f" ({_score(lemma)})" if scores else ""
    return f"Lemma {label}{note}:\n{_renamed(x, lemma, lemma.statement) if final else lemma.statement}"


def _with_proof(x: Exploration, lemma: Lemma, *, scores: bool, final: bool = False) -> str:
    steps = tuple(_renamed(x, lemma, step) for step in lemma.steps) if final else lemma.steps
    return f"{_statement(x, lemma, scores=scores, final=final)}\nProof:\n{_numbered(steps) or '(no proof was given)'}"


def _renamed(x: Exploration, lemma: Lemma, text: str) -> str:
    """The text with the lemma numbers of its own rollout replaced by what the final phase calls them."""
    if not x.is_merged or lemma.id in x.lemmas.human:
        return text
    rollout = x.lemmas.rollouts[lemma.rollout]

    def rename(label: str) -> str:
        found = x.lemmas.named(label, rollout)
        return x.final_label(x.lemmas.standing(found)) if found else label

    return relabel(text, rename)


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"Step {number}. {step}" for number, step in enumerate(steps, 1))


def _share(lemma: Lemma) -> float:
    return lemma.confidence.share if isinstance(lemma.confidence, Confidence) else 0.0


def _score(lemma: Lemma) -> str:
    if lemma.accepted_by_person:
        return "accepted by a person"
    if isinstance(lemma.confidence, Confidence):
        found = lemma.confidence
        return f"confidence {found.share:.2f}: {found.passes} of {found.valid} checks passed"
    return lemma.confidence.reason if isinstance(lemma.confidence, Unscored) else "not checked"
