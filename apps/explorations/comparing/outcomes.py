"""The compared runs in short: how each ended, with which settings, and how far it came."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Max

from apps.explorations.comparing.asking import Side
from apps.explorations.selectors import list_state
from apps.explorations.words import scaffold_word
from apps.lemmas.models import Lemma, LemmaState, ProofVersion, Verdict
from apps.lemmas.words import confidence_words
from apps.runs.models import Run, Step


@dataclass(frozen=True)
class Outcome:
    """One run. `state`: class of the glyph and words. `proof`: the votes on the selected proof; "" without one.

    `lemmas` are counted by state, `models` are the aliases of its roles; `seed` is None where it is unknown.
    """

    letter: str
    run: Run
    state: tuple[str, str]
    reason: str
    scaffold: str
    models: list[str]
    seed: int | None
    rounds: int | None
    proof: str
    lemmas: list[tuple[str, int]]
    proposed: int
    votes: int


def outcomes_of(sides: Sequence[Side]) -> list[Outcome]:
    """The outcomes in the order of the runs. Five queries for all."""
    runs = [side.run for side in sides]
    states: dict[int, Counter[str]] = {run.pk: Counter() for run in runs}
    for pk, status, number in Lemma.objects.filter(run__in=runs).order_by().values_list("run", "status").annotate(Count("pk")):
        states[pk][status] += number
    votes = dict(Verdict.objects.filter(run__in=runs).order_by().values_list("run").annotate(Count("pk")))
    rounds = dict(Step.objects.filter(run__in=runs, kind="call").order_by().values_list("run").annotate(Max("round")))
    selected = {
        proof.run_id: proof for proof in ProofVersion.objects.filter(run__in=runs, selected=True).defer("text", "steps")
    }
    return [
        _outcome(side, states[side.run.pk], votes.get(side.run.pk, 0), rounds.get(side.run.pk), selected.get(side.run.pk))
        for side in sides
    ]


def _outcome(side: Side, states: Counter[str], votes: int, rounds: int | None, proof: ProofVersion | None) -> Outcome:
    run, spec = side.run, side.run.spec
    reason = (run.outcome or {}).get("reason", "") if not run.is_live else ""
    return Outcome(
        letter=side.letter,
        run=run,
        state=list_state(run),
        reason=reason or ("" if run.is_live else run.status_reason),
        scaffold=scaffold_word(run.scaffold),
        models=sorted({role["alias"] for role in spec.get("roles", {}).values() if role.get("alias")}),
        seed=None if run.is_imported else spec.get("seed"),
        rounds=rounds,
        proof=confidence_words(proof) if proof and (proof.confidence is not None or proof.unscored) else "",
        lemmas=[(state.label, states[state.value]) for state in LemmaState if states[state.value]],
        proposed=sum(states.values()),
        votes=votes,
    )
