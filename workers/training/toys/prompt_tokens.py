"""A tokenizer for the prompts of scaffolds: a token for each fixed passage of a filled template, else one for each character.

A prompt of four hundred words is then a few tokens, so that a small model can be asked by real scaffolds. Numbers below 100 are
one token. The random codes of fences, which protect larger models, are left out. Foreign characters are unknown.
"""

import string
from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Split

from apps.reasoning.prompts.loader import load, render
from workers.training.tiny import SPECIAL, wrapped

MOST_TOKENS = 256
#: In place of a text that differs from prompt to prompt.
_GAP = "\0"
_STATEMENT = f"Compute ${_GAP}$."
#: A solution of one or two steps, as verifiers and correctors read it.
_SOLUTIONS = tuple(
    "\n".join(f"Step {number}. ${_GAP}$" for number in range(1, steps + 1)) + f"\n\nAnswer: {_GAP}" for steps in (1, 2)
)
#: The report on a solution: a quoted line, or a fail without one.
_REPORTS = (f"1. [critical] “${_GAP}$” — ", _GAP)
#: Passages of answers in the form that the prompts ask for, and of expressions.
ANSWERS = (
    "<proof>\n<step>$",
    "$</step>\n<step>$",
    "$\n\nAnswer: ",
    "</step>\n</proof>",
    "<decision>pass</decision>",
    '<issue severity="critical"><quote>$',
    "$</quote></issue>\n<decision>fail</decision>",
    r"\cdot",
    *map(str, range(10, 100)),
)


def prompt_tokenizer() -> Any:
    """The tokenizer, made of the prompt files as they are."""
    signs = (*SPECIAL, *string.printable[:95], "\n")
    tokenizer = Tokenizer(WordLevel({sign: number for number, sign in enumerate(signs)}, SPECIAL[3]))
    tokenizer.normalizer = Replace(Regex(" [0-9a-f]{16}>>>"), ">>>")
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = Fuse()
    tokenizer.add_tokens([AddedToken(one, normalized=True) for one in dict.fromkeys((*passages(), *ANSWERS))])
    return wrapped(tokenizer, MOST_TOKENS, clean_up_tokenization_spaces=False)


def passages() -> list[str]:
    """The fixed passages of the prompts of Solver, Verifier and Corrector, between the texts that differ."""
    proof = {"proof_form": _form("proof_tags"), "hints": "(none)"}
    given: list[str] = _filled("shared/plain_solver", {**proof, "attempt": "1", "attempts": "1"}, answer=True)
    for solution in _SOLUTIONS:
        examined = {"solution": _fenced(solution)}
        given += _filled("shared/verifier", {**examined, "answer_form": _form("decision_tags")}, answer=False)
        for report in _REPORTS:
            given += _filled("shared/corrector", {**proof, **examined, "report": _fenced(report)}, answer=True)
    return given


def _filled(name: str, values: dict[str, str], *, answer: bool) -> list[str]:
    shared = {"fence_rule": _form("fence_rule"), "problem": _fenced(_STATEMENT)}
    closing = load("answers/forms/answer_line").system if answer else ""
    filled = render(load(name), shared | values, closing=closing)
    return _pieces(filled.text.split(_GAP))


def _pieces(found: Sequence[str]) -> list[str]:
    return [piece for piece in found if len(piece) > 1]


def _form(name: str) -> str:
    return load(f"shared/forms/{name}").system


def _fenced(text: str) -> str:
    return f"<<<CONTENT>>>\n{text.strip()}\n<<<END>>>"
