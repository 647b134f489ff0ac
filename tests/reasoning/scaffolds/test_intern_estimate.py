"""The estimate shown before the start, against the calls that runs make."""

import pytest

from apps.reasoning.domain.errors import ParamsError
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.intern_s1_mo.estimate import estimate
from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from apps.reasoning.scaffolds.registry import UNGRADED
from tests.reasoning.play import FOLLOWS, Fallback, Played, lemma, play, proof, verdict

WORST = Fallback(
    {
        "s*/r*/reason": "<claim>partial</claim>",
        "final/write/*": proof("x"),
        "final/revise/*": proof("x"),
        "final/check/*": verdict(1),
    }
)


def new_lemmas(rounds: int, each: int, rollouts: int) -> dict[str, str]:
    return {
        f"s{rollout}/r{round_}/summarise": "".join(
            lemma(number, f"Statement {rollout} {number}.", "p") for number in range((round_ - 1) * each + 1, round_ * each + 1)
        )
        for rollout in range(rollouts)
        for round_ in range(1, rounds + 1)
    }


@pytest.mark.parametrize(
    "params",
    [
        Params(rounds=3, lemma_votes=2, proof_votes=3, revisions=2, lemmas_per_round=4),
        Params(rollouts=3, rounds=2, lemma_votes=1, proof_votes=2, revisions=3, candidates=2, lemmas_per_round=2),
        Params(rounds=2, lemmas_per_round=2, theorem_verifier=False),
        Params(rounds=2, lemmas_per_round=2, process_verifier=False),
        Params(single_round=True, lemmas_per_round=3),
    ],
)
async def test_the_most_calls_are_made_exactly_in_the_worst_case(params: Params) -> None:
    table = new_lemmas(params.max_rounds, params.lemmas_per_round, params.rollouts) | WORST | FOLLOWS
    played = await play(table, params)
    said = estimate(params)
    assert len(played.dispatcher.requests) == said.calls_max
    made = {role.role: sum(request.role == role.role for request in played.dispatcher.requests) for role in said.roles}
    assert made == {role.role: role.calls_max for role in said.roles}


async def test_the_fewest_calls_are_those_of_an_easy_problem_or_an_unreadable_model() -> None:
    table = {"s0/r1/summarise": "<no-lemmas/>", "final/write/*": "Trivial."}
    assert _first(await play(table | FOLLOWS, Params(patience=4))) == estimate(Params(patience=4)).calls_min == 3
    by_lemmas = Params(lemma_votes=1, patience=4, solved_by="lemmas")
    one = {"s0/r1/summarise": lemma(1, "All of it.", "p"), "final/write/*": "Trivial."}
    assert _first(await play(one | FOLLOWS, by_lemmas)) == estimate(by_lemmas).calls_min == 4
    mumbled = Params(solved_by="lemmas")
    assert _first(await play({"*": "the the"}, mumbled)) == estimate(mumbled).calls_min == 4


def _first(run: Played) -> int:
    """Calls without those that ask for an answer once more."""
    return len([key for key in run.dispatcher.keys if not key.endswith("/again")])


@pytest.mark.parametrize("preset", ["quick", "paper", "contest"])
def test_every_preset_has_an_ordered_estimate(preset: str) -> None:
    scaffold = SCAFFOLDS["intern_s1_mo"]
    said = scaffold.estimate(scaffold.presets[preset].params)
    assert 0 < said.calls_min <= said.calls_expected <= said.calls_max
    assert 0 < said.tokens_expected <= said.tokens_max
    assert {role.role for role in said.roles} == {role.name for role in scaffold.roles}


def test_shorter_answers_cost_fewer_tokens() -> None:
    limits = {role.role: 512 for role in estimate(Params()).roles}
    assert estimate(Params(), limits).tokens_expected < estimate(Params()).tokens_expected


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"rounds": 0}, "rounds"),
        ({"threshold": 1.5}, "threshold"),
        ({"lemma_votes": "many"}, "lemma_votes"),
        ({"moods": 3}, "moods"),
        ({"min_valid": 5, "proof_votes": 4}, "min_valid"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(values: dict[str, object], field: str) -> None:
    with pytest.raises(ParamsError, match=f"^{field}: "):
        UNGRADED["intern_s1_mo"].read_params(values)


def test_parameters_survive_being_stored() -> None:
    for preset in SCAFFOLDS["intern_s1_mo"].presets.values():
        assert UNGRADED["intern_s1_mo"].read_params(preset.params.model_dump(mode="json")) == preset.params
