"""The growing parts of a prompt are fitted to the context of its model, by a rule that events report; no call fails for it."""

from collections.abc import Callable

import pytest

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.reasoning.domain.values import Value
from apps.reasoning.prompts.fitting import likely_tokens, middle_out, prompt_tokens, tokens_at_most
from apps.reasoning.prompts.loader import RenderedPrompt
from apps.reasoning.scaffolds import deepseek_math, nomos, reasoning_cache, rsa, self_check
from apps.reasoning.scaffolds.intern_s1_mo.params import Params as InternParams
from apps.reasoning.scaffolds.running.asking import LEAST_ANSWER
from tests.reasoning.candidates import FAIL, PASS, better, score
from tests.reasoning.play import FOLLOWS, Answer, Played, final, lemma, play, proof, verdict

Table = dict[str, Answer | Callable[[GenerationRequest], Answer]]
CONTEXT = 8_192
ROOM = CONTEXT - 4_096


def long_proof(request: GenerationRequest) -> str:
    return proof(f"This is what {request.key} wrote.", *(f"Part {n}: we add {n} on both sides." for n in range(90)), "Done.")


def longer_proof(request: GenerationRequest) -> str:
    return long_proof(request).replace("on both sides", "on both sides of the equation that we had before it" * 2)


def fitted(run: Played) -> dict[str, PromptFitted]:
    return {one.call: one for one in run.of("prompt.fitted") if isinstance(one, PromptFitted)}


def sizes(run: Played) -> dict[str, int]:
    """Tokens of the prompts, at most."""
    return {one.key: prompt_tokens(RenderedPrompt(messages=one.messages, parts=())) for one in run.dispatcher.requests}


async def test_the_aggregator_reads_two_long_solutions_shortened_in_the_middle_and_an_event_says_so() -> None:
    table: Table = {"step/*": longer_proof, "final/*": better("A")}
    params = rsa.Params(population=4, subset=4, steps=1)
    run = await play(table, params, scaffold="rsa", context_tokens=CONTEXT)
    fit = fitted(run)["step/1/1"]
    assert len(fit.left_out) == 2
    assert len(fit.shortened) == 2
    prompt = run.dispatcher.prompt("step/1/1")
    assert "This is what step/0/" in prompt
    assert "Done." in prompt
    assert "characters left out …]" in prompt
    assert max(size for key, size in sizes(run).items() if key.startswith("step")) <= ROOM
    assert fitted(await play(table, params, scaffold="rsa", context_tokens=1_000_000)) == {}
    assert fitted(await play(table, params, scaffold="rsa")) == {}


async def test_the_consolidator_leaves_out_the_lowest_marks_and_groups_what_it_was_shown() -> None:
    table: Table = {
        "solve/*": long_proof,
        "mark/c1.2": score(1),
        "mark/c1.3": score(7),
        "mark/*": score(4),
        "consolidate": '<group number="1">1</group><group number="2">2</group><likeliest>2</likeliest>',
        "final/*": better("A"),
    }
    run = await play(table, nomos.Params(solutions=3, kept=3), scaffold="nomos", context_tokens=CONTEXT)
    assert fitted(run)["consolidate"].left_out == ("solution c1.2",)
    assert "Solution 2\n" in run.dispatcher.prompt("consolidate")
    assert "Solution 3\n" not in run.dispatcher.prompt("consolidate")
    grouped = run.of("pool.grouped")[0].model_dump()
    assert (grouped["groups"], grouped["chosen"]) == ((("c1.3",), ("c1.1",)), 1)


async def test_the_summariser_of_a_reasoning_cache_reads_shortened_thinking() -> None:
    thinking = "\n\n".join(f"I try {n} and see." for n in range(3_000))
    table: Table = {
        "turn/*/solve": final(proof("It holds."), reasoning=thinking),
        "turn/*/summarise": "<state>We know.</state>",
    }
    run = await play(table, reasoning_cache.Params(turns=2), scaffold="reasoning_cache", context_tokens=CONTEXT)
    assert list(fitted(run)["turn/1/summarise"].shortened) == ["the thinking"]
    assert "I try 0 and see." in run.dispatcher.prompt("turn/1/summarise")
    assert "I try 2999 and see." in run.dispatcher.prompt("turn/1/summarise")
    assert sizes(run)["turn/1/summarise"] <= ROOM


async def test_of_long_reports_those_that_found_most_fault_stay() -> None:
    words = "\n\n".join(f"Remark {n} on the step." for n in range(300))
    table: Table = {
        "round/*": proof("It holds."),
        "examine/c1.1/1": f"Mild. {words}\n{score(0.5)}",
        "examine/*": f"Harsh. {words}\n{score(0)}",
    }
    params = deepseek_math.Params(proofs=1, examinations=3, reports=3, rounds=2)
    run = await play(table, params, scaffold="deepseek_math", context_tokens=CONTEXT)
    assert fitted(run)["round/2/1"].left_out == ("Report 2 (value 0)", "Report 3 (value 0.5)")
    assert "Harsh." in run.dispatcher.prompt("round/2/1")


async def test_a_library_keeps_the_lemmas_with_the_most_confidence() -> None:
    statements = "".join(lemma(n, f"Number {n} of them: " + "$a+b=b+a$ and so on, " * 25, "p") for n in range(1, 13))
    table: dict[str, Answer] = {
        "s0/r1/reason": "<claim>partial</claim>",
        "s0/r1/summarise": statements,
        "s0/r1/verify/s0.5/1": verdict(1),
        "s0/r2/summarise": "<no-lemmas/>",
    }
    run = await play(table | FOLLOWS, InternParams(lemma_votes=2, rounds=2), context_tokens=CONTEXT)
    fit = fitted(run)["s0/r2/reason"]
    assert "Lemma 5" in fit.left_out
    assert "Lemma 12" in fit.left_out
    assert "Lemma 1" not in fit.left_out
    assert sizes(run)["s0/r2/reason"] <= ROOM


async def test_a_first_answer_is_shortened_where_it_is_asked_for_once_more() -> None:
    table: Table = {
        "check/1": "\n\n".join(f"Remark {n} on the step." for n in range(1_000)),
        "check/*": PASS,
        "*": proof("It holds."),
    }
    run = await play(table, self_check.Params(accept=1), scaffold="self_check", context_tokens=5_000)
    assert list(fitted(run)["check/1/again"].shortened) == ["the first answer"]
    assert sizes(run)["check/1/again"] <= 5_000 - 200


async def test_what_is_judged_is_never_shortened_the_answer_has_less_room_and_then_the_call_is_not_made() -> None:
    table: Table = {"check/*": FAIL, "*": long_proof}
    params = self_check.Params(accept=1, iterations=2)
    roomy = await play(table, params, scaffold="self_check", context_tokens=4_500)
    check = next(one for one in roomy.dispatcher.requests if one.key == "check/1")
    assert "Part 45: we add 45 on both sides." in check.messages[-1].content
    assert LEAST_ANSWER <= check.sampling.max_new_tokens < 2_250
    assert sizes(roomy)["check/1"] + check.sampling.max_new_tokens <= 4_500
    tight = await play(table, params, scaffold="self_check", context_tokens=1_800)
    refused = [one for one in tight.of("prompt.refused") if isinstance(one, PromptRefused)]
    assert {one.call for one in refused} >= {"check/1", "check/2"}
    assert "Choose a model with a longer context for this role, or a smaller preset" in refused[-1].reason
    assert "check/1" not in tight.dispatcher.keys
    assert tight.outcome.accepted is False or tight.outcome.accepted is None
    assert tight.outcome.proof


@pytest.mark.parametrize("context", [1_500, 2_400, 4_096, CONTEXT, 12_000])
@pytest.mark.parametrize(
    ("scaffold", "params", "table"),
    [
        ("rsa", rsa.Params(population=3, subset=3, steps=2), {"step/*": long_proof, "final/*": better("A")}),
        ("self_check", self_check.Params(accept=2, iterations=4), {"check/*": FAIL, "*": long_proof}),
    ],
)
async def test_no_prompt_is_longer_than_its_context_and_a_resumed_run_repeats_no_call(
    scaffold: str, params: Value, table: Table, context: int
) -> None:
    whole = await play(table, params, scaffold=scaffold, context_tokens=context)
    for request in whole.dispatcher.requests:
        bound, answer = sizes(whole)[request.key], request.sampling.max_new_tokens
        is_tried = answer == LEAST_ANSWER and likely_tokens(bound) + answer <= context
        assert bound + answer <= context or is_tried, "what cannot be shortened is tried where it probably fits"
    again = await play(table, params, scaffold=scaffold, context_tokens=context, journal=whole.journal.cut(2))
    assert (again.outcome, again.events) == (whole.outcome, whole.events)
    assert len(again.dispatcher.requests) == len(whole.journal.records) - min(2, len(whole.journal.records))


@pytest.mark.parametrize(
    ("text", "most"),
    [("", 0), ("Add them.", 3), ("12 345", 6), ("$x^2$", 5), ("∑ ü", 4), ("a\n\nb", 3), ("polynomial", 3)],
)
def test_tokens_are_bounded_by_pieces_of_four_letters_and_single_signs(text: str, most: int) -> None:
    assert tokens_at_most(text) == most


def test_the_middle_is_left_out_at_paragraph_bounds_and_a_mark_says_how_much() -> None:
    text = "\n".join(f"Step {n}. We add {n}." for n in range(100))
    short = middle_out(text, 400)
    lines = short.split("\n")
    assert len(short) <= 450
    assert all(line.startswith("Step ") for line in lines if not line.startswith("[…"))
    kept = sum(len(line) + 1 for line in lines if not line.startswith("[…"))
    (mark,) = (line for line in lines if line.startswith("[…"))
    left_out = int(mark.split()[1].replace(",", ""))
    assert abs(len(text) - kept - left_out) <= 2
    assert middle_out(text, len(text)) == text
    assert len(middle_out("x" * 5_000, 400)) < 450
