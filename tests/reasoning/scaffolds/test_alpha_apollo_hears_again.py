"""AlphaApollo: what cannot be read is asked for once more; tools end a turn; evaluators read what the abstractor condensed."""

import pytest

from apps.reasoning.domain.agent_events import MemoryStored, TurnTaken
from apps.reasoning.domain.candidate_events import CandidateDrafted, CandidateScored
from apps.reasoning.domain.prompt_events import PromptFitted
from apps.reasoning.scaffolds import grouped_agents, solver_verifier_corrector
from apps.reasoning.scaffolds.alpha_apollo.conversing import STOPS
from apps.reasoning.scaffolds.alpha_apollo.offer import estimate
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from tests.reasoning import agents
from tests.reasoning.agents import CHECKPOINTS, follows, python, report
from tests.reasoning.candidates import PASS, named
from tests.reasoning.play import Answer, Played, final, play

ALONE = Params(mode="reasoning", turns=3)
JUDGED = Params(rounds=1, evaluators=1, turns=1, stop_early=False)
MARKDOWN = "## Proof\n\nWrite the sum twice, once backwards.\n\nEach of the $n$ columns adds up to $n+1$, so $2S=n(n+1)$."


async def played(table: dict[str, Answer], params: Params, **changes: object) -> Played:
    return await play(follows(table), params, scaffold="alpha_apollo", **changes)  # type: ignore[arg-type]


def drafted(run: Played) -> CandidateDrafted:
    (event,) = (one for one in run.of("candidate.drafted") if isinstance(one, CandidateDrafted))
    return event


def turns(run: Played) -> list[tuple[str, str]]:
    return [(one.call, one.action) for one in run.of("turn.taken") if isinstance(one, TurnTaken)]


async def test_a_turn_without_an_action_is_asked_for_once_more_and_the_second_one_counts() -> None:
    run = await played({"solve/c1.1/turn/1": "Let me think.", "solve/c1.1/turn/1/again": python("print(4)")}, ALONE)
    assert turns(run) == [("solve/c1.1/turn/1/again", "python_code"), ("solve/c1.1/turn/2", "answer")]
    assert "solve/c1.1/turn/1/again/python" in run.dispatcher.keys
    assert "takes no action that can be read" in run.dispatcher.prompt("solve/c1.1/turn/1/again")


async def test_a_report_without_a_judgement_is_completed_by_the_judgement_alone() -> None:
    table: dict[str, Answer] = {
        "judge/c1.1/1/turn/1": "<report>Step 2 divides by zero.\nIt is wrong.</report>",
        "judge/c1.1/1/turn/1/again": "0",
    }
    run = await played(table, JUDGED)
    (scored,) = (one for one in run.of("candidate.scored") if isinstance(one, CandidateScored))
    assert (scored.score, scored.call) == (0, "judge/c1.1/1/turn/1/again")
    assert scored.report == "Step 2 divides by zero.\nIt is wrong."


async def test_a_report_that_stays_without_a_judgement_is_unscored_with_its_reason() -> None:
    run = await played({"judge/*": "<report>It is wrong.</report>"}, JUDGED)
    (scored,) = (one for one in run.of("candidate.scored") if isinstance(one, CandidateScored))
    assert scored.score is None
    assert scored.unscored == "after 1 turn there was no <report>: the last line of the report is not 1 or 0 alone"


@pytest.mark.parametrize(("role", "call", "answer"), [
    ("abstractor", "condense/c1.1", "<checkpoints>Said again.</checkpoints>"),
    ("summarizer", "sum-up/c1.1", "<judgement>Said again.</judgement>"),
])  # fmt: skip
async def test_checkpoints_and_judgements_are_asked_for_once_more(role: str, call: str, answer: str) -> None:
    run = await played({call: "no tags", f"{call}/again": answer}, JUDGED.model_copy(update={"evaluators": 2}))
    (stored,) = (one for one in run.of("memory.stored") if isinstance(one, MemoryStored))
    said = (stored.condensed, stored.condensed_by) if role == "abstractor" else (stored.judgement, stored.judged_by)
    assert said == ("Said again.", f"{call}/again")


@pytest.mark.parametrize(
    ("answer", "way"),
    [
        (MARKDOWN, "heading"),
        (f"<answer>\n{MARKDOWN.partition('Proof')[2]}", "tags"),
        (final(f"<answer>\n{MARKDOWN.partition('Proof')[2]}", finish_reason="length"), "cut"),
    ],
)
async def test_a_solution_without_its_form_is_handed_in_at_any_turn_where_a_heading_or_tag_names_it(
    answer: Answer, way: str
) -> None:
    run = await played({"solve/c1.1/turn/*": answer}, ALONE.model_copy(update={"turns": 1}))
    assert drafted(run).read_as == way
    assert "columns adds up to" in drafted(run).text


async def test_a_whole_answer_counts_in_the_last_turn_only() -> None:
    plain = "Write the sum twice, once backwards. Each of the $n$ columns adds up to $n+1$, so $2S=n(n+1)$."
    run = await played({"solve/c1.1/turn/*": plain}, ALONE)
    assert [action for _, action in turns(run)] == ["none", "none", "answer"]
    assert (drafted(run).read_as, drafted(run).call) == ("whole", "solve/c1.1/turn/3")
    code = await played({"solve/c1.1/turn/*": python("print(1)")}, ALONE)
    assert code.of("candidate.drafted") == []


async def test_a_turn_stops_at_its_tool_and_is_read_without_the_tag_that_the_engine_leaves_out() -> None:
    run = await played({"solve/c1.1/turn/1": "Let us see.\n<python_code>\nprint(2+2)\n"}, ALONE)
    stops = {one.key: one.sampling.stop for one in run.dispatcher.requests if one.key.startswith("solve")}
    assert stops["solve/c1.1/turn/1"] == STOPS
    code = next(one for one in run.dispatcher.requests if one.job == "python")
    assert code.messages[0].content == "print(2+2)"
    assert "Tool response:\n4" in run.dispatcher.prompt("solve/c1.1/turn/2")
    last = await played({"solve/c1.1/turn/*": python("print(1)")}, ALONE)
    assert next(one for one in last.dispatcher.requests if one.key == "solve/c1.1/turn/3").sampling.stop == ()
    off = await played({"solve/c1.1/turn/1": python("print(1)")}, ALONE.model_copy(update={"stop_at_tools": False}))
    assert {one.sampling.stop for one in off.dispatcher.requests} == {()}


async def test_evaluators_read_the_condensed_solution_or_by_choice_the_full_one() -> None:
    run = await played({}, JUDGED)
    assert "1. Set up. 2. Computed: 4." in CHECKPOINTS
    assert "1. Set up. 2. Computed: 4." in run.dispatcher.prompt("judge/c1.1/1/turn/1")
    assert "This is what solve/c1.1/turn/1 wrote." not in run.dispatcher.prompt("judge/c1.1/1/turn/1")
    for changed in (JUDGED.model_copy(update={"evaluated": "full"}), JUDGED):
        table: dict[str, Answer] = {} if changed is not JUDGED else {"condense/*": "no tags"}
        full = await played(table, changed)
        assert "This is what solve/c1.1/turn/1 wrote." in full.dispatcher.prompt("judge/c1.1/1/turn/1")


async def test_more_solvers_than_roles_share_them_in_turn_and_the_estimate_counts_them() -> None:
    params = Params(rounds=1, evaluators=1, threads=5, turns=1, stop_early=False)
    run = await played({"judge/*": report(0)}, params)
    roles = [one.role for one in run.dispatcher.requests if one.key.startswith("solve/")]
    assert sorted(roles) == ["solver", "solver", "solver_2", "solver_2", "solver_3"]
    most = {role.role: role.calls_max for role in estimate(params).roles}
    assert (most["solver"], most["solver_2"], most["solver_3"]) == (2, 2, 1)


async def test_a_long_history_leaves_out_its_oldest_turns() -> None:
    long = agents.printed("\n\n".join(f"line {n} of what it prints" for n in range(150)))
    table: dict[str, Answer] = {**{f"solve/c1.1/turn/{n}": python(f"print({n})") for n in (1, 2, 3)}, "*/python": long}
    run = await played(table, Params(mode="reasoning", turns=5), context_tokens=7_000)
    fits = {one.call: one for one in run.of("prompt.fitted") if isinstance(one, PromptFitted)}
    assert fits["solve/c1.1/turn/4"].left_out[0] == "turn 1"
    assert "print(3)" in run.dispatcher.prompt("solve/c1.1/turn/4")


@pytest.mark.parametrize("method", ["solver_verifier_corrector", "grouped_agents"])
async def test_the_solver_of_marsrl_is_not_asked_for_rigour_unless_it_is_chosen(method: str) -> None:
    for rigour in (False, True):
        params = (
            solver_verifier_corrector.Params(accept=1, rigour=rigour)
            if method == "solver_verifier_corrector"
            else grouped_agents.Params(group=2, steps=2, rigour=rigour)
        )
        run = await play({"check/*": PASS, "step/2/*": PASS, "*": named}, params, scaffold=method)
        asked = next(one for one in run.dispatcher.requests if one.role == "solver")
        assert ("strict marker" in asked.messages[0].content) is rigour
        assert "<proof>" in asked.messages[0].content
