"""The prompts of a run: the parts for each role, their order, and which are fenced.

Parts shared by many calls come first (problem, then library), so that prefix caches and the content-addressed store hold them
once. A fence's delimiter depends on the run's seed and the enclosed text: no text can contain its own, and equal texts make
equal parts. Growing parts (library, failed lemmas, hints, notes, thinking, findings) are fitted to the context of the role's
model: lemmas of the lowest confidence are left out first. Texts under judgement are never shortened.
"""

from collections.abc import Collection, Sequence
from typing import Any

from apps.reasoning.domain.values import Unscored
from apps.reasoning.domain.verdicts import Confidence
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.prompts.fitting import Growing, Passage, render_fitted
from apps.reasoning.prompts.loader import RenderedPrompt, fence, load
from apps.reasoning.reading.foreign import clean_text
from apps.reasoning.reading.mentions import relabel
from apps.reasoning.reading.summaries import SummaryJson
from apps.reasoning.reading.votes import LemmaVerdictJson, ProofVerdictJson
from apps.reasoning.scaffolds.answer_line import answer_line
from apps.reasoning.scaffolds.intern_s1_mo.exploration import Exploration, Proof
from apps.reasoning.scaffolds.intern_s1_mo.lemmas import Lemma, Rollout
from apps.reasoning.scaffolds.running.asking import room_for

METHOD = "intern_s1_mo"
EMPTY = "(none)"
SUMMARY_SCHEMA: dict[str, Any] = SummaryJson.model_json_schema(mode="serialization")
LEMMA_VERDICT_SCHEMA: dict[str, Any] = LemmaVerdictJson.model_json_schema()
PROOF_VERDICT_SCHEMA: dict[str, Any] = ProofVerdictJson.model_json_schema()


def reason_prompt(x: Exploration, rollout: Rollout, round_: int, ending: str | Growing = "") -> RenderedPrompt:
    """The prompt of a round; `ending` is that of a turn with formula checks."""
    values: dict[str, str | Growing] = {
        "problem": content(x, x.problem.statement),
        "library": _library(x, rollout, scores=x.params.shows_scores),
        "failed": _failed(x, rollout),
        "hints": _hints(x),
        "round": str(round_),
        "rounds": str(x.params.max_rounds),
    }
    return _filled(x, "reasoner", values, ending=ending)


def summary_prompt(x: Exploration, rollout: Rollout) -> RenderedPrompt:
    """Library (known lemmas without scores), thinking and text of the round (Intern-S1-MO A.2)."""
    values: dict[str, str | Growing] = {
        "answer_form": _form(x, "summary"),
        "problem": content(x, x.problem.statement),
        "library": _library(x, rollout),
        "failed": _failed(x, rollout),
        "thinking": _growing(x, "the thinking", rollout.thinking if x.params.thinking else ""),
        "work": _growing(x, "the text of the round", rollout.work),
        "next_number": str(rollout.next_number),
    }
    return _filled(x, "summarizer", values)


def lemma_check_prompt(x: Exploration, lemma: Lemma, rollout: Rollout | None, marks: str = "") -> RenderedPrompt:
    """The library at the start of the round, the statements of new lemmas that this one cites, and the lemma.

    The library is assumed to be true (Intern-S1-MO A.3), so no confidence is shown. `rollout` is None for a person's lemma,
    whose prompt has only the lemmas it cites.
    """
    named = [other for name in lemma.uses if (other := x.lemmas.get(name))]
    fresh = named
    if rollout is not None:
        fresh = [other for other in named if other.status == "proposed" and other.round == lemma.round]
    values: dict[str, str | Growing] = {
        "answer_form": _form(x, "lemma_verdict"),
        "problem": content(x, x.problem.statement),
        "library": _library(x, rollout, named={other.id for other in x.lemmas.support(named)}),
        "named": content(x, "\n\n".join(_statement(x, other, scores=False, final=rollout is None) for other in fresh)),
        "lemma": content(x, _with_proof(x, lemma, scores=False)),
    }
    return _filled(x, "theorem_verifier", values, ending=marks)


def write_prompt(x: Exploration, library: Growing, candidate: int) -> RenderedPrompt:
    """`library` is `final_library`, made once for all candidates."""
    values: dict[str, str | Growing] = {
        "problem": content(x, x.problem.statement),
        "library": library,
        "notes": _growing(x, "the text that claims a solution", complete_work(x), worth=2.0),
        "candidate": str(candidate),
        "candidates": str(x.params.candidates),
    }
    return _filled(x, "writer", values, closing=answer_line(x.problem))


def proof_check_prompt(x: Exploration, proof: Proof, marks: str = "") -> RenderedPrompt:
    cited = [lemma for name in proof.uses if (lemma := x.lemmas.get(name))]
    # By id: comparing lemmas compares all fields, nine thousand times per list in a large run.
    needed = {lemma.id for lemma in x.lemmas.support(cited)}
    used = [_with_proof(x, lemma, scores=False, final=True) for lemma in x.lemmas if lemma.id in needed]
    missing = [f"There is no Lemma {label}, though the solution names it." for label in proof.missing]
    values: dict[str, str | Growing] = {
        "answer_form": _form(x, "proof_verdict"),
        "problem": content(x, x.problem.statement),
        "lemmas": content(x, "\n\n".join([*used, *missing])),
        "proof": content(x, _numbered(proof.steps)),
    }
    return _filled(x, "process_verifier", values, ending=marks)


def revise_prompt(x: Exploration, library: Growing, proof: Proof, revision: int, candidate: int) -> RenderedPrompt:
    """`library` is `final_library`, made once for all candidates."""
    findings = tuple(Passage(f"finding {at}", f"Finding {at}. {text}", 2.0) for at, text in enumerate(proof.findings, 1))
    values: dict[str, str | Growing] = {
        "problem": content(x, x.problem.statement),
        "library": library,
        "proof": content(x, _numbered(proof.steps)),
        "findings": _joined(x, findings, "\n", least=1),
        "hints": _hints(x),
        "revision": str(revision),
        "revisions": str(x.params.revisions),
        "candidate": str(candidate),
        "candidates": str(x.params.candidates),
    }
    return _filled(x, "reviser", values, closing=answer_line(x.problem))


def final_lemmas(x: Exploration) -> list[Lemma]:
    """The writer's lemmas: the merged library, ordered by rollout and number.

    If it is too long, lemmas of rollouts that claim a complete solution take precedence, then those of higher confidence; a
    chosen lemma brings its dependencies.
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


def final_library(x: Exploration) -> Growing:
    """The fenced library for the writer and the reviser."""
    return _joined(
        x,
        tuple(
            Passage(
                f"Lemma {x.final_label(entry)}", _with_proof(x, entry, scores=x.params.shows_scores, final=True), _worth(entry)
            )
            for entry in final_lemmas(x)
        ),
    )


def _filled(
    x: Exploration, role: str, values: dict[str, str | Growing], *, closing: str = "", ending: str | Growing = ""
) -> RenderedPrompt:
    rule = load(f"{METHOD}/forms/fence_rule").system
    values = {"fence_rule": rule, **values}
    return render_fitted(load(f"{METHOD}/{role}"), values, room_for(x.ctx, role), closing=closing, ending=ending)


def _joined(x: Exploration, passages: tuple[Passage, ...], between: str = "\n\n", least: int = 0) -> Growing:
    """Passages in one fence."""
    return Growing(passages, lambda shown: content(x, between.join(one.text for one in shown)), least)


def _growing(x: Exploration, name: str, text: str, worth: float = 0.0) -> Growing:
    """One text that may be shortened."""
    return _joined(x, (Passage(name, text, worth),), least=1)


def _form(x: Exploration, name: str) -> str:
    kind = "json" if x.params.structured_output else "tags"
    return load(f"{METHOD}/forms/{name}_{kind}").system


def content(x: Exploration, text: str) -> str:
    """A text of models or people, cleaned, between delimiters that it cannot contain."""
    cleaned = clean_text(text).strip()
    return fence(cleaned, x.ctx.nonce(f"content/{sha_of(cleaned)}")) if cleaned else EMPTY


def _library(x: Exploration, rollout: Rollout | None, *, scores: bool = False, named: Collection[str] = ()) -> Growing:
    """The library's statements. If they do not all fit, lemmas in `named` stay, then those of the highest confidence."""
    entries = [*(rollout.library() if rollout else ()), *x.lemmas.human_library()]
    return _joined(
        x,
        tuple(
            Passage(f"Lemma {lemma.label}", _statement(x, lemma, scores=scores), _worth(lemma) + 2 * (lemma.id in named))
            for lemma in entries
        ),
    )


def _failed(x: Exploration, rollout: Rollout) -> Growing:
    entries = (
        (lemma, [_statement(x, lemma, scores=False), *(f"Objection: {fault}" for fault in lemma.faults[:2])])
        for lemma in rollout.failed()
    )
    return _joined(x, tuple(Passage(f"Lemma {lemma.label}, not proved", "\n".join(lines), -1.0) for lemma, lines in entries))


def _hints(x: Exploration) -> Growing:
    unproved = [
        f"Lemma {lemma.label}, not proved: {lemma.statement}"
        for lemma in x.lemmas.human.values()
        if not lemma.in_library and lemma.status == "proposed"
    ]
    return _growing(x, "the suggestions of people", "\n".join([*(f"- {hint}" for hint in x.hints), *unproved]), worth=2.0)


def complete_work(x: Exploration) -> str:
    """The last text of the first rollout that claims a complete solution; rollouts whose lemmas hold take precedence."""
    claiming = sorted((rollout for rollout in x.lemmas.rollouts if rollout.claims_complete), key=lambda one: not one.solved)
    return claiming[0].work if claiming else ""


def _statement(x: Exploration, lemma: Lemma, *, scores: bool, final: bool = False) -> str:
    label = x.final_label(lemma) if final else lemma.label
    note = f" ({_score(lemma)})" if scores else ""
    return f"Lemma {label}{note}:\n{_renamed(x, lemma, lemma.statement) if final else lemma.statement}"


def _with_proof(x: Exploration, lemma: Lemma, *, scores: bool, final: bool = False) -> str:
    steps = tuple(_renamed(x, lemma, step) for step in lemma.steps) if final else lemma.steps
    return f"{_statement(x, lemma, scores=scores, final=final)}\nProof:\n{_numbered(steps) or '(no proof was given)'}"


def _renamed(x: Exploration, lemma: Lemma, text: str) -> str:
    """The text with its rollout's lemma numbers replaced by the labels of the final phase."""
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


def _worth(lemma: Lemma) -> float:
    """The priority of a lemma if not all fit: its confidence; a person's acceptance outranks it."""
    return 1.0 + _share(lemma) if lemma.accepted_by_person else _share(lemma)


def _score(lemma: Lemma) -> str:
    if lemma.accepted_by_person:
        return "accepted by a person"
    if isinstance(lemma.confidence, Confidence):
        found = lemma.confidence
        return f"confidence {found.share:.2f}: {found.passes} of {found.of} checks passed"
    return lemma.confidence.reason if isinstance(lemma.confidence, Unscored) else "not checked"
