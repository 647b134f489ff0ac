"""The claim line, the typed form of ticks: `A c1 e2 !cap5 -d1`, and `mix` for a mixed case.

Spaces or commas separate codes. `!` may precede a cap and `-` a deduction, nothing else. Unknown words are errors, never
guessed.
"""

import re
from collections.abc import Iterable

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.schemes.scheme import Kind, Scheme

MIXED = "mix"
_SIGNS = {Kind.CAP: "!", Kind.DEDUCTION: "-"}


class Claim(Value):
    """A marker's claim about a paper: which items hold, and whether chains are added."""

    ticks: frozenset[str]
    is_mixed: bool = False


class ClaimWrong(ValueError):
    """A claim line that cannot be read; `faults` holds one sentence per word that is wrong."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


def claim_read(scheme: Scheme, line: str) -> Claim:
    """The claim on a line. Raises `ClaimWrong`, which names every wrong word."""
    kinds = {item.code: item.kind for item in scheme.items}
    ticks: list[str] = []
    faults: list[str] = []
    words = [word for word in re.split(r"[\s,]+", line.replace("−", "-").replace("–", "-")) if word]
    for word in words:
        sign, code = (word[0], word[1:]) if word[0] in "!-" else ("", word)
        if word == MIXED:
            continue
        if code not in kinds:
            faults.append(_unknown(word, code, kinds))
        elif sign and _SIGNS.get(kinds[code]) != sign:
            faults.append(f"{word}: {code} is a {kinds[code]}, and only a {_meaning(sign)} takes {sign}.")
        elif code in ticks:
            faults.append(f"{code} appears twice.")
        else:
            ticks.append(code)
    if MIXED in words and not scheme.mixing:
        faults.append("This scheme does not add the points of several chains.")
    if faults:
        raise ClaimWrong(tuple(faults))
    return Claim(ticks=frozenset(ticks), is_mixed=MIXED in words)


def claim_line(scheme: Scheme, ticks: Iterable[str], *, is_mixed: bool = False) -> str:
    """The line that `claim_read` reads back, items in the scheme's order."""
    ticked = set(ticks)
    words = [_SIGNS.get(item.kind, "") + item.code for item in scheme.items if item.code in ticked]
    return " ".join([*words, MIXED] if is_mixed else words)


def _unknown(word: str, code: str, kinds: Iterable[str]) -> str:
    like = next((known for known in kinds if known.casefold() == code.casefold()), None)
    return f"{word} is no item of this scheme." + (f" Did you mean {like}?" if like else "")


def _meaning(sign: str) -> str:
    return next(kind for kind, its_sign in _SIGNS.items() if its_sign == sign)
