"""Who writes a solution of a problem that has an answer is asked for an answer line; all other prompts stay as they are."""

import pytest

from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.answer_line import answer_line
from tests.reasoning.play import PROBLEM, Played, play
from tests.reasoning.plays import plays_of

WITHOUT = PROBLEM.model_copy(update={"answer": ""})
LINE = "\n\n" + answer_line(PROBLEM)
#: Beginnings of the names of roles that write whole solutions.
WRITERS = ("solver", "improver", "corrector", "aggregator", "refiner", "writer", "reviser")


def prompts(played: Played) -> dict[str, tuple[str, str]]:
    """Role and system text of every call."""
    return {request.key: (request.role, request.messages[0].content) for request in played.dispatcher.requests}


#: Those that can run without an answer as well.
EITHER_WAY = [name for name, one in SCAFFOLDS.items() if not one.cannot_run(WITHOUT, plays_of(name).golden.params)]


@pytest.mark.parametrize("name", EITHER_WAY)
async def test_writers_are_asked_for_an_answer_line_only_where_there_is_an_answer(name: str) -> None:
    golden = plays_of(name).golden
    with_answer = prompts(await play(golden.table, golden.params, scaffold=name, problem=PROBLEM))
    without = prompts(await play(golden.table, golden.params, scaffold=name, problem=WITHOUT))
    assert with_answer.keys() == without.keys()
    asked = {role for role, text in with_answer.values() if text.endswith(LINE)}
    assert all(role.startswith(WRITERS) for role in asked)
    assert asked
    for key, (role, text) in without.items():
        assert "Answer:" not in text
        assert with_answer[key][1] == text + (LINE if role in asked else "")


def test_an_answer_of_white_space_is_none() -> None:
    assert answer_line(PROBLEM.model_copy(update={"answer": " \n"})) == ""
