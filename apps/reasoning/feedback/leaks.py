"""Leak test of hints: a textual comparison with the secret texts, which can miss leaks in other words.

Text that the reader already has, the statement and their own text, is never secret.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import takewhile

from apps.reasoning.domain.values import Value
from apps.reasoning.feedback.ladder import TOP
from apps.reasoning.texts.formulas import formulas

RUN_AT_MOST = 7  # Words in a row that a hint may share with a solution by chance.
FORMULA_LENGTH = 5  # Shorter formulas, such as $n>1$, are too common.
NAMES_FROM, FORMULAS_FROM, WORDS_FROM = 2, 5, 5  # The levels from which they may be revealed.

_WORD = re.compile(r"\w+")
_EMPTY = re.compile(r"\\[,;:! ]|\\(?:left|right|displaystyle|quad|qquad)\b|\$|\s|\\[()\[\]]")
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[A-Z][a-zà-ÿ]{3,}(?:[-–][A-Z][a-zà-ÿ]{2,})*\b")
_COMMON = {"case", "lemma", "claim", "theorem", "proof", "step", "hence", "thus", "then", "since", "suppose", "proposition"}


class LeakKind(StrEnum):
    """The kind of a leak."""

    WORDS = "words"
    FORMULA = "formula"
    ANSWER = "answer"
    NAME = "name"
    GUESS = "guess"


class Leak(Value):
    """A secret that a hint reveals too early, with the words in question."""

    kind: LeakKind
    words: str


def leaks_of(hint: str, *, level: int, secrets: Iterable[str], answer: str = "", known: Iterable[str] = ()) -> tuple[Leak, ...]:
    """What a hint of this level reveals of `secrets` (reference solutions) and of the final `answer`. `known` is public."""
    if level >= TOP:
        return ()
    seen = "\n\n".join(known)
    found: list[Leak] = []
    if answer.strip() and _reveals_answer(hint, answer, seen):
        found.append(Leak(kind=LeakKind.ANSWER, words=answer.strip()))
    for secret in secrets:
        if level < WORDS_FROM and (run := _run(hint, secret, seen)):
            found.append(Leak(kind=LeakKind.WORDS, words=run))
        if level < FORMULAS_FROM:
            found += [Leak(kind=LeakKind.FORMULA, words=one) for one in _formulas_revealed(hint, secret, seen)]
        if level < NAMES_FROM:
            found += [Leak(kind=LeakKind.NAME, words=one) for one in _names_revealed(hint, secret, seen)]
    return tuple(dict.fromkeys(found))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _formula(text: str) -> str:
    """A formula without spacing and delimiters."""
    return _EMPTY.sub("", text).rstrip(".,;")


def _formulas_in(text: str) -> list[str]:
    return [_formula(one.tex) for one in formulas(text)]


def words_in(text: str) -> list[str]:
    """The words of a text without case and punctuation; a formula is one word."""
    words: list[str] = []
    place = 0
    for one in formulas(text):
        words += [*_WORD.findall(_plain(text[place : one.start])), f"${_formula(one.tex)}$"]
        place = one.end
    return words + _WORD.findall(_plain(text[place:]))


def _run(hint: str, secret: str, known: str) -> str:
    """The longest run of words shared by hint and secret and not yet known; "" if it is short."""
    mine, theirs, reader = words_in(hint), words_in(secret), " ".join(words_in(known))
    size = RUN_AT_MOST + 1
    places: dict[tuple[str, ...], list[int]] = {}
    for place in range(len(theirs) - size + 1):
        places.setdefault(tuple(theirs[place : place + size]), []).append(place)
    best: Sequence[str] = ()
    for start in range(len(mine) - size + 1):
        for place in places.get(tuple(mine[start : start + size]), ()):
            length = size
            pairs = zip(mine[start + size :], theirs[place + size :], strict=False)
            length += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            run = mine[start : start + length]
            if length > len(best) and " ".join(run) not in reader:
                best = run
    return " ".join(best)


def _formulas_revealed(hint: str, secret: str, known: str) -> list[str]:
    secrets, reader = set(_formulas_in(secret)), _EMPTY.sub("", known)
    return [one for one in _formulas_in(hint) if len(one) >= FORMULA_LENGTH and one in secrets and one not in reader]


def _reveals_answer(hint: str, answer: str, known: str) -> bool:
    """Whether the hint contains the answer; a short answer counts only as a formula or as the end of an equation."""
    wanted = _formula(answer)
    if not wanted or wanted in _formulas_in(known):
        return False
    shown = _formulas_in(hint)
    if any(one == wanted or one.endswith(("=" + wanted, "\\in" + wanted)) for one in shown):
        return True
    if len(wanted) < FORMULA_LENGTH:
        return re.search(rf"\banswer\b[^.]{{0,20}}\b{re.escape(answer.strip().strip('$'))}\b", hint, re.IGNORECASE) is not None
    return wanted in _EMPTY.sub("", hint) and wanted not in _EMPTY.sub("", known)


def _names_revealed(hint: str, secret: str, known: str) -> list[str]:
    """Names of people and theorems that occur in a sentence of the secret and in the hint, and are not known."""
    names = {name for name in _NAME.findall(secret) if name.casefold() not in _COMMON}
    reader, shown = _plain(known), _plain(hint)
    return sorted(name for name in names if _plain(name) not in reader and re.search(rf"\b{re.escape(_plain(name))}\b", shown))
