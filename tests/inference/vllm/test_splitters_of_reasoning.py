"""Reasoning and text of a stream, with parsers that behave like vLLM's."""

from types import SimpleNamespace
from typing import Any

from workers.engines.vllm_reasoning import ByParser, SeenTokens


class WithoutEngine:
    """The part of a reasoning parser of vLLM that all of its parsers share."""

    engine_based_streaming = False

    def is_reasoning_end(self, tokens: list[int]) -> bool:
        return 5 in tokens

    def adjust_initial_state_from_prompt(self, tokens: list[int]) -> None:
        pass


def test_a_parser_of_the_engine_gets_the_previous_and_the_new_text() -> None:
    seen: list[tuple[str, str, list[int]]] = []

    class Parser(WithoutEngine):
        def adjust_initial_state_from_prompt(self, tokens: list[int]) -> None:
            assert tokens == [1, 2, 3]

        def extract_reasoning_streaming(self, before: str, now: str, new: str, ids: Any, all_ids: Any, new_ids: Any) -> Any:
            seen.append((before, new, new_ids))
            return None if new == "|" else SimpleNamespace(reasoning=new if "|" not in before else None, content=new)

    class Reasons(Parser):
        def extract_reasoning_streaming(self, *args: Any) -> Any:
            found = super().extract_reasoning_streaming(*args)
            if found is not None and found.reasoning:
                found.content = None
            return found

    splitter = ByParser(Reasons(), [1, 2, 3])
    pieces = [splitter.push("Why", [1, 1]), splitter.push("|", [2]), splitter.push("Thus", [3])]
    assert pieces == [("", "Why", 2), ("", "", 0), ("Thus", "", 0)]
    assert seen[-1] == ("Why|", "Thus", [3])


def test_the_previous_tokens_are_not_copied_for_the_parser_at_each_piece() -> None:
    lists: list[tuple[list[int], list[int]]] = []
    seen: list[tuple[list[int], list[int], list[int]]] = []

    class Parser(WithoutEngine):
        def extract_reasoning_streaming(self, _: str, __: str, ___: str, *ids: list[int]) -> Any:
            before, now, new = ids
            lists.append((before, now))
            seen.append((list(before), list(now), list(new)))

    splitter = ByParser(Parser(), [9])
    for tokens in ([1, 2], [], [3], [4]):
        splitter.push("", tokens)
    assert seen == [([], [1, 2], [1, 2]), ([1, 2], [1, 2], []), ([1, 2], [1, 2, 3], [3]), ([1, 2, 3], [1, 2, 3, 4], [4])]
    assert len({id(before) for before, _ in lists}) == len({id(now) for _, now in lists}) == 1


def test_a_prompt_that_closes_the_reasoning_leaves_text_only() -> None:
    asked = ByParser(WithoutEngine(), [9, 5])
    assert (asked.push("Thus", [7]), asked.close()) == (("Thus", "", 0), ("", ""))
    seen = SeenTokens()
    seen.extend([5, 6])
    assert (5 in seen, 7 in seen, list(seen)) == (True, False, [5, 6])


def test_a_parser_with_an_engine_gives_what_it_held_back_at_the_end_of_reasoning_and_of_the_answer() -> None:
    class Engine(WithoutEngine):
        engine_based_streaming = True
        held = ""
        ended = False

        def has_engine_confirmed_reasoning_end(self) -> bool:
            return self.ended

        def extract_reasoning_streaming(self, _: str, __: str, piece: str, *ids: list[int]) -> Any:
            self.ended = "|" in piece
            reasoning, _, self.held = (self.held + piece).partition("|")
            return SimpleNamespace(reasoning=reasoning, content="")

        def finish_streaming(self) -> Any:
            return SimpleNamespace(content=self.held, reasoning="")

    splitter = ByParser(Engine(), [9])
    assert [splitter.push("Why", [1]), splitter.push("|Th", [2]), splitter.push("us", [3])] == [
        ("", "Why", 1),
        ("Th", "", 0),
        ("us", "", 0),
    ]
    cut = Engine()
    cut.held = "<"
    assert ByParser(cut, [9]).close() == ("<", "")
