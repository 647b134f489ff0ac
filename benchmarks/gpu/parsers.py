"""The cost of a token of a long answer in each reasoning parser of vLLM, as the worker uses it. Needs no GPU.

A random model writes no tags, so the tokens are made up: a tag, reasoning of one letter, a tag, and a text.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu.checks import Figures, Missing, Place, expect

#: Parsers that read all text before each piece themselves; their cost grows with the answer in vLLM's own server, too.
GROWING = {"granite", "kimi_k3", "minimax_m3", "muse_glimmer"}
#: Highest cost of a token of the last quarter, by one of the second. The first quarter warms up.
FLAT = 1.5


@dataclass(frozen=True)
class Streamed:
    """What a parser made of an answer, and the seconds of each quarter of its reasoning. `tags` are empty where it has none."""

    tags: tuple[str, str]
    text: str
    reasoning: str
    quarters: tuple[float, ...]


def parser_names() -> list[str]:
    """All reasoning parsers of this vLLM."""
    from vllm.reasoning import ReasoningParserManager

    return sorted(ReasoningParserManager.list_registered())


def tokenizer_with_tags() -> Any:
    """A tokenizer of characters and of all tags in the sources of vLLM's parsers."""
    import vllm

    from workers.training.tiny import tiny_tokenizer

    place = Path(vllm.__file__).parent
    files = [*(place / "reasoning").glob("*.py"), *(place / "parser").rglob("*.py")]
    tags = {tag for file in files for tag in re.findall(r"""["'](\[?[<\[][^"'\s]{1,40}[>\]])["']""", file.read_text())}
    found = tiny_tokenizer()
    found.add_tokens(sorted(tags), special_tokens=True)
    return found


def streamed(name: str, tokenizer: Any, size: int, text: str = "b<", prompt: Sequence[int] = (1, 2, 3)) -> Streamed:
    """An answer with `size` tokens of reasoning and `text` in pieces of one token. Raises `BackendRefused`; see `by_parser`."""
    from workers.engines.vllm_reasoning import by_parser

    splitter: Any = by_parser(name, tokenizer, {"enable_thinking": True, "thinking": True}, prompt)
    parser = getattr(splitter, "_parser", None)
    parser = getattr(parser, "reasoning_parser", None) or parser
    begin, end = ((getattr(parser, f"reasoning_{place}_str", None) or "") for place in ("start", "end"))
    parts: list[tuple[str, str]] = []

    def push(piece: str) -> None:
        ids = [tokenizer.convert_tokens_to_ids(piece)] if len(piece) > 1 else tokenizer(piece)["input_ids"][-1:]
        parts.append(splitter.push(piece, ids)[:2])

    quarters = []
    for piece in filter(None, [begin]):
        push(piece)
    for _ in range(4):
        began = time.perf_counter()
        for _ in range(size // 4):
            push("a")
        quarters.append(time.perf_counter() - began)
    for piece in filter(None, [end, *text]):
        push(piece)
    texts, reasonings = zip(*parts, splitter.close(), strict=True)
    return Streamed((begin, end), "".join(texts), "".join(reasonings), tuple(quarters))


def parsers(place: Place, size: int = 32_000) -> Figures:
    """Stream an answer through each parser. A token of the last quarter may not cost more than one of the second."""
    import importlib.util

    if importlib.util.find_spec("vllm") is None:
        raise Missing("vLLM is not installed in this environment.")
    from apps.reasoning.domain.errors import BackendRefused

    tokenizer = tokenizer_with_tags()
    costs, growth, unfit = {}, {}, []
    for name in parser_names():
        length = size // 4 if name in GROWING else size
        try:
            found = streamed(name, tokenizer, length)
        except BackendRefused:
            unfit.append(name)
            continue
        costs[name] = 1e6 * sum(found.quarters) / length
        growth[name] = found.quarters[3] / found.quarters[1]
    flat = {name: grown for name, grown in growth.items() if name not in GROWING}
    worst = max(flat, key=lambda name: flat[name])
    expect(flat[worst] < FLAT, f"A token costs {flat[worst]:.1f} times as much at the end with {worst}.")
    dear = max(flat, key=lambda name: costs[name])
    return {
        "parsers": len(growth),
        "us_a_token_at_most": f"{costs[dear]:.0f} ({dear})",
        "growth_at_most": f"{flat[worst]:.2f} ({worst})",
        "growing_in_vllm": ", ".join(f"{name} {growth[name]:.1f}" for name in sorted(GROWING & set(growth))),
        "other_tokenizer_or_package": ", ".join(unfit),
    }
