"""Prompts share their long parts, so that they are stored once and engines can reuse them."""

from apps.reasoning.scaffolds.intern_s1_mo.params import Params
from tests.reasoning.play import FOLLOWS, PROBLEM, WITH_ANSWER, play


async def test_votes_of_one_lemma_have_the_same_prompt_and_their_own_seeds() -> None:
    played = await play(FOLLOWS, Params(lemma_votes=4))
    votes = [request for request in played.dispatcher.requests if request.key.startswith("s0/r1/verify/s0.1/")]
    assert len({request.messages for request in votes}) == 1
    assert len({request.seed for request in votes}) == 4


async def test_the_problem_is_one_part_of_every_prompt_and_comes_first() -> None:
    played = await play(FOLLOWS, Params())
    firsts = {record.prompt_shas[1] for record in played.journal.records}
    assert len(firsts) == 1
    assert PROBLEM.statement in played.journal.texts[firsts.pop()]


async def test_every_prompt_can_be_rebuilt_from_its_parts() -> None:
    played = await play(FOLLOWS, Params())
    for record, request in zip(played.journal.records, played.dispatcher.requests, strict=True):
        whole = "".join(played.journal.texts[sha] for sha in record.prompt_shas)
        assert whole == "".join(message.content for message in request.messages)


async def test_the_answer_of_the_problem_never_enters_a_prompt() -> None:
    played = await play(FOLLOWS, Params(), problem=WITH_ANSWER)
    assert WITH_ANSWER.answer not in "".join(played.journal.texts.values())


async def test_another_root_seed_gives_other_delimiters() -> None:
    one, two = [await play(FOLLOWS, Params(), seed=seed) for seed in (1, 2)]
    assert one.dispatcher.prompt("s0/r1/reason") != two.dispatcher.prompt("s0/r1/reason")
