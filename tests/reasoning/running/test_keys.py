"""Names that must never change: a recorded run is read with them years later."""

from apps.reasoning.domain.generation import Ending, Message, OfferedTool, Sampling
from apps.reasoning.journal.keys import nonce_for, request_hash, seed_for, sha_of

TOOL = OfferedTool(name="python_code", description="Runs code.", parameters={"type": "object"})
MESSAGES = (Message(role="user", content="Prove it."),)


def hashed(**changes: object) -> str:
    asked: dict[str, object] = {
        "role": "reasoner",
        "alias": "a",
        "revision": "r",
        "messages": MESSAGES,
        "sampling": Sampling(),
        "json_schema": None,
        "seed": 1,
    }
    return request_hash(**(asked | changes))  # type: ignore[arg-type]


def test_the_hash_of_a_request_is_the_same_on_every_machine() -> None:
    assert hashed() == "8244f91546b2734eb41d00aefce31df429b07696855dff62af31b2610da525d1"


def test_every_part_of_a_request_counts_in_its_hash() -> None:
    others = [
        hashed(role="writer"),
        hashed(alias="b"),
        hashed(revision="s"),
        hashed(messages=(Message(role="system", content="Prove it."),)),
        hashed(sampling=Sampling(temperature=0.1)),
        hashed(json_schema={"type": "object"}),
        hashed(seed=2),
        hashed(tools=(TOOL,)),
        hashed(tools=(TOOL.model_copy(update={"description": "Another."}),)),
        hashed(tools=(TOOL, TOOL)),
        hashed(ending=Ending(tag="decision", values=("pass", "fail"))),
        hashed(ending=Ending(tag="decision", values=("fail", "pass"))),
    ]
    assert len({hashed(), *others}) == 13


def test_a_call_without_tools_or_ending_has_the_hash_it_had_before_there_were_any() -> None:
    assert hashed(tools=()) == hashed(ending=None) == hashed()


def test_seeds_have_31_bits_and_follow_from_root_seed_and_key() -> None:
    seeds = {seed_for(root, f"s0/r1/verify/s0.1/{index}") for root in range(20) for index in range(20)}
    assert len(seeds) == 400
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seed_for(7, "s0/r1/reason") == 14651897


def test_nonces_differ_by_key_and_by_seed() -> None:
    assert len({nonce_for(1, "a"), nonce_for(1, "b"), nonce_for(2, "a")}) == 3


def test_the_empty_text_has_the_empty_name() -> None:
    assert sha_of("") == ""
    assert sha_of("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
